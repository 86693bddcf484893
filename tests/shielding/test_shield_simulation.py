"""Simulated runs are those of a shield that decides one person after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testsgd.shielding import Events
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running import Shield, period_problem
from testsgd.shielding.simulation import replay_events
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import solve

RUNS = 12


def specified(
    property_name: str, shield: str, length: int, groups: tuple[str, ...] = ("a", "b"), **rest: Any
) -> ShieldSpecification:
    fairness = {"property": property_name, "bound": "1/5"}
    horizon = {"length": length, "shield": shield}
    for key, value in rest.items():
        (fairness if key == "empty_group" else horizon)[key] = value
    return ShieldSpecification.from_dict(
        {
            "name": "made up",
            "fairness": fairness,
            "groups": {"names": list(groups)},
            "horizon": horizon,
        }
    )


def distribution(groups: tuple[str, ...], costs: tuple[float, ...]) -> InputDistribution:
    generator = np.random.default_rng(3)
    weights = generator.random((len(groups), 2, len(costs)))
    return InputDistribution(
        groups, costs, weights / weights.sum(), generator.random((len(groups), 2))
    )


def people(groups: int, costs: tuple[float, ...], length: int, seed: int = 0) -> Events:
    """Skewed so that a shield has something to do; labels that say little."""
    generator = np.random.default_rng(seed)
    shape = (RUNS, length)
    group = generator.integers(0, groups, shape)
    return Events(
        group,
        (generator.random(shape) < 0.2 + 0.6 * (group == 0)).astype(np.int64),
        generator.choice(costs, shape),
        generator.integers(0, 2, shape),
    )


CASES = {
    "finite": (specified("demographic_parity", "finite", 12), (1.0,), 1),
    "costs": (specified("disparate_impact", "finite", 10), (0.5, 1.0, 3.0), 1),
    "labels": (specified("equal_opportunity", "finite", 10, empty_group="zero"), (1.0, 2.0), 1),
    "anew": (specified("predictive_equality", "finite", 8, after="next"), (1.0,), 3),
    "static-fair": (specified("demographic_parity", "static-fair", 8), (1.0,), 4),
    "bounds": (
        specified("demographic_parity", "static-bounded-welfare", 14, welfare=["3/10", "1/2"]),
        (1.0,),
        3,
    ),
    "dynamic": (specified("demographic_parity", "dynamic", 14), (1.0, 2.0), 4),
    "dynamic-labels": (specified("equal_opportunity", "dynamic", 14), (1.0,), 3),
    "closest": (
        specified("demographic_parity", "dynamic", 6, when_infeasible="closest"),
        (1.0, 2.0),
        5,
    ),
    "closest-labels": (
        specified("equal_opportunity", "dynamic", 6, when_infeasible="closest"),
        (1.0,),
        5,
    ),
    "three": (specified("demographic_parity", "dynamic", 9, ("a", "b", "c")), (1.0,), 3),
}


def decided_one_by_one(
    shield: Shield, specification: ShieldSpecification, events: Events, run: int
) -> list[int]:
    names = specification.groups.names
    decisions = []
    for step in range(events.groups.shape[1]):
        decisions.append(
            shield.decide(
                names[events.groups[run, step]],
                int(events.recommendations[run, step]),
                float(events.costs[run, step]),
            )
        )
        if specification.fairness_property.labelled:
            assert events.labels is not None
            shield.observe(int(events.labels[run, step]))
    return decisions


@pytest.mark.parametrize("case", CASES)
def test_as_one_by_one(case: str) -> None:
    specification, costs, periods = CASES[case]
    inputs = distribution(specification.groups.names, costs)
    length = specification.horizon.length
    # Prices between and beyond the known costs.
    events = people(len(inputs.groups), (*costs, 0.7, 9.0), periods * length)
    simulation = replay_events(specification, inputs, events)
    solution = solve(period_problem(specification, inputs))
    interventions = 0
    for run in range(RUNS):
        shield = Shield(specification, inputs, solution)
        decisions = np.array(decided_one_by_one(shield, specification, events, run))
        reports = shield.period_reports
        assert len(reports) == periods
        right = (decisions == events.labels[run]).reshape(periods, length).sum(axis=1)
        for period, report in enumerate(reports):
            where = (run, period)
            assert report.counts == tuple(map(tuple, simulation.counts[where].tolist()))
            assert report.interventions == simulation.interventions[where]
            assert report.cost == pytest.approx(simulation.cost[where])
            assert report.active == simulation.active[where]
            kept = report.bound == specification.bound
            assert simulation.infeasible[where] == (not kept)
            if simulation.closest is not None:
                assert simulation.closest[where] == (not kept)
                assert simulation.active[where]
            if simulation.assumption_held is None:
                assert report.assumption_held is None
            else:
                assert report.assumption_held == simulation.assumption_held[where]
            bias = report.bias if simulation.shield == "finite" else report.bias_so_far
            assert simulation.bias[where] == pytest.approx(float(bias))
            assert simulation.above[where] == (bias > specification.bound)
            assert simulation.correct is not None
            assert simulation.correct[where] == right[period]
            interventions += report.interventions
    assert interventions > RUNS  # there was something to compare
    assert simulation.infeasible.any() or not case.startswith("closest")


def test_without_a_shield_recommendations_pass() -> None:
    specification, costs, periods = CASES["static-fair"]
    inputs = distribution(("a", "b"), costs)
    length = specification.horizon.length
    events = people(2, costs, periods * length)
    simulation = replay_events(specification, inputs, events)
    for run in range(RUNS):
        tops, bottoms = [0, 0], [0, 0]
        for step in range(periods * length):
            bottoms[events.groups[run, step]] += 1
            tops[events.groups[run, step]] += int(events.recommendations[run, step])
            if (step + 1) % length == 0 and min(bottoms) > 0:
                bias = abs(tops[0] / bottoms[0] - tops[1] / bottoms[1])
                assert simulation.bias_unshielded[run, step // length] == pytest.approx(bias)


def test_decisions_found_again_piece_by_piece_are_the_same() -> None:
    specification, costs, _ = CASES["finite"]
    inputs = distribution(("a", "b"), costs)
    events = people(2, costs, specification.horizon.length)
    windows = solve(period_problem(specification, inputs), storage="windows")
    one = replay_events(specification, inputs, events, solution=windows)
    other = replay_events(specification, inputs, events)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.interventions, other.interventions)
