"""Run the experiments and write the tables and the figures of docs/monitoring.md.

``python -m benchmarks.monitor_experiments`` takes about ten minutes on four processors. ``--quick``
takes a minute and writes nothing into the repository. ``--tables`` only writes the page, from
the results kept in benchmarks/monitor_results.json.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.kept_results import as_json
from benchmarks.measure import machine
from benchmarks.monitor_experiments.hiring import Hiring, hiring, one_stream
from benchmarks.monitor_experiments.page import fill, text
from benchmarks.monitor_experiments.recidivism import recidivism
from benchmarks.monitor_experiments.seminars import Seminars, seminars
from benchmarks.monitor_stream import EVENTS, SCENARIOS, beside_sqlite, long_streams
from testsgd.io import replacing_any_file, write_text

_ROOT = Path(__file__).resolve().parent.parent.parent
_RESULTS = _ROOT / "benchmarks" / "monitor_results.json"
_SYSTEMS_SHOWN = ("fair", "unfair")


def main() -> None:
    """Read the command line, run, write."""
    options = _options()
    if not options.tables:
        quick = 40 if options.quick else None
        results = _run(
            Hiring(streams=quick or options.streams, jobs=options.jobs),
            Seminars(scenarios=quick or options.scenarios, jobs=options.jobs),
            scenarios=2 if options.quick else SCENARIOS,
            events=EVENTS // 20 if options.quick else EVENTS,
        )
        if options.quick:
            print(text(results))
            return
        with replacing_any_file():
            write_text(_RESULTS, as_json(results))
    for written in fill(_ROOT / "docs", json.loads(_RESULTS.read_text(encoding="utf-8"))):
        print(f"Written: {written}")


def _run(streams: Hiring, places: Seminars, *, scenarios: int, events: int) -> dict[str, Any]:
    """Run everything; times are taken last, when nothing else is at work."""
    results: dict[str, Any] = {
        "day": str(date.today()),
        "machine": machine(),
        # How many processes there were is no matter of the results.
        "size": {
            "hiring": asdict(replace(streams, jobs=1)),
            "seminars": asdict(replace(places, jobs=1)),
        },
        "recidivism": recidivism(),
    }
    print("  COMPAS", flush=True)
    results["hiring"] = hiring(streams)
    results["streams"] = [one_stream(system, streams) for system in _SYSTEMS_SHOWN]
    results["seminars"] = seminars(places)
    results["beside_sqlite"] = [asdict(row) for row in beside_sqlite(scenarios=scenarios)]
    print("  beside SQLite", flush=True)
    results["long"] = [asdict(row) for row in long_streams(events)]
    return results


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.monitor_experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few streams; on the screen only")
    parser.add_argument("--tables", action="store_true", help="only write the page anew")
    parser.add_argument("--streams", type=int, default=2000, help="of each system of hiring")
    parser.add_argument("--scenarios", type=int, default=2000, help="of each seminar algorithm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
