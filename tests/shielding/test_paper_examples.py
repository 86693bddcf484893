"""The paper's examples 5, 6 and 7, and its appendix A.1, with numbers in place of the lost ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from exhaustive import Trace
from periods_by_hand import run_period

from testsgd.fairness import NAMED_PROPERTIES, bias
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import After, BiasAtMost, Provided, WelfareWithin
from testsgd.shielding.synthesis import (
    ShieldProblem,
    dynamic_problem,
    finite_problem,
    solve,
    static_welfare_problem,
)

PARITY = NAMED_PROPERTIES["demographic_parity"]
PAIR = InputDistribution.uniform(("a", "b"))


def _parity(tops: list[int], bottoms: list[int]) -> Fraction:
    return bias(tops, bottoms, measure="difference", empty_group="vacuous")


@pytest.mark.parametrize("period", [2, 10, 100])
def test_example_5_two_fair_traces_make_an_unfair_one(period: int) -> None:
    """First one of a and else b, all rejected, then the other way round, all accepted."""
    most = period - 1
    assert _parity([0, 0], [1, most]) == 0
    assert _parity([most, 1], [most, 1]) == 0
    together = _parity([most, 1], [period, period])
    assert together == Fraction(period - 2, period)


def test_example_5_happens_under_the_same_shield_each_period() -> None:
    """Two periods of a shield that keeps bias 0 end in a bias near 1."""
    length = 12
    problem = finite_problem(PARITY, Fraction(0), "vacuous", PAIR, length)
    policy = solve(problem, compiled=False).policy
    ends = []
    for recommendation, often, seldom in ((0, 1, 0), (1, 0, 1)):

        def same(
            trace: Trace, given: tuple[int, int, int] = (recommendation, often, seldom)
        ) -> tuple[int, int, int, int]:
            recommended, many, one = given
            return (many if len(trace) < length - 1 else one, recommended, 0, 1)

        trace = run_period(policy, PARITY, same, groups=2, length=length)
        # Nothing had to be changed.
        assert {decision for _, decision, _ in trace} == {recommendation}
        ends.append(trace)
    tops = [sum(d for g, d, _ in ends[0] + ends[1] if g == group) for group in (0, 1)]
    assert _parity(tops, [length, length]) == Fraction(length - 2, length)


@pytest.mark.parametrize("length", [2, 5, 9])
def test_example_6_bounded_welfare_without_its_assumption_is_impossible(length: int) -> None:
    """If one of b comes, b's rate is 0 or 1 and outside of the bounds."""
    bounds = (Fraction(2, 5), Fraction(1, 2))
    alone = ShieldProblem(PARITY, WelfareWithin(*bounds), PAIR, length)
    assert not solve(alone, compiled=False).feasible
    # With the assumption there is one, and below ten of each group it costs nothing.
    solution = solve(static_welfare_problem(PARITY, bounds, PAIR, length), compiled=False)
    assert solution.expected_cost == 0


@pytest.mark.parametrize("length", [3, 6, 20])
def test_example_6_also_within_wider_bounds(length: int) -> None:
    alone = ShieldProblem(PARITY, WelfareWithin(Fraction(1, 100), Fraction(99, 100)), PAIR, length)
    assert not solve(alone, compiled=False).feasible


# Of 98 of a 49 were accepted, of 2 of b one: a bias of 0.
HISTORY = ((49, 1), (98, 2))
NARROW = Fraction(1, 20)


def test_example_7_by_counting() -> None:
    """Whatever was decided about 99 more of a, one more person can make it unfair."""
    assert _parity(*map(list, HISTORY)) == 0
    for accepted in range(100):
        last_of_a = [_parity([49 + accepted + decision, 1], [98 + 100, 2]) for decision in (0, 1)]
        last_of_b = [_parity([49 + accepted, 1 + decision], [98 + 99, 3]) for decision in (0, 1)]
        assert max(min(last_of_a), min(last_of_b)) > NARROW


def test_example_7_no_shield_for_the_history_but_one_with_the_assumption() -> None:
    tops, bottoms = HISTORY
    bound = BiasAtMost(NARROW)
    after = ShieldProblem(PARITY, After(tops, bottoms, bound), PAIR, 100)
    assert not solve(after, compiled=False).feasible
    dynamic = dynamic_problem(finite_problem(PARITY, NARROW, "vacuous", PAIR, 100), tops, bottoms)
    assert isinstance(dynamic.requirement, Provided)
    assert solve(dynamic, compiled=False).feasible


@pytest.mark.parametrize("recommendations", list(product((0, 1), repeat=5)))
def test_appendix_a1_one_group_alone_gets_one_decision(recommendations: tuple[int, ...]) -> None:
    """All but the last are of group a: they must be treated alike, and the last like them."""
    length = len(recommendations)
    problem = finite_problem(PARITY, Fraction(1, 10), "vacuous", PAIR, length)
    policy = solve(problem, compiled=False).policy

    def skewed(trace: Trace) -> tuple[int, int, int, int]:
        step = len(trace)
        return (int(step == length - 1), recommendations[step], 0, 1)

    trace = run_period(policy, PARITY, skewed, groups=2, length=length)
    assert len({decision for _, decision, _ in trace}) == 1


@pytest.mark.parametrize("recommendations", list(product((0, 1), repeat=4)))
def test_appendix_a1_where_absent_groups_have_rate_0_nobody_is_accepted(
    recommendations: tuple[int, ...],
) -> None:
    problem = finite_problem(PARITY, Fraction(1, 10), "zero", PAIR, 4)
    policy = solve(problem, compiled=False).policy

    def alone(trace: Trace) -> tuple[int, int, int, int]:
        return (0, recommendations[len(trace)], 0, 1)

    trace = run_period(policy, PARITY, alone, groups=2, length=4)
    assert [decision for _, decision, _ in trace] == [0] * 4


def test_appendix_a2_less_degenerate_traces_that_do_not_compose() -> None:
    """One of each group accepted, then all but one of each: fair, and together unfair."""
    few, many = 20, 2000
    first = ([1, 1], [few, many])
    second = ([many - 1, few - 1], [many, few])
    assert max(_parity(*first), _parity(*second)) < Fraction(1, 10)
    together = [
        [one + two for one, two in zip(*pair, strict=True)]
        for pair in zip(first, second, strict=True)
    ]
    assert _parity(*together) > Fraction(9, 10)
