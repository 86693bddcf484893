"""Specifications of monitors: what is filled in, what is taken apart, names and fingerprints."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.errors import SpecificationError
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.fairness.property import property_from_events
from testsgd.monitoring.specification import MonitoredProperty, MonitorSpecification

PARITY: dict[str, Any] = {"property": "demographic_parity", "bound": 0.1}
OWN = {"property": "custom", "bound": 0.1}


def specified(*properties: dict[str, Any], **tables: Any) -> MonitorSpecification:
    return MonitorSpecification.from_dict({**tables, "properties": list(properties) or [PARITY]})


def names(*properties: dict[str, Any]) -> list[str]:
    return [one.name for one in specified(*properties).monitored]


def test_what_is_not_said_is_filled_in() -> None:
    made = specified()
    assert made.name == "monitor"
    events = made.events
    assert (events.id, events.group, events.decision) == ("id", "group", "decision")
    assert (events.label, events.time, events.others) == ("label", "time", "refuse")
    assert (events.favourable, events.unfavourable) == ((1, True, "1"), (0, False, "0"))
    assert (events.positive, events.negative) == ((1, True, "1"), (0, False, "0"))
    assert (made.groups.names, made.groups.unknown) == (None, "refuse")
    trials = made.trials
    assert (trials.deadline, trials.without_label, trials.count) == (None, 0, "deadline")
    assert trials.repeated == "ignore"
    assert (made.window.kind, made.window.trials, made.window.seconds) == ("all", None, None)
    assert (made.estimate.prior, made.estimate.strength) == (Fraction(1, 2), 0)
    assert made.evidence.confidence == 0.95
    assert made.monitored == (
        MonitoredProperty(
            "demographic_parity",
            NAMED_PROPERTIES["demographic_parity"],
            Fraction(1, 10),
            "vacuous",
            (),
            "evidence",
            "every",
        ),
    )


def test_equalized_odds_are_two_properties_with_one_bound() -> None:
    both = specified(
        {
            "property": "equalized_odds",
            "bound": "1/7",
            "condition_on": ["year"],
            "rule": "estimate",
            "empty_group": "zero",
        }
    ).monitored
    assert [one.fairness for one in both] == [
        NAMED_PROPERTIES["equal_opportunity"],
        NAMED_PROPERTIES["predictive_equality"],
    ]
    for one in both:
        assert (one.bound, one.condition_on, one.rule) == (Fraction(1, 7), ("year",), "estimate")
        assert (one.empty_group, one.check) == ("zero", "every")


@pytest.mark.parametrize(
    ("window", "rule", "check"),
    [
        ({"kind": "all"}, "evidence", "every"),
        ({"kind": "tumbling", "length": 9}, "estimate", "end"),
        ({"kind": "sliding", "length": 9}, "estimate", "every"),
    ],
)
def test_rule_and_check_go_by_the_window(window: dict[str, Any], rule: str, check: str) -> None:
    (one,) = specified(window=window).monitored
    assert (one.rule, one.check) == (rule, check)


# Whether a trial adds to the numerator without adding to the denominator, or adds 2.
@pytest.mark.parametrize(
    ("numerator", "denominator", "rule"),
    [
        (["accept:1"], ["accept:0", "accept:1"], "evidence"),
        (["reject"], ["accept", "reject"], "evidence"),
        (["accept"], ["reject"], "estimate"),
        (["accept", "accept:1"], ["accept", "reject"], "estimate"),
        (["accept:1"], ["accept", "accept:1", "reject"], "estimate"),
    ],
)
def test_own_counters_go_by_evidence_only_if_they_count_single_successes(
    numerator: list[str], denominator: list[str], rule: str
) -> None:
    events = {"numerator": numerator, "denominator": denominator}
    (one,) = specified({**OWN, **events, "measure": "ratio"}).monitored
    assert one.rule == rule
    assert one.fairness == property_from_events(
        "custom", numerator=numerator, denominator=denominator, measure="ratio"
    )
    if rule == "estimate":
        with pytest.raises(SpecificationError, match="evidence needs a share of successes"):
            specified({**OWN, **events, "rule": "evidence"})


def test_no_two_names_are_equal() -> None:
    given = {**PARITY, "condition_on": ["department"]}
    odds = {"property": "equalized_odds", "bound": 0.2}
    assert names(PARITY, given, {**given, "condition_on": ["department", "year"]}) == [
        "demographic_parity",
        "demographic_parity given department",
        "demographic_parity given department and year",
    ]
    assert names(odds, PARITY, {**odds, "property": "equal_opportunity"}, PARITY, PARITY) == [
        "equal_opportunity",
        "predictive_equality",
        "demographic_parity",
        "equal_opportunity (2)",
        "demographic_parity (2)",
        "demographic_parity (3)",
    ]
    # A field may be called what a second name would be.
    twice = names(given, {**given, "condition_on": ["department (2)"]}, given)
    assert twice[1] == "demographic_parity given department (2)"
    assert len(set(twice)) == 3


def test_a_window_is_of_trials_or_of_a_time() -> None:
    by_trials = specified(window={"kind": "sliding", "length": np.int64(100)}).window
    assert (by_trials.trials, by_trials.seconds) == (100, None)
    by_time = specified(window={"kind": "tumbling", "length": "36 h"}).window
    assert (by_time.trials, by_time.seconds) == (None, 36 * 3600)


def test_one_and_true_may_stand_in_one_list() -> None:
    made = specified(events={"favourable": [1, True, "yes", 2.5], "unfavourable": ["no", 0]})
    assert [type(value) for value in made.events.favourable] == [int, bool, str, float]
    assert specified(events={"favourable": [1]}) != specified(events={"favourable": [True]})


def test_a_prior_may_be_the_rate_of_all() -> None:
    made = specified(estimate={"prior": "overall", "strength": "5/2"})
    assert (made.estimate.prior, made.estimate.strength) == ("overall", Fraction(5, 2))


def test_decimals_of_a_file_are_read_as_they_stand_there(tmp_path: Path) -> None:
    path = tmp_path / "monitor.toml"
    text = """
        [estimate]
        prior = 0.3
        strength = 0.1
        [trials]
        deadline = 0.5
        [evidence]
        confidence = 0.9
        [[properties]]
        property = "disparate_impact"
        bound = 0.20000000000000001
    """
    path.write_text(text, encoding="utf-8")
    made = MonitorSpecification.read(path)
    assert (made.estimate.prior, made.estimate.strength) == (Fraction(3, 10), Fraction(1, 10))
    assert (made.trials.deadline, made.evidence.confidence) == (0.5, 0.9)
    assert made.monitored[0].bound == Fraction(20000000000000001, 10**17)
    assert MonitorSpecification.parse(text) == made


def test_the_fingerprint_goes_by_what_is_specified() -> None:
    plain = specified().digest()
    assert len(plain) == 64
    # The same in other words.
    assert specified({**PARITY, "rule": "evidence", "check": "every"}).digest() == plain
    assert specified({**PARITY, "bound": "1/10"}, events={"id": "id"}).digest() == plain
    odds = {"property": "equalized_odds", "bound": 0.1}
    halves = [{**odds, "property": one.name} for one in specified(odds).monitored]
    assert specified(odds).digest() == specified(*halves).digest()
    different = [
        specified({**PARITY, "bound": 0.2}),
        specified({**PARITY, "property": "disparate_impact"}),
        specified({**PARITY, "empty_group": "zero"}),
        specified({**PARITY, "condition_on": ["x"]}),
        specified({**PARITY, "rule": "estimate"}),
        specified(events={"id": "name"}),
        specified(events={"favourable": [1]}),
        specified(events={"favourable": [True]}),
        specified(groups={"names": ["a", "b"]}),
        specified(groups={"names": ["a", "b"], "unknown": "pass"}),
        specified(trials={"deadline": "2 d"}),
        specified(trials={"deadline": "2 d", "without_label": 1}),
        specified(window={"kind": "sliding", "length": 60}),
        specified(window={"kind": "sliding", "length": "60 s"}),
        specified(estimate={"strength": 1}),
        specified(evidence={"confidence": 0.9}),
        specified(PARITY, PARITY),
    ]
    assert len({plain, *(one.digest() for one in different)}) == 1 + len(different)
    assert specified(trials={"deadline": "2 d"}).digest() == (
        specified(trials={"deadline": 172_800}).digest()
    )


def test_it_has_a_json_schema() -> None:
    schema = MonitorSpecification.model_json_schema()
    assert schema["required"] == ["properties"]
    assert schema["additionalProperties"] is False


def test_fingerprints_of_former_versions_stand() -> None:
    # States and alerts name them.
    path = Path(__file__).parents[2] / "examples" / "monitors" / "loans-demographic-parity.toml"
    known = "003a0dee2ba56a173d1512af0ee0df776d6c710c118b2bd978ff42a95943fcb4"
    assert MonitorSpecification.read(path).digest() == known
    assert specified(time={}).digest() == specified().digest()
    others = [{"lateness": 0}, {"lateness": 5}, {"max_skew": "1 d"}, {"unit": "s"}]
    assert len({specified(time=one).digest() for one in [{}, *others]}) == 5


@pytest.mark.parametrize(
    ("tables", "needs", "watches"),
    [
        ({}, False, False),
        ({"time": {"unit": "ms"}}, False, False),
        ({"time": {"lateness": 0}}, False, True),
        ({"time": {"max_skew": "2 h"}}, False, True),
        ({"trials": {"deadline": "2 d"}}, True, True),
        ({"window": {"kind": "tumbling", "length": 5}}, False, False),
        ({"window": {"kind": "tumbling", "length": "5 d"}}, True, True),
    ],
)
def test_where_time_matters(tables: dict[str, Any], needs: bool, watches: bool) -> None:
    made = specified(**tables)
    assert (made.needs_time, made.watches_time) == (needs, watches)
    written = MonitorSpecification.from_dict(made.to_dict())
    assert (written, written.watches_time) == (made, watches)


def test_how_late_and_how_far_ahead_an_event_may_be() -> None:
    assert (specified().time.late, specified().time.skew) == (0, 86_400)
    for nothing in (0, 0.0, "0 s", "0d"):
        assert specified(time={"lateness": nothing}).time.lateness == 0
    made = specified(time={"lateness": "1.5 h", "max_skew": 30}).time
    assert (made.late, made.skew) == (5_400, 30)
