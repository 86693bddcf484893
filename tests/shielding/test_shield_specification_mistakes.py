"""Mistakes in the specification of a shield: each is named by its key and by its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testsgd.errors import SpecificationError
from testsgd.shielding.specification import ShieldSpecification

# The line numbers are what tests go by: a blank line here moves them.
TEXT = """\
name = "loans"
[fairness]
property = "demographic_parity"
bound = 0.1
[groups]
names = ["female", "male"]
[horizon]
length = 100
[inputs]
table = [
    { group = "female", recommendation = 0, probability = 0.5 },
    { group = "male", recommendation = 1, probability = 0.5 },
]
"""


def mistake(line: int, written: str) -> SpecificationError:
    """Write something else in one line of the specification and give the error."""
    lines = TEXT.splitlines()
    lines[line - 1] = written
    with pytest.raises(SpecificationError) as caught:
        ShieldSpecification.parse("\n".join(lines), where="loans.toml")
    return caught.value


CUSTOM = 'property = "custom"\n'
BOUNDED = 'length = 9\nshield = "static-bounded-welfare"\n'
WOMEN = '    { group = "female", recommendation = 0, '
# The line to replace, what is written there (the mistake is in its last line), the key that must
# be named, and words that must be in the message.
MISTAKES = [
    (1, 'name = ""', "name", "at least 1 character"),
    (1, 'title = "x"', "title", "unknown key"),
    # the bound
    (3, 'property = "parity"', "fairness.property", "(seen: 'parity')"),
    (4, "bound = -0.1", "fairness.bound", "between 0 and 1 (seen: -0.1)"),
    (4, "bound = 1.01", "fairness.bound", "between 0 and 1 (seen: 1.01)"),
    (4, "bound = 2", "fairness.bound", "between 0 and 1 (seen: 2)"),
    (4, "bound = nan", "fairness.bound", "finite number (seen: NaN)"),
    (4, "bound = inf", "fairness.bound", "finite number (seen: Infinity)"),
    (4, "bound = 1e-999999999", "fairness.bound", "at most 30 decimals"),
    (4, "bound = true", "fairness.bound", "written as a decimal"),
    (4, 'bound = "a tenth"', "fairness.bound", "written as a decimal"),
    (4, 'bound = "1/0"', "fairness.bound", "a quotient by 0"),
    (4, 'bound = "11/10"', "fairness.bound", "between 0 and 1"),
    (4, 'bound = "1e-999999999"', "fairness.bound", "written as a decimal"),
    (4, 'bound = 0.1\nempty_group = "one"', "fairness.empty_group", "(seen: 'one')"),
    # properties of one's own
    (
        4,
        'bound = 0.1\nnumerator = ["accept"]',
        "fairness.numerator",
        'only property = "custom"',
    ),
    (4, 'bound = 0.1\nmeasure = "ratio"', "fairness.measure", 'only property = "custom"'),
    (3, f"{CUSTOM}numerator = []", "fairness.numerator", "needs a list of events"),
    (
        3,
        f'{CUSTOM}denominator = ["reject"]\nnumerator = ["acept"]',
        "fairness.numerator",
        "'acept' is no event",
    ),
    (
        3,
        f'{CUSTOM}numerator = ["accept"]\ndenominator = ["accept:2"]',
        "fairness.denominator",
        "'accept:2' is no event",
    ),
    (
        3,
        f'{CUSTOM}denominator = ["reject"]\nnumerator = ["accept", "accept"]',
        "fairness.numerator",
        "'accept' stands twice",
    ),
    (
        3,
        f'{CUSTOM}denominator = ["accept"]\nnumerator = ["accept"]',
        "fairness.numerator",
        "the same whatever is decided",
    ),
    (3, 'property = "equal_opportunity"', "inputs.table", "add `label_probability`"),
    # groups
    (6, 'names = ["female"]', "groups.names", "1 group is named"),
    (6, "names = []", "groups.names", "0 groups are named"),
    (6, 'names = ["male", "male"]', "groups.names", "'male' stands twice"),
    (6, 'names = ["female", ""]', "groups.names", "'' is no name"),
    (6, 'names = ["female", 1]', "groups.names.1", "valid string"),
    (6, 'names = ["female", "male"]\nunknown = "stop"', "groups.unknown", "(seen: 'stop')"),
    # horizon
    (8, "length = 0", "horizon.length", "greater than or equal to 1 (seen: 0)"),
    (8, "length = -5", "horizon.length", "(seen: -5)"),
    (8, "length = 10.5", "horizon.length", "valid integer (seen: 10.5)"),
    (8, 'length = "9"', "horizon.length", "valid integer (seen: '9')"),
    (8, "length = true", "horizon.length", "valid integer (seen: True)"),
    (8, 'length = 9\nshield = "periodic"', "horizon.shield", "(seen: 'periodic')"),
    (8, "length = 9\nperiods = 0", "horizon.periods", "(seen: 0)"),
    (8, "length = 9\nperiods = 2", "horizon.periods", "exclude each other"),
    (8, 'length = 9\nafter = "go on"', "horizon.after", "(seen: 'go on')"),
    (8, 'length = 9\nshield = "dynamic"\nafter = "stop"', "horizon.after", "always goes on"),
    (8, "length = 9\nwelfare = [0.4, 0.5]", "horizon.welfare", "only a static-bounded-welfare"),
    (8, f"{BOUNDED}welfare = [0.4, 0.51]", "horizon.welfare", "allow a bias of 11/100"),
    (8, f"{BOUNDED}welfare = [0.5, 0.4]", "horizon.welfare", "no room is left"),
    (8, f"{BOUNDED}welfare = [0.4, 0.4]", "horizon.welfare", "no room is left"),
    (8, f"{BOUNDED}welfare = [0.4]", "horizon.welfare", "too short"),
    (8, f"{BOUNDED}welfare = [0.4, 1.2]", "horizon.welfare.1", "between 0 and 1 (seen: 1.2)"),
    # the table
    (11, f"{WOMEN}probability = 0.4 }},", "inputs.table", "add up to 0.9, not to 1"),
    (11, f"{WOMEN}probability = nan }},", "inputs.table.0.probability", "finite number"),
    (11, f"{WOMEN}probability = -0.5 }},", "inputs.table.0.probability", "(seen: -0.5)"),
    (11, f"{WOMEN}probability = 1.5 }},", "inputs.table.0.probability", "(seen: 1.5)"),
    (11, f'{WOMEN}probability = "x" }},', "inputs.table.0.probability", "(seen: 'x')"),
    (11, f"{WOMEN}cost = -1, probability = 0.5 }},", "inputs.table.0.cost", "(seen: -1)"),
    (11, f"{WOMEN}cost = nan, probability = 0.5 }},", "inputs.table.0.cost", "finite number"),
    (11, f"{WOMEN}prob = 0.5 }},", "inputs.table.0.prob", "unknown key"),
    (
        11,
        '    { group = "other", recommendation = 0, probability = 0.5 },',
        "inputs.table.0",
        "the group 'other' is unknown",
    ),
    (
        11,
        '    { group = "female", recommendation = 2, probability = 0.5 },',
        "inputs.table.0.recommendation",
        "(seen: 2)",
    ),
    (
        12,
        '    { group = "female", recommendation = 0, probability = 0.5 },',
        "inputs.table.1",
        "stands there already",
    ),
    (
        11,
        f"{WOMEN}label_probability = 0.5, probability = 0.5 }},",
        "inputs.table.1",
        "of 'male' and 1 is missing",
    ),
    # other sources
    (9, "[inputs]\ncosts = [1]", "inputs.table", "`costs` says already"),
    (9, '[inputs]\nlog = "x.csv"', "inputs.log", "`table` says already"),
    (9, "[inputs]\nsmoothing = 1", "inputs.smoothing", "only a `log` has it"),
]


@pytest.mark.parametrize(("line", "written", "key", "words"), MISTAKES)
def test_a_mistake_is_named_by_its_key(line: int, written: str, key: str, words: str) -> None:
    error = mistake(line, written)
    assert error.what.startswith(f"{key}: ")
    assert words in str(error)
    assert error.remedy
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("line", "written", "named"),
    [
        (4, "bound = 2", 4),
        (6, 'names = ["a"]', 6),
        (8, f"{BOUNDED}welfare = [0.1, 0.9]", 10),
        # A list over several lines is one value, and its key says which entry is meant.
        (11, f"{WOMEN}probability = 2 }},", 10),
    ],
)
def test_a_mistake_is_named_by_its_line(line: int, written: str, named: int) -> None:
    assert mistake(line, written).where == f"loans.toml, line {named}"


def with_inputs(**inputs: Any) -> ShieldSpecification:
    return ShieldSpecification.from_dict(
        {
            "fairness": {"property": "equal_opportunity", "bound": 0.1},
            "groups": {"names": ["a", "b"]},
            "horizon": {"length": 3},
            "inputs": inputs,
        },
        where="here",
    )


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"costs": []}, "inputs.costs: there is no cost"),
        ({"costs": [1, 1.0]}, "inputs.costs: the cost 1 stands twice"),
        ({"costs": [-1]}, "inputs.costs.0"),
        ({"table": []}, "inputs.table: the table has no rows"),
        ({"log": "x.csv", "smoothing": -1}, "inputs.smoothing"),
        ({"log": "x.csv", "most_costs": 0}, "inputs.most_costs"),
        ({"log": "x.csv", "columns": {"groups": "x"}}, "inputs.columns.groups: unknown key"),
    ],
)
def test_mistakes_in_a_mapping_are_named_by_their_key(inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        with_inputs(**inputs)
    assert str(caught.value).startswith(f"here: {words}")


def test_a_log_without_labels_for_a_property_that_needs_them(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("group,recommendation\na,1\nb,0\n", encoding="utf-8")
    made = with_inputs(log="x.csv")
    with pytest.raises(SpecificationError) as caught:
        made.input_distribution(tmp_path)
    assert "equal_opportunity depends on labels" in caught.value.what
    assert "inputs.columns.label" in caught.value.remedy


def test_keys_that_are_missing() -> None:
    with pytest.raises(SpecificationError, match=r"here: fairness: this key is missing.*2 more"):
        ShieldSpecification.from_dict({}, where="here")


def test_files_that_are_no_specification(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="no such file"):
        ShieldSpecification.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(SpecificationError, match=r"bad\.toml: not valid TOML"):
        ShieldSpecification.read(tmp_path / "bad.toml")


def test_a_mistake_in_a_list_of_groups_is_named_by_its_line() -> None:
    groups = '[[groups]]\nname = "women"\nwhen = "sex = f"\n[[groups]]\nname = "men"\n'
    with pytest.raises(SpecificationError) as caught:
        ShieldSpecification.parse(groups + 'when = "sex = = m"\n', where="loans.toml")
    assert caught.value.details["mistakes"][0]["key"] == "groups.1.when"
    assert caught.value.details["mistakes"][0]["line"] == 6
