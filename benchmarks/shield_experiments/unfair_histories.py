"""What a dynamic shield does where the history is so unfair that no shield exists for a period.

``python -m benchmarks.shield_experiments.unfair_histories`` takes some ten minutes: the two data
sets with which the dynamic shields of the paper's experiments for equal opportunity were never fair
after every period, with recommendations that pass in such periods, and with the smallest bound that
can be kept. It prints a table, and writes nothing.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.shield_experiments.experiments import HORIZONS, events_of, specified
from benchmarks.shield_experiments.tasks import TASKS
from benchmarks.shield_experiments.training import Training, predictions
from testsgd.shielding.simulation import Simulation, simulate

_TASKS = ("census-race", "bank-age")
_FAIRNESS = "equal_opportunity"
_HEADING = (
    "data", "when_infeasible", "runs", "periods without a shield", "fair after a period",
    "fair at the end", "mean bias at the end", "decisions changed", "utility loss, points",
)  # fmt: skip


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--periods", type=int, default=10)
    parser.add_argument("--bound", type=Fraction, default=Fraction(1, 10))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print("| " + " | ".join(_HEADING) + " |\n|" + " --- |" * len(_HEADING))
    for name in _TASKS:
        for choice in ("pass", "closest"):
            simulation = _simulated(name, choice, options)
            print("| " + " | ".join((name, choice, *_row(simulation))) + " |", flush=True)


def _simulated(name: str, choice: str, options: argparse.Namespace) -> Simulation:
    task = next(task for task in TASKS if task.name == name)
    specification, _ = specified(_FAIRNESS, options.bound, "dynamic")
    changes: dict[str, Any] = {"when_infeasible": choice}
    specification = specification.with_changes(**changes)
    return simulate(
        specification,
        specification.input_distribution(),
        events_of(predictions(task, "ERM", Training())),
        runs=options.runs,
        periods=options.periods,
        jobs=options.jobs,
    )


def _row(simulation: Simulation) -> list[str]:
    loss = simulation.utility_loss
    assert loss is not None
    assert simulation.horizon == HORIZONS[_FAIRNESS]
    return [
        str(simulation.runs),
        f"{simulation.infeasible.mean():.1%}",
        f"{simulation.fair.mean():.1%}",
        f"{simulation.fair[:, -1].mean():.1%}",
        f"{np.mean(simulation.bias[:, -1]):.3f}",
        f"{simulation.interventions.mean() / simulation.horizon:.1%}",
        f"{100 * loss.mean():.2f}",
    ]


if __name__ == "__main__":
    main()
