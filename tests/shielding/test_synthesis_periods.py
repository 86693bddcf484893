"""Problems of one period with their assumptions, against recursion over all traces."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import ceil

import pytest
from exhaustive import NAMED, Game, cost_under, exact_bias
from hypothesis import given, settings
from hypothesis import strategies as st
from shield_strategies import fairness_of, inputs, longest

from testsgd.shielding.synthesis import (
    ShieldProblem,
    dynamic_problem,
    finite_problem,
    solve,
    static_welfare_problem,
)

# Difference-of-ratios properties of the paper: what is decided is counted in the numerator only.
RATIOS = ("demographic_parity", "equal_opportunity", "predictive_equality")


def _checked(game: Game, problem: ShieldProblem) -> bool:
    """Compare with the oracle; say whether there is a shield."""
    solution = solve(problem, compiled=False)
    truth = game.least_cost()
    assert solution.feasible == (truth is not None)
    if truth is None:
        return False
    assert solution.expected_cost == pytest.approx(float(truth), rel=1e-12, abs=1e-12)
    assert cost_under(game, problem.fairness, solution.policy) == truth
    return True


@given(data=st.data())
@settings(max_examples=30)
def test_bounded_welfare_exists_and_costs_what_it_should(data: st.DataObject) -> None:
    """Lemma 9 of the paper: with its assumption, bounds on the welfare can always be kept."""
    name = data.draw(st.sampled_from(RATIOS))
    who = data.draw(inputs())
    horizon = data.draw(st.integers(1, longest(NAMED[name], who.groups)))
    low, high = data.draw(
        st.lists(st.fractions(0, 1, max_denominator=8), min_size=2, max_size=2, unique=True).map(
            sorted
        )
    )
    enough = ceil(1 / (high - low))

    def judge(tops: list[int], bottoms: list[int]) -> bool:
        if min(bottoms) < enough:
            return True
        return all(
            low <= Fraction(top, bottom) <= high for top, bottom in zip(tops, bottoms, strict=True)
        )

    distribution = who.distribution(labelled=NAMED[name].labelled)
    problem = static_welfare_problem(fairness_of(name), (low, high), distribution, horizon)
    assert _checked(Game(NAMED[name], judge, who, horizon), problem)


def _can_leave(near: list[Fraction], steps: list[Fraction], bound: Fraction) -> bool:
    """Whether two rates that are rounded towards the middle may end too far apart."""
    above = [rate >= (min(near) + max(near)) / 2 for rate in near]
    highest = [rate if up else rate + one for rate, up, one in zip(near, above, steps, strict=True)]
    lowest = [rate - one if up else rate for rate, up, one in zip(near, above, steps, strict=True)]
    return any(
        highest[one] - lowest[other] > bound
        for one, other in permutations(range(len(near)), 2)
        # These come nearer to each other.
        if not (above[one] and not above[other])
    )


@given(data=st.data())
@settings(max_examples=60)
def test_dynamic_exists_after_fair_histories(data: st.DataObject) -> None:
    """Lemma 10 of the paper, whose histories are fair; also groups of which nobody came yet."""
    name = data.draw(st.sampled_from(RATIOS))
    who = data.draw(inputs())
    groups = who.groups
    horizon = data.draw(st.integers(1, longest(NAMED[name], groups)))
    bound = data.draw(st.fractions(0, 1, max_denominator=6))
    empty_group = data.draw(st.sampled_from(["vacuous", "zero"]))
    bottoms = data.draw(st.lists(st.integers(0, 9), min_size=groups, max_size=groups))
    tops = [data.draw(st.integers(0, bottom)) for bottom in bottoms]

    def bias(own_tops: list[int], own_bottoms: list[int]) -> Fraction:
        return exact_bias(
            [own + old for own, old in zip(own_tops, tops, strict=True)],
            [own + old for own, old in zip(own_bottoms, bottoms, strict=True)],
            measure="difference",
            empty_group=empty_group,
        )

    known = [Fraction(top, people) for top, people in zip(tops, bottoms, strict=True) if people]
    start = Fraction(0)
    if empty_group == "vacuous" and known:
        start = (min(known) + max(known)) / 2
    near = [
        Fraction(top, people) if people else start
        for top, people in zip(tops, bottoms, strict=True)
    ]

    def judge(own_tops: list[int], own_bottoms: list[int]) -> bool:
        people = [own + old for own, old in zip(own_bottoms, bottoms, strict=True)]
        if any(bottoms):
            if min(people) == 0:
                return True
            steps = [Fraction(1, one) for one in people]
            if groups == 2 and sum(steps) > bound + abs(near[0] - near[1]):
                return True
            if groups == 3 and _can_leave(near, steps, bound):
                return True
        return bias(own_tops, own_bottoms) <= bound

    nothing = [0] * groups
    distribution = who.distribution(labelled=NAMED[name].labelled)
    problem = dynamic_problem(
        finite_problem(fairness_of(name), bound, empty_group, distribution, horizon), tops, bottoms
    )
    exists = _checked(Game(NAMED[name], judge, who, horizon), problem)
    assert exists or bias(nothing, nothing) > bound
