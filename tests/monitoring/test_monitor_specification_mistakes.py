"""Mistakes in the specification of a monitor: each is named by its key and by its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testsgd.errors import SpecificationError
from testsgd.monitoring.specification import MonitorSpecification

# What stands before the mistake; the mistake is in the last line of what is written behind it.
PARITY = '[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\n'
OWN = '[[properties]]\nproperty = "custom"\nbound = 0.1\n'
SLIDING = '[window]\nlength = 100\nkind = "sliding"\n'
TUMBLING = '[window]\nkind = "tumbling"\n'
DEADLINE = '[trials]\ndeadline = "1 d"\n'


def mistake(text: str) -> SpecificationError:
    with pytest.raises(SpecificationError) as caught:
        MonitorSpecification.parse(text, where="loans.toml")
    return caught.value


WOMEN = '[[groups]]\nname = "women"\nwhen = "sex = f"\n[[groups]]\nname = "men"\n'

# The text, the key that must be named, and words that must be in the message.
MISTAKES = [
    # the whole
    ("properties = []", "properties", "nothing is to be watched; add a table [[properties]]"),
    (PARITY + '[window]\nkind = "all"\n[windw]', "windw", "unknown key; did you mean 'window'?"),
    (PARITY + "buond = 0.1", "properties.0.buond", "did you mean 'bound'?"),
    (PARITY + "[trials]\nrepeat = 1", "trials.repeat", "did you mean 'repeated'?"),
    (PARITY + "[evidence]\nquorum = 1", "evidence.quorum", "remove it or correct its name"),
    # groups by expressions, as a list and as a table
    (PARITY + WOMEN + 'when = "sex = = m"', "groups.1.when", "sex = = m"),
    (PARITY + WOMEN + 'when = "sex = f"', "groups.1.when", "in a group before it"),
    (PARITY + WOMEN.replace("ps", "ps.by") + 'when = "sex = = m"', "groups.by.1.when", "= = m"),
    # what events are called, and what their values mean
    (PARITY + '[events]\nid = ""', "events.id", "at least 1 character"),
    (PARITY + '[events]\ntime = "group"', "events.time", "called 'group': group and time"),
    (PARITY + '[events]\nid = "time"', "events.id", "called 'time': id and time"),
    (PARITY + "[events]\nfavourable = []", "events.favourable", "no value is given"),
    (PARITY + "[events]\nfavourable = 1", "events.favourable", "should be a list (seen: 1)"),
    (PARITY + "[events]\npositive = [nan]", "events.positive.0", "must be a finite number"),
    (PARITY + "[events]\nnegative = [[0]]", "events.negative.0", "a text, a number or a boolean"),
    (PARITY + '[events]\nfavourable = ["0"]', "events.favourable.0", 'the value "0" is among'),
    (PARITY + "[events]\nnegative = [2, 1]", "events.negative.1", "1 is among `positive` too"),
    (PARITY + "[events]\npositive = [2]\nnegative = [3, 2]", "events.negative.1", "2 is among"),
    (PARITY + "[events]\npositive = [1]\nnegative = [true]", "events.negative.0", "too, as 1"),
    (PARITY + "[events]\npositive = [true, 1, 1.0]", "events.positive.2", "1.0 stands twice"),
    (PARITY + '[events]\nothers = "drop"', "events.others", "'refuse' or 'ignore' (seen: 'drop')"),
    # who is compared
    (PARITY + '[groups]\nnames = ["a"]', "groups.names", "1 group is named; name at least two"),
    (PARITY + '[groups]\nnames = ["a", "a"]', "groups.names", "the group 'a' stands twice"),
    (PARITY + '[groups]\nnames = ["a", " "]', "groups.names", "' ' is no name of a group"),
    (PARITY + '[groups]\nunknown = "pass"', "groups.unknown", "without `names` it plays no part"),
    # trials
    (PARITY + "[trials]\nwithout_label = 0", "trials.without_label", "without `deadline`"),
    (PARITY + '[trials]\ncount = "known"', "trials.count", "without `deadline`"),
    (PARITY + "[trials]\ndeadline = 0", "trials.deadline", "at least a microsecond"),
    (PARITY + "[trials]\ndeadline = -1.5", "trials.deadline", "10,000 years (seen: -1.5)"),
    (PARITY + '[trials]\ndeadline = "2 y"', "trials.deadline", "no unit 'y': a length of time"),
    (PARITY + '[trials]\ndeadline = "soon"', "trials.deadline", "(seen: 'soon')"),
    (PARITY + DEADLINE + "without_label = 2", "trials.without_label", "0, 1 or 'drop' (seen: 2)"),
    (PARITY + DEADLINE + "without_label = true", "trials.without_label", "write 1 for true"),
    (PARITY + DEADLINE + 'count = "late"', "trials.count", "(seen: 'late')"),
    # time
    (PARITY + '[time]\nunit = "h"', "time.unit", "(seen: 'h')"),
    (PARITY + "[time]\nlateness = -1", "time.lateness", "(seen: -1)"),
    (PARITY + "[time]\nlateness = false", "time.lateness", "a length of time is written"),
    (PARITY + "[time]\nmax_skew = 0", "time.max_skew", "at least a microsecond"),
    (PARITY + '[time]\nmax_skew = "1 y"', "time.max_skew", "no unit 'y'"),
    # windows
    (PARITY + "[window]\nlength = 5", "window.length", 'a window of kind "all" has no length'),
    (PARITY + TUMBLING + "length = 0", "window.length", "a window of 0 trials is empty"),
    (PARITY + TUMBLING + "length = 1.5", "window.length", "1.5 is no number of trials"),
    (PARITY + TUMBLING + "length = true", "window.length", "true is no number of trials"),
    (PARITY + TUMBLING + 'length = "100"', "window.length", "(seen: '100')"),
    # estimates and evidence
    (PARITY + '[estimate]\nprior = "mean"', "estimate.prior", "'mean' is no prior belief"),
    (PARITY + "[estimate]\nprior = 1.5", "estimate.prior", "between 0 and 1 (seen: 1.5)"),
    (PARITY + '[estimate]\nprior = "1/0"', "estimate.prior", "a quotient by 0 is no number"),
    (PARITY + "[estimate]\nstrength = -0.5", "estimate.strength", "at least 0 (seen: -0.5)"),
    (PARITY + "[estimate]\ngroups = { a = {} }", "estimate.groups.a", "nothing is said here"),
    (PARITY + '[groups]\nnames = ["a", "b"]\n[estimate]\ngroups = { c = { prior = 0.3 } }',
     "estimate.groups.c", "there is no group 'c'; the groups are a, b"),
    (PARITY + "[estimate]\ngroups.a.prior = 2", "estimate.groups.a.prior", "between 0 and 1"),
    (PARITY + "estimate = { strenght = 3 }", "properties.0.estimate.strenght",
     "did you mean 'strength'?"),
    (PARITY + "[evidence]\nconfidence = 95", "evidence.confidence", "less than 1 (seen: 95)"),
    (PARITY + '[evidence]\nconfidence = "0.9"', "evidence.confidence", "valid number"),
    # properties
    (PARITY + 'rule = "proof"', "properties.0.rule", "(seen: 'proof')"),
    (PARITY + 'measure = "ratio"', "properties.0.measure", 'only property = "custom" has it'),
    (PARITY + 'condition_on = "x"', "properties.0.condition_on", "should be a list (seen: 'x')"),
    (PARITY + 'condition_on = ["x", " "]', "properties.0.condition_on.1", "a field needs a name"),
    (PARITY + 'condition_on = ["x", "x"]', "properties.0.condition_on", "field 'x' stands twice"),
    (
        PARITY + 'condition_on = ["x", "group"]',
        "properties.0.condition_on.1",
        "'group' is the group of an event",
    ),
    (SLIDING + PARITY + 'rule = "evidence"', "properties.0.rule", "and the window is sliding"),
    (SLIDING + PARITY + 'check = "end"', "properties.0.check", 'of kind "sliding" has no end'),
    (PARITY + PARITY + 'check = "end"', "properties.1.check", 'of kind "all" has no end'),
    (OWN + 'denominator = ["accept"]\nnumerator = ["accepted"]', "properties.0.numerator",
     "'accepted' is no event"),
    (OWN + 'numerator = ["accept"]\ndenominator = ["reject"]\nrule = "evidence"',
     "properties.0.rule", "evidence needs a share of successes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "words"), MISTAKES)
def test_a_mistake(text: str, key: str, words: str) -> None:
    error = mistake(text)
    assert error.what.split(":")[0] == key
    assert words in str(error)
    assert error.where == f"loans.toml, line {len(text.splitlines())}"
    assert "\n" not in str(error)


# Mistakes of which the line is not that of a key, for the key is not there.
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "x"', "properties: this key is missing"),
        ("[properties]\nbound = 0.1", "write [[properties]] above it"),
        (PARITY + TUMBLING, "window.length: a tumbling window needs a length"),
        (OWN + 'numerator = ["accept"]', "denominator: a custom property needs a list of events"),
        ("[[properties]]\nbound = 1", "properties.0.property: this key is missing"),
        (PARITY + "bound = 0.2", "not valid TOML"),
    ],
)
def test_what_is_missing(text: str, words: str) -> None:
    assert words in str(mistake(text))


def test_a_field_goes_by_its_own_name() -> None:
    renamed = {"group": "sex", "label": "group"}
    properties: list[dict[str, Any]] = [{"property": "demographic_parity", "bound": 0}]
    with pytest.raises(SpecificationError, match="'group' is the label of an event already"):
        MonitorSpecification.from_dict(
            {"events": renamed, "properties": [{**properties[0], "condition_on": ["group"]}]}
        )
    made = MonitorSpecification.from_dict(
        {"events": {"group": "sex"}, "properties": [{**properties[0], "condition_on": ["group"]}]}
    )
    assert made.monitored[0].condition_on == ("group",)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="there is no such file"):
        MonitorSpecification.read(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecificationError, match="give a TOML file that specifies a monitor"):
        MonitorSpecification.read(tmp_path / "broken.toml")
