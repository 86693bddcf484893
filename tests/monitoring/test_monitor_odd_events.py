"""Odd events and odd times: refused in one way, and nothing is lost or moved by them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitor_streams import monitor_of

import testsgd
from testsgd.data.json_objects import json_object
from testsgd.errors import EventError, ParameterError
from testsgd.monitoring import Monitor

PARITY = {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}
LABELLED = {"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}


def groups_of(monitor: Monitor) -> list[tuple[str, int, int]]:
    (one,) = monitor.status().comparisons
    return [(group.name, group.numerator, group.denominator) for group in one.groups]


def test_a_state_and_a_second_monitor_share_nothing_with_the_first() -> None:
    first = monitor_of({"properties": [PARITY]})
    first.observe_all([{"group": "a", "decision": 1}, {"group": "b", "decision": 0}])
    state = first.to_state()
    before = json.dumps(state)
    second = Monitor.from_state(first.specification, state)
    second.observe_all({"group": "a", "decision": 0} for _ in range(50))
    first.observe({"group": "b", "decision": 0})
    assert json.dumps(state) == before
    assert groups_of(first) == [("a", 1, 1), ("b", 0, 2)]
    assert groups_of(second) == [("a", 1, 51), ("b", 0, 1)]


@pytest.mark.parametrize("beats", [(), (5,), (1, 9, 12)])
def test_a_window_is_judged_when_it_is_over_and_all_is_known(beats: tuple[int, ...]) -> None:
    # Windows of a day; what happened in one is known ten days later.
    monitor = monitor_of(
        {
            "window": {"kind": "tumbling", "length": "1 s"},
            "trials": {"deadline": 10, "without_label": 1},
            "properties": [LABELLED],
        }
    )
    for day in range(3):
        for group in "ab":
            monitor.observe({"group": group, "decision": int(group == "a"), "time": day})
    alerts = [alert for beat in (*beats, 100) for alert in monitor.advance(max(beat, 2))]
    assert [(alert.window, alert.time) for alert in alerts] == [(0, 10), (1, 11), (2, 12)]


def test_an_older_window_that_ends_late_does_not_say_how_things_stand() -> None:
    monitor = monitor_of(
        {
            "window": {"kind": "tumbling", "length": 2},
            "properties": [LABELLED | {"check": "every"}],
        }
    )
    for name, group, decision in [(1, "a", 1), (2, "b", 1), (3, "a", 1), (4, "b", 0)]:
        monitor.observe({"id": name, "group": group, "decision": decision})
    for name in (3, 4, 1, 2):
        monitor.observe({"id": name, "label": 1})
    (one,) = monitor.status().comparisons
    assert [window.window for window in one.windows] == [1, 0]
    assert (one.in_alert, one.standing) == (True, "beyond")


def test_groups_without_end_are_refused() -> None:
    monitor = monitor_of({"properties": [{"property": "demographic_parity", "bound": 0.1}]})
    monitor.observe_all({"group": f"g{number}", "decision": 1} for number in range(200))
    with pytest.raises(EventError, match="one more than the 200"):
        monitor.observe({"group": "g200", "decision": 1})
    resumed = Monitor.from_state(monitor.specification, monitor.to_state())
    with pytest.raises(EventError, match="name the groups"):
        resumed.observe({"group": "g200", "decision": 1})
    assert resumed.observe({"group": "g7", "decision": 1}) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("group", "\ud800"),
        ("id", "a\udfff"),
        ("id", float(2**60)),
        ("time", -1e308),
        ("time", "1_0"),
        ("time", 1e21),
    ],
)
def test_values_that_cannot_be_kept_apart_or_written_are_refused(field: str, value: Any) -> None:
    monitor = monitor_of({"properties": [PARITY]})
    before = monitor.to_state()
    with pytest.raises(EventError, match=f"^{field}: "):
        monitor.observe({"group": "a", "decision": 1} | {field: value})
    assert monitor.to_state() == before


def test_an_empty_id_is_no_id() -> None:
    monitor = monitor_of({"properties": [PARITY]})
    monitor.observe_all({"id": "", "group": "a", "decision": 1} for _ in range(3))
    assert (monitor.status().decided, monitor.status().repeated) == (3, 0)
    with pytest.raises(EventError, match="no group"):
        monitor.observe({"group": "", "decision": 1})


@pytest.mark.parametrize(("decided", "label", "deadline"), [(0.7, 0.8, "0.1 s"), (0.1, 0.3, 0.2)])
def test_a_label_exactly_at_the_deadline_is_in_time(
    decided: float, label: float, deadline: Any
) -> None:
    monitor = monitor_of({"trials": {"deadline": deadline}, "properties": [LABELLED]})
    monitor.observe({"id": 1, "group": "a", "decision": 1, "time": decided})
    monitor.observe({"id": 1, "label": 1, "time": label})
    monitor.advance(9)
    assert monitor.status().late == 0
    assert groups_of(monitor) == [("a", 1, 1)]


def test_somebody_unknown_does_not_become_somebody_else() -> None:
    monitor = monitor_of(
        {"groups": {"names": ["a", "b"], "unknown": "pass"}, "properties": [PARITY]}
    )
    monitor.observe({"id": 1, "group": "x", "decision": 1})
    with pytest.raises(EventError, match="was x before and is a now"):
        monitor.observe({"id": 1, "group": "a", "decision": 1})


def test_a_key_that_stands_twice_is_no_event() -> None:
    with pytest.raises(ParameterError, match="the key 'group' stands twice"):
        json_object('{"group": "b", "decision": 0, "group": "a"}', example="{}")


def test_the_state_is_kept_if_nobody_reads_the_answers(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\n', encoding="utf-8"
    )
    (tmp_path / "e.jsonl").write_text('{"group": "a"}\n' * 5000, encoding="utf-8")
    words = [
        "-m",
        "testsgd",
        "monitor",
        "run",
        "s.toml",
        "--events",
        "e.jsonl",
        "--state",
        "state.json",
    ]
    with subprocess.Popen(
        [sys.executable, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert b"error" in running.stdout.readline()
        running.stdout.close()
        assert running.stderr is not None
        told = running.stderr.read().decode()
        # As of any command whose output has no reader any more.
        assert running.wait(60) == 141
    assert "Traceback" not in told
    assert "Nothing could be compared" in told
    assert (tmp_path / "state.json").exists()


def test_texts_of_numpy_are_texts() -> None:
    groups, ids = np.array(["a", "ä"]), np.array(["1", "2"])
    events = [
        {"group": groups[at], "id": ids[at], "decision": value} for at, value in ((0, 1), (1, 0))
    ]
    specification = {"properties": [PARITY]}
    one_by_one = monitor_of(specification)
    for event in events:
        one_by_one.observe(event)
    together = testsgd.monitor(specification, events).monitor
    assert together is not None
    expected = [("a", 1, 1), ("ä", 0, 1)]
    assert groups_of(one_by_one) == groups_of(together) == expected
    json.dumps(one_by_one.to_state())


@pytest.mark.parametrize("value", [np.bytes_(b"a"), np.str_("\ud800"), np.array(["a"])])
def test_other_objects_of_numpy_are_no_texts(value: Any) -> None:
    with pytest.raises(EventError):
        monitor_of({"properties": [PARITY]}).observe({"group": value, "decision": 1})


@pytest.mark.parametrize("name", [True, False, np.bool_(True), np.bool_(False)])
@pytest.mark.parametrize("fields", ["id", ["id", "job"]])
def test_true_and_false_are_no_ids(name: Any, fields: str | list[str]) -> None:
    monitor = monitor_of({"events": {"id": fields}, "properties": [PARITY]})
    before = monitor.to_state()
    with pytest.raises(EventError) as raised:
        monitor.observe({"id": name, "job": "smith", "group": "a", "decision": 1})
    assert raised.value.where == "id"
    assert raised.value.remedy
    assert monitor.to_state() == before


def test_groups_may_be_true_and_false() -> None:
    monitor = monitor_of({"properties": [PARITY]})
    monitor.observe({"id": 1, "group": True, "decision": 1})
    monitor.observe({"id": 2, "group": False, "decision": 1})
    assert [name for name, _, _ in groups_of(monitor)] == ["true", "false"]
