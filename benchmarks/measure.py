"""Measuring: times, memory, and the machine they were taken on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of several runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The run in the middle."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{self.median:.3f} s ({min(self.seconds):.3f} to {max(self.seconds):.3f})"


def side_by_side(runs: int, **actions: Callable[[], Any]) -> dict[str, Times]:
    """Time several actions in turn, so that a change of the machine's speed meets all of them.

    Each is run once before, uncounted.
    """
    for action in actions.values():
        action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            started = time.perf_counter()
            action()
            seconds[name].append(time.perf_counter() - started)
    return {name: Times(tuple(taken)) for name, taken in seconds.items()}


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Run an action once; give its seconds and what it returned."""
    started = time.perf_counter()
    outcome = action()
    return time.perf_counter() - started, outcome


def memory_now() -> int:
    """Give the process's resident memory in bytes, and forget its peak so far (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def memory_peak() -> int:
    """Give the process's largest resident memory since :func:`memory_now` (Linux)."""
    return _status("VmHWM")


def machine() -> str:
    """Describe the machine in one line."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)
