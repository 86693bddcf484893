"""Requirements on final counters, against their definitions in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import ceil

import numpy as np
import pytest
from exhaustive import exact_bias
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import (
    After,
    Balanced,
    BiasAtMost,
    Provided,
    SmallSteps,
    WelfareWithin,
)
from testsgd.shielding.synthesis import dynamic_problem, finite_problem, solve


@st.composite
def _counters(
    draw: st.DrawFn, groups: int, largest: int = 30
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    bottoms = [draw(st.integers(0, largest)) for _ in range(groups)]
    return tuple(draw(st.integers(0, bottom)) for bottom in bottoms), tuple(bottoms)


LARGEST = st.sampled_from([3, 12, 2**33, 2**60])


@given(data=st.data())
def test_welfare_and_balance(data: st.DataObject) -> None:
    groups = data.draw(st.integers(2, 3))
    tops, bottoms = data.draw(_counters(groups, data.draw(LARGEST)))
    known = [Fraction(top, bottom) for top, bottom in zip(tops, bottoms, strict=True) if bottom]
    edge = st.sampled_from(known) if known else st.just(Fraction(1, 2))
    low, high = sorted(data.draw(st.lists(edge | st.fractions(0, 1), min_size=2, max_size=2)))
    arrays = np.array([tops]), np.array([bottoms])
    assert WelfareWithin(low, high).holds(*arrays).tolist() == [
        all(low <= rate <= high for rate in known)
    ]
    least = data.draw(st.integers(0, 5) | st.just(min(bottoms)))
    assert Balanced(least).holds(*arrays).tolist() == [min(bottoms) >= least]


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@given(data=st.data())
def test_after_a_history(empty_group: str, data: st.DataObject) -> None:
    groups = data.draw(st.integers(2, 3))
    largest = data.draw(LARGEST)
    past, own = data.draw(_counters(groups, largest)), data.draw(_counters(groups, largest))
    both = [
        [one + two for one, two in zip(*pair, strict=True)] for pair in zip(past, own, strict=True)
    ]
    truth = exact_bias(*both, measure="difference", empty_group=empty_group)
    for bound in (truth, truth - Fraction(1, 10**40)):
        requirement = BiasAtMost(bound, empty_group=empty_group)  # type: ignore[arg-type]
        held = After(*past, requirement).holds(np.array([own[0]]), np.array([own[1]]))
        compared = bound == truth or (truth == 0 and _nothing_compared(both, empty_group))
        assert held.tolist() == [compared]


def _nothing_compared(both: list[list[int]], empty_group: str) -> bool:
    return empty_group == "vacuous" and sum(bottom > 0 for bottom in both[1]) < 2


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@given(data=st.data())
def test_small_steps_of_two_groups(empty_group: str, data: st.DataObject) -> None:
    """Assumption 2: one over each group's people is at most the bound and the bias so far."""
    largest = data.draw(LARGEST)
    past, own = data.draw(_counters(2, largest)), data.draw(_counters(2, largest))
    people = [one + two for one, two in zip(past[1], own[1], strict=True)]
    bound = data.draw(st.fractions(0, 1, max_denominator=9))
    if min(people) > 0 and data.draw(st.booleans()):
        # Often exactly met.
        bias = exact_bias(*map(list, past), measure="difference", empty_group=empty_group)
        bound = max(sum(Fraction(1, one) for one in people) - bias, Fraction(0))
    steps = SmallSteps(bound, *past, empty_group)  # type: ignore[arg-type]
    held = steps.holds(np.array([own[0]]), np.array([own[1]]))
    bias = exact_bias(*map(list, past), measure="difference", empty_group=empty_group)
    truth = min(people) > 0 and sum(Fraction(1, one) for one in people) <= bound + bias
    assert held.tolist() == [truth]


@given(data=st.data())
def test_small_steps_of_three_groups(data: st.DataObject) -> None:
    """Each side of the middle is rounded its own way, and no two rates may end too far apart."""
    past, own = data.draw(_counters(3, 12)), data.draw(_counters(3, 12))
    people = [one + two for one, two in zip(past[1], own[1], strict=True)]
    bound = data.draw(st.fractions(0, 1, max_denominator=9))
    steps = SmallSteps(bound, *past, "zero")
    held = steps.holds(np.array([own[0]]), np.array([own[1]]))
    rates = [Fraction(top, max(bottom, 1)) for top, bottom in zip(*past, strict=True)]
    middle = (min(rates) + max(rates)) / 2
    truth = min(people) > 0
    if truth:
        # How low and how high each rate may end: by less than one person, down or up.
        ends = [
            (rate - Fraction(1, many), rate) if rate >= middle else (rate, rate + Fraction(1, many))
            for rate, many in zip(rates, people, strict=True)
        ]
        truth = (
            max(one[1] - other[0] for one, other in permutations(ends, 2)) <= bound
            and exact_bias(*map(list, past), measure="difference", empty_group="zero") <= bound
        )
    # Of a history that is unfair nothing is asked.
    if exact_bias(*map(list, past), measure="difference", empty_group="zero") <= bound:
        assert held.tolist() == [truth]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_after_small_steps_of_three_groups_there_is_a_shield(data: st.DataObject) -> None:
    """The assumption is enough: every fair history of three groups has a shield."""
    past = data.draw(_counters(3, 9))
    empty_group = data.draw(st.sampled_from(["vacuous", "zero"]))
    bound = data.draw(st.fractions(0, 1, max_denominator=9))
    bias = exact_bias(*map(list, past), measure="difference", empty_group=empty_group)
    problem = dynamic_problem(
        finite_problem(
            NAMED_PROPERTIES["demographic_parity"],
            max(bound, bias),
            empty_group,
            InputDistribution.uniform(("a", "b", "c")),
            data.draw(st.integers(1, 5)),
        ),
        past[0],
        past[1],
    )
    assert solve(problem, compiled=False).feasible


def test_small_steps_of_a_group_that_is_new() -> None:
    """It can start at any rate, so it is no step away from the other."""
    few, enough = np.array([[2, 90]]), np.array([[10, 90]])
    none = np.zeros((1, 2), dtype=np.int64)
    history = ((0, 8), (0, 10))
    vacuous = SmallSteps(Fraction(1, 5), *history, "vacuous")
    assert vacuous.holds(none, few).tolist() == [False]
    assert vacuous.holds(none, enough).tolist() == [True]
    # Where its rate is 0 the bias so far is 4/5, of which steps may take off.
    zero = SmallSteps(Fraction(1, 5), *history, "zero")
    assert zero.holds(none, few).tolist() == [True]


def test_provided_is_only_due_where_the_assumption_holds() -> None:
    tops, bottoms = np.array([[0, 5], [0, 5], [3, 3]]), np.array([[4, 5], [5, 5], [5, 5]])
    due = Provided(Balanced(5), WelfareWithin(Fraction(1, 2), Fraction(3, 4)))
    assert due.holds(tops, bottoms).tolist() == [True, False, True]


@given(
    low=st.fractions(0, 1, max_denominator=30),
    width=st.fractions(0, 1, max_denominator=30).filter(bool),
)
def test_enough_people_leave_room_for_one_more(low: Fraction, width: Fraction) -> None:
    """Lemma 9: from one over the width on, some number of accepted lies within the bounds."""
    high = min(low + width, Fraction(1))
    if low == high:
        return
    for people in range(ceil(1 / (high - low)), ceil(1 / (high - low)) + 40):
        accepted = np.arange(people + 1)[:, None]
        within = WelfareWithin(low, high).holds(accepted, np.full_like(accepted, people))
        assert within.any()
