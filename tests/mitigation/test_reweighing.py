"""Reweighing: counts worked out by hand, and what the weights are for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.errors import DataError
from testsgd.mitigation.alternatives import reweighed

PEOPLE = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2, max_size=60)


def weights_of(members: NDArray[Any], favourable: NDArray[np.bool_]) -> NDArray[np.float64]:
    return reweighed(members, favourable.astype(np.float64))[0]


def people(counts: dict[tuple[bool, bool], int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Give so many people of each membership and label."""
    rows = [pair for pair, count in counts.items() for _ in range(count)]
    return np.array([member for member, _ in rows]), np.array([label for _, label in rows])


def test_ten_people() -> None:
    # Of ten, four are in the group, one of them with the label; of the six others five have it.
    members, favourable = people(
        {(True, True): 1, (True, False): 3, (False, True): 5, (False, False): 1}
    )
    by_hand = {
        (True, True): Fraction(4 * 6, 10 * 1),
        (True, False): Fraction(4 * 4, 10 * 3),
        (False, True): Fraction(6 * 6, 10 * 5),
        (False, False): Fraction(6 * 4, 10 * 1),
    }
    weights = weights_of(members, favourable)
    expected = [by_hand[pair] for pair in zip(members.tolist(), favourable.tolist(), strict=True)]
    assert weights.tolist() == pytest.approx([float(weight) for weight in expected])
    assert weights.sum() == pytest.approx(10)


def test_independent_already() -> None:
    members, favourable = people(
        {(True, True): 2, (True, False): 4, (False, True): 3, (False, False): 6}
    )
    assert weights_of(members, favourable) == pytest.approx(np.ones(15))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4))
def test_with_the_weights_group_and_label_are_independent(counts: list[tuple[int, int]]) -> None:
    """Each group has so many with the label and so many without."""
    groups = np.repeat(np.arange(len(counts)), [sum(pair) for pair in counts])
    favourable = np.concatenate([np.repeat([True, False], pair) for pair in counts])
    weights = weights_of(groups, favourable)
    assert weights.min() > 0
    assert weights.sum() == pytest.approx(len(groups))
    for group in range(len(counts)):
        inside = groups == group
        # A group and a label keep their shares of all; only how they go together changes.
        assert weights[inside].sum() == pytest.approx(inside.sum())
        share = weights[inside & favourable].sum() / weights[inside].sum()
        assert share == pytest.approx(favourable.mean())


@given(PEOPLE)
def test_a_group_and_its_complement_get_the_same_weights(drawn: list[tuple[int, bool]]) -> None:
    members = np.array([group == 0 for group, _ in drawn])
    favourable = np.array([label for _, label in drawn])
    assume(members.any() and not members.all())
    weights = weights_of(members, favourable)
    assert weights == pytest.approx(weights_of(~members, favourable))
    assert weights == pytest.approx(weights_of(members, ~favourable))


def test_a_group_with_one_label_only() -> None:
    members, favourable = people({(True, False): 2, (False, True): 6, (False, False): 2})
    weights = weights_of(members, favourable)
    assert weights.sum() == pytest.approx(10)
    assert np.isfinite(weights).all()
    outside = ~members
    before, after = favourable[outside].mean(), weights[outside & favourable].sum()
    assert after / weights[outside].sum() < before


@pytest.mark.parametrize("member", [True, False])
def test_nobody_to_compare_with(member: bool) -> None:
    with pytest.raises(DataError, match="all 3 training examples are on one side of the group"):
        weights_of(np.full(3, member), np.array([True, False, True]))


def test_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match="length"):
        weights_of(np.array([True, False]), np.array([True]))
