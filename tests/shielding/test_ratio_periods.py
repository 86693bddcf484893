"""A dynamic shield of a ratio: wherever a history is fair, the next period has a shield."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from exhaustive import exact_bias
from shield_runs import specification

from testsgd.shielding import synthesis
from testsgd.shielding.requirement import Provided, SmallRatioSteps, SmallSteps
from testsgd.shielding.running.periods import period_problem
from testsgd.shielding.synthesis import ShieldProblem

BOUNDS = ("1/10", "1/5", "1/3", "1/2", "4/5")


def fair_histories(
    groups: int, bound: Fraction, empty_group: str, count: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    draw = random.Random(groups)
    while count:
        people = tuple(draw.choice((0, 1, 2, 3, 5, 9, 17, 40)) for _ in range(groups))
        accepted = tuple(draw.randint(0, number) for number in people)
        bias = exact_bias(list(accepted), list(people), measure="ratio", empty_group=empty_group)
        if bias <= bound and any(people):
            count -= 1
            yield accepted, people


def problem_after(
    history: tuple[tuple[int, ...], tuple[int, ...]],
    bound: str,
    *,
    length: int,
    names: tuple[str, ...] = ("a", "b"),
    property: str = "disparate_impact",  # noqa: A002
    empty_group: str = "vacuous",
) -> ShieldProblem:
    wanted = specification(
        property=property,
        bound=bound,
        names=names,
        length=length,
        shield="dynamic",
        empty_group=empty_group,
    )
    return period_problem(wanted, wanted.input_distribution(), *history)


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("names", "length", "count"), [("ab", 9, 60), ("abc", 5, 30)])
def test_a_fair_history_has_a_shield(
    names: str, length: int, count: int, bound: str, empty_group: str
) -> None:
    due = 0
    for history in fair_histories(len(names), Fraction(bound), empty_group, count):
        problem = problem_after(
            history, bound, length=length, names=tuple(names), empty_group=empty_group
        )
        assert synthesis.solve(problem, compiled=False).feasible, history
        assert isinstance(problem.requirement, Provided)
        assert isinstance(problem.requirement.assumption, SmallRatioSteps)
        states = [states for _, states in problem.lattice.blocks(length)][-1]
        due += int(problem.requirement.assumption.holds(*problem.counters(states)).any())
    assert due > 0 or (Fraction(bound) < Fraction(1, 3) and len(names) == 3)


def test_the_assumption_on_differences_does_not_do_for_ratios() -> None:
    found = []
    for bound in BOUNDS:
        for history in fair_histories(2, Fraction(bound), "vacuous", 60):
            problem = problem_after(history, bound, length=9)
            small_steps = SmallSteps(Fraction(bound), *history)
            assert isinstance(problem.requirement, Provided)
            requirement = replace(problem.requirement, assumption=small_steps)
            other = replace(problem, requirement=requirement)
            if not synthesis.solve(other, compiled=False).feasible:
                found.append((bound, history))
    assert found


def test_an_unfair_history_has_none() -> None:
    problem = problem_after(((1, 40), (40, 40)), "1/5", length=4)
    assert not synthesis.solve(problem, compiled=False).feasible


def test_differences_are_as_before() -> None:
    problem = problem_after(((4, 4), (9, 9)), "1/5", length=4, property="demographic_parity")
    assert isinstance(problem.requirement, Provided)
    assert isinstance(problem.requirement.assumption, SmallSteps)
