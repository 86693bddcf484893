"""The text of a group, given back as an expression, is the same group."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import testsgd
from testsgd.auditing.named_groups import named_rule_sets, read_reference
from testsgd.data import Table
from testsgd.data.schema import DatasetSpecification
from testsgd.expressions import read_number
from testsgd.rules import IntervalRule, RuleSet, ValueRule

PIECES = [*",\"'{}[]()=<>!\\ \t;:.-“”é日", "and", "or", "not", "in", "missing", "a", "b", "7", "0"]
VALUES = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
)


def table_of(values: list[str], *, words: str = "v", numbers: str = "age") -> Table:
    """Return a table of one row a value, with features of these names."""
    specification = DatasetSpecification.model_validate(
        {
            "dataset": {"name": "values", "title": "values"},
            "label": {"column": "y", "favourable": "1", "values": ["0", "1"]},
            "features": {
                words: {"type": "categorical", "values": values, "sensitive": True},
                numbers: {"type": "integer", "range": [0, 90], "sensitive": True},
            },
        }
    )
    frame = pd.DataFrame({words: values, numbers: range(len(values))})
    return Table(specification, frame, labels=None)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_text_of_a_rule_is_read_as_the_rule(data: st.DataObject) -> None:
    # Texts that are the same number, such as 7 and 07, are one value to an expression.
    declared = data.draw(
        st.lists(
            VALUES.filter(lambda value: value != "missing"),
            min_size=2,
            max_size=5,
            unique_by=lambda value: value if read_number(value) is None else read_number(value),
        )
    )
    table = table_of(declared)
    among = [*declared, "missing"]
    chosen = data.draw(st.sets(st.sampled_from(among), min_size=1))
    rule = ValueRule("v", tuple(value for value in among if value in chosen))
    for rules in ((rule,), (rule, IntervalRule("age", 1.0, None))):
        written = RuleSet(rules).text
        assert named_rule_sets([written], table) == (RuleSet(rules),)
        assert read_reference(written, table) == written


@settings(max_examples=200, deadline=None)
@given(st.lists(VALUES, min_size=2, max_size=2, unique=True), st.sampled_from([None, 1.0]))
def test_so_it_is_whatever_features_are_called(names: list[str], low: float | None) -> None:
    words, numbers = names
    if {"y", "missing"} & {name.strip().lower() for name in names}:
        return
    try:
        table = table_of(["a", "b"], words=words, numbers=numbers)
    except ValueError:
        # No description calls a feature so.
        return
    rules = (ValueRule(words, ("a",)), IntervalRule(numbers, low, 5.0))
    for some in (rules, rules[:1], rules[1:]):
        assert named_rule_sets([RuleSet(some).text], table) == (RuleSet(some),)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a, b", 'v = "a, b"'),
        ('say "hi"', r'v = "say \"hi\""'),
        ("{b}", 'v = "{b}"'),
        ("<=50K", 'v = "<=50K"'),
        ("black and white", 'v = "black and white"'),
        (" b", 'v = " b"'),
        # As ever.
        ("Asian-Pac-Islander", "v = Asian-Pac-Islander"),
        ("Married spouse absent", "v = Married spouse absent"),
        ("f(x)", "v = f(x)"),
        ("$7.50", "v = $7.50"),
        ("007", "v = 007"),
        ("missing", "v = missing"),
    ],
)
def test_values_with_signs_are_in_quotes(value: str, text: str) -> None:
    assert ValueRule("v", (value,)).text == text


def test_groups_of_an_audit_are_given_back() -> None:
    values = ["a, b", "a", "b", 'say "hi"', "{b}", "black and white"]
    people = pd.DataFrame({"v": [value for value in values for _ in range(60)]})
    decided = [int(row % 7 < 2 + len(value) % 4) for row, value in enumerate(people["v"])]
    found = testsgd.audit_predictions(decided, sensitive_features=people, stability=0).groups
    assert len(found) > 20
    for text, inside in zip(found["text"][:20], found["n_in"], strict=False):
        named = testsgd.audit_predictions(
            decided, sensitive_features=people, stability=0, groups=[text]
        ).groups
        assert named["text"].tolist() == [text]
        assert named["n_in"].tolist() == [inside]
