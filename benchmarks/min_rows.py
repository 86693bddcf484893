"""What smaller groups cost: groups, people, seconds and intervals for several bounds on rows.

``python -m benchmarks.min_rows`` audits the tables of the paper as people's own data are audited by
default, but for the bound, prints a row for each and puts the table into docs/benchmarks.md. Crime
takes most of the time; ``--quick`` leaves it out, and ``--only NAME,NAME`` all but some.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.marked_page import Marks, fill_marked, percent, table
from benchmarks.measure import machine
from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.data import DatasetSpecification, load_specification, load_table
from testsgd.models import load_model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
MARKS: Marks = ("<!-- min-rows: python -m benchmarks.min_rows -->", "<!-- min-rows ends -->")

TABLES = ("census", "bank", "credit", "compas", "law", "crime")
BOUNDS: dict[str, dict[str, Any]] = {
    "5%": {"theta": 0.05},
    **{f"{rows}": {"min_rows": rows} for rows in (20, 30, 50, 100)},
}
HEADING = [
    "data set", "at least", "rows", "groups", "people not judged", "quantile",
    "median interval", "first group's", "guarantee", "rule selection", "whole audit",
]  # fmt: skip

TEXT = (
    "Whole audits as by default (rows as they are, all groups at once, stability), but for how "
    "many rows a judged group has at least, inside as outside: the paper's 5%, or a number. Not "
    "judged are people all of whose combinations of single values are too small. Widths are those "
    "of the simultaneous intervals, in points: the median over the groups (over 10,000 of them "
    "drawn at random, if there are more), and that of the first group by the lower bound. Seconds "
    "are those of processors, all threads together, which other programs hardly change. "
    "Written by `python -m benchmarks.min_rows`, one run each."
)

# Millions of intervals take minutes; the median of so many, drawn at random, is enough.
_INTERVALS = 10_000


def kept() -> str:
    """Return the table that the page has now."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    return rest.partition(MARKS[1])[0].strip()


def rows_of(name: str) -> list[list[str]]:
    """Audit a data set with each bound."""
    specification = load_specification(name)
    assert isinstance(specification, DatasetSpecification)
    people, model = load_table(specification), load_model(None, specification)
    rows = []
    for bound, given in BOUNDS.items():
        parameters = AuditParameters(**given)
        started = time.process_time()
        with patch("testsgd.auditing.outcome.time.perf_counter", time.process_time):
            findings = run_audit(model, people, parameters)
        seconds = time.process_time() - started
        fewest = parameters.fewest_rows(len(people))
        rows.append([name, bound, f"{fewest:,}", *_costs(findings, seconds)])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def _costs(findings: TableFindings, seconds: float) -> list[str]:
    guarantee, first = findings.guarantee, findings.first
    assert guarantee is not None
    groups = np.arange(len(findings.rule_sets))
    if len(groups) > _INTERVALS:
        groups = np.random.default_rng(0).choice(groups, _INTERVALS, replace=False)
    widths = [
        "" if not len(some) else _median_width(findings, some)
        for some in (groups, np.array([] if first is None else [first], dtype=np.intp))
    ]
    return [
        f"{len(findings.rule_sets):,}",
        percent(findings.unjudged.rows / findings.rows),
        "" if guarantee.critical is None else f"{guarantee.critical:.2f}",
        *widths,
        *(f"{findings.seconds.get(phase, 0.0):.2f} s" for phase in ("guarantee", "rule selection")),
        f"{seconds:.2f} s",
    ]


def _median_width(findings: TableFindings, groups: NDArray[np.intp]) -> str:
    low, high = findings.confidence_intervals(groups)
    return percent(float(np.median(high - low)), sign="")


def main() -> None:
    """Measure, print, and write the page if all tables were measured."""
    match sys.argv[1:]:
        case []:
            names = list(TABLES)
        case ["--quick"]:
            names = list(TABLES[:-1])
        case ["--only", listed]:
            names = listed.split(",")
        case _:
            sys.exit(__doc__)
    print(" | ".join(HEADING), flush=True)
    rows = [row for name in names for row in rows_of(name)]
    # Rows of tables that were not measured now stay as they are.
    old = [line.strip("| ").split(" | ") for line in kept().splitlines()[2:] if line]
    rows += [row for row in old if row[0] in set(TABLES) - set(names)]
    rows.sort(key=lambda row: TABLES.index(row[0]))
    load = f"{machine()}, load average {os.getloadavg()[1]:.0f}"
    fill_marked(PAGE, {MARKS: f"{table(HEADING, rows)}\n\nLast measured on: {load}."})
    print(f"Written: {PAGE}")


if __name__ == "__main__":
    main()
