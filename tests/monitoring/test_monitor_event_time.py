"""One wrong time does not deafen a monitor, wherever it stands; the unit of time is found out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from monitor_streams import monitor_of

from testsgd.monitoring import Monitor

HOUR, DAY = 3600, 86_400
START = 1_700_000_000  # 14 November 2023
PEOPLE = 60
LAST = START + (PEOPLE - 1) * HOUR + 3 * DAY
SCALES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LABEL_AFTER, DEADLINE = 2 * DAY, "3 d"


def odds(**time: Any) -> dict[str, Any]:
    """Both rates of equalized odds, with a deadline of three days."""
    return {
        "time": time,
        "trials": {"deadline": DEADLINE, "without_label": 0},
        "properties": [{"property": "equalized_odds", "threshold": 0.1, "rule": "estimate"}],
    }


def people(begin: float = START) -> list[dict[str, Any]]:
    """One person an hour. Of group a all are accepted and labelled 1 two days later; of group b
    all are refused and labelled 0: within each label there is nothing to compare.

    If trials end before their labels come, those of a count as accepted with the label 0, and
    that is a false alert.
    """
    events: list[dict[str, Any]] = []
    for number in range(PEOPLE):
        group, time = "ab"[number % 2], begin + number * HOUR
        events.append({"id": number, "group": group, "decision": 1 - number % 2, "time": time})
        events.append({"id": number, "label": 1 - number % 2, "time": time + LABEL_AFTER})
    return sorted(events, key=lambda event: event["time"])


def as_written(event: dict[str, Any], unit: str) -> dict[str, Any]:
    """The same event with its time in another unit."""
    if unit == "iso":
        return event | {"time": datetime.fromtimestamp(event["time"], UTC).isoformat()}
    return event | {"time": event["time"] * SCALES[unit]}


def check_all_was_counted(monitor: Monitor, alerts: list[Any]) -> None:
    """Compare with what is known of the people: 30 of 30 of a, 0 of 30 of b, and no alert."""
    found = {
        (one.property.name, group.name): (group.numerator, group.denominator)
        for one in monitor.status().comparisons
        for group in one.groups
        if group.denominator
    }
    assert found == {("equal_opportunity", "a"): (30, 30), ("predictive_equality", "b"): (0, 30)}
    assert alerts == []
    assert (monitor.status().decided, monitor.status().late) == (PEOPLE, 0)


ODD_TIMES = {
    "milliseconds": (START + 30 * HOUR) * 1000,
    "microseconds": (START + 30 * HOUR) * 10**6,
    "year 2062": "2062-01-01",
    "year 2062 in seconds": 2_903_299_200,
}


@pytest.mark.parametrize("place", [0, 1, 2, 3, 40, 100])
@pytest.mark.parametrize("odd", ODD_TIMES)
def test_one_wrong_time_deafens_nobody(odd: str, place: int) -> None:
    events = people()
    events.insert(place, {"id": "odd", "group": "a", "decision": 1, "time": ODD_TIMES[odd]})
    monitor, alerts = monitor_of(odds()), []
    for event in events:
        alerts += monitor.observe(event)
    alerts += monitor.advance(LAST + DAY)
    check_all_was_counted(monitor, alerts)
    status = monitor.status()
    assert (status.events, status.dead_letters, status.waiting) == (2 * PEOPLE, 1, 0)
    assert status.time == LAST + DAY
