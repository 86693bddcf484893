"""The least expected cost, against the cheapest of all policies, each of them tried."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from exhaustive import Game
from hypothesis import assume, given, settings
from shield_strategies import problems

from testsgd.shielding.synthesis import ShieldProblem, solve

UNLABELLED = ("demographic_parity", "disparate_impact", "double")


def _cheapest_of_one_event(game: Game) -> float:
    """Over all functions from inputs to decisions."""
    inputs = list(game.inputs.each())
    best = math.inf
    for decisions in product((0, 1), repeat=len(inputs)):
        outcomes = [
            (group, decision, label)
            for (group, *_), decision in zip(inputs, decisions, strict=True)
            for label in game.labels()
        ]
        if all(game.fair((outcome,)) for outcome in outcomes):
            cost = sum(
                probability * game.inputs.costs[place]
                for (_, recommendation, place, probability), decision in zip(
                    inputs, decisions, strict=True
                )
                if decision != recommendation
            )
            best = min(best, float(cost))
    return best


def _cheapest_of_two_events(game: Game) -> float:
    """Over all functions from the first input, and from both inputs, to decisions.

    The second decision has a bit for each pair of inputs; all choices of these bits are the
    elements of arrays.
    """
    inputs = list(game.inputs.each())
    count = len(inputs)
    pairs = list(product(range(count), repeat=2))
    choices = np.arange(2 ** len(pairs))
    weights, total = np.array(game.inputs.weights), sum(game.inputs.weights)
    costs = game.inputs.costs
    best = math.inf
    for first in product((0, 1), repeat=count):
        cost = np.zeros(len(choices), dtype=np.int64)
        fair = np.ones(len(choices), dtype=bool)
        for bit, (one, two) in enumerate(pairs):
            (group, recommended, place, _), (group_2, recommended_2, place_2, _) = (
                inputs[one],
                inputs[two],
            )
            weight = int(weights[one] * weights[two])
            second = (choices >> bit) & 1
            cost += weight * costs[place] * (first[one] != recommended)
            cost += weight * costs[place_2] * (second != recommended_2)
            ends = [
                game.fair(((group, first[one], 1), (group_2, decision, 1))) for decision in (0, 1)
            ]
            fair &= np.where(second == 1, ends[1], ends[0])
        if fair.any():
            best = min(best, int(cost[fair].min()) / total**2)
    return best


@given(both=problems(most_costs=2))
@settings(max_examples=60)
def test_one_event(both: tuple[Game, ShieldProblem]) -> None:
    game, problem = both
    game = Game(game.events, game.judge, game.inputs, 1)
    problem = ShieldProblem(problem.fairness, problem.requirement, problem.inputs, 1)
    assume(len(game.inputs.weights) <= 8)
    cheapest = _cheapest_of_one_event(game)
    assert solve(problem, compiled=False).expected_cost == pytest.approx(cheapest)


@given(both=problems(names=UNLABELLED, most_costs=1))
@settings(max_examples=12)
def test_two_events(both: tuple[Game, ShieldProblem]) -> None:
    game, problem = both
    assume(len(game.inputs.weights) == 4)
    game = Game(game.events, game.judge, game.inputs, 2)
    problem = ShieldProblem(problem.fairness, problem.requirement, problem.inputs, 2)
    cheapest = _cheapest_of_two_events(game)
    assert solve(problem, compiled=False).expected_cost == pytest.approx(cheapest)
