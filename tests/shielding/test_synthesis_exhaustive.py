"""The least expected cost and the decisions, against recursion over all traces."""

from __future__ import annotations

import math

import pytest
from exhaustive import Game, cost_under, counts_of
from hypothesis import given, settings
from shield_strategies import problems

from testsgd.shielding import solving
from testsgd.shielding.synthesis import ShieldProblem, Solution, solve

COMPILED = pytest.mark.parametrize("compiled", [False, True])


def _solve(problem: ShieldProblem, *, storage: str, compiled: bool) -> Solution:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "window_width", lambda lattice: 2)
        return solve(problem, storage=storage, compiled=compiled)  # type: ignore[arg-type]


def _agrees(game: Game, problem: ShieldProblem, solution: Solution) -> None:
    truth = game.least_cost()
    assert solution.feasible == (truth is not None)
    if truth is None:
        assert solution.expected_cost == math.inf
        return
    assert solution.expected_cost == pytest.approx(float(truth), rel=1e-12, abs=1e-12)
    # Its own decisions keep the bound for all inputs and labels, and cost what was said.
    assert cost_under(game, problem.fairness, solution.policy) == truth


@COMPILED
@pytest.mark.parametrize("storage", ["whole", "windows"])
@given(both=problems())
@settings(max_examples=40)
def test_value_and_decisions(
    both: tuple[Game, ShieldProblem], storage: str, compiled: bool
) -> None:
    game, problem = both
    _agrees(game, problem, _solve(problem, storage=storage, compiled=compiled))


@COMPILED
@pytest.mark.parametrize("storage", ["whole", "windows"])
@given(both=problems())
@settings(max_examples=20)
def test_decision_in_every_state_that_can_be_borne(
    both: tuple[Game, ShieldProblem], storage: str, compiled: bool
) -> None:
    """Also where the shield never goes; and the recommendation is kept on ties."""
    game, problem = both
    if game.horizon > 3:
        game = Game(game.events, game.judge, game.inputs, 3)
        problem = ShieldProblem(problem.fairness, problem.requirement, problem.inputs, 3)
    policy = _solve(problem, storage=storage, compiled=compiled).policy
    for length in range(game.horizon):
        for trace in game.traces(length):
            counts = counts_of(problem.fairness, trace, game.inputs.groups)
            for group in range(game.inputs.groups):
                for recommendation in (0, 1):
                    rightful = game.rightful_changes(trace, group, recommendation)
                    if rightful is not None:
                        found = policy.changes(length, counts, group, recommendation)
                        assert found == rightful
