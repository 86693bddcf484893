"""Simulations and syntheses to report: made up by hand, so that every number is known."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from testsgd.shielding import ShieldSummary, SimulationParameters, SimulationSummary
from testsgd.shielding.report.summarise import summarise_simulation, summarise_synthesis
from testsgd.shielding.running import period_problem
from testsgd.shielding.simulation import Simulation
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import Solution, solve

# Rejected, accepted; of groups a and b; ten people come.
EQUAL, APART, FAR = [[2, 3], [2, 3]], [[3, 2], [2, 3]], [[5, 0], [0, 5]]


def specification(**horizon: Any) -> ShieldSpecification:
    """A bias of one fifth, which `APART` has exactly."""
    return ShieldSpecification.from_dict(
        {
            "name": "loans <b>",
            "fairness": {"property": "demographic_parity", "bound": "1/5"},
            "groups": {"names": ["a", "b"]},
            "horizon": {"length": 10} | horizon,
        }
    )


def simulation(**changes: Any) -> Simulation:
    """Four runs of a period: two far apart without the shield, none with it."""
    given: dict[str, Any] = {
        "fairness": specification().fairness_property,
        "bound": Fraction(1, 5),
        "empty_group": "vacuous",
        "shield": "finite",
        "horizon": 10,
        "counts_unshielded": np.array([[EQUAL], [APART], [FAR], [FAR]]),
        "counts": np.array([[EQUAL], [APART], [APART], [APART]]),
        "active": np.ones((4, 1), dtype=bool),
        "assumption_held": None,
        "interventions": np.array([[0], [0], [3], [5]]),
        "cost": np.array([[0.0], [0.0], [6.0], [10.0]]),
    }
    return Simulation(**(given | changes))


def periodic(**changes: Any) -> Simulation:
    """Two periods; in the second one the assumption of the last run fails, and so does it."""
    given: dict[str, Any] = {
        "shield": "static-bounded-welfare",
        "counts_unshielded": np.array([[EQUAL, FAR], [FAR, FAR]]),
        "counts": np.array([[EQUAL, APART], [APART, FAR]]),
        "active": np.ones((2, 2), dtype=bool),
        "assumption_held": np.array([[True, True], [True, False]]),
        "interventions": np.array([[0, 2], [4, 0]]),
        "cost": np.array([[0.0, 2.0], [4.0, 0.0]]),
        "correct_unshielded": np.array([[8, 7], [6, 9]]),
        "correct": np.array([[8, 6], [4, 9]]),
    }
    return simulation(**(given | changes))


def dynamic(**changes: Any) -> Simulation:
    """The same; no shield exists for the second period of the second run."""
    given: dict[str, Any] = {
        "shield": "dynamic",
        "active": np.array([[True, True], [True, False]]),
    }
    return periodic(**(given | changes))


def closest(**changes: Any) -> Simulation:
    """The same, where the smallest bound that can be kept is kept."""
    active = np.ones((2, 2), dtype=bool)
    return dynamic(**({"active": active, "closest": ~dynamic().active} | changes))


def simulated(found: Simulation | None = None, **changes: Any) -> SimulationSummary:
    """Summarise one."""
    found = found or simulation()
    horizon: dict[str, Any] = {"shield": found.shield}
    if found.shield == "static-bounded-welfare":
        horizon["welfare"] = ["2/5", "3/5"]
    if found.closest is not None:
        horizon["when_infeasible"] = "closest"
    made = specification(**horizon)
    asked = {"runs": found.runs, "periods": found.periods, "random_state": 3}
    if "fail_above" in changes:
        asked["fail_above"] = changes.pop("fail_above")
    given: dict[str, Any] = {
        "parameters": SimulationParameters(**asked),
        "logged": None,
        "seconds": 0.25,
        "expected_cost": 2.5,
    }
    return summarise_simulation(found, made, made.input_distribution(), **(given | changes))


def solved() -> tuple[ShieldSpecification, Solution]:
    """A shield of ten decisions."""
    made = specification()
    return made, solve(period_problem(made, made.input_distribution()), compiled=False)


def synthesised() -> ShieldSummary:
    """Summarise it."""
    made, solution = solved()
    inputs = made.input_distribution()
    return summarise_synthesis(
        made,
        inputs,
        solution,
        digest=made.digest(inputs),
        predicted_bytes=18_600_000,
        stored_bytes=4_310,
    )


SIMULATIONS: dict[str, Callable[[], SimulationSummary]] = {
    "finite": simulated,
    "log": lambda: simulated(logged=500),
    "gate": lambda: simulated(periodic(), fail_above=0.25),
    "broken": lambda: simulated(simulation(counts=np.array([[EQUAL], [APART], [FAR], [APART]]))),
    "periodic": lambda: simulated(periodic()),
    "dynamic": lambda: simulated(dynamic()),
    "closest": lambda: simulated(closest()),
    "nothing guaranteed": lambda: simulated(
        periodic(assumption_held=np.zeros((2, 2), dtype=bool), active=np.zeros((2, 2), dtype=bool))
    ),
}
