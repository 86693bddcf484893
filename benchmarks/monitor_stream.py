"""How fast a monitor takes events: beside SQLite, for a million events, and for one.

The events are those of seminars (benchmarks/monitor_experiments/assignment.py). A million events
are drawn in portions, so that they are not in the memory that is measured; each kind of stream is a
process of its own, ``python -m benchmarks.monitor_stream KIND EVENTS``.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.measure import memory_now, memory_peak, side_by_side
from benchmarks.monitor_experiments.assignment import GROUPS, Applications, assign, decisions
from testsgd.monitoring import Monitor, MonitorSpecification

Row = list[str]
Event = dict[str, Any]

BESIDE_SQLITE = [
    "property", "events", "monitor", "SQLite", "monitor, events a second",
    "SQLite, events a second", "ratio",
]  # fmt: skip
LONG = [
    "a million events", "events a second", "look-up and two additions", "times as fast",
    "one event: median", "99%", "memory added",
]  # fmt: skip

APPLICANTS = (100, 200, 300, 400, 500)
SCENARIOS = 10
EVENTS = 1_000_000
_PORTION = 10_000
_HOUR = 3600
_MIB = 2**20

_PARITY = {"property": "demographic_parity", "bound": "1/10", "rule": "estimate"}
_BELIEF = {"prior": "1/2", "strength": 24}

PROPERTIES: dict[str, dict[str, Any]] = {
    "demographic parity": _PARITY,
    "conditional parity": _PARITY | {"condition_on": ["seminar"]},
}

# The rates have the prior belief added (12 of 24), and are compared in whole numbers.
_QUERIES = {
    "demographic parity": """
        WITH rates AS (
            SELECT gender, 12 + sum(accepted) AS top, 24 + count(*) AS bottom
            FROM applicants GROUP BY gender)
        SELECT EXISTS (SELECT 1 FROM rates a, rates b
            WHERE 10 * (a.top * b.bottom - b.top * a.bottom) > a.bottom * b.bottom)""",
    "conditional parity": """
        WITH rates AS (
            SELECT seminar, gender, 12 + sum(accepted) AS top, 24 + count(*) AS bottom
            FROM applicants GROUP BY seminar, gender)
        SELECT EXISTS (SELECT 1 FROM rates a, rates b WHERE a.seminar = b.seminar
            AND 10 * (a.top * b.bottom - b.top * a.bottom) > a.bottom * b.bottom)""",
}
_NAMES = {"groups": {"names": list(GROUPS)}}

KINDS: dict[str, dict[str, Any]] = {
    "demographic parity, ids remembered": {"properties": [_PARITY]},
    "demographic parity, ids forgotten": {
        "trials": {"repeated": "new"},
        "properties": [_PARITY],
    },
    "demographic parity, no ids": {"properties": [_PARITY]},
    "demographic parity, no ids, evidence": {"properties": [_PARITY | {"rule": "evidence"}]},
    "demographic parity, no ids, the last 1,000": {
        "window": {"kind": "sliding", "length": 1000},
        "properties": [_PARITY],
    },
    "conditional parity, no ids": {"properties": [PROPERTIES["conditional parity"]]},
    "equalized odds, labels before a deadline, ids forgotten": {
        "trials": {"repeated": "new", "deadline": "2 h"},
        "properties": [_PARITY | {"property": "equalized_odds"}],
    },
}


def watch_with_monitor(name: str, events: list[Event]) -> list[bool]:
    """Say after each event whether the estimates are above the bound, by the monitor."""
    monitor = Monitor(_specification(name))
    standing: set[Any] = set()
    said = []
    for event in events:
        for alert in monitor.observe(event):
            (standing.add if alert.kind == "raised" else standing.discard)(alert.conditions)
        said.append(bool(standing))
    return said


def watch_with_sqlite(name: str, events: list[Event]) -> list[bool]:
    """Say the same by a query over all rows so far, after each of them."""
    query = _QUERIES[name]
    said = []
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE applicants (id INTEGER, gender TEXT, seminar, accepted)")
    for event in events:
        connection.execute(
            "INSERT INTO applicants VALUES (:id, :group, :seminar, :decision)", event
        )
        said.append(bool(connection.execute(query).fetchone()[0]))
    connection.close()
    return said


@cache
def _specification(name: str) -> MonitorSpecification:
    return MonitorSpecification.from_dict(
        {**_NAMES, "estimate": _BELIEF, "properties": [PROPERTIES[name]]}
    )


@dataclass(frozen=True)
class Beside:
    """A comparison with SQLite; seconds are the mean over scenarios."""

    property: str
    events: int
    monitor: float
    sqlite: float


def beside_sqlite(
    applicants: tuple[int, ...] = APPLICANTS, scenarios: int = SCENARIOS
) -> list[Beside]:
    """Time both on the same scenarios in turn, and check that they say the same."""
    rows = []
    for name in PROPERTIES:
        for people in applicants:
            monitor, sqlite = [], []
            for number in range(scenarios):
                random = np.random.default_rng([people, number])
                applications = Applications.draw(random, people)
                events = decisions(applications, assign("Randomize", applications, random))
                if watch_with_monitor(name, events) != watch_with_sqlite(name, events):
                    raise AssertionError(f"{name}: the monitor and SQLite differ")
                times = side_by_side(
                    1,
                    monitor=partial(watch_with_monitor, name, events),
                    sqlite=partial(watch_with_sqlite, name, events),
                )
                monitor.append(times["monitor"].median)
                sqlite.append(times["sqlite"].median)
            rows.append(Beside(name, people, statistics.mean(monitor), statistics.mean(sqlite)))
    return rows


@dataclass(frozen=True)
class Long:
    """A long stream; `limit` are the seconds of a look-up and two additions for each event."""

    kind: str
    events: int
    seconds: float
    limit: float
    median: float
    late: float
    memory: int


def long_streams(events: int = EVENTS) -> list[Long]:
    """Measure every kind of stream in a process of its own."""
    rows = []
    for kind in KINDS:
        command = [sys.executable, "-m", "benchmarks.monitor_stream", kind, str(events)]
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(Long(**json.loads(finished.stdout.splitlines()[-1])))
    return rows


def measure(kind: str, events: int) -> Long:
    """Measure one kind of stream in this process.

    The stream is taken twice: once for the time of all together and the memory, once with each
    event timed alone.
    """
    specification = MonitorSpecification.from_dict({**_NAMES, "estimate": _BELIEF, **KINDS[kind]})
    _observed(Monitor(specification), next(_portions(kind, _PORTION)))
    monitor = Monitor(specification)
    seconds, limit = 0.0, 0.0
    counts = {group: [0, 0] for group in GROUPS}
    before = memory_now()
    for portion in _portions(kind, events):
        seconds += _observed(monitor, portion)
        limit += _counted(counts, portion)
    memory = memory_peak() - before
    assert monitor.status().events == events
    monitor = Monitor(specification)
    taken: list[int] = []
    for portion in _portions(kind, min(events, 10 * _PORTION)):
        for event in portion:
            started = time.perf_counter_ns()
            monitor.observe(event)
            taken.append(time.perf_counter_ns() - started)
    taken.sort()
    middle, late = taken[len(taken) // 2] / 1e9, taken[len(taken) * 99 // 100] / 1e9
    return Long(kind, events, seconds, limit, middle, late, memory)


def _observed(monitor: Monitor, portion: list[Event]) -> float:
    started = time.perf_counter()
    for event in portion:
        monitor.observe(event)
    return time.perf_counter() - started


def _counted(counts: dict[str, list[int]], portion: list[Event]) -> float:
    """Do the least that any monitor must: find the group's counters, and add to them."""
    started = time.perf_counter()
    for event in portion:
        counters = counts[event.get("group", GROUPS[0])]
        counters[0] += event.get("decision", 0)
        counters[1] += 1
    return time.perf_counter() - started


def _portions(kind: str, events: int) -> Iterator[list[Event]]:
    """Draw the events of a kind of stream, some at a time."""
    stream = _labelled() if "labels" in kind else _decided(named=", ids" in kind)
    while portion := list(islice(stream, min(_PORTION, events))):
        events -= len(portion)
        yield portion


def _decided(*, named: bool) -> Iterator[Event]:
    random = np.random.default_rng(0)
    begin = 0
    while True:
        applications = Applications.draw(random, _PORTION)
        for event in decisions(applications, assign("Randomize", applications, random)):
            if named:
                event["id"] += begin
            else:
                del event["id"]
            yield event
        begin += _PORTION


def _labelled() -> Iterator[Event]:
    """Make a decision a second, and an hour later the label of every other person."""
    for seconds, event in enumerate(_decided(named=True)):
        if seconds >= _HOUR and seconds % 2:
            label = seconds // 2 % 2
            yield {"id": event["id"] - _HOUR, "label": label, "time": seconds}
        yield event | {"time": seconds}


def stream_beside_sqlite() -> list[Row]:
    """Give the rows of a table about the comparison with SQLite."""
    return beside_sqlite_rows(beside_sqlite())


def stream_long() -> list[Row]:
    """Give the rows of a table about long streams."""
    return long_rows(long_streams())


def beside_sqlite_rows(measured: list[Beside]) -> list[Row]:
    """Write what was measured beside SQLite."""
    return [
        [
            one.property,
            f"{one.events:,}",
            f"{1000 * one.monitor:.1f} ms",
            f"{1000 * one.sqlite:.1f} ms",
            f"{one.events / one.monitor:,.0f}",
            f"{one.events / one.sqlite:,.0f}",
            f"{one.sqlite / one.monitor:.1f}",
        ]
        for one in measured
    ]


def long_rows(measured: list[Long]) -> list[Row]:
    """Write what was measured of long streams."""
    return [
        [
            one.kind,
            f"{one.events / one.seconds:,.0f}",
            f"{one.events / one.limit:,.0f}",
            f"{one.seconds / one.limit:.0f}",
            f"{1e6 * one.median:.2f} µs",
            f"{1e6 * one.late:.2f} µs",
            f"{one.memory / _MIB:,.1f} MiB",
        ]
        for one in measured
    ]


if __name__ == "__main__":
    _, _kind, _events = sys.argv
    print(json.dumps(asdict(measure(_kind, int(_events)))))
