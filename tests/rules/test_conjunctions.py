"""Conjunctions of single values, against a count by hand."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import tables

from testsgd.rules import RuleSet, lay_out, sensitive_axes
from testsgd.rules.conjunctions import Conditions, row_bits


def by_hand(table, min_rows):
    """Give the rows of every conjunction of single values that enough rows fulfil."""
    contingency = lay_out(table, sensitive_axes(table))
    values = []
    for axis in contingency.axes:
        rules = filter(None, map(axis.cell_rule, range(len(axis.labels))))
        single = [(rule, RuleSet((rule,)).matches(table)) for rule in rules]
        # A value that all rows have is no condition.
        values.append([(rule, rows) for rule, rows in single if not rows.all()])
    found = {}
    for size in range(1, len(values) + 1):
        for features in itertools.combinations(values, size):
            for conditions in itertools.product(*features):
                rows = np.logical_and.reduce([rows for _, rows in conditions])
                if rows.sum() >= min_rows:
                    found[RuleSet(tuple(rule for rule, _ in conditions))] = rows
    return found


@given(tables(most_features=5, most_rows=30), st.integers(1, 5), st.integers(0, 2**30))
def test_all_conjunctions_with_enough_rows(table, min_rows, seed):
    contingency = lay_out(table, sensitive_axes(table))
    conditions = Conditions.of(contingency, min_rows=min_rows)
    levels, complete = conditions.levels(min_rows=min_rows, most=10**6)
    assert complete
    chosen = np.random.default_rng(seed).random(len(table)) < 0.5
    found = {}
    for size, level in enumerate(levels, start=1):
        counts = conditions.count(level, chosen)
        for index, (numbers, rows) in enumerate(zip(level.conditions, level.rows, strict=True)):
            rule_set = conditions.rule_set(numbers)
            assert len(rule_set.rules) == size
            found[rule_set] = (int(rows), int(counts[index]))
    expected = {
        rule_set: (int(rows.sum()), int((rows & chosen).sum()))
        for rule_set, rows in by_hand(table, min_rows).items()
    }
    assert found == expected


@given(tables(most_features=4, most_rows=30), st.integers(1, 20))
def test_no_level_has_more_than_allowed(table, most):
    contingency = lay_out(table, sensitive_axes(table))
    conditions = Conditions.of(contingency, min_rows=1)
    everything, _ = conditions.levels(min_rows=1, most=10**6)
    levels, complete = conditions.levels(min_rows=1, most=most)
    sizes = [len(level.rows) for level in everything]
    # The first level is always there.
    kept = 1 + next((index for index, size in enumerate(sizes[1:]) if size > most), len(sizes) - 1)
    assert [len(level.rows) for level in levels] == sizes[: kept if sizes else 0]
    assert complete == (len(levels) == len(sizes))


@given(st.lists(st.booleans(), max_size=300))
def test_bits_are_the_rows(inside):
    bits = row_bits(np.array(inside, dtype=bool))
    back = np.unpackbits(bits.view(np.uint8), bitorder="little")
    assert back[: len(inside)].tolist() == [int(row) for row in inside]
    assert not back[len(inside) :].any()
