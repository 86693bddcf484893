"""Mining: the frequent groups of rows, each once, each under its simplest description."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import make_table, plain_complement, plain_rule_sets, tables

from testsgd.rules import IntervalRule, ValueRule, candidate_count, lay_out, mine, sensitive_axes


def mined(table, *, min_count, max_features, **options):
    contingency = lay_out(table, sensitive_axes(table))
    quantities = np.vstack([contingency.tally(), contingency.tally(np.arange(len(table)))])
    found = mine(contingency, quantities, min_count=min_count, max_features=max_features, **options)
    return contingency, found


def sides_of(table, rule_set, rows):
    """Give the rows of a group, and those of its complement."""
    outside = plain_complement(table, rule_set, rows)
    return tuple(np.flatnonzero(rows)), tuple(np.flatnonzero(outside))


def complexity(rule_set, table):
    """Order descriptions: fewest rules, then fewest values, then most bins."""
    values = sum(len(rule.values) for rule in rule_set.rules if isinstance(rule, ValueRule))
    bins = sum(_bins(rule, table) for rule in rule_set.rules if isinstance(rule, IntervalRule))
    return len(rule_set.rules), values, -bins


def _bins(rule, table):
    edges = table.specification.features[rule.feature].edges
    start = 0 if rule.low is None else edges.index(rule.low)
    stop = len(edges) - 1 if rule.high is None else edges.index(rule.high)
    return stop - start


@given(tables(), st.integers(0, 8), st.integers(1, 3))
def test_groups_are_the_frequent_row_sets_each_once_and_simply_described(
    table, min_count, max_features
):
    everything = plain_rule_sets(table, max_features)
    frequent = {
        rule_set: sides_of(table, rule_set, rows)
        for rule_set, rows in everything.items()
        if rows.sum() >= max(min_count, 1) and plain_complement(table, rule_set, rows).any()
    }
    simplest = {}
    for rule_set, sides in frequent.items():
        key = complexity(rule_set, table)
        simplest[sides] = min(key, simplest.get(sides, key))

    contingency, found = mined(table, min_count=min_count, max_features=max_features)
    assert found.candidates == candidate_count(contingency.axes, max_features) == len(everything)
    assert found.frequent == len(frequent)
    assert len(found) == len(simplest)
    described = {}
    for group in range(len(found)):
        rule_set = found.rule_set(group)
        described[frequent[rule_set]] = complexity(rule_set, table)
        assert found.rule_counts()[group] == len(rule_set.rules)
    assert described == simplest


@given(tables(), st.integers(0, 8), st.integers(0, 8), st.integers(1, 3))
def test_a_bound_on_the_other_side_leaves_out_who_is_nearly_everybody(
    table, min_count, min_outside, max_features
):
    wanted = {
        sides_of(table, rule_set, rows)
        for rule_set, rows in plain_rule_sets(table, max_features).items()
        if rows.sum() >= max(min_count, 1)
        and plain_complement(table, rule_set, rows).sum() >= max(min_outside, 1)
    }
    _, found = mined(table, min_count=min_count, min_outside=min_outside, max_features=max_features)
    rule_sets = [found.rule_set(group) for group in range(len(found))]
    groups = [sides_of(table, rule_set, rule_set.matches(table)) for rule_set in rule_sets]
    assert len(groups) == len(wanted)
    assert set(groups) == wanted


@given(tables(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_sums_of_other_quantities_are_direct_sums_in_any_order_of_the_groups(
    table, max_features, random
):
    contingency, found = mined(table, min_count=1, max_features=max_features)
    chosen = list(range(len(found)))
    random.shuffle(chosen)
    # Some are left out, and some come twice.
    chosen = np.array(chosen[: len(chosen) // 2 + 1] + chosen[:2], dtype=np.intp)
    groups = found.take(chosen)
    quantities = np.array([[random.uniform(-1, 1) for _ in range(contingency.cells)] for _ in "ab"])
    sums = groups.sums_of(contingency, quantities)
    assert sums.shape == (2, len(chosen))
    for place in range(len(chosen)):
        rows = groups.rule_set(place).matches(table)
        inside = sorted(set(contingency.cell_of_row[rows].tolist()))
        np.testing.assert_allclose(sums[:, place], quantities[:, inside].sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("few_cells", [0, 1_000])
@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@given(table=tables(), max_features=st.integers(1, 3))
def test_repeated_sums_are_the_same_by_product_and_by_contraction(
    few_cells, kind, tolerance, table, max_features
):
    contingency, found = mined(table, min_count=1, max_features=max_features)
    quantities = np.random.default_rng(0).standard_normal((3, contingency.cells))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("testsgd.rules.mining._FEW_CELLS", few_cells)
        sums = found.repeated_sums(contingency, kind)(quantities.astype(kind))
    assert sums.dtype == kind
    np.testing.assert_allclose(sums, found.sums_of(contingency, quantities), atol=tolerance)


@pytest.mark.parametrize("few_cells", [0, 1_000])
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_sums_of_some_groups_are_those_of_all_groups(few_cells, table, seed):
    contingency, found = mined(table, min_count=1, max_features=2)
    source = np.random.default_rng(seed)
    quantities = source.integers(0, 99, (3, contingency.cells)).astype(np.float64)
    groups = source.permutation(len(found))[: len(found) // 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("testsgd.rules.mining._FEW_CELLS", few_cells)
        sums = found.sums_of_some(contingency)(quantities, groups)
    assert sums.tolist() == found.sums_of(contingency, quantities)[:, groups].tolist()


@given(tables(), st.integers(1, 5))
def test_sums_and_members_are_those_of_the_rows_that_match(table, min_count):
    contingency, found = mined(table, min_count=min_count, max_features=3)
    groups = np.arange(len(found))
    inside = found.members(groups, contingency)
    assert inside.shape == (len(found), contingency.cells)
    for group in groups:
        rows = found.rule_set(group).matches(table)
        assert inside[group][contingency.cell_of_row].tolist() == rows.tolist()
        assert found.sums[:, group].tolist() == [rows.sum(), np.flatnonzero(rows).sum()]


@given(tables(), st.data())
def test_members_and_take_follow_the_order_asked_for(table, data):
    contingency, found = mined(table, min_count=1, max_features=2)
    if len(found) == 0:
        return
    groups = np.array(data.draw(st.lists(st.integers(0, len(found) - 1), max_size=5)), dtype=int)
    whole = found.members(np.arange(len(found)), contingency)
    assert np.array_equal(found.members(groups, contingency), whole[groups])
    taken = found.take(groups)
    assert len(taken) == len(groups)
    for place, group in enumerate(groups):
        assert taken.rule_set(place) == found.rule_set(group)
        assert taken.sums[:, place].tolist() == found.sums[:, group].tolist()


def test_equal_descriptions_fall_to_the_first_feature():
    table = make_table(
        {
            "x": {"type": "categorical", "values": ["a", "b"]},
            "y": {"type": "categorical", "values": ["a", "b"]},
        },
        {"x": ["a", "a", "b"], "y": ["a", "a", "b"]},
    )
    _, found = mined(table, min_count=1, max_features=2)
    assert [found.rule_set(group).text for group in range(len(found))] == ["x = a", "x = b"]
    assert (found.candidates, found.frequent) == (8, 6)


def test_fewer_values_make_the_simpler_description():
    # "x in {a, b}" comes first in the search and selects the same rows as "y = a".
    table = make_table(
        {
            "x": {"type": "categorical", "values": ["a", "b", "c", "d"]},
            "y": {"type": "categorical", "values": ["a", "b", "c"]},
        },
        {"x": ["a", "b", "c", "d"], "y": ["a", "a", "b", "c"]},
    )
    _, found = mined(table, min_count=2, max_features=1)
    texts = [found.rule_set(group).text for group in range(len(found))]
    assert "y = a" in texts
    assert "x in {a, b}" not in texts
    assert "x in {c, d}" in texts  # as short as "y in {b, c}", and found before it


def test_empty_bins_widen_the_interval_that_is_shown():
    table = make_table(
        {"age": {"type": "integer", "range": [0, 50], "bins": 5}}, {"age": [5, 5, 45]}
    )
    _, found = mined(table, min_count=1, max_features=1)
    assert [found.rule_set(group).text for group in range(len(found))] == ["age < 40", "age >= 10"]


def test_group_of_everybody_is_left_out_even_under_a_narrower_rule():
    # Every age is below 40, but for the one that is missing.
    table = make_table(
        {"age": {"type": "integer", "range": [0, 50], "bins": 5}}, {"age": [5.0, 15.0, 25.0]}
    )
    _, found = mined(table, min_count=1, max_features=1)
    assert max(found.sums[0]) == 2
    with_missing = make_table(
        {"age": {"type": "integer", "range": [0, 50], "bins": 5}}, {"age": [5.0, 15.0, np.nan]}
    )
    # Nor is the one with a missing age outside of the group: it has no complement.
    _, found = mined(with_missing, min_count=2, max_features=1)
    assert [found.rule_set(group).text for group in range(len(found))] == []


@pytest.mark.parametrize("values", [["a"], ["a", "a", "a"]])
def test_no_groups_where_nobody_is_left_out(values):
    table = make_table({"x": {"type": "categorical", "values": ["a", "b"]}}, {"x": values})
    contingency, found = mined(table, min_count=1, max_features=3)
    assert (len(found), found.candidates, found.frequent) == (0, 0, 0)
    assert found.sums.shape == (2, 0)
    nobody = np.zeros(0, dtype=np.intp)
    assert found.members(nobody, contingency).shape == (0, 1)


def test_the_papers_197_rule_sets_are_among_those_looked_at():
    # Section 4.1 of the TestSGD paper: 2 rules of gender, 5 of race and 10 of age, one for each
    # value or bin, make 17 rule sets of one rule, 80 of two and 100 of three.
    sizes = (2, 5, 10)
    people = np.array(list(itertools.product(*map(range, sizes))))
    table = make_table(
        {
            "gender": {"type": "categorical", "values": ["0", "1"]},
            "race": {"type": "categorical", "values": ["0", "1", "2", "3", "4"]},
            "age": {"type": "integer", "range": [0, 100], "bins": 10},
        },
        {
            "gender": people[:, 0].astype(str),
            "race": people[:, 1].astype(str),
            "age": people[:, 2] * 10,
        },
    )
    contingency, found = mined(table, min_count=1, max_features=3)
    inside = found.members(np.arange(len(found)), contingency)[:, contingency.cell_of_row]
    looked_at = {tuple(np.flatnonzero(rows)) for rows in inside}

    of_the_paper = {1: set(), 2: set(), 3: set()}
    for chosen in itertools.product(*([None, *range(size)] for size in sizes)):
        rules = [(place, value) for place, value in enumerate(chosen) if value is not None]
        if rules:
            rows = np.all([people[:, place] == value for place, value in rules], axis=0)
            of_the_paper[len(rules)].add(tuple(np.flatnonzero(rows)))
    assert [len(groups) for groups in of_the_paper.values()] == [17, 80, 100]
    assert set().union(*of_the_paper.values()) <= looked_at
    # All sets of values but the whole, and all runs of bins but the whole, or no rule at all.
    assert found.candidates == (1 + 2) * (1 + 30) * (1 + 54) - 1 == 5114
