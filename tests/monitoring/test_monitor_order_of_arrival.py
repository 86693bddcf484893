"""What follows the order in which events arrive, and what follows their times."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import testsgd
from testsgd.monitoring import Monitor

Event = dict[str, Any]


def document(window: dict[str, Any] | None, **tables: Any) -> dict[str, Any]:
    watched = {"property": "demographic_parity", "bound": "1/10", "rule": "estimate"}
    windows = {} if window is None else {"window": window}
    return {
        "groups": {"names": ["a", "b"]},
        "properties": [watched],
        "time": {"unit": "s", "lateness": 100},
        **windows,
        **tables,
    }


# Of people who are decided at 0, 1, 2, ... in one event each: group and decision.
PEOPLE = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1)), min_size=1, max_size=9)


def arrivals(people: list[tuple[str, int]], order: list[int]) -> list[Event]:
    return [
        {"id": place, "group": people[place][0], "decision": people[place][1], "time": place}
        for place in order
    ]


def decisions_after_later(order: list[int]) -> int:
    """How many places have a larger one before them."""
    return sum(any(one > place for one in order[:at]) for at, place in enumerate(order))


def bias(people: list[tuple[str, int]]) -> Fraction:
    rates = []
    for group in "ab":
        decisions = [decision for mine, decision in people if mine == group]
        if decisions:
            rates.append(Fraction(sum(decisions), len(decisions)))
    return max(rates) - min(rates)


def resumed(monitor: Monitor) -> Monitor:
    state = json.loads(json.dumps(monitor.to_state()))
    return Monitor.from_state(monitor.specification, state, clock=lambda: 1000.0)


@settings(max_examples=100)
@given(PEOPLE, st.data())
def test_windows_by_number_are_in_the_order_of_arrival(
    people: list[tuple[str, int]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(people))))
    window = {"kind": "tumbling", "length": 2}
    monitor = testsgd.load_monitor(document(window), clock=lambda: 1000.0)
    for event in arrivals(people, order):
        monitor.observe(event)
        monitor = resumed(monitor)
    arrived = [people[place] for place in order]
    pairs = [arrived[start : start + 2] for start in range(0, len(people) - 1, 2)]
    status = monitor.status()
    assert [one.bias for one in status.comparisons[0].windows] == list(map(bias, pairs))
    assert status.decided_after_later == decisions_after_later(order)
    assert status.decided_after_later or order == sorted(order)


@settings(max_examples=100)
@given(PEOPLE, st.data())
def test_windows_in_time_are_in_the_order_of_time(
    people: list[tuple[str, int]], data: st.DataObject
) -> None:
    # They begin at the first event that arrives.
    order = [0, *data.draw(st.permutations(range(1, len(people))))]
    window = {"kind": "tumbling", "length": "2 s"}
    monitor = testsgd.load_monitor(document(window), clock=lambda: 1000.0)
    for event in arrivals(people, order):
        monitor.observe(event)
    monitor.advance(500)
    pairs = [people[start : start + 2] for start in range(0, len(people), 2)]
    windows = monitor.status().comparisons[0].windows
    assert [one.bias for one in windows] == list(map(bias, pairs))


def test_windows_in_time_begin_at_the_first_event_that_arrives() -> None:
    people = [("a", 1), ("b", 0), ("a", 1), ("b", 0), ("a", 1)]
    trials = []
    for order in ([0, 1, 2, 3, 4], [1, 0, 2, 3, 4]):
        window = {"kind": "tumbling", "length": "2 s"}
        monitor = testsgd.load_monitor(document(window), clock=lambda: 1000.0)
        for event in arrivals(people, order):
            monitor.observe(event)
        monitor.advance(500)
        trials.append([one.trials for one in monitor.status().comparisons[0].windows])
    assert trials == [[2, 2, 1], [3, 2]]


@settings(max_examples=100)
@given(st.permutations(range(6)))
def test_labels_in_a_sliding_window_in_time_are_counted_when_the_trial_was_complete(
    order: list[int],
) -> None:
    # Trial 1 is complete at 30, trial 2 at 60, whichever of its events arrives last.
    events: list[Event] = [
        {"id": 1, "group": "a", "time": 10},
        {"id": 1, "decision": 1, "time": 20},
        {"id": 1, "label": 1, "time": 30},
        {"id": 2, "group": "b", "time": 40},
        {"id": 2, "decision": 1, "time": 50},
        {"id": 2, "label": 1, "time": 60},
    ]
    made = document({"kind": "sliding", "length": "20 s"})
    made["properties"][0]["property"] = "equal_opportunity"
    counted = {}
    monitor = testsgd.load_monitor(made, clock=lambda: 1000.0)
    for place in order:
        monitor.observe(events[place])
    for time in (150, 151, 180, 181):
        monitor.advance(time)
        groups = monitor.status().comparisons[0].groups
        counted[time] = [group.denominator for group in groups]
    assert counted == {150: [1, 1], 151: [0, 1], 180: [0, 1], 181: [0, 0]}


@pytest.mark.parametrize(
    ("window", "property_name", "says_decisions", "says_labels"),
    [
        ({"kind": "tumbling", "length": 2}, "demographic_parity", True, False),
        ({"kind": "sliding", "length": 2}, "demographic_parity", True, False),
        ({"kind": "tumbling", "length": 2}, "equal_opportunity", True, False),
        ({"kind": "sliding", "length": 2}, "equal_opportunity", False, True),
        ({"kind": "tumbling", "length": "2 s"}, "demographic_parity", False, False),
        (None, "demographic_parity", False, False),
    ],
)
def test_the_verdict_says_what_followed_the_order_of_arrival(
    window: dict[str, Any] | None, property_name: str, says_decisions: bool, says_labels: bool
) -> None:
    made = document(window)
    made["properties"][0]["property"] = property_name
    times = {"in order": (1, 2, 3, 4), "mixed": (1, 4, 2, 3)}
    said = {}
    for name, moments in times.items():
        events = [
            {"id": moment, "group": "ab"[moment % 2], "decision": 1, "label": 1, "time": moment}
            for moment in moments
        ]
        result = testsgd.monitor(made, events, clock=lambda: 1000.0)
        said[name] = [one for one in result.verdict.sentences if "after later ones" in one]
        stream = result.summary.stream
        expected = 0 if name == "in order" else 2
        assert stream.decided_after_later == expected
        assert stream.complete_after_later == (expected if "equal" in property_name else 0)
    assert said["in order"] == []
    assert [one.startswith("Decisions") for one in said["mixed"]] == (
        [True] if says_decisions else [False] if says_labels else []
    )


def test_a_window_at_the_end_of_a_time_follows_no_order_of_arrival() -> None:
    made = document({"kind": "tumbling", "length": 2})
    made["properties"][0]["favourable_within"] = 5
    people = [("a", 1), ("b", 1), ("a", 0), ("b", 0)]
    biases = []
    for order in ([0, 1, 2, 3], [0, 3, 1, 2]):
        events = [*arrivals(people, order), {"id": 9, "group": "a", "time": 200}]
        result = testsgd.monitor(made, events, clock=lambda: 1000.0)
        assert not any("after later ones" in one for one in result.verdict.sentences)
        biases.append([window.bias for window in result.summary.comparisons[0].windows])
    assert biases == [[0, 0], [0, 0]]


def test_a_refusal_that_is_noticed_late_is_counted_too() -> None:
    # Trial 1 is refused at 10, noticed only at 111, when trial 2 of time 50 was counted.
    made = document({"kind": "tumbling", "length": 2}, trials={"decision_deadline": 10})
    monitor = testsgd.load_monitor(made, clock=lambda: 1000.0)
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 2, "group": "b", "decision": 1, "time": 50})
    monitor.advance(111)
    assert (monitor.status().decided, monitor.status().decided_after_later) == (2, 1)


def test_a_state_without_these_counts_goes_on() -> None:
    made = document({"kind": "tumbling", "length": 2})
    monitor = testsgd.load_monitor(made, clock=lambda: 1000.0)
    events = arrivals([("a", 1), ("b", 1), ("a", 0), ("b", 0)], [0, 3, 2, 1])
    for event in events[:2]:
        monitor.observe(event)
    state = json.loads(json.dumps(monitor.to_state()))
    del state["book"]["latest"]
    for name in ("dropped_counted", "decided_after_later", "complete_after_later"):
        del state["book"]["counters"][name]
    former = Monitor.from_state(monitor.specification, state, clock=lambda: 1000.0)
    for event in events[2:]:
        former.observe(event)
    # Of what came before nothing is known: only trial 1 came after one that it remembers.
    assert former.status().decided_after_later == 1
