"""The simulations of section 5 of the paper on fairness shields.

A run draws people from a task's test rows with replacement: group, recommendation and label. All
shields are synthesised for the paper's distribution that knows nothing of the classifier (groups,
recommendations and labels equally likely, every change costs 1), with ``empty_group = "zero"`` as
in the paper's program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from benchmarks.shield_experiments.tasks import TASKS, Task
from benchmarks.shield_experiments.training import METHODS, Predictions, Training, predictions
from testsgd.shielding import Events
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running import period_problem
from testsgd.shielding.simulation import Simulation, simulate
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import Solution, solve

HORIZONS = {"demographic_parity": 100, "equal_opportunity": 75}
THRESHOLDS = (Fraction(1, 20), Fraction(1, 10), Fraction(3, 20), Fraction(1, 5))
PERIODIC = ("static-fair", "static-bounded-welfare", "dynamic")
QUANTILES = (0.25, 0.5, 0.75)

_GROUPS = ("first", "second")

Row = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """How much is simulated.

    Attributes
    ----------
    runs : int
        Of one period, and of periodic shields that are solved once.
    dynamic_runs : dict of str to int
        By property: of dynamic shields, which are solved anew for every run and period.
    periods : int
    jobs : int
    seed : int
    """

    runs: int
    dynamic_runs: dict[str, int]
    periods: int = 10
    jobs: int = 1
    seed: int = 0


def classifiers(training: Training) -> list[Row]:
    """Train all classifiers, or find them in the cache, and say how good and fair they are."""
    rows = []
    for task, method, found in _trained(training, METHODS):
        rows.append(
            {
                "task": task.name,
                "method": method,
                "groups": list(task.groups),
                "test_rows": len(found.labels),
                "first_share": float((found.groups == 0).mean()),
                "label_share": float(found.labels.mean()),
                "accuracy": found.accuracy,
                "average_precision": found.average_precision,
                "area_under_curve": found.area_under_curve,
                "f1": found.f1,
                "parity_gap": found.parity_gap,
                "opportunity_gap": found.opportunity_gap,
            }
        )
        print(f"  {task.name} {method}: accuracy {found.accuracy:.3f}", flush=True)
    return rows


def one_period(training: Training, size: Size) -> tuple[list[Row], list[Row]]:
    """Simulate FinHzn shields; give a row a cell, and the quantiles of the bias over all cells."""
    cells: list[Row] = []
    quantiles: list[Row] = []
    for fairness in HORIZONS:
        normalised: list[list[np.ndarray[Any, Any]]] = [[], []]
        for bound in THRESHOLDS:
            specification, inputs = specified(fairness, bound, "finite")
            for task, method, found in _trained(training, METHODS):
                simulation = simulate(
                    specification,
                    inputs,
                    events_of(found),
                    runs=size.runs,
                    random_state=size.seed,
                    solution=_solution(specification),
                )
                normalised[0].append(simulation.bias_unshielded.ravel() / float(bound))
                normalised[1].append(simulation.bias.ravel() / float(bound))
                cells.append(_cell(task, method, fairness, bound, simulation))
            print(f"  {fairness} {float(bound)}: one period", flush=True)
        for shield, parts in zip(("none", "finite"), normalised, strict=True):
            values = np.concatenate(parts)
            above = "above_unshielded" if shield == "none" else "above"
            here = [cell[above] for cell in cells if cell["fairness"] == fairness]
            quantiles.append(
                {
                    "fairness": fairness,
                    "shield": shield,
                    "quantiles": np.quantile(values, QUANTILES).tolist(),
                    "mean": float(values.mean()),
                    "deviation": float(values.std()),
                    "above": float(np.mean(here)),
                    "runs": len(values),
                }
            )
    return cells, quantiles


def several_periods(fairness: str, shield: str, training: Training, size: Size) -> list[Row]:
    """Simulate a periodic shield on the plainly trained classifiers; a row a cell."""
    runs = size.dynamic_runs[fairness] if shield == "dynamic" else size.runs
    cells = []
    for bound in THRESHOLDS:
        for task, method, found in _trained(training, ("ERM",)):
            bounds = _welfare(found, fairness, bound)
            specification, inputs = specified(fairness, bound, shield, bounds)
            simulation = simulate(
                specification,
                inputs,
                events_of(found),
                runs=runs,
                periods=size.periods,
                random_state=size.seed,
                jobs=size.jobs,
                solution=_solution(specification),
            )
            cells.append(_cell(task, method, fairness, bound, simulation))
        print(f"  {fairness} {float(bound)}: {shield}", flush=True)
    return cells


def _cell(task: Task, method: str, fairness: str, bound: Fraction, simulation: Simulation) -> Row:
    loss, held = simulation.utility_loss, simulation.assumption_held
    assert loss is not None
    return {
        "task": task.name,
        "method": method,
        "fairness": fairness,
        "bound": float(bound),
        "shield": simulation.shield,
        "runs": simulation.runs,
        "periods": simulation.periods,
        # Of all runs: above the bound at the end of some period.
        "above_unshielded": float(simulation.above_unshielded.any(axis=1).mean()),
        "above": float(simulation.above.any(axis=1).mean()),
        "assumption": None if held is None else float(held.all(axis=1).mean()),
        "broken": int((simulation.guaranteed & simulation.above).sum()),
        # Of all periods.
        "assumption_of_periods": None if held is None else float(held.mean()),
        "fair_periods": float(simulation.fair.mean()),
        "fair_periods_unshielded": float((~simulation.above_unshielded).mean()),
        "cost": float(simulation.cost.mean() / simulation.horizon),
        "utility_loss": float(loss.mean()),
        "utility_loss_of_periods": None
        if simulation.shield == "finite"
        else loss.mean(axis=0).tolist(),
    }


def _trained(
    training: Training, methods: tuple[str, ...]
) -> Iterator[tuple[Task, str, Predictions]]:
    for task in TASKS:
        for method in methods:
            yield task, method, predictions(task, method, training)


def events_of(found: Predictions) -> Events:
    """Give the test rows with what a network recommends, to draw people from."""
    return Events(found.groups, found.recommendations, np.ones(len(found.groups)), found.labels)


def _welfare(found: Predictions, fairness: str, bound: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds as far apart as the bound around a rate of the validation rows.

    That is the share of label 1 for demographic parity (as in the paper's program), and that of
    acceptance among label 1 for equal opportunity.
    """
    if fairness == "demographic_parity":
        rate = float(found.validation_labels.mean())
    else:
        rate = float(found.validation_recommendations[found.validation_labels == 1].mean())
    low = Fraction(round(1000 * rate), 1000) - bound / 2
    low = min(max(low, Fraction(0)), 1 - bound)
    return low, low + bound


def specified(
    fairness: str,
    bound: Fraction,
    shield: str,
    welfare: tuple[Fraction, Fraction] | None = None,
) -> tuple[ShieldSpecification, InputDistribution]:
    """Specify a shield of the experiments; with the distribution that knows nothing."""
    horizon: dict[str, Any] = {"length": HORIZONS[fairness], "shield": shield}
    if shield == "static-bounded-welfare" and welfare is not None:
        horizon["welfare"] = [str(bound) for bound in welfare]
    specification = ShieldSpecification.from_dict(
        {
            "name": "experiment",
            "fairness": {
                "property": fairness,
                "bound": str(bound),
                "empty_group": "zero",
            },
            "groups": {"names": list(_GROUPS)},
            "horizon": horizon,
        }
    )
    return specification, specification.input_distribution()


@cache
def _solution(specification: ShieldSpecification) -> Solution:
    """Solve once for all classifiers."""
    return solve(period_problem(specification, specification.input_distribution()))
