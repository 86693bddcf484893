"""Most of the recent times decide the clock and the unit; a few odd ones do not, wherever they are.

Worlds of 400 events, one a minute: every one of which a user would ask "was it counted?".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest
from monitor_streams import monitor_of

from testsgd.monitoring import Monitor, MonitorSpecification, MonitorStatus

MINUTE, HOUR, DAY = 60, 3600, 86_400
JANUARY = 1_704_067_200  # 2024
TODAY = JANUARY + 200 * DAY
EVENTS, WRONG = 400, 3
# Most of the window of recent events that decides.
MOST = 11


def document(**time: Any) -> dict[str, Any]:
    return {
        "time": time,
        "trials": {"deadline": "30 d", "without_label": 0},
        "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}],
    }


def events_at(times: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {"id": number, "group": "ab"[number % 2], "decision": 1, "time": time}
        for number, time in enumerate(times)
    ]


def replay(number: int = EVENTS, begin: float = JANUARY) -> list[float]:
    return [begin + minute * MINUTE for minute in range(number)]


def watched(times: Iterable[Any], **time: Any) -> MonitorStatus:
    monitor = monitor_of(document(**time))
    for event in events_at(times):
        monitor.observe(event)
    return monitor.status()


@pytest.mark.parametrize("place", [*range(12), 20, 200, EVENTS - WRONG - 20])
@pytest.mark.parametrize("wrong", [TODAY, JANUARY * 1000, "2024-07-19"])
def test_three_wrong_times_in_a_row_cost_no_other_event(place: int, wrong: Any) -> None:
    times: list[Any] = replay(EVENTS - WRONG)
    times[place:place] = [wrong] * WRONG
    status = watched(times)
    assert (status.decided, status.dead_letters, status.waiting) == (EVENTS - WRONG, WRONG, 0)
    assert (status.time, status.clock_set, status.unit) == (times[-1], 0, "s")


@pytest.mark.parametrize("wrong", [TODAY, JANUARY * 1000])
def test_three_wrong_times_at_the_end_move_no_time(wrong: Any) -> None:
    times = replay(EVENTS - WRONG)
    status = watched([*times, wrong, wrong, wrong])
    assert (status.decided, status.time) == (EVENTS - WRONG, times[-1])
    assert status.dead_letters + status.waiting == WRONG
    # No trial was ended by a date that most of the others do not have.
    assert status.open == EVENTS - WRONG


@pytest.mark.parametrize("seed", range(20))
def test_a_tenth_of_wrong_times_costs_no_other_event(seed: int) -> None:
    draw = Random(seed)
    times: list[Any] = replay()
    wrong = draw.sample(range(EVENTS), EVENTS // 10)
    for place in wrong:
        times[place] = draw.choice([TODAY, JANUARY * 1000, "2024-07-19", JANUARY - 900 * DAY])
    status = watched(times)
    # One from long ago may be the first event of all, and is an early one then.
    assert status.decided - (EVENTS - len(wrong)) in (0, 1)
    assert status.dead_letters + status.waiting == EVENTS - status.decided
    assert status.clock_set == 0


@pytest.mark.parametrize("wrong", [MOST, MOST + 1, 15, 30])
@pytest.mark.parametrize("place", [0, 100])
def test_a_run_of_wrong_times_deafens_for_a_window_only(wrong: int, place: int) -> None:
    times = replay()
    times[place:place] = replay(wrong, begin=TODAY)
    status = watched(times)
    assert (status.clock_set, status.clock_dropped) == (1, MOST - 1)
    assert status.decided == EVENTS + wrong - (MOST - 1)
    assert status.clock_before == TODAY + (wrong - 1) * MINUTE
    assert status.clock_to is not None
    assert JANUARY + place * MINUTE <= status.clock_to <= JANUARY + (place + MOST) * MINUTE
    assert status.time == times[-1]


def test_a_true_backfill_is_watched() -> None:
    live, old = replay(200, begin=TODAY), replay(200)
    status = watched([*live, *old])
    assert (status.clock_set, status.clock_dropped) == (1, MOST - 1)
    assert (status.decided, status.dead_letters_late) == (401 - MOST, MOST - 1)
    assert (status.clock_before, status.time) == (live[-1], old[-1])


@pytest.mark.parametrize("wrong", range(1, 31))
def test_the_first_events_in_another_unit_do_not_decide_it(wrong: int) -> None:
    times = [time * 1000 if number < wrong else time for number, time in enumerate(replay())]
    status = watched(times)
    assert status.unit == "s"
    assert EVENTS - status.decided <= max(wrong, MOST - 1)
    assert status.clock_set == (wrong >= MOST)


def test_a_unit_that_is_declared_stays() -> None:
    times = [*replay(100), *("2024-07-19" for _ in range(100))]
    status = watched(times, unit="s")
    assert (status.decided, status.dead_letters_unit, status.clock_set) == (100, 100, 0)


@pytest.mark.parametrize("before", [1, 2, 3, 5, 10, 200])
@pytest.mark.parametrize("pause", [2, 21, 150])
def test_a_pause_is_believed_when_most_recent_events_are_after_it(before: int, pause: int) -> None:
    times = replay(before)
    times += replay(EVENTS - before, begin=times[-1] + pause * DAY)
    status = watched(times)
    assert (status.decided, status.dead_letters, status.waiting) == (EVENTS, 0, 0)
    assert (status.time, status.clock_set) == (times[-1], 0)
    # Less than most of a window waits; it is counted nowhere, and said.
    few = min(before, MOST - 1)
    status = watched(times[: before + few])
    if before >= 3:
        assert (status.decided, status.waiting) == (before, few)


@pytest.mark.parametrize("every", [5, 10, 20])
def test_one_client_that_stands_still_blinds_no_monitor_after_a_pause(every: int) -> None:
    times = replay(100)
    stuck = times[-1]
    later = replay(300, begin=stuck + 21 * DAY)
    later[every - 1 :: every] = [stuck] * (300 // every)
    status = watched([*times, *later])
    good = EVENTS - 300 // every
    assert status.decided >= good
    assert (status.waiting, status.clock_set) == (0, 0)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_one_client_with_wrong_dates_blinds_no_monitor(share: float) -> None:
    draw = Random(1)
    times = [TODAY if draw.random() < share else time for time in replay(2000)]
    good = sum(time != TODAY for time in times)
    status = watched(times)
    assert status.decided >= 0.95 * good
    assert status.decided + status.dead_letters + status.waiting == 2000


def test_events_that_are_as_late_as_allowed_are_all_counted() -> None:
    draw = Random(2)
    times = sorted(replay(), key=lambda time: time + draw.random() * HOUR)
    status = watched(times, lateness="1 h")
    assert (status.decided, status.dead_letters, status.waiting) == (EVENTS, 0, 0)
    assert (status.time, status.clock_set) == (max(times), 0)


def test_a_moment_that_was_said_is_not_taken_back() -> None:
    monitor = monitor_of(document())
    monitor.observe_all(events_at(replay(20)))
    monitor.advance(TODAY)
    monitor.observe_all(events_at(replay(40))[20:])
    status = monitor.status()
    assert (status.time, status.dead_letters_late, status.clock_set) == (TODAY, 20, 0)


@pytest.mark.parametrize("wrong", [3, MOST + 1])
def test_windows_in_time_are_judged_after_a_wrong_beginning(wrong: int) -> None:
    parity = {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}
    monitor = monitor_of({"window": {"kind": "tumbling", "length": "1 h"}, "properties": [parity]})
    monitor.observe_all(events_at([*replay(wrong, begin=TODAY), *replay()]))
    (one,) = monitor.status().comparisons
    # Of 400 minutes six hours are over; the first may have lost what came before the clock.
    trials = [window.trials for window in one.windows]
    assert 60 - MOST < trials[0] <= 60
    assert trials[1:6] == [60] * 5
    first = monitor.status().first_time
    assert first is not None
    assert JANUARY - HOUR < first <= JANUARY + MOST * MINUTE


def wrong_here_and_there(times: list[Any]) -> list[Any]:
    return [*times[:50], *replay(MOST + 1, begin=TODAY), *times[50:], TODAY, TODAY * 1000]


@pytest.mark.parametrize(
    "world",
    [
        wrong_here_and_there,
        lambda times: [TODAY] * 3 + times,
        lambda times: [time * 1000 for time in times[:15]] + times[15:],
        lambda times: times[:30] + [time + 21 * DAY for time in times[30:]],
        lambda times: [time + 200 * DAY for time in times[:30]] + times[30:],
    ],
)
def test_resumed_at_every_event(world: Callable[[list[Any]], list[Any]]) -> None:
    plain = resumed = monitor_of(document())
    for event in events_at(world(replay(80))):
        plain.observe(event)
        resumed.observe(event)
        state = json.loads(json.dumps(plain.to_state(), allow_nan=False))
        resumed = Monitor.from_state(MonitorSpecification.from_dict(document()), state)
        assert resumed.to_state() == plain.to_state()
        assert resumed.status() == plain.status()


def test_a_state_of_a_former_version_is_read() -> None:
    monitor = monitor_of(document())
    monitor.observe_all(events_at(replay(20)))
    state = monitor.to_state()
    for added in ("recent", "against", "said", "set"):
        del state["timeline"][added]
    resumed = Monitor.from_state(monitor.specification, state)
    resumed.observe_all(events_at(replay(40))[20:])
    assert (resumed.status().decided, resumed.status().dead_letters) == (40, 0)
