"""Run every case in a process of its own and write docs/benchmarks.md.

``python -m benchmarks --only CASE,CASE`` runs some of them and takes the rows of the others from
the last runs, which are kept in benchmarks/results.json. ``python -m benchmarks CASE`` runs one
case and prints its rows as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.measure import machine

# The targets of these cases are for two processors, whatever the machine has.
_ON_TWO_PROCESSORS = ("reviews-", "text-", "certification-", "shield-memory")

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
RESULTS = Path(__file__).resolve().parent / "results.json"


def main() -> None:
    """Run one case, some, or all."""
    match sys.argv[1:]:
        case []:
            _write(None)
        case ["--only", names]:
            _write(set(names.split(",")))
        case [name] if not name.startswith("-"):
            from benchmarks.cases import CASES

            print(json.dumps(CASES[name]()))
        case _:
            sys.exit(__doc__)


def _write(only: set[str] | None) -> None:
    from benchmarks.marked_page import wrapped
    from benchmarks.page import render

    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}

    def rows_of(case: str) -> list[list[str]]:
        if only is None or case in only or case not in kept:
            kept[case] = {"day": str(date.today()), "machine": machine(), "rows": _run(case)}
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        rows: list[list[str]] = kept[case]["rows"]
        return rows

    text = render(rows_of)
    days = sorted({entry["day"] for entry in kept.values()})
    span = days[0] if len(days) == 1 else f"days from {days[0]} to {days[-1]}"
    text = text.replace("{days}", span).replace("{machines}", _machines(kept))
    text = _with_metrics(text, PAGE.read_text(encoding="utf-8") if PAGE.is_file() else "")
    PAGE.write_text(wrapped(text).rstrip() + "\n", encoding="utf-8")
    print(f"Written: {PAGE}")


# The section that `python -m benchmarks.metric_cases` writes, and the one before which it stands.
_METRICS = "## Metrics of predictions"
_METRICS_END = "<!-- metrics end -->"
_AFTER_METRICS = "## Texts: all frequent rule sets of the reviews"


def _with_metrics(text: str, before: str) -> str:
    """Return a page with the section on metrics that the page had before, if it had one."""
    if _METRICS not in before:
        return text
    start = before.index(_METRICS)
    section = before[start : before.index(_METRICS_END, start) + len(_METRICS_END)]
    return text.replace(_AFTER_METRICS, f"{section}\n\n{_AFTER_METRICS}", 1)


def _machines(kept: dict[str, dict[str, Any]]) -> str:
    cases: dict[str, list[str]] = {}
    for case, entry in kept.items():
        cases.setdefault(entry["machine"], []).append(case)
    main = max(cases, key=lambda machine: len(cases[machine]))
    others = [f"{', '.join(names)} on {other}" for other, names in cases.items() if other != main]
    return "; ".join([f"Machine: {main}", *others]) + "."


def _run(case: str) -> list[list[str]]:
    print(f"{case} ...", flush=True)
    command = [sys.executable, "-m", "benchmarks", case]
    if case.startswith(_ON_TWO_PROCESSORS):
        command = ["taskset", "--cpu-list", "0,1", *command]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    rows: list[list[str]] = json.loads(finished.stdout.splitlines()[-1])
    for row in rows:
        print("   ", " | ".join(row), flush=True)
    return rows


if __name__ == "__main__":
    main()
