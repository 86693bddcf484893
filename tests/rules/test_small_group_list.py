"""Small groups: the widest combinations of single values that too few rows have."""

from __future__ import annotations

import itertools

import numpy as np
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


def test_missing_values_are_a_group_for_categories_only():
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
        "age >= 50",
        "race = White",
        "race = missing",
    ]


def unjudged_by_definition(table, min_count, max_features):
    """Take one row after another, and look at each of its combinations of single values."""
    labels = {}
    for name in table.specification.sensitive:
        rules = [rows for _, rows in single_values(table, name) if rows.any()]
        feature = table.specification.features[name]
        # A value that everybody has, or the only bin there is, says nothing.
        if feature.type == "categorical" and len(rules) == 1:
            continue
        if feature.type != "categorical" and len(feature.edges) == 2:
            continue
        labels[name] = [
            next((number for number, rows in enumerate(rules) if rows[row]), "missing")
            for row in range(len(table))
        ]
    combinations, unjudged, judged_rows = set(), set(), set()
    size = min(max_features, len(labels))
    for names in itertools.combinations(labels, size) if size else ():
        for row in range(len(table)):
            own = tuple(labels[name][row] for name in names)
            like = sum(
                own == tuple(labels[name][other] for name in names) for other in range(len(table))
            )
            combinations.add((names, own))
            if "missing" in own or like < min_count or len(table) - like < min_count:
                unjudged.add((names, own))
            else:
                judged_rows.add(row)
    return len(combinations), len(unjudged), len(table) - len(judged_rows)


@given(tables(most_features=4, most_rows=14), st.integers(1, 6), st.integers(1, 3))
def test_unjudged_rows_are_those_of_the_definition(table, min_count, max_features):
    contingency = lay_out(table, sensitive_axes(table))
    found = unjudged_rows(contingency, min_count=min_count, max_features=max_features)
    assert (found.combinations, found.unjudged, found.rows) == unjudged_by_definition(
        table, min_count, max_features
    )


@given(tables(most_features=4, most_rows=14), st.integers(1, 6), st.integers(1, 3))
def test_who_is_judged_is_in_a_judged_group_of_single_values(table, min_count, max_features):
    contingency = lay_out(table, sensitive_axes(table))
    groups = mine(
        contingency,
        contingency.tally()[None],
        min_count=min_count,
        min_outside=min_count,
        max_features=max_features,
    )
    judged = {
        tuple(np.flatnonzero(groups.rule_set(group).matches(table))) for group in range(len(groups))
    }
    isolated = np.zeros(len(table), dtype=bool)
    for size in range(1, max_features + 1):
        for names in itertools.combinations(table.specification.sensitive, size):
            for chosen in itertools.product(*(single_values(table, name) for name in names)):
                rows = np.logical_and.reduce([rows for _, rows in chosen])
                if tuple(np.flatnonzero(rows)) in judged:
                    isolated |= rows
    found = unjudged_rows(contingency, min_count=min_count, max_features=max_features)
    # Everybody in no such group is counted; so are some whose longest combination is too small.
    assert found.rows >= (~isolated).sum()


def test_people_in_a_common_combination_are_judged_though_others_of_theirs_are_rare():
    table = make_table(
        {
            "gender": {"type": "categorical", "values": ["f", "m"]},
            "race": {"type": "categorical", "values": ["a", "b", "c"]},
            "land": {"type": "categorical", "values": ["x", "y"]},
        },
        {
            "gender": ["f"] * 6 + ["m"] * 6,
            "race": ["a"] * 5 + ["c"] + ["b"] * 6,
            "land": ["x", "y"] * 6,
        },
    )
    contingency = lay_out(table, sensitive_axes(table))
    pairs = unjudged_rows(contingency, min_count=4, max_features=2)
    # f a and m b are common, f c is one person; gender or race with land are three at most.
    assert (pairs.combinations, pairs.unjudged, pairs.rows) == (12, 10, 1)
    triples = unjudged_rows(contingency, min_count=4, max_features=3)
    assert triples.rows == len(table)
