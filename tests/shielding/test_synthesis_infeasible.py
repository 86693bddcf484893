"""Where no shield exists, and the smallest bound for which one does."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exhaustive import (
    CUSTOM,
    NAMED,
    Events,
    Game,
    bounded,
    cost_under,
    least_bound,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from shield_strategies import fairness_of, inputs, longest, problems

from testsgd.errors import SpecificationError
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import After, Balanced, BiasAtMost
from testsgd.shielding.synthesis import (
    ShieldProblem,
    finite_problem,
    smallest_feasible_bound,
    solve,
)

PAIR = ("a", "b")
TINY = Fraction(1, 10**12)


def _with(problem: ShieldProblem, bound: Fraction) -> ShieldProblem:
    requirement = problem.requirement
    if isinstance(requirement, After):
        of_history = requirement.requirement
        assert isinstance(of_history, BiasAtMost)
        changed = replace(requirement, requirement=replace(of_history, bound=bound))
        return replace(problem, requirement=changed)
    assert isinstance(requirement, BiasAtMost)
    return replace(problem, requirement=replace(requirement, bound=bound))


@given(data=st.data())
@settings(max_examples=80)
def test_smallest_bound_is_feasible_and_nothing_below(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*NAMED, *CUSTOM]))
    events = NAMED.get(name) or CUSTOM[name]
    who = data.draw(inputs(most_costs=1))
    horizon = data.draw(st.integers(1, longest(events, who.groups)))
    empty_group = data.draw(st.sampled_from(["vacuous", "zero"]))
    numbers = st.lists(st.integers(0, 9), min_size=who.groups, max_size=who.groups)
    some = data.draw(st.booleans())
    bottoms = data.draw(numbers) if some else [0] * who.groups
    tops = [min(one, two) for one, two in zip(bottoms, data.draw(numbers), strict=True)]
    problem = finite_problem(
        fairness_of(name),
        Fraction(0),
        empty_group,
        who.distribution(labelled=events.labelled),
        horizon,
    )
    if some:
        past = After(tuple(tops), tuple(bottoms), problem.requirement)
        problem = replace(problem, requirement=past)
    game = Game(events, bounded(Fraction(0), measure="", empty_group=""), who, horizon)
    least = smallest_feasible_bound(problem)
    assert least == least_bound(game, empty_group, (tops, bottoms))
    assert solve(_with(problem, least), compiled=False).feasible
    if least > 0:
        assert not solve(_with(problem, least - TINY), compiled=False).feasible


def test_smallest_bound_with_a_history_too_long_for_floats() -> None:
    """Rates nearer to each other than floating point can tell from other fractions."""
    inputs_ = InputDistribution.uniform(PAIR)
    many = 10**9 + 7
    bound = BiasAtMost(Fraction(0))
    past = After((many // 3, many // 3), (many, many - 2), bound)
    problem = ShieldProblem(NAMED_PROPERTIES["demographic_parity"], past, inputs_, 3)
    game = Game(
        NAMED["demographic_parity"],
        bounded(Fraction(0), measure="", empty_group=""),
        # Who comes plays no part.
        _anybody(),
        3,
    )
    truth = least_bound(game, "vacuous", ([many // 3] * 2, [many, many - 2]))
    least = smallest_feasible_bound(problem)
    assert least == truth
    assert solve(_with(problem, least), compiled=False).feasible
    assert not solve(_with(problem, least - Fraction(1, 10**30)), compiled=False).feasible


def _anybody() -> inputs:
    from exhaustive import Inputs

    return Inputs((1, 1, 1, 1), (1,), (4, 4, 4, 4), 2)


@given(both=problems(names=("base_rate", "accuracy", "precision", "odds")))
@settings(max_examples=60)
def test_properties_that_labels_can_break(both: tuple[Game, ShieldProblem]) -> None:
    game, problem = both
    solution = solve(problem, compiled=False)
    truth = game.least_cost()
    assert solution.feasible == (truth is not None)
    if truth is not None:
        assert cost_under(game, problem.fairness, solution.policy) == truth


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize("groups", [2, 3])
def test_named_properties_can_always_be_kept(name: str, empty_group: str, groups: int) -> None:
    """Whoever always decides the same has bias 0 (appendix A.1 of the paper)."""
    fairness = NAMED_PROPERTIES[name]
    who = InputDistribution.uniform(tuple("abc"[:groups]), labelled=fairness.labelled)
    problem = finite_problem(fairness, Fraction(0), empty_group, who, 7)  # type: ignore[arg-type]
    assert smallest_feasible_bound(problem) == 0
    assert solve(problem, compiled=False).feasible


def test_infeasible_is_an_infinite_cost_and_no_error() -> None:
    fairness = CUSTOM["base_rate"].as_property()
    who = InputDistribution.uniform(PAIR, labelled=True)
    solution = solve(finite_problem(fairness, Fraction(1, 2), "vacuous", who, 4), compiled=False)
    assert solution.expected_cost == math.inf
    assert not solution.feasible


def test_a_group_that_never_comes_can_still_come() -> None:
    """Probability 0 is no promise: without it the bound could be kept."""
    shares = np.zeros((2, 2, 1))
    shares[0] = 0.5
    who = InputDistribution(PAIR, (1.0,), shares)
    past = After((1, 0), (2, 0), BiasAtMost(Fraction(1, 4)))
    problem = ShieldProblem(NAMED_PROPERTIES["demographic_parity"], past, who, 1)
    # One person of the second group has rate 0 or 1, a half away.
    assert not solve(problem, compiled=False).feasible
    assert smallest_feasible_bound(problem) == Fraction(1, 2)


def test_labels_of_probability_0_can_still_come() -> None:
    events = Events(((1, 1),), ((1, 0), (1, 1)))
    who = InputDistribution.uniform(PAIR, labelled=True)
    who = replace(who, labels=np.ones((2, 2)))
    fairness = events.as_property()
    past = After((1, 1), (1, 1), BiasAtMost(Fraction(1, 2)))
    # Must accept at the end, or have rejected before: only accepting with label 0 is unfair.
    solution = solve(ShieldProblem(fairness, past, who, 2), compiled=False)
    assert solution.feasible
    # The first may be accepted; once it was unlucky, nobody of that group any more.
    assert solution.policy.changes(1, (1, 0, 0, 0), 0, 1) == 1


def test_only_a_bound_on_the_bias_has_a_smallest_bound() -> None:
    who = InputDistribution.uniform(PAIR)
    problem = ShieldProblem(NAMED_PROPERTIES["demographic_parity"], Balanced(1), who, 3)
    with pytest.raises(TypeError, match="bound on the bias"):
        smallest_feasible_bound(problem)


@pytest.mark.parametrize("cost", [1e100, 1e300, 1.7e308])
def test_costs_too_large_to_be_told_from_infinite_ones_are_refused(cost: float) -> None:
    who = InputDistribution.uniform(PAIR, costs=(1.0, cost))
    problem = finite_problem(
        NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", who, 4
    )
    with pytest.raises(SpecificationError, match="too large"):
        solve(problem, compiled=False)
