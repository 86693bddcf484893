"""One wrong time does not deafen a monitor, wherever it stands; the unit of time is found out."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from monitor_streams import (
    check_comparisons,
    check_counters,
    documents,
    monitor_of,
    streams,
)
from offline_monitor import OfflineMonitor
from offline_trials import given_fields

from testsgd.errors import EventError
from testsgd.monitoring import DeadLetter, Monitor, MonitorSpecification

HOUR, DAY = 3600, 86_400
START = 1_700_000_000  # 14 November 2023
PEOPLE = 60
LAST = START + (PEOPLE - 1) * HOUR + 3 * DAY
END = datetime.fromtimestamp(LAST + DAY, UTC)
SCALES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LABEL_AFTER, DEADLINE = 2 * DAY, "3 d"


def odds(**time: Any) -> dict[str, Any]:
    """Both rates of equalized odds, with a deadline of three days."""
    return {
        "time": time,
        "trials": {"deadline": DEADLINE, "without_label": 0},
        "properties": [{"property": "equalized_odds", "bound": 0.1, "rule": "estimate"}],
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


def watched(events: list[dict[str, Any]], document: dict[str, Any]) -> Monitor:
    """Watch to the end, and check that all people were counted and nothing else was."""
    monitor = monitor_of(document)
    alerts = list(monitor.observe_all(events))
    alerts += monitor.advance(END)
    check_all_was_counted(monitor, alerts)
    return monitor


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
    monitor = watched(events, odds())
    status = monitor.status()
    assert (status.events, status.dead_letters, status.waiting) == (2 * PEOPLE, 1, 0)
    assert status.time == END.timestamp()


@pytest.mark.parametrize("places", [(0, 1), (0, 3), (3, 4), (50, 51)])
def test_two_wrong_times_deafen_nobody(places: tuple[int, int]) -> None:
    events = people()
    for place in places:
        odd = {"id": f"odd {place}", "group": "a", "decision": 1, "time": ODD_TIMES["milliseconds"]}
        events.insert(place, odd)
    monitor = watched(events, odds())
    assert monitor.status().dead_letters == 2


@pytest.mark.parametrize("place", [0, 1, 2, 60])
def test_a_time_long_after_those_of_a_replay_moves_no_time(place: int) -> None:
    # Two months are no news to the clock; only the other events show that they cannot be.
    events = people()
    odd = {"id": "odd", "group": "a", "decision": 1, "time": START + 60 * DAY}
    events.insert(place, odd)
    monitor = watched(events, odds())
    assert (monitor.status().dead_letters_ahead, monitor.status().waiting) == (1, 0)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("unit", [*SCALES, "iso"])
def test_the_unit_is_declared_or_found_out(unit: str, declared: bool) -> None:
    events = [as_written(event, unit) for event in people()]
    monitor = watched(events, odds(unit=unit) if declared else odds())
    assert (monitor.status().unit, monitor.status().dead_letters) == (unit, 0)


@pytest.mark.parametrize("place", [0, 1, 2, 70])
@pytest.mark.parametrize(("unit", "odd"), list(permutations([*SCALES, "iso"], 2)))
def test_another_unit_is_a_dead_letter_and_no_change(unit: str, odd: str, place: int) -> None:
    events = people()
    written = [as_written(event, unit) for event in events]
    wrong = {"id": "odd", "group": "b", "decision": 1, "time": events[place]["time"]}
    written.insert(place, as_written(wrong, odd))
    for document in (odds(), odds(unit=unit)):
        monitor = watched(written, document)
        assert (monitor.status().unit, monitor.status().dead_letters) == (unit, 1)


def test_numbers_of_a_clock_of_the_streams_own() -> None:
    for document, scale in ((odds(), 1), (odds(unit="ms"), 1000)):
        monitor, alerts = monitor_of(document), []
        for event in people(begin=0):
            alerts += monitor.observe(event | {"time": event["time"] * scale})
        alerts += monitor.observe({"id": "x", "group": "a", "decision": 1, "time": "2024-01-01"})
        alerts += monitor.advance((LAST - START + DAY) * scale)
        check_all_was_counted(monitor, alerts)
        assert monitor.status().dead_letters_unit == 1


def test_dates_that_are_declared_may_be_digits() -> None:
    monitor = monitor_of(odds(unit="iso"))
    monitor.observe({"id": 1, "group": "a", "decision": 1, "time": "20240131"})
    assert monitor.status().time == 1_706_659_200


# Replays, and events as they come.


def person(number: int, time: Any, decision: int = 1) -> dict[str, Any]:
    return {"id": number, "group": "ab"[number % 2], "decision": decision, "time": time}


class Clock:
    """A clock that stands where it was put."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_a_gap_in_a_replay_is_believed_when_most_recent_events_agree() -> None:
    # Nothing came for a month. The first five wait for the sixth, and nothing gets lost.
    times = [START + minute for minute in range(5)]
    times += [START + 30 * DAY + minute for minute in range(7)]
    monitor = monitor_of(odds())
    found = []
    for number, time in enumerate(times):
        monitor.observe(person(number, time))
        found.append((monitor.status().decided, monitor.status().waiting))
    assert found == [
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
        (5, 0),
        (5, 1),
        (5, 2),
        (5, 3),
        (5, 4),
        (5, 5),
        (11, 0),
        (12, 0),
    ]
    assert (monitor.status().dead_letters, monitor.status().time) == (0, times[-1])


def test_sparse_events_are_all_counted_but_the_last_ones_wait() -> None:
    monitor = monitor_of(odds())
    for number in range(10):
        monitor.observe(person(number, START + 10 * number * DAY))
    # One is believed at once, and then two whenever a third is after them.
    status = monitor.status()
    assert (status.events + status.waiting, status.waiting, status.dead_letters) == (10, 1, 0)
    monitor.observe(person(10, START + 100 * DAY))
    assert (monitor.status().events, monitor.status().waiting) == (9, 2)
    monitor.advance(START + 101 * DAY)
    assert (monitor.status().events, monitor.status().waiting) == (11, 0)
    # A longer skew is for streams like this one.
    monitor = monitor_of(odds(max_skew="10 d"))
    for number in range(10):
        monitor.observe(person(number, START + 10 * number * DAY))
        assert monitor.status().decided == number + 1


def test_a_moment_that_is_said_confirms_what_waits() -> None:
    monitor = monitor_of(odds())
    for number, time in enumerate([START, START + 1, START + 2, START + 5 * DAY]):
        monitor.observe(person(number, time))
    assert (monitor.status().decided, monitor.status().waiting) == (3, 1)
    monitor.advance(START + 6 * DAY)
    assert (monitor.status().decided, monitor.status().waiting) == (4, 0)


def live(clock: Clock, **time: Any) -> Monitor:
    return Monitor(MonitorSpecification.from_dict(odds(**time)), clock=clock)


def test_a_live_event_after_a_long_silence_is_taken_at_once() -> None:
    clock = Clock(START)
    monitor = live(clock)
    for number in range(6):
        clock.now = START + number * 7 * DAY if number > 2 else START + number
        monitor.observe(person(number, clock.now))
        assert monitor.status().decided == number + 1


@pytest.mark.parametrize("ahead", [60, DAY - 1])
def test_a_sender_whose_clock_is_fast_moves_time_no_further_than_the_clock(ahead: float) -> None:
    clock = Clock(START)
    monitor = live(clock)
    for number in range(20):
        clock.now = START + number
        monitor.observe(person(number, clock.now + (ahead if number % 5 == 0 else 0)))
        assert monitor.status().time == clock.now
    assert (monitor.status().decided, monitor.status().dead_letters) == (20, 0)


def test_how_far_ahead_of_the_clock_an_event_may_be() -> None:
    clock = Clock(START)
    for max_skew, taken in (("1 min", 1), ("2 min", 2)):
        monitor = live(clock, max_skew=max_skew)
        for number, ahead in enumerate((60, 61, 121)):
            monitor.observe(person(number, START + ahead))
        assert (monitor.status().decided, monitor.status().dead_letters_ahead) == (taken, 3 - taken)
        assert monitor.status().time == START


def test_an_event_of_today_does_not_end_a_replay() -> None:
    # Where a time was missing somebody filled in the present one.
    for place in (0, 1, 5):
        clock = Clock(START + 400 * DAY)
        monitor, times = live(clock), [START + minute for minute in range(10)]
        times.insert(place, clock.now)
        for number, time in enumerate(times):
            monitor.observe(person(number, time))
        assert (monitor.status().decided, monitor.status().dead_letters_ahead) == (10, 1)


# Late events.


def test_how_late_an_event_may_be() -> None:
    for lateness, taken in ((None, 0), ("1 min", 1), ("2 min", 2)):
        monitor = monitor_of(odds(**({} if lateness is None else {"lateness": lateness})))
        for number, back in enumerate((0, 0, 0, 60, 61)):
            monitor.observe(person(number, START - back))
        status = monitor.status()
        assert (status.decided, status.dead_letters_late) == (3 + taken, 2 - taken)
        assert (status.late, status.time) == (0, START)


def test_a_deadline_ends_when_no_label_in_time_can_come_any_more() -> None:
    monitor = monitor_of(odds(lateness="1 h"))
    monitor.observe(person(1, START))
    due = START + 3 * DAY
    monitor.advance(due + HOUR)
    assert monitor.status().open == 1
    monitor.observe({"id": 1, "label": 1, "time": due})
    assert (monitor.status().late, monitor.status().dead_letters_late) == (0, 0)
    monitor.advance(due + HOUR + 1)
    assert monitor.status().open == 0
    (one,) = (c for c in monitor.status().comparisons if c.property.name == "equal_opportunity")
    assert [(group.numerator, group.denominator) for group in one.groups] == [(1, 1)]


def test_a_late_event_is_in_the_window_of_its_own_time() -> None:
    document = {
        "time": {"lateness": "10 s"},
        "window": {"kind": "tumbling", "length": "20 s"},
        "properties": [{"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}],
    }
    monitor = monitor_of(document)
    # Windows from 5 to 25 and to 45; the second event is from before the first one of all.
    for number, time in enumerate([5, 1, 24, 26, 20, 33, 24]):
        monitor.observe(person(number, time, decision=number % 2))
    assert monitor.status().windows_judged == 0
    monitor.advance(35)
    (one,) = monitor.status().comparisons
    assert [(w.window, w.trials) for w in one.windows] == [(0, 5)]
    monitor.advance(100)
    (one,) = monitor.status().comparisons
    assert [(w.window, w.trials) for w in one.windows] == [(0, 5), (1, 2)]


def test_an_id_that_comes_again_before_its_deadline_could_end() -> None:
    monitor = monitor_of(odds(lateness="1 h") | {"trials": {"deadline": 10, "repeated": "new"}})
    monitor.observe(person(1, START))
    # Its deadline is over, but somebody else's label may still be an hour late.
    monitor.observe(person(1, START + 60, decision=0))
    monitor.observe({"id": 1, "label": 1, "time": START + 5})
    monitor.observe({"id": 1, "label": 1, "time": START + 62})
    monitor.advance(START + 2 * HOUR)
    status = monitor.status()
    assert (status.decided, status.late, status.open, status.dead_letters) == (2, 1, 0, 0)
    counted = {
        one.property.name: [(group.numerator, group.denominator) for group in one.groups]
        for one in status.comparisons
    }
    assert counted == {"predictive_equality": [(1, 1)], "equal_opportunity": [(0, 1)]}


# What is said, kept and passed on.


def test_dead_letters_are_passed_on_as_they_came() -> None:
    letters: list[DeadLetter] = []
    monitor = Monitor(
        MonitorSpecification.from_dict(odds()), on_dead_letter=letters.append, clock=Clock(LAST)
    )
    events = people()[:10]
    events.insert(0, person(100, 1000 * START) | {"other": float("inf")})
    events.insert(6, person(101, "2062-01-01"))
    events.insert(8, person(102, START - 5))
    events.insert(9, person(103, START + 3 * DAY))
    for number, event in enumerate(events, start=1):
        monitor.observe(event, place=number)
    assert [(one.reason, one.place, one.event["id"]) for one in letters] == [
        ("unit", 1, 100),
        ("ahead", 7, 101),
        ("late", 9, 102),
        ("ahead", 10, 103),
    ]
    for letter in letters:
        told = letter.to_dict()
        assert list(told) == ["dead_letter", "said", "line", "event"]
        assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert letters[0].event["other"] == "inf"


def test_what_waited_and_does_not_fit_is_a_dead_letter() -> None:
    letters: list[DeadLetter] = []
    document = odds() | {"groups": {"names": ["a", "b"]}}
    monitor = Monitor(MonitorSpecification.from_dict(document), on_dead_letter=letters.append)
    for number in range(3):
        monitor.observe(person(number, START + number))
    later = START + 9 * DAY
    monitor.observe(person(3, later))
    monitor.observe(person(4, later) | {"group": "nobody"})
    monitor.observe_all(person(number, later) for number in (5, 6))
    assert [(one.reason, one.event["id"]) for one in letters] == [("wrong", 4)]
    assert "nobody" in letters[0].said
    assert (monitor.status().decided, monitor.status().dead_letters_wrong) == (6, 1)


def test_where_time_decides_nothing_no_event_is_lost_by_it() -> None:
    document = {
        "properties": [{"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}]
    }
    monitor = monitor_of(document)
    for number, time in enumerate([1000 * START, "2062-01-01", 5, START, None]):
        monitor.observe(person(number, time))
    assert (monitor.status().decided, monitor.status().dead_letters) == (5, 0)
    # Unless it is asked for.
    monitor = monitor_of(document | {"time": {"max_skew": "1 h"}})
    for number, time in enumerate([None, START, 1000 * START, "2062-01-01", *[START] * 4]):
        monitor.observe(person(number, time))
    assert (monitor.status().decided, monitor.status().dead_letters) == (6, 2)


# Any stream.


def only_named(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of which it is known to whom they belong, and each once."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        said = json.dumps({key: event[key] for key in sorted(event) if key != "time"})
        if "id" in event:
            found.setdefault(said, event)
    return list(found.values())


def trials_of(status: Any) -> Any:
    return status.decided, status.dropped, status.late, status.open


@settings(max_examples=100)
@given(st.data(), documents(("all",)))
def test_events_in_another_order_count_the_same(
    data: st.DataObject, document: dict[str, Any]
) -> None:
    document["trials"]["repeated"] = "ignore"
    document["time"] = {"lateness": 6}
    events = only_named(data.draw(streams(document)))
    assume(events and "time" in events[0])
    delays = data.draw(st.lists(st.integers(0, 5), min_size=len(events), max_size=len(events)))
    keys = [event["time"] + delay for event, delay in zip(events, delays, strict=True)]
    order = sorted(range(len(events)), key=keys.__getitem__)
    monitor = monitor_of(document)
    for place in order:
        monitor.observe(events[place])
    monitor.advance(10_000)
    assert monitor.status().dead_letters == 0
    beat = {"header": 1, "time": 9_000.0}
    offline = OfflineMonitor(document, [*events, beat])
    wanted = offline.trials.counters(len(events) + 1)
    assert trials_of(monitor.status()) == tuple(
        wanted[key] for key in ("decided", "dropped", "late", "open")
    )
    found = {
        (one.property.name, one.conditions): {
            group.name: (group.numerator, group.denominator) for group in one.groups
        }
        for one in monitor.status().comparisons
    }
    for one in offline.properties:
        for key, counts in offline.within(one, offline.counted(one)).items():
            table = found.pop((one.name, tuple(zip(one.condition_on, key, strict=True))))
            assert table == offline.table(one, counts)
    assert not found


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_deadline_counts_from_when_all_was_said_first(order: tuple[int, ...]) -> None:
    document = {
        "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}],
        "trials": {"repeated": "ignore", "deadline": 2, "without_label": 0, "count": "deadline"},
        "time": {"lateness": 6},
    }
    events = [
        {"id": 5, "time": 0.0, "group": "a", "decision": 0},
        {"id": 5, "time": 1.0, "group": "a"},
        {"id": 5, "time": 3.0, "label": 0},
    ]
    monitor = monitor_of(document)
    for place in order:
        monitor.observe(events[place])
    monitor.advance(10_000)
    # All was known at 0, so a label at 3 comes too late.
    assert trials_of(monitor.status()) == (1, 0, 1, 0)


ODD = [START * 1000, "2062-01-01", START, 3_000_000, -3_000_000, 2_903_299_200]


@settings(max_examples=100)
@given(st.data(), documents(("all", "tumbling", "sliding")))
def test_a_wrong_time_anywhere_changes_no_count(
    data: st.DataObject, document: dict[str, Any]
) -> None:
    document["time"] = {"max_skew": "1 h"}
    events = data.draw(streams(document))
    assume("time" in events[0] and len(events) >= 5)
    place, time = data.draw(st.integers(0, len(events))), data.draw(st.sampled_from(ODD))
    # An event from long before at the very beginning is an early one, and not wrong.
    assume(place > 0 or time != -3_000_000)
    given = dict.fromkeys(given_fields(document), "x")
    wrong = {"id": "odd", "group": "a", "decision": 1, "label": 1, "time": time} | given
    monitor = monitor_of(document)
    for event in [*events[:place], wrong, *events[place:]]:
        monitor.observe(event)
    status, offline = monitor.status(), OfflineMonitor(document, events)
    assert status.dead_letters + status.waiting == 1
    check_counters(status, offline.trials.counters(len(events)))
    check_comparisons(offline, status, len(events) - 1)


def answer(monitor: Monitor, event: dict[str, Any]) -> Any:
    """The alerts; or the error, if the decision that a label without an id is of is none."""
    try:
        return monitor.observe(event)
    except EventError as error:
        return str(error)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.data(), documents(("all", "tumbling", "sliding")))
def test_resumed_among_wrong_and_late_times(data: st.DataObject, document: dict[str, Any]) -> None:
    document["time"] = {"lateness": data.draw(st.sampled_from([0, 3])), "max_skew": 20}
    events = data.draw(streams(document))
    for time in data.draw(st.lists(st.sampled_from([*ODD, 40, 60, 61, 62]), max_size=5)):
        place = data.draw(st.integers(0, len(events)))
        events.insert(place, {"id": f"odd {time}", "header": 1, "time": time})
    plain = resumed = monitor_of(document)
    resumed = Monitor.from_state(plain.specification, plain.to_state())
    for event in events:
        assert answer(resumed, event) == answer(plain, event)
        state = json.loads(json.dumps(plain.to_state(), allow_nan=False))
        resumed = Monitor.from_state(plain.specification, state)
        assert resumed.to_state() == plain.to_state()
        assert resumed.status() == plain.status()
