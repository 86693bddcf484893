"""Refusals that are never sent: who has no decision in time is refused, or is dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_streams import monitor_of

from testsgd.errors import SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification

WAIT = 4
LABEL_WAIT = 3


def hiring(
    *, labelled: bool = False, time: dict[str, Any] | None = None, **trials: Any
) -> dict[str, Any]:
    name = "predictive_equality" if labelled else "demographic_parity"
    return {
        "events": {"others": "ignore"},
        "time": time or {},
        "trials": {"decision_deadline": WAIT, **trials},
        "properties": [{"property": name, "bound": 0.1, "rule": "estimate"}],
    }


def rates(monitor: Monitor) -> dict[str, tuple[int, int]]:
    return {
        group.name: (group.numerator, group.denominator)
        for one in monitor.status().comparisons
        for group in one.groups
        if group.denominator
    }


def counts(monitor: Monitor) -> tuple[int, int, int, int, int]:
    status = monitor.status()
    return status.decided, status.without_decision, status.dropped, status.late, status.open


@st.composite
def people(draw: st.DrawFn) -> list[dict[str, Any]]:
    """When each applies, is decided about and is labelled; None: never."""
    return [
        {
            "group": draw(st.sampled_from("ab")),
            "applied": draw(st.integers(0, 12)),
            "wait": draw(st.sampled_from([None, None, 0, 1, WAIT, WAIT + 1, WAIT + 5])),
            "decision": draw(st.integers(0, 1)),
            "label": draw(st.sampled_from([None, 0, 1])),
            "label_wait": draw(st.integers(0, 12)),
        }
        for _ in range(draw(st.integers(1, 8)))
    ]


def events_of(applicants: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told: list[tuple[int, int, dict[str, Any]]] = []
    for name, one in enumerate(applicants):
        applied = one["applied"]
        told.append((applied, 0, {"id": name, "group": one["group"], "time": applied}))
        if one["wait"] is not None:
            when = applied + one["wait"]
            told.append((when, 1, {"id": name, "decision": one["decision"], "time": when}))
        if one["label"] is not None:
            when = applied + one["label_wait"]
            told.append((when, 2, {"id": name, "label": one["label"], "time": when}))
    return [event for *_, event in sorted(told, key=lambda one: one[:2])]


def by_hand(
    applicants: list[dict[str, Any]], now: int, *, refuses: bool, label_deadline: bool | None
) -> tuple[dict[str, tuple[int, int]], tuple[int, int, int, int, int]]:
    """Each person for itself: the rates, and how many are decided, refused, dropped, late, open.

    Labels are not counted (None), or wait for no end (False) or for their deadline (True).
    """
    table: dict[str, list[int]] = {}
    decided = refused = dropped = late = still_open = 0
    for one in applicants:
        if one["applied"] > now:
            continue
        end = one["applied"] + WAIT
        in_time = one["wait"] is not None and one["wait"] <= WAIT
        if one["wait"] is not None and not in_time and one["applied"] + one["wait"] <= now:
            late += 1
        when = one["applied"] + one["wait"] if in_time else end
        passed = when <= now if in_time else now > end
        labelled = None if one["label"] is None else one["applied"] + one["label_wait"]
        if not passed:
            still_open += 1
            continue
        if not in_time and not refuses:
            dropped += 1
            if label_deadline is not None and labelled is not None and end < labelled <= now:
                late += 1
            continue
        decided += 1
        refused += not in_time
        decision = one["decision"] if in_time else 0
        label = one["label"]
        if label_deadline is None:
            label = 0
        elif label_deadline:
            overdue = when + LABEL_WAIT
            if labelled is not None and labelled > overdue:
                late += labelled <= now
                label = None
            if now <= overdue:
                still_open += 1
                continue
            label = 0 if label is None else label
        elif labelled is None or labelled > now:
            still_open += 1
            continue
        if label == 0:
            row = table.setdefault(one["group"], [0, 0])
            row[0] += decision
            row[1] += 1
    found = {name: (row[0], row[1]) for name, row in table.items()}
    return found, (decided, refused, dropped, late, still_open)


@settings(max_examples=300)
@given(people(), st.booleans(), st.sampled_from([None, False, True]), st.booleans())
def test_as_by_hand_at_every_moment_and_resumed(
    applicants: list[dict[str, Any]], refuses: bool, label_deadline: bool | None, again: bool
) -> None:
    rules: dict[str, Any] = {"without_decision": "refused" if refuses else "dropped"}
    if label_deadline:
        rules["deadline"] = LABEL_WAIT
    monitor = monitor_of(hiring(labelled=label_deadline is not None, **rules))
    events = events_of(applicants)
    for now in range(events[0]["time"], 40):
        for event in events:
            if event["time"] == now:
                monitor.observe(event)
        monitor.advance(now)
        wanted = by_hand(applicants, now, refuses=refuses, label_deadline=label_deadline)
        assert (rates(monitor), counts(monitor)) == wanted
        if again:
            state = json.loads(json.dumps(monitor.to_state()))
            monitor = Monitor.from_state(monitor.specification, state)


@settings(max_examples=150)
@given(st.data(), people(), st.booleans(), st.booleans())
def test_events_that_are_late_count_as_if_they_were_sorted(
    data: st.DataObject, applicants: list[dict[str, Any]], refuses: bool, labelled: bool
) -> None:
    lateness = 3
    rules: dict[str, Any] = {"without_decision": "refused" if refuses else "dropped"}
    if labelled:
        rules["deadline"] = LABEL_WAIT
    events = events_of(applicants)
    # Nobody is decided about, or labelled, before the application is told.
    first = {event["id"]: place for place, event in reversed(list(enumerate(events)))}
    delayed = [
        event["time"] + (0 if first[event["id"]] == place else data.draw(st.integers(0, lateness)))
        for place, event in enumerate(events)
    ]
    order = sorted(range(len(events)), key=lambda place: (delayed[place], place))
    time = {"lateness": lateness, "max_skew": 100}
    shuffled = monitor_of(hiring(labelled=labelled, time=time, **rules))
    in_order = monitor_of(hiring(labelled=labelled, time=time, **rules))
    shuffled.observe_all(events[place] for place in order)
    in_order.observe_all(events)
    for monitor in (shuffled, in_order):
        monitor.advance(60)
    assert rates(shuffled) == rates(in_order)
    assert counts(shuffled) == counts(in_order)
    wanted = by_hand(applicants, 60, refuses=refuses, label_deadline=True if labelled else None)
    assert (rates(in_order), counts(in_order)) == wanted


@settings(max_examples=100)
@given(people(), st.sampled_from(["refused", "dropped"]), st.data())
def test_a_replayed_stream_counts_nothing_twice(
    applicants: list[dict[str, Any]], rule: str, data: st.DataObject
) -> None:
    events = events_of(applicants)
    monitor = monitor_of(hiring(without_decision=rule))
    monitor.observe_all(events)
    before = data.draw(st.integers(0, len(events)))
    resumed = monitor_of(hiring(without_decision=rule))
    resumed.observe_all(events[:before])
    state = json.loads(json.dumps(resumed.to_state()))
    resumed = Monitor.from_state(resumed.specification, state)
    resumed.observe_all(events)  # from the beginning, as after a kill
    assert rates(resumed) == rates(monitor)
    assert resumed.status().decided == monitor.status().decided
    assert resumed.status().without_decision == monitor.status().without_decision


def test_a_decision_after_the_deadline_is_late_and_changes_nothing() -> None:
    monitor = monitor_of(hiring())
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 1, "decision": 1, "time": WAIT + 1})
    monitor.observe({"id": 1, "decision": 1, "time": WAIT + 2})
    assert counts(monitor) == (1, 1, 0, 2, 0)
    assert rates(monitor) == {"a": (0, 1)}


def test_an_id_that_comes_again_has_a_deadline_of_its_own() -> None:
    monitor = monitor_of(hiring(repeated="new"))
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 1, "decision": 1, "time": 9})  # of the one who was refused
    monitor.observe({"id": 1, "group": "b", "time": 10})
    monitor.observe({"id": 1, "decision": 1, "time": 11})
    assert counts(monitor) == (2, 1, 0, 1, 0)
    assert rates(monitor) == {"a": (0, 1), "b": (1, 1)}


def test_who_has_no_group_is_dropped() -> None:
    property_given = {**hiring()["properties"][0], "condition_on": ["site"]}
    monitor = monitor_of(hiring() | {"properties": [property_given]})
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 2, "site": "x", "time": 0})
    monitor.observe({"id": 3, "group": "a", "site": "x", "time": 0})
    monitor.advance(WAIT + 1)
    assert counts(monitor) == (1, 1, 2, 0, 0)


def test_refusals_are_in_the_window_of_their_deadline() -> None:
    document = hiring() | {"window": {"kind": "tumbling", "length": "10 s"}}
    monitor = monitor_of(document)
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 2, "group": "b", "time": 3})
    monitor.observe({"id": 2, "decision": 1, "time": 5})
    monitor.observe({"id": 3, "group": "a", "time": 8})
    monitor.observe({"id": 4, "group": "b", "decision": 1, "time": 14})
    monitor.advance(31)
    (one,) = monitor.status().comparisons
    found = [(window.window, window.trials, str(window.bias)) for window in one.windows]
    assert found == [(0, 2, "1"), (1, 2, "1")]


def test_the_key_needs_its_deadline_and_old_specifications_keep_their_digest() -> None:
    document = hiring()
    with pytest.raises(SpecificationError, match="decision_deadline"):
        MonitorSpecification.from_dict(document | {"trials": {"without_decision": "refused"}})
    plain = MonitorSpecification.from_dict(document | {"trials": {}})
    assert "without_decision" not in json.dumps(plain.to_dict())
    named = hiring(without_decision="refused")
    assert (
        MonitorSpecification.from_dict(named).digest()
        == MonitorSpecification.from_dict(document).digest()
    )
