"""Drawing people: seeds, parts, shares, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from testsgd.errors import InfeasibleShieldError, ParameterError
from testsgd.shielding import Events
from testsgd.shielding import simulation as simulation_module
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.simulation import replay_events, simulate
from testsgd.shielding.specification import ShieldSpecification


def specified(length: int = 10, property_name: str = "demographic_parity", **horizon: Any) -> Any:
    return ShieldSpecification.from_dict(
        {
            "name": "made up",
            "fairness": {"property": property_name, "bound": "1/5"},
            "groups": {"names": ["a", "b"]},
            "horizon": {"length": length, **horizon},
        }
    )


SKEWED = InputDistribution(
    ("a", "b"),
    (1.0, 2.0),
    np.array([[[0.1, 0.0], [0.2, 0.1]], [[0.3, 0.1], [0.1, 0.1]]]),
    np.array([[0.2, 0.9], [0.5, 0.5]]),
)
ROWS = Events(np.array([0, 1, 1, 1]), np.array([1, 0, 0, 1]), np.ones(4), np.array([1, 0, 1, 1]))


def test_the_seed_fixes_everything() -> None:
    specification = specified(shield="dynamic")
    inputs = specification.input_distribution()
    one, same, other = (
        simulate(specification, inputs, ROWS, runs=20, periods=2, random_state=seed, jobs=jobs)
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    np.testing.assert_array_equal(one.counts, same.counts)
    np.testing.assert_array_equal(one.cost, same.cost)
    assert (one.counts_unshielded != other.counts_unshielded).any()


@pytest.mark.parametrize("kind", [np.uint64, np.uint8, np.int8])
def test_numbers_of_any_width(kind: Any) -> None:
    assert ROWS.labels is not None
    narrow = Events(
        ROWS.groups.astype(kind),
        ROWS.recommendations.astype(kind),
        ROWS.costs.astype(np.float32),
        ROWS.labels.astype(kind),
    )
    specification = specified()
    inputs = specification.input_distribution()
    one, other = (simulate(specification, inputs, rows, runs=20) for rows in (ROWS, narrow))
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.correct, other.correct)


def test_many_runs_are_simulated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_module, "_MOST_EVENTS", 75)
    specification = specified()
    inputs = specification.input_distribution()
    simulation = simulate(specification, inputs, ROWS, runs=25)
    assert simulation.runs == 25
    assert simulation.counts.sum() == 25 * 10
    # No part repeats another.
    assert len(np.unique(simulation.counts_unshielded.reshape(25, -1), axis=0)) > 10


@pytest.mark.parametrize("drawn", ["distribution", "rows"])
def test_shares_of_what_is_drawn(drawn: str) -> None:
    specification = specified(property_name="equal_opportunity")
    events = SKEWED if drawn == "distribution" else ROWS
    simulation = simulate(specification, SKEWED, events, runs=500)
    # Accepted people of label 1, by group, and people of label 1.
    if drawn == "distribution":
        accepted = [0.3 * 0.9, 0.2 * 0.5]
        positive = 0.1 * 0.2 + 0.3 * 0.9 + 0.4 * 0.5 + 0.2 * 0.5
    else:
        accepted, positive = [1 / 4, 1 / 4], 3 / 4
    counts = simulation.counts_unshielded.sum(axis=(0, 1))
    trials = 500 * 10
    observed = [(int(counts[group, 1]), accepted[group]) for group in (0, 1)]
    for count, share in (*observed, (int(counts.sum()), positive)):
        low, high = binom.ppf([0.0005, 0.9995], trials, share)
        assert low <= count <= high


def test_costs_are_paid_for_changes_only() -> None:
    specification = specified()
    simulation = simulate(specification, SKEWED, SKEWED, runs=100)
    assert (simulation.cost >= simulation.interventions).all()
    assert (simulation.cost <= 2 * simulation.interventions).all()
    assert not simulation.above.any()
    assert simulation.guaranteed.all()


BAD: dict[str, tuple[Any, str]] = {
    "shape": (replace(ROWS, costs=np.ones(3)), "events"),
    "axes": (ROWS.take(np.zeros((2, 2), dtype=int)), "events"),
    "nobody": (ROWS.take(np.zeros(0, dtype=int)), "events"),
    "group": (replace(ROWS, groups=np.array([0, 1, 2, 1])), "events.groups"),
    "recommendation": (
        replace(ROWS, recommendations=np.array([0, 1, -1, 1])),
        "events.recommendations",
    ),
    "fraction": (replace(ROWS, recommendations=np.full(4, 0.5)), "events.recommendations"),
    "label": (replace(ROWS, labels=np.array([0, 1, 2, 1])), "events.labels"),
    "no labels": (replace(ROWS, labels=None), "events.labels"),
    "cost": (replace(ROWS, costs=np.array([1, 1, 1, -1.0])), "events.costs"),
    "no number": (replace(ROWS, costs=np.array([1, 1, 1, np.nan])), "events.costs"),
    "distribution": (replace(SKEWED, labels=None), "events.labels"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_events_are_refused(case: str) -> None:
    specification = specified(property_name="equal_opportunity")
    events, where = BAD[case]
    with pytest.raises(ParameterError) as caught:
        simulate(specification, SKEWED, events, runs=3)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("runs", "periods", "where"), [(0, 1, "runs"), (1, 0, "periods"), (1, 2, "periods")]
)
def test_bad_numbers_are_refused(runs: int, periods: int, where: str) -> None:
    specification = specified()
    with pytest.raises(ParameterError) as caught:
        simulate(specification, SKEWED, ROWS, runs=runs, periods=periods)
    assert caught.value.where == where


def test_a_part_of_a_period_is_refused() -> None:
    with pytest.raises(ParameterError, match="no whole number of periods"):
        replay_events(specified(), SKEWED, ROWS.take(np.zeros((2, 15), dtype=int)))


def test_no_shield_no_simulation() -> None:
    # How often decisions are right is not in the shield's hands: it does not know the label.
    specification = ShieldSpecification.from_dict(
        {
            "name": "right as often",
            "fairness": {
                "property": "custom",
                "bound": "1/10",
                "numerator": ["accept:1", "reject:0"],
                "denominator": ["accept", "reject"],
            },
            "groups": {"names": ["a", "b"]},
            "horizon": {"length": 4},
        }
    )
    with pytest.raises(InfeasibleShieldError) as caught:
        simulate(specification, SKEWED, ROWS, runs=2)
    assert caught.value.details["smallest_bound"] == 1
