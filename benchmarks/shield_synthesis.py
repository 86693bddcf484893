"""Synthesis of shields beside the figures of the paper's C++ program, and decisions at run time.

The program's figures (built with -O2, all probabilities one half, cost 1, bound 0.1) were
measured on the same kind of machine. Each synthesis is a process of its own,
``python -m benchmarks.shield_synthesis PROPERTY HORIZON THREADS RUNS``: machine code is loaded
before, and the memory is what is added to the process then.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import testsgd
from benchmarks.measure import memory_now, memory_peak, timed
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding import InputDistribution, Solution, finite_problem, solve

Row = list[str]

SYNTHESIS = [
    "property", "horizon", "threads", "expected cost", "time", "memory", "decisions",
    "paper's program: cost", "time", "memory",
]  # fmt: skip
DECIDING = ["property", "horizon", "what", "median", "99%", "last of a horizon"]

_CASES: list[tuple[str, int, int, int, tuple[str, str, str]]] = [
    ("demographic_parity", 100, 1, 9, ("1.01215", "0.20 s", "28 MB")),
    ("demographic_parity", 200, 1, 5, ("0.581483", "4.2 s", "322 MB")),
    ("demographic_parity", 300, 1, 5, ("0.333876", "25.5 s", "1,504 MB")),
    ("demographic_parity", 1000, 4, 1, ("", "", "")),
    ("equal_opportunity", 75, 1, 9, ("22.1411", "3.3 s", "1,342 MB")),
    ("equal_opportunity", 100, 1, 5, ("23.8504", "25 s", "5,324 MB")),
]
_MIB = 2**20


def synthesis() -> list[Row]:
    """Synthesise all cases."""
    rows = []
    for name, horizon, threads, runs, known in _CASES:
        arguments = [name, str(horizon), str(threads), str(runs)]
        command = [sys.executable, "-m", "benchmarks.shield_synthesis", *arguments]
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        one: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
        rows.append([
            name.replace("_", " "),
            f"{horizon:,}",
            str(threads),
            f"{one['cost']:.6g}",
            f"{one['seconds']:.3g} s",
            f"{one['memory'] / _MIB:.0f} MiB",
            one["decisions"],
            *known,
        ])  # fmt: skip
    return rows


def _solution(name: str, horizon: int, threads: int) -> Solution:
    fairness = NAMED_PROPERTIES[name]
    inputs = InputDistribution.uniform(("a", "b"), labelled=fairness.labelled)
    problem = finite_problem(fairness, Fraction(1, 10), "zero", inputs, horizon)
    return solve(problem, jobs=threads, compiled=True)


def _measure(name: str, horizon: int, threads: int, runs: int) -> dict[str, Any]:
    _solution(name, 5, threads)
    seconds, memory = [], []
    for _ in range(runs):
        before = memory_now()
        taken, solution = timed(lambda: _solution(name, horizon, threads))
        memory.append(memory_peak() - before)
        seconds.append(taken)
        stored = f"{solution.policy.bytes / _MIB:,.3g} MiB"
        if hasattr(solution.policy, "kept"):
            stored = f"by windows, {solution.policy.bytes / _MIB:,.0f} MiB kept"
        cost = solution.expected_cost
        del solution
    return {
        "cost": cost,
        "seconds": statistics.median(seconds),
        "memory": max(memory),
        "decisions": stored,
    }


def deciding() -> list[Row]:
    """Time single decisions: 100,000 of each kind."""
    rows = []
    for name, horizon in (("demographic_parity", 100), ("equal_opportunity", 75)):
        for journalled in (False, True):
            times = _decision_times(name, horizon, journalled=journalled)
            what = "with observe" if name == "equal_opportunity" else "alone"
            what += ", journal and ids" if journalled else ""
            rows.append([name.replace("_", " "), str(horizon), what, *times])
    return rows


def _decision_times(name: str, horizon: int, *, journalled: bool) -> tuple[str, str, str]:
    """Median and 99% of all decisions, and the median of those that end a horizon."""
    wanted = {
        "name": "timed",
        "fairness": {"property": name, "bound": "1/10"},
        "groups": {"names": ["a", "b"]},
        "horizon": {"length": horizon, "after": "next"},
    }
    labelled = NAMED_PROPERTIES[name].labelled
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        shield = testsgd.synthesize_shield(wanted)
        if journalled:
            path = Path(folder) / "shield.npz"
            shield.save(path)
            shield = testsgd.load_shield(path, journal=Path(folder) / "journal.jsonl")
        for place in range(100_000):
            group, recommendation = "ab"[place * 7 // 5 % 2], place // 3 % 2
            event = str(place) if journalled else None
            started = time.perf_counter_ns()
            shield.decide(group, recommendation, event=event)
            if labelled:
                shield.observe(place // 2 % 2)
            taken.append(time.perf_counter_ns() - started)
        shield.close()
    ends = sorted(taken[horizon - 1 :: horizon])
    taken.sort()
    middle, late, last = taken[len(taken) // 2], taken[len(taken) * 99 // 100], ends[len(ends) // 2]
    return f"{middle / 1000:.2f} µs", f"{late / 1000:.2f} µs", f"{last / 1000:.2f} µs"


if __name__ == "__main__":
    _, _name, _horizon, _threads, _runs = sys.argv
    print(json.dumps(_measure(_name, int(_horizon), int(_threads), int(_runs))))
