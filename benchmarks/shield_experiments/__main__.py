"""Run the experiments and write the tables and the figure of docs/shields.md.

``python -m benchmarks.shield_experiments`` takes about half an hour. ``--quick`` takes a minute and
writes nothing into the repository. ``--only classifiers`` trains the classifiers, and replaces what
the kept results say of them; what was simulated stays as it is. ``--only static`` simulates the
static periodic shields anew, which takes a minute. ``--tables`` only writes the page, from the
results kept in benchmarks/shield_results.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.kept_results import as_json
from benchmarks.shield_experiments.experiments import (
    HORIZONS,
    PERIODIC,
    Size,
    classifiers,
    one_period,
    several_periods,
)
from benchmarks.shield_experiments.page import fill, tables
from benchmarks.shield_experiments.training import Training
from testsgd.io import replacing_any_file, write_text

_ROOT = Path(__file__).resolve().parent.parent.parent
_RESULTS = _ROOT / "benchmarks" / "shield_results.json"

_QUICK = Size(runs=100, dynamic_runs={"demographic_parity": 2, "equal_opportunity": 1}, periods=3)


def main() -> None:
    """Read the command line, run, write."""
    options = _options()
    parity, opportunity = options.dynamic_runs
    full = Size(
        runs=options.runs,
        dynamic_runs={"demographic_parity": parity, "equal_opportunity": opportunity},
        periods=options.periods,
        jobs=options.jobs,
    )
    if options.only == "classifiers":
        with replacing_any_file():
            write_text(
                _RESULTS, as_json(_kept_results() | {"classifiers": classifiers(Training())})
            )
    elif options.only == "static":
        with replacing_any_file():
            write_text(_RESULTS, as_json(_with_static_shields(_kept_results(), full)))
    elif not options.tables:
        results = _run(_QUICK if options.quick else full)
        if options.quick:
            for name, table in tables(results).items():
                print(f"\n{name}\n\n{table}")
            return
        with replacing_any_file():
            write_text(_RESULTS, as_json(results))
    for written in fill(_ROOT / "docs", _kept_results()):
        print(f"Written: {written}")


def _kept_results() -> dict[str, Any]:
    """Return the results that are kept in the repository."""
    kept: dict[str, Any] = json.loads(_RESULTS.read_text(encoding="utf-8"))
    return kept


def _with_static_shields(kept: dict[str, Any], size: Size) -> dict[str, Any]:
    """Return the kept results with the static periodic shields simulated anew, in their places."""
    training = Training()
    rows: list[Any] = []
    for fairness in HORIZONS:
        for shield in PERIODIC:
            if shield == "dynamic":
                rows += [
                    row
                    for row in kept["several_periods"]
                    if (row["fairness"], row["shield"]) == (fairness, shield)
                ]
            else:
                rows += several_periods(fairness, shield, training, size)
    return kept | {"several_periods": rows}


def _run(size: Size) -> dict[str, Any]:
    training = Training()
    results: dict[str, Any] = {
        "day": str(date.today()),
        "training": asdict(training),
        "size": asdict(size),
        "classifiers": classifiers(training),
    }
    results["one_period"], results["bias"] = one_period(training, size)
    results["several_periods"] = [
        row
        for fairness in HORIZONS
        for shield in PERIODIC
        for row in several_periods(fairness, shield, training, size)
    ]
    return results


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.shield_experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--quick", action="store_true", help="few runs; tables on the screen only")
    parts.add_argument("--tables", action="store_true", help="only write the page anew")
    parts.add_argument(
        "--only",
        choices=["classifiers", "static"],
        help="measure this part alone; the others stay as kept",
    )
    parser.add_argument("--runs", type=int, default=1000, help="for shields that are solved once")
    parser.add_argument(
        "--dynamic-runs",
        type=int,
        nargs=2,
        default=(50, 20),
        metavar=("PARITY", "OPPORTUNITY"),
        help="for dynamic shields, which are solved for every run and period",
    )
    parser.add_argument("--periods", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="processes for dynamic shields")
    return parser.parse_args()


if __name__ == "__main__":
    main()
