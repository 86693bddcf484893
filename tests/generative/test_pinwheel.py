"""Betas below the number of values: what can be met, and that it is met."""

from __future__ import annotations

import itertools

import pytest
from schedule_oracles import can_go_on, has_cycle, missed_states

from testsgd.errors import SpecificationError
from testsgd.generative.pinwheel import Pinwheel, nearest_feasible, safe_states
from testsgd.generative.schedules import Schedule


def minimal_feasible(number, largest):
    """Return the feasible betas of which no other feasible ones are smaller everywhere."""
    minimal = []
    every = itertools.combinations_with_replacement(range(2, largest + 1), number)
    for betas in sorted(every, key=sum):
        if any(all(a <= b for a, b in zip(known, betas, strict=True)) for known in minimal):
            continue
        if Pinwheel(betas).is_feasible:
            minimal.append(betas)
    return set(minimal)


def test_minimal_feasible_betas_of_three_and_four_values_are_the_known_ones():
    assert minimal_feasible(3, 7) == {(3, 3, 3), (2, 4, 4)}
    assert minimal_feasible(4, 10) == {
        (4, 4, 4, 4),
        (3, 5, 5, 5),
        (3, 4, 5, 8),
        (3, 3, 6, 6),
        (2, 6, 6, 6),
        (2, 4, 8, 8),
    }


@pytest.mark.parametrize(("number", "largest"), [(2, 5), (3, 5)])
def test_safe_counters_are_those_of_an_exhaustive_search(number, largest):
    for betas in itertools.product(range(1, largest + 1), repeat=number):
        safe = safe_states(betas)
        found = {
            counters
            for counters in itertools.product(*(range(1, beta + 1) for beta in betas))
            if safe[tuple(counter - 1 for counter in counters)]
        }
        assert found == can_go_on(betas)
        assert Pinwheel(betas).is_feasible == has_cycle(betas)


@pytest.mark.parametrize("wasted", [False, True])
@pytest.mark.parametrize("betas", [(2, 4, 4), (4, 2, 5), (2, 4, 8, 8), (3, 4, 5, 8), (3, 3, 6, 7)])
def test_feasible_betas_are_met_whatever_the_model_gives(betas, wasted):
    schedule = Schedule(betas, overlapping=wasted)

    def decide(counters):
        return schedule.decide(counters)

    assert missed_states(betas, decide, wasted=wasted) == []


def test_cut_betas_are_still_met():
    betas = (2, 30, 40)
    pinwheel = Pinwheel(betas, most_states=100)
    assert pinwheel.betas != betas

    def decide(counters):
        candidates = pinwheel.candidates(counters, wasted=False)
        return candidates[0] if candidates else None

    assert missed_states(betas, decide, wasted=False) == []


def test_nearest_feasible_betas_are_the_smallest_raise_found_by_search():
    for betas in itertools.product(range(2, 5), repeat=3):
        raises = [
            (sum(vector), vector)
            for vector in itertools.product(*(range(beta, beta + 4) for beta in betas))
            if has_cycle(vector)
        ]
        least = min(total for total, _ in raises)
        assert set(nearest_feasible(betas)) == {v for total, v in raises if total == least}


def test_infeasible_betas_are_refused_with_the_nearest_as_data():
    with pytest.raises(SpecificationError) as caught:
        Schedule((2, 3, 5))
    assert set(caught.value.details["nearest"]) == {(2, 4, 5), (3, 3, 5)}
