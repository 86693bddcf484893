"""How near two findings are, against sets of row numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_rows import finding

from testsgd.comparison.matching import groups_of, similarity

ROWS = 12
groups = st.lists(st.booleans(), min_size=ROWS, max_size=ROWS).map(np.array)


def jaccard(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def near_by_sets(one: set[int], other: set[int]) -> float:
    """As they are, or one of them turned round; those outside have to fit as well."""
    everybody = set(range(ROWS))
    if not one or not other:
        return 0.0
    straight = min(jaccard(one, other), jaccard(everybody - one, everybody - other))
    turned = min(jaccard(one, everybody - other), jaccard(everybody - one, other))
    return max(straight, turned)


def members(rows: np.ndarray) -> set[int]:
    return set(np.flatnonzero(rows).tolist())


def near(one: np.ndarray, other: np.ndarray) -> float:
    return similarity(groups_of(finding(one)), groups_of(finding(other)))


@given(groups, groups)
def test_two_groups_as_by_sets(one: np.ndarray, other: np.ndarray) -> None:
    assert near(one, other) == pytest.approx(near_by_sets(members(one), members(other)))


small_groups = groups.filter(lambda rows: 0 < rows.sum() <= ROWS / 2)


@given(small_groups, small_groups)
def test_of_groups_with_at_most_half_of_the_rows_it_is_jaccards_index(
    one: np.ndarray, other: np.ndarray
) -> None:
    plain = jaccard(members(one), members(other))
    if near(one, other) != plain:
        # Then what is nearer is everybody else.
        assert near(one, other) == near(one, ~other) > plain


@given(groups, groups)
def test_the_order_plays_no_part(one: np.ndarray, other: np.ndarray) -> None:
    assert near(one, other) == near(other, one)


@given(groups.filter(lambda rows: rows.any() and not rows.all()))
def test_a_group_and_everybody_else_are_one_division(rows: np.ndarray) -> None:
    assert near(rows, rows) == 1
    assert near(rows, ~rows) == 1


@given(groups, groups, groups)
def test_of_a_pair_the_better_group_counts(
    high: np.ndarray, low: np.ndarray, other: np.ndarray
) -> None:
    pair, single = groups_of(finding(high, low)), groups_of(finding(other))

    assert similarity(pair, single) == max(near(high, other), near(low, other))


def test_two_groups_of_nearly_everybody_are_near_only_if_those_outside_are() -> None:
    most, others = np.arange(ROWS) >= 2, np.arange(ROWS) < ROWS - 2

    assert jaccard(members(most), members(others)) > 0.6
    # Turned round they are nearer: of 10 rows in one or outside the other 2 are both.
    assert near(most, others) == pytest.approx(2 / 10)
    # Of the 3 who are outside of one of them 2 are outside of both.
    assert near(most, np.arange(ROWS) >= 3) == pytest.approx(2 / 3)


def test_nearly_everybody_is_not_near_a_small_group_outside() -> None:
    small = np.arange(ROWS) < 2
    most = np.arange(ROWS) >= 5

    # Outside of most are 5, of whom 2 are the small group.
    assert near(small, most) == pytest.approx(2 / 5)


def test_what_is_no_group_of_rows_is_near_nothing() -> None:
    rows = np.ones(ROWS, dtype=bool)

    assert groups_of(finding(None)) == ()
    assert groups_of(finding(~rows)) == ()
    assert similarity(groups_of(finding(None)), groups_of(finding(rows))) == 0
