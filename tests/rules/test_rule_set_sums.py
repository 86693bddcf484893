"""Sums over every rule set equal those of a row by row search through all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import make_table, plain_rule_sets, tables

import testsgd.rules.contingency as lattice
from testsgd.rules import (
    candidate_count,
    feature_subsets,
    lay_out,
    rule_set_sums,
    sensitive_axes,
)


def all_sums(contingency, quantities, max_features):
    """Collect the blocks: each rule set and its sums."""
    subsets = feature_subsets(contingency.axes, max_features)
    found = {}
    for block in rule_set_sums(contingency, quantities, max_features):
        for place, sums in enumerate(block.sums.T.tolist(), start=block.first):
            rule_set = lattice.rule_set_at(contingency.axes, subsets[block.subset], place)
            assert rule_set not in found
            found[rule_set] = sums
    return found


@given(tables(), st.integers(1, 4), st.data())
def test_sums_equal_brute_force(table, max_features, data):
    contingency = lay_out(table, sensitive_axes(table))
    whole = np.iinfo(np.int64)
    marks = data.draw(
        st.lists(
            st.integers(whole.min, whole.max),
            min_size=contingency.cells,
            max_size=contingency.cells,
        )
    )
    quantities = np.vstack([contingency.tally(), np.array(marks, dtype=np.int64)])
    # Whole numbers of Python do not overflow; the wrap of 64 bits is put on the final sum.
    expected = {}
    for rule_set, rows in plain_rule_sets(table, max_features).items():
        cells = set(contingency.cell_of_row[rows].tolist())
        wrapped = (sum(marks[cell] for cell in cells) + 2**63) % 2**64 - 2**63
        expected[rule_set] = [int(rows.sum()), wrapped]
    assert all_sums(contingency, quantities, max_features) == expected
    assert candidate_count(contingency.axes, max_features) == len(expected)


@given(tables(), st.sampled_from([1, 7, 30]))
def test_size_of_blocks_changes_nothing(table, numbers):
    contingency = lay_out(table, sensitive_axes(table))
    quantities = np.vstack([contingency.tally(), np.arange(contingency.cells)])
    whole = all_sums(contingency, quantities, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_BLOCK_NUMBERS", numbers)
        assert all_sums(contingency, quantities, 3) == whole
        blocks = list(rule_set_sums(contingency, quantities, 3))
    # The blocks follow each other without gaps.
    done = 0
    for before, block in zip([None, *blocks], blocks, strict=False):
        done = 0 if before is None or block.subset != before.subset else done
        assert block.first == done
        done += block.sums.shape[1]


@given(st.integers(0, 6), st.integers(1, 8))
def test_subsets_of_features_are_counted_by_binomial_coefficients(features, most):
    subsets = feature_subsets([None] * features, most)
    assert len(set(subsets)) == len(subsets)
    assert len(subsets) == sum(math.comb(features, size) for size in range(1, most + 1))
    assert list(subsets) == sorted(subsets, key=lambda subset: (len(subset), subset))


def test_number_of_candidates_of_the_papers_census_features():
    # Gender of 2 values, race of 5, age in 10 bins: 2, 30 and 54 rules.
    table = make_table(
        {
            "gender": {"type": "categorical", "values": ["f", "m"]},
            "race": {"type": "categorical", "values": ["a", "b", "c", "d", "e"]},
            "age": {"type": "integer", "range": [0, 100]},
        },
        {"gender": list("fmfmf"), "race": list("abcde"), "age": [10, 20, 30, 40, 50]},
    )
    axes = sensitive_axes(table)
    assert candidate_count(axes, 1) == 2 + 30 + 54
    assert candidate_count(axes, 2) == 86 + 2 * 30 + 2 * 54 + 30 * 54
    assert candidate_count(axes, 3) == candidate_count(axes, 9) == 3 * 31 * 55 - 1


def test_feature_with_one_value_has_no_rules_and_stops_nothing():
    table = make_table(
        {
            "gender": {"type": "categorical", "values": ["f", "m"]},
            "race": {"type": "categorical", "values": ["a", "b"]},
        },
        {"gender": ["f", "f", "f"], "race": ["a", "b", "b"]},
    )
    contingency = lay_out(table, sensitive_axes(table))
    found = all_sums(contingency, contingency.tally()[None, :], 2)
    assert {rule_set.text: sums for rule_set, sums in found.items()} == {
        "race = a": [1],
        "race = b": [2],
    }
