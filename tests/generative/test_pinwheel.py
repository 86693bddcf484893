"""Betas below the number of values, against exhaustive search."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_oracles import after, can_go_on_for_ever, minimal_feasible

from testsgd.errors import SpecificationError
from testsgd.generative import Pinwheel, Schedule, nearest_feasible


@settings(max_examples=150)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=4))
def test_what_can_be_met_is_what_a_search_finds(betas: list[int]) -> None:
    assert Pinwheel(betas).is_feasible == can_go_on_for_ever(betas)


def test_the_minimal_betas_of_three_values() -> None:
    assert minimal_feasible(3, 6) == {(3, 3, 3), (2, 4, 4)}
    for betas in itertools.permutations((2, 4, 4)):
        assert Pinwheel(betas).is_feasible


@pytest.mark.slow
def test_the_minimal_betas_of_four_values() -> None:
    known = {(4, 4, 4, 4), (3, 5, 5, 5), (3, 4, 5, 8), (3, 3, 6, 6), (2, 6, 6, 6), (2, 4, 8, 8)}
    feasible = [
        betas
        for betas in itertools.combinations_with_replacement(range(1, 11), 4)
        if Pinwheel(betas).is_feasible
    ]
    minimal = {
        betas
        for betas in feasible
        if not any(
            other != betas and all(a <= b for a, b in zip(other, betas, strict=True))
            for other in feasible
        )
    }
    assert minimal == known


@pytest.mark.parametrize("betas", [(2, 4, 4), (2, 4, 5), (3, 4, 5, 8), (3, 3, 6, 6), (2, 4, 8, 8)])
@pytest.mark.parametrize("wasted", [True, False])
def test_no_deadline_is_missed(betas: tuple[int, ...], wasted: bool) -> None:
    schedule = Schedule(betas)
    source = random.Random(3)
    counters = betas
    for _ in range(3000):
        wanted = schedule.decide(counters, wasted=wasted)
        value = source.randrange(len(betas)) if wanted is None else wanted
        following = after(counters, value, betas)
        assert following is not None
        counters = following


def test_large_betas_are_cut_on_the_safe_side() -> None:
    betas = (2, 5000, 5000, 5000)
    schedule = Schedule(betas)
    source = random.Random(4)
    counters = betas
    for _ in range(20_000):
        wanted = schedule.decide(counters, wasted=False)
        value = source.choice((1, 1, 1, 2)) if wanted is None else wanted
        following = after(counters, value, betas)
        assert following is not None
        counters = following


@settings(max_examples=40)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4))
def test_the_nearest_betas_can_be_met_and_nothing_nearer_can(betas: list[int]) -> None:
    nearest = nearest_feasible(betas)
    least = sum(nearest[0]) - sum(betas)
    for vector in nearest:
        assert all(new >= old for new, old in zip(vector, betas, strict=True))
        assert sum(vector) - sum(betas) == least
        assert can_go_on_for_ever(vector)
    if least:
        for increases in itertools.product(range(least), repeat=len(betas)):
            if sum(increases) < least:
                nearer = [beta + more for beta, more in zip(betas, increases, strict=True)]
                assert not can_go_on_for_ever(nearer)


def test_what_cannot_be_met_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecificationError) as refused:
        Schedule((2, 3, 5))
    assert refused.value.details["nearest"] == ((2, 4, 5), (3, 3, 5))
