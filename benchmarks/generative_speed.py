"""How long assessing a million outputs takes, with how much memory, and one request of an enforcer.

``python -m benchmarks.generative_speed KIND OUTPUTS`` assesses in this process, once, and prints
seconds and memory as JSON; every assessment is a process of its own.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.generative import Enforcer, assess_generative
from testsgd.generative.stores import SQLiteStore, Store

SIZES = (2, 3, 4, 5, 6, 8)
KINDS = {
    "numbers": "whole numbers",
    "categories": "names as categories",
    "names": "names as texts",
}
STATES = {
    "memory": "in memory",
    "file": "SQLite",
    "fsync": "SQLite, fsync",
}


@dataclass(frozen=True)
class Assessed:
    """One assessment in a process of its own; memory in bytes, that of the process."""

    kind: str
    outputs: int
    seconds: float
    peak: int
    before: int  # With the package imported and the outputs made.


def assessed(kind: str, outputs: int, *, processes: int) -> Assessed:
    """Assess in processes of their own; return the median of each number."""
    runs = []
    for _ in range(processes):
        command = [sys.executable, "-m", "benchmarks.generative_speed", kind, str(outputs)]
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        runs.append(Assessed(**json.loads(finished.stdout.splitlines()[-1])))
    return Assessed(
        kind=kind,
        outputs=outputs,
        seconds=statistics.median(run.seconds for run in runs),
        peak=int(statistics.median(run.peak for run in runs)),
        before=int(statistics.median(run.before for run in runs)),
    )


def assess_here(kind: str, outputs: int) -> Assessed:
    """Assess in this process."""
    names = {f"grouping_{size}": [f"value {number}" for number in range(size)] for size in SIZES}
    specification: dict[str, Any] = {
        "groupings": {name: {"values": values} for name, values in names.items()},
        "requirements": [
            {"grouping": name, "beta": 20 * len(values)} for name, values in names.items()
        ],
    }
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            name: _column(random.integers(0, len(values) + 1, size=outputs), values, kind)
            for name, values in names.items()
        }
    )
    assess_generative(frame.head(100), specification)  # loads what is loaded once
    before = _peak()
    started = time.perf_counter()
    assess_generative(frame, specification)
    seconds = time.perf_counter() - started
    return Assessed(kind=kind, outputs=outputs, seconds=seconds, peak=_peak(), before=before)


def _column(numbers: Any, values: list[str], kind: str) -> Any:
    """Return labels, 0 for an unrelated output, as whole numbers or as names."""
    if kind == "numbers":
        return numbers
    if kind == "categories":
        return pd.Categorical.from_codes(numbers - 1, values)
    return np.array([None, *values], dtype=object)[numbers]


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass(frozen=True)
class Requested:
    """Seconds of a request of an enforcer, from its beginning to its end, without the model."""

    state: str
    requests: int
    median: float
    late: float


def requested(state: str, requests: int) -> Requested:
    """Time requests of an enforcer one after the other."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        enforcer = Enforcer(
            {
                "groupings": {
                    "gender": {
                        "values": ["female", "male"],
                        "terms": {"female": ["she"], "male": ["he"]},
                    }
                },
                "requirements": [{"grouping": "gender", "beta": 6}],
                "enforcement": {"tries": 0},
            },
            state=_store(state, Path(folder) / "state.sqlite"),
            random_state=0,
        )
        enforcer.prepare()
        taken = []
        for number in range(requests + 100):
            said = " she slept." if number % 5 else " he slept."
            started = time.perf_counter()
            ticket = enforcer.begin("The nurse was tired, so")
            enforcer.finish(ticket, said)
            taken.append(time.perf_counter() - started)
        enforcer.close()
    taken = sorted(taken[100:])
    return Requested(state, requests, statistics.median(taken), taken[len(taken) * 99 // 100])


def _store(state: str, file: Path) -> Store | None:
    if state == "memory":
        return None
    return SQLiteStore(file, fsync=state == "fsync")


if __name__ == "__main__":
    _, _kind, _outputs = sys.argv
    print(json.dumps(asdict(assess_here(_kind, int(_outputs)))))
