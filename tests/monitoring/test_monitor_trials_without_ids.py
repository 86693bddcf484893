"""Events without an id, events that play no part, and people of unknown groups."""

from __future__ import annotations

from typing import Any

import pytest
from monitor_streams import monitor_of

from testsgd.errors import EventError
from testsgd.monitoring import Monitor


def of(property: str = "equal_opportunity", **tables: Any) -> Monitor:  # noqa: A002
    return monitor_of(
        {
            "properties": [{"property": property, "bound": 0.1, "rule": "estimate"}],
            **tables,
        }
    )


def table(monitor: Monitor) -> dict[str, tuple[int, int]]:
    (one,) = monitor.status().comparisons
    return {group.name: (group.numerator, group.denominator) for group in one.groups}


def test_a_label_belongs_to_the_last_decision_without_an_id() -> None:
    monitor = of()
    monitor.observe({"group": "a", "decision": 1})
    monitor.observe({"id": "x", "group": "b", "decision": 0})
    monitor.observe({"label": 1})
    with pytest.raises(EventError, match="no decision waits"):
        monitor.observe({"label": 1})
    assert table(monitor) == {"a": (1, 1)}
    monitor.observe({"id": "x", "label": 1})
    assert table(monitor) == {"a": (1, 1), "b": (0, 1)}


def test_the_same_event_without_an_id_is_another_person() -> None:
    monitor = of("demographic_parity")
    for _ in range(3):
        monitor.observe({"group": "a", "decision": 1})
        monitor.observe({"id": 1, "group": "b", "decision": 0})
    assert table(monitor) == {"a": (3, 3), "b": (0, 1)}
    assert monitor.status().repeated == 2


def test_labels_before_decisions() -> None:
    monitor = of()
    monitor.observe({"id": 1, "label": 1})
    monitor.observe({"id": 2, "label": 0})
    monitor.observe({"id": 2, "group": "b"})
    monitor.observe({"id": 1, "group": "a", "decision": 1})
    monitor.observe({"id": 2, "decision": 1})
    assert table(monitor) == {"a": (1, 1), "b": (0, 0)}
    assert (monitor.status().open, monitor.status().decided) == (0, 2)


def test_strangers_and_their_labels() -> None:
    monitor = of(groups={"names": ["a", "b"], "unknown": "pass"})
    for event in (
        {"group": "z", "decision": 1},
        {"label": 1},
        {"label": 1},
        {"group": "a", "decision": 1},
        {"id": 9, "group": "y", "decision": 0},
        {"label": 1},
        {"id": 9, "label": 0},
        {"id": 9, "group": "y", "decision": 0},
    ):
        monitor.observe(event)
    status = monitor.status()
    assert (status.unknown, status.decided, status.open) == (2, 1, 0)
    assert status.ignored + status.repeated == 4
    assert table(monitor) == {"a": (1, 1), "b": (0, 0)}


@pytest.mark.parametrize("others", ["refuse", "ignore"])
def test_events_that_say_nothing(others: str) -> None:
    monitor = of("demographic_parity", events={"others": others})
    for event in ({"format": "x", "version": 1}, {"id": 3, "time": 5}, {"group": None}):
        if others == "ignore":
            assert monitor.observe(event) == ()
        else:
            with pytest.raises(EventError):
                monitor.observe(event)
    assert monitor.status().ignored == (3 if others == "ignore" else 0)


def test_labels_play_no_part_where_no_property_has_them() -> None:
    monitor = of("demographic_parity")
    for event in ({"label": 1}, {"group": "a", "decision": 1}, {"label": 0}, {"id": 1, "label": 1}):
        monitor.observe(event)
    status = monitor.status()
    assert (status.ignored, status.decided, status.open) == (3, 1, 0)


def test_fields_of_other_names_and_values() -> None:
    monitor = of(
        "demographic_parity",
        events={
            "group": "sex",
            "decision": "loan",
            "favourable": ["granted", 2],
            "unfavourable": ["refused"],
        },
    )
    monitor.observe({"sex": "f", "loan": "granted", "group": 7, "decision": "?"})
    monitor.observe({"sex": "m", "loan": 2})
    monitor.observe({"sex": "m", "loan": "refused"})
    assert table(monitor) == {"f": (1, 1), "m": (1, 2)}
    with pytest.raises(EventError, match="known are"):
        monitor.observe({"sex": "m", "loan": 1})


def test_an_id_that_comes_again() -> None:
    first = {"id": 1, "group": "a", "decision": 1}
    kept = of("demographic_parity")
    kept.observe(first)
    kept.observe(first)
    with pytest.raises(EventError, match="was 1 before"):
        kept.observe(first | {"decision": 0})
    assert (kept.status().decided, kept.status().repeated) == (1, 1)
    anew = of("demographic_parity", trials={"repeated": "new"})
    for event in (first, first, first | {"group": "b", "decision": 0}):
        anew.observe(event)
    assert table(anew) == {"a": (2, 2), "b": (0, 1)}
    assert not anew.to_state()["book"]["records"]


def test_too_many_combinations_are_left_out_and_counted() -> None:
    monitor = monitor_of(
        {
            "properties": [
                {
                    "property": "demographic_parity",
                    "bound": 0.1,
                    "condition_on": ["site"],
                    "rule": "estimate",
                }
            ]
        }
    )
    for site in range(1005):
        monitor.observe({"group": "a", "decision": 1, "site": site})
    monitor.observe({"group": "b", "decision": 0, "site": 3})
    status = monitor.status()
    assert (len(status.comparisons), status.uncompared, status.alerts) == (1000, 5, 1)
