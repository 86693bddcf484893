"""Run every case in a process of its own and write docs/benchmarks.md.

``python -m benchmarks CASE`` runs one case and prints its rows as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

# The targets of these cases are for two processors, whatever the machine has.
_ON_TWO_PROCESSORS = ("reviews-", "text-")

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def main() -> None:
    """Run one case, or all."""
    if len(sys.argv) > 1:
        from benchmarks.cases import CASES

        print(json.dumps(CASES[sys.argv[1]]()))
        return
    from benchmarks.page import render

    PAGE.write_text(render(_run, str(date.today())), encoding="utf-8")
    print(f"Written: {PAGE}")


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
