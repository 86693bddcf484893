"""A favourable decision counts only if it came within a time of the trial's first event."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import testsgd
from testsgd.errors import SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification


def document(*spans: float, **tables: Any) -> dict[str, Any]:
    watched = {"property": "demographic_parity", "bound": 1, "rule": "estimate"}
    return {
        "properties": [watched, *(watched | {"favourable_within": span} for span in spans)],
        "time": {"max_skew": 1000},
        **tables,
    }


# When somebody applies, and how much later which decision comes, if any does.
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.integers(0, 12),
        st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 1))),
    ),
    max_size=8,
)


def stream(people: list[tuple[str, int, tuple[int, int] | None]]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for number, (group, begins, decided) in enumerate(people):
        events.append({"id": number, "group": group, "time": begins})
        if decided is not None:
            delay, decision = decided
            events.append({"id": number, "decision": decision, "time": begins + delay})
    return sorted(events, key=lambda event: event["time"])


@settings(max_examples=150)
@given(PEOPLE, st.sampled_from(["ignore", "new"]), st.booleans())
def test_every_rate_at_every_moment(people: list[Any], repeated: str, refuses: bool) -> None:
    trials: dict[str, Any] = {"repeated": repeated}
    if refuses:
        trials["decision_deadline"] = 20
    monitor = testsgd.load_monitor(document(3, 5, trials=trials), clock=lambda: 100.0)
    spans = {"demographic_parity within 3 s": 3, "demographic_parity within 5 s": 5}
    moments = [*stream(people), *({"time": time} for time in (22, 29))]
    for event in moments:
        if "id" in event:
            monitor.observe(event)
        else:
            monitor.advance(event["time"])
        monitor = Monitor.from_state(
            monitor.specification, json.loads(json.dumps(monitor.to_state())), clock=lambda: 100.0
        )
        found = {
            (comparison.property.name, group.name): (group.numerator, group.denominator)
            for comparison in monitor.status().comparisons
            for group in comparison.groups
            if comparison.property.name in spans
        }
        wanted = {}
        for name, span in spans.items():
            for group in "ab":
                over = [
                    decided
                    for mine, begins, decided in people
                    if mine == group and begins + span < event["time"]
                ]
                if over:
                    soon = [one for one in over if one is not None and one[0] <= span and one[1]]
                    wanted[name, group] = (len(soon), len(over))
        assert found == wanted


def test_a_trial_without_a_group_by_then_is_dropped() -> None:
    monitor = testsgd.load_monitor(document(3), clock=lambda: 100.0)
    monitor.observe({"id": 1, "decision": 1, "time": 0})
    monitor.advance(4)
    assert monitor.status().dropped == 1
    assert monitor.status().comparisons == ()


def test_tumbling_windows_are_of_the_ends() -> None:
    window = {"kind": "tumbling", "length": 2}
    monitor = testsgd.load_monitor(document(3, window=window), clock=lambda: 100.0)
    for number, group in enumerate("abab"):
        monitor.observe({"id": number, "group": group, "time": number})
    monitor.observe({"id": 1, "decision": 1, "time": 3})
    monitor.advance(20)
    (soon,) = [one for one in monitor.status().comparisons if "within" in one.property.name]
    assert [(window.trials, window.bias) for window in soon.windows] == [(2, 1), (2, 0)]


def test_a_person_in_a_single_event_is_decided_at_once() -> None:
    monitor = testsgd.load_monitor(document(3), clock=lambda: 100.0)
    monitor.observe({"group": "a", "decision": 1, "time": 0})
    monitor.advance(4)
    assert [one.groups[0].numerator for one in monitor.status().comparisons] == [1, 1]


def test_an_event_that_comes_late_says_when_it_happened() -> None:
    made = document(3)
    made["time"]["lateness"] = 5
    monitor = testsgd.load_monitor(made, clock=lambda: 100.0)
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.observe({"id": 2, "group": "b", "time": 6})
    monitor.observe({"id": 1, "decision": 1, "time": 2})
    monitor.advance(9)
    by_name = {one.property.name: one for one in monitor.status().comparisons}
    assert by_name["demographic_parity within 3 s"].groups[0].numerator == 1


@pytest.mark.parametrize(
    "watched",
    [
        {"property": "equal_opportunity", "favourable_within": "30 d"},
        {"property": "demographic_parity", "favourable_within": "soon"},
        {"property": "demographic_parity", "favourable_within": 0},
    ],
)
def test_a_time_that_cannot_be(watched: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError, match="favourable_within"):
        MonitorSpecification.from_dict({"properties": [watched | {"bound": 0.1}]})


@settings(max_examples=150)
@given(PEOPLE, st.sampled_from(["ignore", "new"]), st.sampled_from([0, 4]), st.booleans())
def test_a_dropped_trial_counts_only_within_shorter_times(
    people: list[Any], repeated: str, lateness: int, jumps: bool
) -> None:
    trials = {"decision_deadline": 4, "without_decision": "dropped", "repeated": repeated}
    made = document(3, 4, 6, trials=trials)
    made["time"]["lateness"] = lateness
    monitor = testsgd.load_monitor(made, clock=lambda: 100.0)
    for event in stream(people):
        monitor.observe(event)
        monitor = Monitor.from_state(
            monitor.specification, json.loads(json.dumps(monitor.to_state())), clock=lambda: 100.0
        )
    for time in (40,) if jumps else range(22, 41):
        monitor.advance(time)
    wanted: dict[tuple[int, str], tuple[int, int]] = {}
    dropped = 0
    for group, _, decided in people:
        is_dropped = decided is None or decided[0] > 4
        dropped += is_dropped
        for span in (3,) if is_dropped else (3, 4, 6):
            favourable = decided is not None and decided[0] <= span and decided[1] == 1
            top, bottom = wanted.get((span, group), (0, 0))
            wanted[span, group] = top + favourable, bottom + 1
    status = monitor.status()
    found = {
        (comparison.property.favourable_within, group.name): (group.numerator, group.denominator)
        for comparison in status.comparisons
        for group in comparison.groups
        if comparison.property.favourable_within is not None and group.denominator
    }
    assert found == wanted
    assert (status.dropped, status.dropped_counted) == (dropped, dropped)


def test_a_dropped_trial_raises_no_alert_of_a_longer_time() -> None:
    trials = {"decision_deadline": 14, "without_decision": "dropped"}
    made = document(30, trials=trials)
    for watched in made["properties"]:
        watched["bound"] = "1/10"
    events: list[dict[str, Any]] = [
        {"id": 1, "group": "a", "decision": 1, "time": 2},
        {"id": 2, "group": "b", "decision": 1, "time": 2},
        {"id": 3, "group": "b", "time": 2},
        {"id": 4, "group": "a", "decision": 1, "time": 50},
    ]
    result = testsgd.monitor(made, events)
    assert result.exit_code == 0
    assert (result.summary.stream.dropped, result.summary.stream.dropped_counted) == (1, 0)


def test_the_report_says_that_a_shorter_time_counted_a_dropped_trial() -> None:
    trials = {"decision_deadline": 5, "without_decision": "dropped"}
    sentences = {}
    for span in (3, 9):
        events = [{"id": 1, "group": "a", "time": 0}, {"id": 2, "group": "b", "time": 20}]
        result = testsgd.monitor(document(span, trials=trials), events)
        assert result.summary.stream.dropped == 1
        (sentences[span],) = [one for one in result.verdict.sentences if "ropped" in one]
    assert sentences[3] != sentences[9]
    assert "unfavourable" in sentences[3]


def test_a_trial_without_a_group_at_its_deadline_is_dropped_once() -> None:
    made = document(9, trials={"decision_deadline": 5, "without_decision": "dropped"})
    made["events"] = {"others": "ignore"}
    made["properties"][0]["condition_on"] = ["job"]
    made["properties"][1]["condition_on"] = ["job"]
    monitor = testsgd.load_monitor(made, clock=lambda: 100.0)
    monitor.observe({"id": 1, "group": "a", "time": 0})
    monitor.advance(20)
    assert monitor.status().dropped == 1
