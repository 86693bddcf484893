"""Small groups: the widest combinations of single values that too few rows have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import make_table, tables

from testsgd.rules import (
    IntervalRule,
    RuleSet,
    ValueRule,
    lay_out,
    mine,
    sensitive_axes,
    small_groups,
    unjudged_rows,
)


def single_values(table, name):
    """Give the rule of each single value or bin of a feature, with its rows."""
    feature, column = table.specification.features[name], table.frame[name]
    if feature.type == "categorical":
        for value in feature.values:
            yield ValueRule(name, (value,)), (column == value).to_numpy()
        yield ValueRule(name, ("missing",)), column.isna().to_numpy()
        return
    edges = feature.edges
    last = len(edges) - 2
    for bin_ in range(last + 1):
        low = None if bin_ == 0 else edges[bin_]
        high = None if bin_ == last else edges[bin_ + 1]
        rows = column.notna()
        rows &= True if low is None else column >= low
        rows &= True if high is None else column < high
        if last > 0:  # a single bin says nothing about anybody
            yield IntervalRule(name, low, high), rows.to_numpy()
    yield ValueRule(name, ("missing",)), column.isna().to_numpy()


def small_by_definition(table, min_count, max_features):
    count = {}
    for size in range(1, max_features + 1):
        for names in itertools.combinations(table.specification.sensitive, size):
            for chosen in itertools.product(*(single_values(table, name) for name in names)):
                rules = tuple(rule for rule, _ in chosen)
                count[rules] = int(np.logical_and.reduce([rows for _, rows in chosen]).sum())
    found = {}
    for rules, rows in count.items():
        parts = [rules[:place] + rules[place + 1 :] for place in range(len(rules))]
        wide = all(count[part] >= min_count for part in parts if part)
        if 0 < rows < min_count and wide:
            found[RuleSet(rules)] = rows
    return found


@given(tables(), st.integers(0, 8), st.integers(1, 3))
def test_small_groups_are_those_of_the_definition(table, min_count, max_features):
    contingency = lay_out(table, sensitive_axes(table))
    found = small_groups(contingency, min_count=min_count, max_features=max_features)
    assert len({group.rule_set for group in found}) == len(found)
    assert {group.rule_set: group.count for group in found} == small_by_definition(
        table, min_count, max_features
    )
    keys = [(len(group.rule_set.rules), -group.count, group.rule_set.text) for group in found]
    assert keys == sorted(keys)


def test_only_the_widest_combination_is_listed():
    # Women are few, so Black women are not listed again; Black men are few, though men and Black
    # people are not.
    table = make_table(
        {
            "gender": {"type": "categorical", "values": ["female", "male"]},
            "race": {"type": "categorical", "values": ["Black", "White"]},
        },
        {
            "gender": ["female"] * 3 + ["male"] * 6,
            "race": ["Black", "Black", "Black", "Black", *["White"] * 5],
        },
    )
    contingency = lay_out(table, sensitive_axes(table))
    found = small_groups(contingency, min_count=4, max_features=2)
    assert [(group.rule_set.text, group.count) for group in found] == [
        ("gender = female", 3),
        ("gender = male and race = Black", 1),
    ]


def test_missing_values_are_a_group_of_their_own():
    table = make_table(
        {
            "race": {"type": "categorical", "values": ["Black", "White"]},
            "age": {"type": "integer", "range": [0, 100], "bins": 2},
        },
        {"race": ["Black", "Black", "White", None], "age": [10.0, 10.0, 60.0, np.nan]},
    )
    contingency = lay_out(table, sensitive_axes(table))
    found = small_groups(contingency, min_count=2, max_features=1)
    assert [group.rule_set.text for group in found] == [
        "age = missing",
        "age >= 50",
        "race = White",
        "race = missing",
    ]


def searched(table, min_count, max_features):
    contingency = lay_out(table, sensitive_axes(table))
    groups = mine(
        contingency,
        contingency.tally()[None],
        min_count=min_count,
        min_outside=min_count,
        max_features=max_features,
    )
    return contingency, groups


def unjudged_by_definition(table, groups, min_count, max_features, max_dilution):
    """Take one row after another, and look for the groups around those that are like it."""
    labels = {}
    for name in table.specification.sensitive:
        rules = [rows for _, rows in single_values(table, name) if rows.any()]
        labels[name] = [
            next((number for number, rows in enumerate(rules) if rows[row]), "only bin")
            for row in range(len(table))
        ]
    own = list(zip(*labels.values(), strict=True))
    members = [groups.rule_set(group).matches(table) for group in range(len(groups))]
    # A value that all rows have is no rule.
    several = {name: labels[name] for name in labels if len(set(labels[name])) > 1}
    several |= {
        name: labels[name]
        for name in labels
        if table.specification.features[name].type != "categorical"
        and len(table.specification.features[name].edges) > 2
    }
    size = min(max_features, len(several))
    unjudged = []
    for row in range(len(table)):
        within = any(
            inside[row] and inside.sum() <= max_dilution * own.count(own[row]) for inside in members
        )
        judged_values = False
        for names in itertools.combinations(several, size) if size else ():
            values = list(zip(*(labels[name] for name in names), strict=True))
            like = values.count(values[row])
            # A bin is compared with rows whose number is known.
            compared = np.ones(len(table), dtype=bool)
            for name in names:
                known = table.frame[name].notna().to_numpy()
                if table.specification.features[name].type != "categorical" and known[row]:
                    compared &= known
            enough = like >= min_count and compared.sum() - like >= min_count
            judged_values |= enough and "only bin" not in values[row]
        if not (within and judged_values):
            unjudged.append(row)
    return len(set(own)), len({own[row] for row in unjudged}), len(unjudged)


@given(
    tables(most_features=4, most_rows=14),
    st.integers(1, 6),
    st.integers(1, 3),
    st.sampled_from([1, 1.5, 3, 10]),
)
def test_unjudged_rows_are_those_of_the_definition(table, min_count, max_features, max_dilution):
    contingency, groups = searched(table, min_count, max_features)
    found = unjudged_rows(
        contingency,
        groups,
        min_count=min_count,
        max_features=max_features,
        max_dilution=max_dilution,
    )
    assert (found.combinations, found.unjudged, found.rows) == unjudged_by_definition(
        table, groups, min_count, max_features, max_dilution
    )


def people_of_a_rare_race(features):
    """Race B are 40 of 30,000 people; the other features have nothing to do with it."""
    source = np.random.default_rng(features)
    columns = {"race": np.where(np.arange(30_000) < 40, "B", "A")}
    columns |= {f"f{place}": source.choice(["x", "y", "z"], 30_000) for place in range(features)}
    kinds = {
        name: {"type": "categorical", "values": sorted(set(column))}
        for name, column in columns.items()
    }
    return make_table(kinds, columns)


@pytest.mark.parametrize("features", [0, 1, 3, 4])
def test_more_features_do_not_hide_a_rare_value(features):
    table = people_of_a_rare_race(features)
    contingency, groups = searched(table, 50, features + 1)
    found = unjudged_rows(
        contingency, groups, min_count=50, max_features=features + 1, max_dilution=10
    )
    # With race alone its complement is too small to be compared with.
    assert found.rows == (40 if features else 30_000)


def test_a_larger_dilution_judges_more():
    # Two bits and a third feature that tells people apart: the combinations are of a few people.
    source = np.random.default_rng(0)
    numbers = [str(number) for number in range(10)]
    columns = {
        "a": source.choice(["x", "y"], 1000),
        "b": source.choice(["x", "y"], 1000),
        "c": source.choice(["x", "y"], 1000),
        "d": source.choice(numbers, 1000),
    }
    kinds = {
        name: {"type": "categorical", "values": sorted(set(column))}
        for name, column in columns.items()
    }
    contingency, groups = searched(make_table(kinds, columns), 50, 3)
    rows = [
        unjudged_rows(contingency, groups, min_count=50, max_features=3, max_dilution=dilution).rows
        for dilution in (1, 5, 10, 1000)
    ]
    assert rows == sorted(rows, reverse=True)
    assert rows[0] == 1000
    assert rows[-1] == 0
