"""Near copies: a walk down the ranking that keeps what overlaps little with those kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.scoring import block_of, distinct_groups, member_overlaps, near_copies


@st.composite
def problems(draw):
    """Draw groups of cells, the cells' rows, a ranking, an overlap in hundredths."""
    cells = draw(st.integers(1, 6))
    # A frequent group is never empty.
    group = st.lists(st.booleans(), min_size=cells, max_size=cells).filter(any)
    table = np.array(draw(st.lists(group, min_size=1, max_size=40)), dtype=bool)
    weights = np.array(draw(st.lists(st.integers(1, 60), min_size=cells, max_size=cells)))
    order = np.array(draw(st.permutations(range(len(table)))))
    return table, weights, order, draw(st.integers(1, 100))


def jaccard(first, second, weights):
    """Give the rows in both as a share of those in either, without rounding."""
    both = int(weights[first & second].sum())
    return Fraction(both, int(weights[first | second].sum()))


def keep(problem, limit=100, block=64):
    table, weights, order, hundredths = problem
    overlaps = member_overlaps(lambda groups: table[groups], weights)
    return distinct_groups(order, overlaps, overlap=hundredths / 100, limit=limit, block=block)


@given(problems(), st.integers(1, 25), st.sampled_from([1, 8, 64]))
def test_kept_groups_are_those_of_a_walk_in_fractions(problem, limit, block):
    table, weights, order, hundredths = problem
    kept = []
    for group in order.tolist():
        copies = (
            jaccard(table[group], table[other], weights) >= Fraction(hundredths, 100)
            for other in kept
        )
        if len(kept) < limit and not any(copies):
            kept.append(group)
    assert keep(problem, limit, block) == kept


@given(problems())
def test_dropped_groups_copy_a_better_one_and_kept_ones_do_not(problem):
    table, weights, order, hundredths = problem
    kept = keep(problem)
    place = {group: rank for rank, group in enumerate(order.tolist())}
    for group in order.tolist():
        better = [other for other in kept if place[other] < place[group]]
        overlaps = [jaccard(table[group], table[other], weights) for other in better]
        is_copy = any(overlap >= Fraction(hundredths, 100) for overlap in overlaps)
        assert is_copy == (group not in kept)


@pytest.mark.parametrize(("both", "either"), [(7, 100), (14, 100), (55, 100), (29, 50), (8, 10)])
def test_overlap_of_exactly_the_share_is_a_copy(both, either):
    # 0.07 * 100 and 0.55 * 100 are a little above 7 and 55 in floats.
    table = np.array([[True, True], [True, False]])
    weights = np.array([both, either - both])
    problem = (table, weights, np.array([0, 1]), 100 * both // either)
    assert keep(problem) == [0]
    table, weights, order, hundredths = problem
    assert keep((table, weights, order, hundredths + 1)) == [0, 1]


def test_full_overlap_joins_only_identical_groups():
    table = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
    assert keep((table, np.array([1000, 1000, 1]), np.arange(3), 100)) == [0, 2]


def test_walk_stops_at_the_limit_without_looking_further():
    table = np.eye(2000, dtype=bool)
    asked = []

    def members(groups):
        asked.extend(groups.tolist())
        return table[groups]

    overlaps = member_overlaps(members, np.ones(2000, dtype=np.int64))
    kept = distinct_groups(np.arange(2000), overlaps, overlap=0.8, limit=3, block=block_of(2000))
    assert kept == [0, 1, 2]
    assert len(set(asked)) < 1000


def test_no_groups_keep_none():
    nobody = (np.ones((1, 1), dtype=bool), np.array([1]), np.zeros(0, dtype=np.intp), 80)
    assert keep(nobody) == []


@given(st.integers(0, 2**32 - 1))
def test_complements_overlap_as_the_groups_do(seed: int) -> None:
    source = np.random.default_rng(seed)
    table, weights = source.random((6, 12)) < 0.5, source.integers(1, 9, 12)
    # A frequent group is never empty.
    table[~table.any(axis=1), 0] = True
    overlaps = member_overlaps(lambda groups: table[groups], weights, with_complements=True)
    found = overlaps(np.arange(6), np.arange(6))

    def jaccard(first: np.ndarray, second: np.ndarray) -> float:
        either = weights[first | second].sum()
        return float(weights[first & second].sum() / either) if either else 0.0

    for one, first in enumerate(table):
        for other, second in enumerate(table):
            across = min(jaccard(~first, second), jaccard(first, ~second))
            assert found[one, other] == pytest.approx(max(jaccard(first, second), across))


@given(problems(), st.booleans())
def test_near_copies_are_those_whose_overlap_is_large_enough(problem, with_complements):
    table, weights, order, hundredths = problem

    def members(groups):
        return table[groups]

    overlaps = member_overlaps(members, weights, with_complements=with_complements)
    copies = near_copies(
        members, weights, overlap=hundredths / 100, with_complements=with_complements
    )
    every = np.arange(len(table))
    assert np.array_equal(copies(every)(order), overlaps(order, every) >= hundredths / 100)
