"""A monitor that was written to a file and read again goes on as if nothing had happened."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_streams import documents, monitor_of, streams

from testsgd.errors import ResultError
from testsgd.monitoring import Monitor, MonitorSpecification

KINDS = ("all", "tumbling", "sliding")


def again(monitor: Monitor) -> Monitor:
    state = json.loads(json.dumps(monitor.to_state(), allow_nan=False))
    made = Monitor.from_state(monitor.specification, state)
    assert made.to_state() == monitor.to_state()
    assert made.status() == monitor.status()
    return made


@settings(max_examples=150)
@given(st.data(), documents(KINDS))
def test_resumed_at_every_event(data: st.DataObject, document: dict[str, Any]) -> None:
    events = data.draw(streams(document))
    plain = resumed = monitor_of(document)
    resumed = again(plain)
    for event in events:
        assert resumed.observe(event) == plain.observe(event)
        assert resumed.status() == plain.status()
        resumed = again(resumed)
    if (now := plain.status().time) is not None:
        assert resumed.advance(now + 100) == plain.advance(now + 100)
    assert resumed.status() == plain.status()


@settings(max_examples=100)
@given(st.data(), documents(KINDS))
def test_resumed_once(data: st.DataObject, document: dict[str, Any]) -> None:
    # Unlike above nothing is written in between, so what is only in memory matters.
    events = data.draw(streams(document))
    plain, before = monitor_of(document), data.draw(st.integers(0, len(events)))
    for event in events[:before]:
        plain.observe(event)
    resumed = again(plain)
    rest = [resumed.observe(event) for event in events[before:]]
    assert rest == [plain.observe(event) for event in events[before:]]
    if (now := plain.status().time) is not None:
        assert resumed.advance(now + 100) == plain.advance(now + 100)
    assert resumed.status() == plain.status()


def test_equal_deadlines_keep_their_order() -> None:
    document = {
        "groups": {"names": ["a", "b"]},
        "trials": {"deadline": 5, "without_label": 1},
        "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}],
    }
    plain = monitor_of(document)
    plain.observe({"id": 1, "group": "a", "time": 0})
    plain.observe({"id": 2, "group": "a", "decision": 0, "time": 1})
    plain.observe({"id": 3, "group": "b", "decision": 0, "time": 1})
    plain.observe({"id": 1, "decision": 1, "time": 1})
    resumed = again(plain)
    assert resumed.advance(7) == plain.advance(7)


def test_evidence_is_resumed_with_what_was_looked_at() -> None:
    document = {
        "properties": [
            {"property": "demographic_parity", "bound": 0.1},
            {"property": "disparate_impact", "bound": 0.2, "condition_on": ["site"]},
        ]
    }
    plain = resumed = monitor_of(document)
    alerts = 0
    for number in range(480):
        group = "abc"[number % 3]
        event = {"group": group, "decision": int(group == "a"), "site": number % 2}
        said = plain.observe(event)
        alerts += len(said)
        if number % 20 == 7:
            resumed = again(plain)
        elif resumed is not plain:
            assert resumed.observe(event) == said
    assert alerts == 3
    assert resumed.status() == plain.status()


@settings(max_examples=30)
@given(st.data(), documents(KINDS))
def test_through_a_file(data: st.DataObject, document: dict[str, Any]) -> None:
    events, plain = data.draw(streams(document)), monitor_of(document)
    plain.observe_all(events)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        plain.save(path)
        plain.save(path)
        assert [one.name for one in Path(folder).iterdir()] == ["state.json"]
        assert Monitor.load(path).status() == plain.status()
        same = MonitorSpecification.from_dict(document)
        assert Monitor.load(path, same).to_state() == plain.to_state()
        other = MonitorSpecification.from_dict(document | {"evidence": {"confidence": 0.9}})
        with pytest.raises(ResultError, match="another specification"):
            Monitor.load(path, other)


def places(value: Any) -> list[tuple[Any, ...]]:
    """Paths to everything within a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, one in inside:
        found.append((key,))
        if isinstance(one, dict | list):
            found += [(key, *rest) for rest in places(one)]
    return found


@settings(max_examples=200)
@given(st.data(), documents(KINDS))
def test_damaged_files_are_refused_in_one_way(data: st.DataObject, document: Any) -> None:
    plain = monitor_of(document)
    plain.observe_all(data.draw(streams(document)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        plain.save(path)
        written = json.loads(path.read_text())
        *way, last = data.draw(st.sampled_from(places(written)))
        part = written
        for key in way:
            part = part[key]
        if data.draw(st.booleans()):
            del part[last]
        else:
            part[last] = data.draw(
                st.sampled_from([None, True, -1, 1e300, "1/0", "", [], [[]], {}, {"a": 1}])
            )
        path.write_text(json.dumps(written))
        try:
            Monitor.load(path)
        except ResultError as error:
            said = error.where, str(error)
        else:
            return
        assert said[0] == str(path)
        assert "\n" not in said[1]


@pytest.mark.parametrize(
    ("key", "value"), [("conditions", []), ("conditions", 1), ("bias_exact", "1/0")]
)
def test_a_damaged_alert_is_refused(key: str, value: Any, tmp_path: Path) -> None:
    plain = monitor_of(
        {"properties": [{"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}]}
    )
    plain.observe_all([{"group": "a", "decision": 1}, {"group": "b", "decision": 0}])
    path = tmp_path / "state.json"
    plain.save(path)
    written = json.loads(path.read_text())
    written["state"]["judges"][0]["comparisons"][0][1]["first_alert"][key] = value
    path.write_text(json.dumps(written))
    with pytest.raises(ResultError, match="damaged"):
        Monitor.load(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "testsgd.shield/2"}', "\x00"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(ResultError):
        Monitor.load(path)
    with pytest.raises(ResultError):
        Monitor.load(tmp_path / "absent.json")


def test_a_state_of_a_former_version_goes_on(tmp_path: Path) -> None:
    document = {
        "trials": {"deadline": "3 d"},
        "properties": [{"property": "predictive_equality", "bound": 0.1, "rule": "estimate"}],
    }
    plain, start = monitor_of(document), 1_700_000_000
    for number in range(9):
        group = "ab"[number % 2]
        event = {"id": number, "group": group, "decision": number % 2, "time": start + number}
        plain.observe(event)
    plain.advance(start + 3 * 86_400 + 5)
    assert plain.status().alerts
    # They knew of no dead letters, and their alerts and trials of fewer things.
    state = json.loads(json.dumps(plain.to_state()))
    del state["timeline"]
    state["book"]["records"] = [record[:9] for record in state["book"]["records"]]
    first = state["judges"][0]["comparisons"][0][1]["first_alert"]
    for key in ("id", "monitor", "fingerprint", "time_iso", "groups"):
        del first[key]
    made = Monitor.from_state(plain.specification, state)
    late = {"id": 20, "group": "a", "decision": 1, "time": start}
    soon = {"id": 21, "group": "a", "decision": 1, "time": start + 3 * 86_400 + 9}
    odd = {"id": 22, "group": "a", "decision": 1, "time": 1000 * start}
    for monitor in (made, plain):
        for event in (soon, late, odd):
            monitor.observe(event)
    assert made.status().time == plain.status().time
    assert (
        made.status().dead_letters_late,
        made.status().dead_letters_unit,
        made.status().decided,
    ) == (1, 1, 10)
    assert made.status().alerts == plain.status().alerts
