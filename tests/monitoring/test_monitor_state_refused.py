"""An event that is refused has changed nothing, whatever is wrong with it; none gets lost."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_streams import documents, monitor_of, streams

from testsgd.errors import EventError
from testsgd.monitoring import Monitor

NONSENSE: list[Any] = [
    *("", "maybe", "2", "zz", "Infinity", "2013-02-30", "2013-13-01", "0001-01-01T00:00+23:59"),
    *(2, -1, 0.5, 1e300, float("inf"), 10**400, True, False),
    *([], [1], {}, {"a": 1}, (), set(), b"1", 1j, object(), datetime.time(1)),
    *(np.int64(3), np.float64(0.25), np.bool_(True), np.array([1, 2]), np.datetime64("2013-01-01")),
]
FIELDS = ("id", "group", "decision", "label", "time", "site", "kind")


def state(monitor: Monitor) -> str:
    return json.dumps(monitor.to_state(), allow_nan=False, sort_keys=True)


def came(monitor: Monitor) -> int:
    """How many events there were: taken, dead letters, and those that wait."""
    status = monitor.status()
    return status.events + status.dead_letters + status.waiting


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data(), documents(("all", "tumbling", "sliding")), st.booleans())
def test_anything_at_any_moment(
    data: st.DataObject, document: dict[str, Any], refuses: bool
) -> None:
    if refuses:
        document = document | {"events": {"others": "refuse"}}
        if "groups" in document:
            document = document | {"groups": {"names": ["a", "b", "c"]}}
    events, monitor = data.draw(streams(document)), monitor_of(document)
    refused: list[str] = []
    for event in events:
        bad = dict(event)
        for field in data.draw(st.lists(st.sampled_from(FIELDS), max_size=2)):
            bad[field] = data.draw(st.sampled_from(NONSENSE))
        if data.draw(st.booleans()):
            bad["id"] = data.draw(st.integers(0, 7))
        for one in (bad, event):
            before, known = state(monitor), came(monitor)
            try:
                monitor.observe(one)
            except EventError as error:
                refused.append(str(error))
                assert state(monitor) == before
            else:
                assert came(monitor) == known + 1
    assert not any("\n" in words for words in refused)
    now = monitor.status().time
    if now is not None:
        before = state(monitor)
        for moment in (
            now - 1 - abs(now) / 2,
            "never",
            None,
            True,
            [now],
            float("nan"),
            float("inf"),
        ):
            with pytest.raises(EventError):
                monitor.advance(moment)
        assert state(monitor) == before


def labelled(**tables: Any) -> Monitor:
    return monitor_of(
        {
            "groups": {"names": ["a", "b"]},
            "properties": [
                {"property": "equal_opportunity", "bound": 0.1, "condition_on": ["site"]}
            ],
            **tables,
        }
    )


FIRST = {"id": 1, "group": "a", "decision": 1, "site": "x", "time": 100}


@pytest.mark.parametrize(
    ("event", "where", "words"),
    [
        ({"id": 1, "group": "b"}, "group", "was a before and is b now"),
        ({"id": 1, "decision": 0}, "decision", "was 1 before and is 0 now"),
        ({"id": 1, "label": 1, "site": "y"}, "site", "was x before and is y now"),
        ({"id": 2, "group": "c", "decision": 1}, "group", "'c' is unknown"),
        ({"id": 2, "group": "a", "decision": 2}, "decision", "2 has no meaning"),
        ({"id": 2, "group": "a", "decision": "yes"}, "decision", "'yes' has no meaning"),
        ({"id": 1, "label": -1}, "label", "-1 has no meaning"),
        ({"id": 1, "label": [1]}, "label", "has no meaning"),
        ({"id": [1], "label": 1}, "id", "neither a text nor a number"),
        ({"id": 2, "group": {"a": 1}}, "group", "neither a text nor a number"),
        ({"group": "a", "decision": 1}, "site", "no site and no id"),
        ({"group": "a", "site": "x"}, "decision", "no decision and no id"),
        ({"decision": 1, "site": "x"}, "group", "no group and no id"),
        ({"label": 1}, "label", "no decision waits"),
        ({"id": 1}, None, "neither a group, nor a decision, nor a label"),
        ({}, None, "neither a group, nor a decision, nor a label"),
        ({"id": 1, "group": None, "label": float("nan")}, None, "neither a group"),
        ({"id": 1, "label": 1, "time": "yesterday"}, "time", "no moment"),
        ({"id": 1, "label": 1, "time": True}, "time", "no moment"),
        ([("id", 1)], None, "a mapping"),
        ("id", None, "a mapping"),
        (None, None, "a mapping"),
    ],
)
def test_what_is_said_of_a_bad_event(event: Any, where: str | None, words: str) -> None:
    monitor = labelled()
    monitor.observe(FIRST)
    before = state(monitor)
    with pytest.raises(EventError, match=words) as caught:
        monitor.observe(event)
    assert state(monitor) == before
    assert caught.value.where == where or where is None
    assert caught.value.remedy


def test_a_refused_event_ends_no_deadline() -> None:
    monitor = labelled(trials={"deadline": 5})
    monitor.observe(FIRST)
    with pytest.raises(EventError, match="'c' is unknown"):
        monitor.observe({"id": 2, "group": "c", "decision": 1, "site": "x", "time": 200})
    assert (monitor.status().time, monitor.status().open) == (100, 1)
    monitor.observe({"id": 1, "label": 1, "time": 105})
    monitor.advance(106)
    assert monitor.status().comparisons[0].groups[0].numerator == 1


def test_values_of_a_field_that_mean_the_same() -> None:
    monitor = labelled()
    for event in (
        {"id": "7", "group": "a"},
        {"id": 7, "decision": True, "site": 1},
        {"id": 7.0, "decision": "1", "site": "1", "group": None},
        {"id": np.int64(7), "decision": np.float64(1.0), "site": 1.0, "label": "0"},
        {"id": 7, "label": False},
    ):
        monitor.observe(event)
    status = monitor.status()
    assert (status.decided, status.open, status.repeated) == (1, 0, 2)
    assert status.comparisons[0].conditions == (("site", "1"),)


@pytest.mark.parametrize("field", ["id", "group", "decision", "label", "time", "site"])
def test_numbers_too_long_to_be_written(field: str) -> None:
    monitor = labelled()
    try:
        monitor.observe({"id": 2, "group": "a", "label": 1, "time": 5} | {field: 10**5000})
    except EventError as error:
        words = str(error)
    else:
        return
    assert len(words) < 400
    assert monitor.status().events == 0
