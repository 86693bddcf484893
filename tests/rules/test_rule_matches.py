"""A rule says who is in a group: in words, and for every row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from plain_rules import make_table, plain_rule_sets, tables

from testsgd.rules import IntervalRule, RuleSet, ValueRule

PEOPLE = make_table(
    {
        "gender": {"type": "categorical", "values": ["female", "male"]},
        "race": {"type": "categorical", "values": ["Black", "Hispanic", "White"]},
        "age": {"type": "integer", "range": [0, 100]},
    },
    {
        "gender": ["male", "female", "male", None, "male", "female"],
        "race": ["White", "Black", None, "Hispanic", "Black", None],
        "age": [39.0, 40.0, 59.0, 60.0, np.nan, 100.0],
    },
)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (ValueRule("gender", ("male",)), "gender = male"),
        (ValueRule("race", ("Black", "missing")), "race in {Black, missing}"),
        (ValueRule("race", ("missing",)), "race = missing"),
        (IntervalRule("age", 40, 60), "40 <= age < 60"),
        (IntervalRule("age", 40.0, None), "age >= 40"),
        (IntervalRule("age", None, 20.5), "age < 20.5"),
        (IntervalRule("age", 0.0, 0.3), "0 <= age < 0.3"),
        (IntervalRule("age", -5.0, -2.5), "-5 <= age < -2.5"),
    ],
)
def test_rule_is_written_as_people_write_it(rule, text):
    assert rule.text == text
    assert rule.to_json()["text"] == text


def test_rule_set_joins_its_rules_in_order():
    group = RuleSet((ValueRule("gender", ("male",)), IntervalRule("age", 40, 60)))
    assert group.text == "gender = male and 40 <= age < 60"


@pytest.mark.parametrize(
    ("rule", "matching"),
    [
        (ValueRule("gender", ("male",)), [1, 0, 1, 0, 1, 0]),
        (ValueRule("race", ("missing",)), [0, 0, 1, 0, 0, 1]),
        (ValueRule("race", ("Black", "missing")), [0, 1, 1, 0, 1, 1]),
        (IntervalRule("age", 40, 60), [0, 1, 1, 0, 0, 0]),
        (IntervalRule("age", 60, None), [0, 0, 0, 1, 0, 1]),
        (IntervalRule("age", None, 60), [1, 1, 1, 0, 0, 0]),
    ],
)
def test_low_end_is_in_high_end_is_out_and_missing_numbers_satisfy_nothing(rule, matching):
    assert rule.matches(PEOPLE).tolist() == [bool(match) for match in matching]


def test_rule_set_matches_where_all_rules_do():
    group = RuleSet((ValueRule("gender", ("male",)), IntervalRule("age", None, 60)))
    assert group.matches(PEOPLE).tolist() == [True, False, True, False, False, False]


def test_rule_set_without_rules_matches_everybody():
    assert RuleSet(()).matches(PEOPLE).all()


@settings(max_examples=25)
@given(tables())
def test_every_rule_set_matches_the_rows_that_pandas_selects(table):
    for rule_set, rows in plain_rule_sets(table, max_features=3).items():
        assert rule_set.matches(table).tolist() == rows.tolist()


@pytest.mark.parametrize("kind", ["int64", "int8", "uint8", "float32", "Int64", "int64[pyarrow]"])
def test_numbers_match_whatever_their_type(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    table = make_table(
        {"age": {"type": "integer", "range": [0, 100]}},
        {"age": pd.Series([39, 40, 59, 60], dtype=kind)},
    )
    assert IntervalRule("age", 40, 60).matches(table).tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", [object, None, "category", "string", "boolean"])
def test_values_match_whatever_their_type(kind):
    cells = [True, None, False] if kind == "boolean" else ["True", None, "False"]
    table = make_table(
        {"member": {"type": "categorical", "values": ["False", "True"]}},
        {"member": pd.Series(cells, dtype=kind)},
    )
    assert ValueRule("member", ("True",)).matches(table).tolist() == [True, False, False]
    assert ValueRule("member", ("missing",)).matches(table).tolist() == [False, True, False]
