"""Sums of groups over cells: equal to a dense mask's, and the transpose of sums of cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rules import tables

import testsgd.rules.contingency as lattice
from testsgd.rules import lay_out, mine, mining, sensitive_axes


def groups_of(table, least):
    contingency = lay_out(table, sensitive_axes(table))
    rows = contingency.tally()[None]
    return contingency, mine(contingency, rows, min_count=least, min_outside=0, max_features=3)


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 3), st.integers(0, 99), st.booleans(), st.sampled_from([1, 9, 999]))
def test_equals_the_product_with_a_dense_mask(table, least, seed, few, block):
    contingency, groups = groups_of(table, least)
    generator = np.random.default_rng(seed)
    # Out of order, as groups that were sorted by something else; some of no weight.
    groups = groups.take(generator.permutation(len(groups)))
    numbers = generator.normal(size=(2, len(groups))) * (generator.random(len(groups)) < 0.7)
    mask = groups.members(np.arange(len(groups)), contingency)
    quantities = generator.normal(size=(1, contingency.cells))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "_FEW_CELLS", 128 if few else 0)
        patch.setattr(lattice, "_BLOCK_NUMBERS", block)
        found = groups.cell_sums(contingency, numbers)
        assert found == pytest.approx(numbers @ mask)
        # The scalar products of the transpose: <A x, y> = <x, A^T y>.
        there = groups.sums_of(contingency, quantities)[0] @ numbers[0]
        assert there == pytest.approx(quantities[0] @ found[0])
