"""Deadlines: to the second, in the order of the decisions, and whatever else the stream has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from monitor_streams import documents, heard, monitor_of, streams

from testsgd.errors import EventError
from testsgd.monitoring import Monitor


def odds(window: dict[str, Any] | None = None, **trials: Any) -> dict[str, Any]:
    return {
        "window": window or {},
        "trials": {"deadline": 5, **trials},
        "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}],
    }


def counted(monitor: Monitor) -> int:
    return sum(one.trials for one in monitor.status().comparisons)


@pytest.mark.parametrize("count", ["deadline", "known"])
@pytest.mark.parametrize(("delay", "late"), [(0, 0), (4.9, 0), (5, 0), (5.1, 1)])
def test_a_label_at_the_deadline_is_in_time(delay: float, late: int, count: str) -> None:
    monitor = monitor_of(odds(count=count))
    monitor.observe({"id": 1, "group": "a", "decision": 1, "time": 10})
    monitor.observe({"id": 1, "label": 1, "time": 10 + delay})
    status = monitor.status()
    assert status.late == late
    assert counted(monitor) == (1 if late or count == "known" else 0)
    monitor.advance(16)
    (one,) = monitor.status().comparisons
    assert [(group.numerator, group.denominator) for group in one.groups] == [
        (0, 0) if late else (1, 1)
    ]


@pytest.mark.parametrize(("label", "wanted"), [(0, (0, 0)), (1, (1, 1)), ("drop", None)])
def test_without_a_label(label: Any, wanted: tuple[int, int] | None) -> None:
    monitor = monitor_of(odds(without_label=label))
    monitor.observe({"id": 1, "group": "a", "decision": 1, "time": 0})
    monitor.advance(5)
    assert monitor.status().open == 1
    monitor.advance(5.5)
    status = monitor.status()
    assert (status.open, status.dropped) == (0, label == "drop")
    found = [(g.numerator, g.denominator) for one in status.comparisons for g in one.groups]
    assert found == ([] if wanted is None else [wanted])


def test_a_deadline_is_that_of_the_decision() -> None:
    # Somebody asks on the first day and is decided about on the ninth; the label may come within
    # five days of that.
    monitor = monitor_of(odds())
    monitor.observe({"id": 1, "group": "a", "time": 1})
    monitor.observe({"id": 1, "decision": 1, "time": 9})
    monitor.observe({"id": 1, "label": 1, "time": 12})
    monitor.advance(15)
    status = monitor.status()
    assert (status.decided, status.late, status.dropped, counted(monitor)) == (1, 0, 0, 1)


def test_equal_deadlines_end_in_the_order_of_the_decisions() -> None:
    # In a tumbling window that is judged after every trial it matters who is counted first.
    monitor = monitor_of(
        {
            "groups": {"names": ["a", "b"]},
            "window": {"kind": "tumbling", "length": 3},
            "trials": {"deadline": 5, "without_label": 1},
            "properties": [
                {
                    "property": "equal_opportunity",
                    "bound": 0.1,
                    "check": "every",
                    "empty_group": "zero",
                }
            ],
        }
    )
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 2, "group": "a", "decision": 0, "time": 0})
    monitor.observe({"id": 3, "group": "b", "decision": 0, "time": 0})
    monitor.observe({"id": 1, "decision": 1, "time": 0})
    (alert,) = monitor.advance(6)
    assert (alert.trials, str(alert.bias), alert.highest) == (3, "1/2", "a")


def test_what_others_do_is_no_matter_to_an_id_that_comes_again() -> None:
    again = [
        {"id": 1, "group": "a", "decision": 1, "time": 0},
        {"id": 1, "group": "b", "decision": 0, "time": 10},
    ]
    for between in ([], [{"id": 2, "group": "c", "decision": 1, "time": 8}]):
        monitor = monitor_of(odds(repeated="new"))
        for event in (again[0], *between, again[1]):
            monitor.observe(event)
        status = monitor.status()
        assert (status.decided, status.repeated) == (2 + len(between), 0)


@given(st.data(), documents(("all", "tumbling", "sliding")))
def test_time_that_passes_between_events_changes_no_count(
    data: st.DataObject, document: dict[str, Any]
) -> None:
    events = data.draw(streams(document))
    plain, beaten = monitor_of(document), monitor_of(document)
    wanted, found = [], []
    for event in events:
        time = event.get("time")
        if time is not None:
            before = beaten.status().time
            for beat in range(int(time if before is None else before) + 1, int(time)):
                found.extend(beaten.advance(beat))
        wanted.extend(plain.observe(event))
        found.extend(beaten.observe(event))

    def counters(monitor: Monitor) -> Any:
        status = monitor.status()
        return (
            status.decided,
            status.dropped,
            status.late,
            status.open,
            [
                (
                    one.property.name,
                    one.conditions,
                    one.trials,
                    one.groups,
                    one.in_alert,
                    one.windows,
                )
                for one in status.comparisons
            ],
        )

    if document["window"]["kind"] != "sliding":
        assert heard(found) == heard(wanted)
    assert counters(beaten) == counters(plain)


def test_time_never_goes_back_where_it_matters() -> None:
    monitor = monitor_of(odds())
    monitor.observe({"id": 1, "group": "a", "decision": 1, "time": "2026-01-02"})
    assert monitor.observe({"id": 2, "group": "a", "decision": 1, "time": "2026-01-01T23:59"}) == ()
    assert (monitor.status().dead_letters_late, monitor.status().time) == (1, 1767312000)
    with pytest.raises(EventError, match="time goes back"):
        monitor.advance("2026-01-01")
    with pytest.raises(EventError, match="no time"):
        monitor.observe({"id": 2, "group": "a", "decision": 1})
    assert monitor.status().events == 1


def test_a_late_label_is_not_of_the_next_one_with_the_id() -> None:
    for between in ([], [{"id": 2, "group": "c", "decision": 1, "time": 8}]):
        monitor = monitor_of(odds(repeated="new"))
        first = {"id": 1, "group": "a", "decision": 1, "time": 0}
        label = {"id": 1, "label": 1, "time": 9}
        second = {"id": 1, "group": "b", "decision": 0, "time": 20}
        for event in (first, *between, label, second):
            monitor.observe(event)
        monitor.advance(40)
        status = monitor.status()
        assert (status.late, status.open, counted(monitor)) == (1, 0, 2 + len(between))
        assert not any(group.denominator for one in status.comparisons for group in one.groups)
