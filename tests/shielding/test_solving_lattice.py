"""Numbering of states: against sorted lists of all tuples."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.shielding.solving.lattice import CounterLattice, rank

SMALL = pytest.mark.parametrize(
    ("dimensions", "horizon"), [(2, 1), (2, 7), (3, 1), (3, 6), (4, 5), (5, 4), (6, 3), (8, 2)]
)


def _states(dimensions: int, step: int) -> list[tuple[int, ...]]:
    """All states of a time in their order, by the words of the module's description."""
    tuples = [one for one in product(range(step + 1), repeat=dimensions) if sum(one) <= step]
    return sorted(tuples, key=lambda one: (sum(one[:-1]), one[:-1], one[-1]))


@SMALL
def test_index_is_the_place_among_all_states(dimensions: int, horizon: int) -> None:
    lattice = CounterLattice(dimensions, horizon)
    for step in range(horizon + 1):
        states = _states(dimensions, step)
        assert lattice.size(step) == len(states) == lattice.bases(step)[-1]
        assert lattice.index(step, np.array(states)).tolist() == list(range(len(states)))


@SMALL
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_blocks_go_through_all_states_in_order(dimensions: int, horizon: int, most: int) -> None:
    lattice = CounterLattice(dimensions, horizon)
    for step in range(horizon + 1):
        found: list[tuple[int, ...]] = []
        for where, states in lattice.blocks(step, most):
            assert where.start == len(found)
            found += map(tuple, states.tolist())
            assert where.stop == len(found)
        assert found == _states(dimensions, step)


@SMALL
def test_next_rows_lead_to_the_row_whose_number_is_one_larger(
    dimensions: int, horizon: int
) -> None:
    lattice = CounterLattice(dimensions, horizon)
    prefixes = list(map(tuple, lattice.prefixes.tolist()))
    # A row of the largest sum has no next one.
    for row, prefix in enumerate(prefixes):
        if sum(prefix) == horizon:
            continue
        start = lattice.row_starts[sum(prefix) + 1]
        for column in range(dimensions - 1):
            larger = tuple(one + (place == column) for place, one in enumerate(prefix))
            assert prefixes[start + lattice.next_rows[row, column]] == larger


@SMALL
def test_total_counts_the_states_before_the_last_event(dimensions: int, horizon: int) -> None:
    lattice = CounterLattice(dimensions, horizon)
    assert lattice.total == sum(len(_states(dimensions, step)) for step in range(horizon))
    assert len(lattice.prefixes) == lattice.row_starts[-1] == lattice.row_count


@given(data=st.data())
def test_index_in_large_lattices(data: st.DataObject) -> None:
    """Neighbours have neighbouring numbers, the first is 0 and the last the size less 1."""
    dimensions = data.draw(st.integers(2, 9))
    step = data.draw(st.integers(1, 400 if dimensions < 5 else 60))
    lattice = CounterLattice(dimensions, step)
    zero = np.zeros((1, dimensions), dtype=np.int64)
    assert lattice.index(step, zero).tolist() == [0]
    last = zero.copy()
    last[0, 0] = step
    assert lattice.index(step, last).tolist() == [comb(step + dimensions, dimensions) - 1]
    cuts = sorted(data.draw(st.lists(st.integers(0, step - 1), min_size=dimensions,
                                     max_size=dimensions)))  # fmt: skip
    state = np.diff([0, *cuts])[None, :]
    beside = state.copy()
    beside[0, -1] += 1
    one, other = lattice.index(step, np.concatenate([state, beside]))
    assert other == one + 1


def test_rank_of_one_column_is_always_the_first() -> None:
    assert rank(np.array([[0], [3], [7]])).tolist() == [0, 0, 0]
