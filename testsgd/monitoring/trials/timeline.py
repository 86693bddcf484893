"""Which times are believed: how far a stream has come, in which unit, and what is a dead letter.

Time ends deadlines, so a few wrong times could end them all. What does not fit the clock and the
events around it waits until most of the recent ones agree with it, or is a dead letter: it is
counted, and nothing else. If most of the recent events are dead letters, the clock was wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import Any, Literal, NamedTuple

from testsgd.io import loads_json
from testsgd.monitoring.specification import TimePart, duration_text
from testsgd.monitoring.trials.event import ONE_MOMENT, UNIT_NAMES, Event, Unit, iso_text, shown
from testsgd.monitoring.trials.recent_times import (
    ENOUGH,
    MAJORITY,
    WINDOW,
    ClockSettings,
    Dropped,
    RecentTimes,
)

# Until time is settled all events are kept, in case the first times were wrong; but not for ever.
_MOST_KEPT = 100
Reason = Literal["unit", "ahead", "late", "wrong"]
Fate = Literal["take", "wait", "confirm", "unit", "ahead", "late"]
Position = Literal["near", "late", "very late", "far ahead"]

# The fate of an event by whether its time is in the stream's unit, whether time is settled, and
# where its time lies, see `Timeline._position`. `Timeline.fate` says when it is decided otherwise.
_FATES: dict[tuple[bool, bool], dict[Position, Fate]] = {
    # (same unit, settled): position -> fate
    (True, True): {"near": "take", "late": "late", "very late": "late", "far ahead": "wait"},
    (True, False): {"near": "take", "late": "late", "very late": "wait", "far ahead": "wait"},
    (False, True): {"near": "unit", "late": "unit", "very late": "unit", "far ahead": "unit"},
    (False, False): {"near": "wait", "late": "wait", "very late": "wait", "far ahead": "wait"},
}


class Arrival(NamedTuple):
    """An event as it was read, as it was given, and its place in its source.

    Attributes
    ----------
    event : Event
        As the reader read it.
    given : mapping of str to object
        As it was given. While it waits it is kept in types that JSON knows.
    place : object
        Where it stands in its source, such as the number of a line; None if that is not known.
    """

    event: Event
    given: Mapping[str, Any]
    place: Any = None


@dataclass(frozen=True)
class DeadLetter:
    """An event that was not counted, because of its time.

    It moved no time, and the events after it were counted as if it had not come.

    Examples
    --------
    >>> import testsgd
    >>> letters = []
    >>> monitor = testsgd.load_monitor(
    ...     {
    ...         "time": {"max_skew": "1 d"},
    ...         "properties": [{"property": "demographic_parity", "bound": 0.1}],
    ...     },
    ...     clock=lambda: 0,
    ...     on_dead_letter=letters.append,
    ... )
    >>> monitor.observe({"group": "a", "decision": 1, "time": "1970-01-03"}, place=1)
    ()
    >>> letters[0].reason, letters[0].place
    ('ahead', 1)
    """

    # Its time is in another unit than the stream's; it is too far ahead, or too late; or it waited
    # for others to confirm its time and did not fit when they had.
    reason: Reason
    said: str  # The same in words.
    event: Mapping[str, Any]  # As it was given, in types that JSON knows.
    place: Any = None  # Where it stands in its source; None if that is not known.

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as JSON has them."""
        parts = {"dead_letter": self.reason, "said": self.said, "line": self.place}
        return parts | {"event": dict(self.event)}


class Timeline:
    """The time of a stream: how far it has come, and which times are believed.

    Parameters
    ----------
    part : TimePart
        The table ``time`` of the specification: the unit, ``lateness`` and ``max_skew``.
    clock : callable
        Returns the present moment, in seconds since 1970.

    Attributes
    ----------
    lateness : float
        How far before the latest event one may be, in seconds.
    time : float or None
        The latest time that is believed, in seconds, never ahead of the clock.
    unit : str or None
        The unit of the events that are believed.
    waiting : list of Arrival
        Events whose time is not believed so far, in their order.
    dead : dict of str to int
        How many dead letters there were, by reason.
    settings : ClockSettings
        How often the time was set again.

    Notes
    -----
    A time is believed if it is not farther ahead of the latest one than `max_skew`; or, while the
    stream's events are, if it is as close to the clock. A time beyond the clock is never believed.
    A time that jumps waits. What waits is believed if it is most of the recent events, and refuted
    if as many as wait go on where time was before.

    Until most of a window is believed nothing is settled: those that wait take the place of the
    ones before, if these are in another unit or later. Afterwards nothing is taken back, but if
    most of the recent events are late or in another unit, time goes on where these are.

    Examples
    --------
    >>> line = Timeline(TimePart(max_skew="1 d"), clock=lambda: 100_000.0)
    >>> first, late, ahead = (
    ...     Event(None, "a", 1, None, (), time, "s") for time in (50_000.0, 40_000.0, 200_000.0)
    ... )
    >>> line.fate(first)
    'take'
    >>> line.believe(first)
    >>> line.time, line.fate(late), line.fate(ahead)
    (50000.0, 'late', 'ahead')
    """

    def __init__(self, part: TimePart, clock: Callable[[], float]) -> None:
        self.lateness = part.late
        self._skew = part.skew
        self._clock = clock
        self._declared = part.unit is not None
        self.time: float | None = None
        self.unit: Unit | None = None
        self.waiting: list[Arrival] = []
        self.dead: dict[Reason, int] = {"unit": 0, "ahead": 0, "late": 0, "wrong": 0}
        self.settings = ClockSettings()
        self._buried: set[str] = set()  # digests of the dead letters that have an id
        self._recent = RecentTimes()
        self._against = 0  # events that went on where time was, since the first one waits
        self._given: float | None = None  # the last moment that was given to `move`
        self._now = -math.inf  # the present moment, when an event came
        self._live = False
        # What was believed so far, with all that had no time; None once that is settled.
        self._first: list[Arrival] | None = []

    @property
    def settled(self) -> bool:
        """Whether the unit, and how far the stream has come, are beyond doubt."""
        return self._first is None

    def fate(self, event: Event) -> Fate:
        """Decide what becomes of an event with a time, and note the present moment.

        An event that is ahead of the clock by more than `max_skew` is a dead letter, "ahead". The
        first event that is not is taken. For any other one the table `_FATES` says what becomes of
        it, but where that is to wait it is confirmed at once if it is in the stream's unit, the
        last event that was taken was as close to the clock as `max_skew`, and this one is not
        farther behind the clock: a live stream goes on after a silence.

        Returns
        -------
        Fate
            "take": it is believed. "wait": it waits until others agree with it. "confirm": it is
            believed, and so are the events that wait and lead up to it. "ahead", "late", "unit":
            it is a dead letter, unless most recent events are late or in its unit.
        """
        time = event.time
        now = self._clock()
        assert time is not None
        self._now = now
        if time > now + self._skew:
            return "ahead"
        if self.time is None:
            return "take"
        position = self._position(time, self.time)
        same = self._is_in_own_unit(event, position)
        fate = _FATES[same, self.settled][position]
        if fate == "wait" and same and self._live and now - time <= self._skew:
            return "confirm"
        return fate

    def _position(self, time: float, latest: float) -> Position:
        """Return where a moment lies, by the latest one that is believed.

        Near: at most `max_skew` later, and at most `lateness` earlier. Far ahead: later than that.
        Late: earlier than that. Very late: earlier by more than `max_skew` beyond `lateness`.
        """
        if time < latest - self.lateness - ONE_MOMENT:
            return "late" if time >= latest - self.lateness - self._skew else "very late"
        return "near" if time <= latest + self._skew else "far ahead"

    def _is_in_own_unit(self, event: Event, position: Position) -> bool:
        """Return whether the time of an event is in the unit of the events that are believed."""
        if self.unit is None or event.unit == self.unit:
            return True
        # A clock of the stream's own may go on until its seconds could be a date.
        return position == "near" and {event.unit, self.unit} == {"own", "s"}

    def is_late(self, event: Event) -> bool:
        """Return whether an event is farther before the latest one than it may be."""
        if event.time is None or self.time is None:
            return False
        return event.time < self.time - self.lateness - ONE_MOMENT

    def reached(self, event: Event) -> float | None:
        """Return how far the stream has come with an event: not beyond the clock, nor back."""
        if event.time is None:
            return None
        time = min(event.time, self._now)
        return time if self.time is None else max(time, self.time)

    def believe(self, event: Event) -> None:
        """Note an event that was taken: time moves on by it."""
        if event.time is not None:
            self.time = self.reached(event)
            self.unit = self.unit or event.unit
            self._live = abs(self._now - event.time) <= self._skew
            self._recent.note()
            self._against += bool(self.waiting)

    def keep(self, arrival: Arrival) -> None:
        """Keep an event that was taken, until it is settled that the first times were right."""
        if self._first is not None:
            self._first.append(arrival._replace(given=plain(arrival.given)))
            timed = sum(item.event.time is not None for item in self._first)
            if timed >= MAJORITY or len(self._first) > _MOST_KEPT:
                self._first = None

    def wait(self, arrival: Arrival) -> list[Arrival]:
        """Let an event wait; return the oldest that wait if these are more than a window has."""
        self.waiting.append(arrival._replace(given=plain(arrival.given)))
        self._recent.note()
        surplus, self.waiting = self.waiting[:-WINDOW], self.waiting[-WINDOW:]
        return surplus

    def agreed(self) -> list[Arrival]:
        """Return the events that wait and agree with the last one, if most recent events do."""
        last = self.waiting[-1].event
        alike = [arrival for arrival in self.waiting if self._agree(arrival.event, last)]
        if not self._recent.are_mostly(len(alike)):
            return []
        # A few of them may be far ahead of the rest, and these are to wait for others again.
        latest = median_low(map(_time_of, alike)) + self._skew
        return [arrival for arrival in alike if _time_of(arrival) <= latest]

    def _agree(self, first: Event, second: Event) -> bool:
        """Return whether two events are in one unit and, in the stream's, on one side of time."""
        assert self.time is not None
        assert first.time is not None
        assert second.time is not None
        if first.unit != second.unit:
            return False
        return first.unit != self.unit or (first.time < self.time) == (second.time < self.time)

    def led_up_to_last(self) -> list[Arrival]:
        """Return the last event that waits, and those right before it that lead up to it."""
        chain = self.waiting[-1:]
        for arrival in reversed(self.waiting[:-1]):
            after = chain[0]
            if arrival.event.unit != after.event.unit:
                break
            if _time_of(after) < _time_of(arrival) - self.lateness:
                break
            chain.insert(0, arrival)
        return chain

    def decide(self) -> list[Arrival]:
        """Begin a new window, for time was decided; return what waits, for it to be seen again."""
        waiting, self.waiting = self.waiting, []
        self._recent, self._against = RecentTimes(), 0
        return waiting

    def forget_waiting(self) -> list[Arrival]:
        """Let nothing wait any more; return what did."""
        waiting, self.waiting, self._against = self.waiting, [], 0
        return waiting

    @property
    def refuted(self) -> bool:
        """Whether as many events as wait have gone on where time was before.

        Until time is settled more are needed: the ones before may have been the wrong ones.
        """
        if self.settled:
            return self._against >= len(self.waiting)
        return self._against > ENOUGH * len(self.waiting)

    def set_again(self, event: Event, reason: Literal["late", "unit"]) -> bool:
        """Note that an event is to be dropped; return whether time was set to where most are."""
        assert event.time is not None
        dropped = Dropped(reason, event.time, event.unit)
        self._recent.note(dropped)
        times = self._recent.dropped_alike(dropped)
        if not times or (reason == "unit" and self._declared):
            return False
        moment = median_low(times)
        if self._given is not None and moment < self._given:
            return False
        before = self.time
        self.settings = self.settings.set_once_more(
            before=before, to=moment, dropped=len(times) - 1
        )
        self.time, self.unit = moment, event.unit
        self._first, self._live = None, False
        self._recent, self._against = RecentTimes(), 0
        return True

    def contradicts(self, chain: list[Arrival]) -> bool:
        """Return whether events that agree show that those before them had the wrong time."""
        first = chain[0].event
        assert first.time is not None
        assert self.time is not None
        return not self.settled and (first.unit != self.unit or first.time < self.time)

    def start_again(self, chain: list[Arrival]) -> list[Arrival]:
        """Forget what was believed, for a chain refutes it; return the events it was made of."""
        kept, self._first = self._first or [], []
        self.time = self.unit = None
        self._live, self._against = False, len(chain)
        return kept

    def move(self, time: float) -> None:
        """Move on to a moment that is beyond doubt; time does not go back before it."""
        self.time, self._first, self._given = time, None, time

    def go_on(self, time: float) -> None:
        """Go on from how far the stream had come, where nothing else is known."""
        self.time, self._first = time, None

    def is_past(self, event: Event) -> bool:
        """Return whether the time of an event is before the latest one, or in another unit."""
        if event.time is None or self.time is None:
            return False
        return event.unit != self.unit or event.time < self.time

    def is_buried(self, event: Event) -> bool:
        """Return whether the same event, by its id and all that it says, was a dead letter."""
        return event.name is not None and _digest(event) in self._buried

    def bury(self, arrival: Arrival, reason: Reason | None = None, said: str = "") -> DeadLetter:
        """Count a dead letter; its reason and its words follow from how far the stream has come."""
        reason = reason or self._reason(arrival.event)
        self.dead[reason] += 1
        if arrival.event.name is not None:
            self._buried.add(_digest(arrival.event))
        text = said or self._words(arrival.event, reason)
        return DeadLetter(reason, text, plain(arrival.given), arrival.place)

    def _reason(self, event: Event) -> Reason:
        assert event.time is not None
        if self.unit is not None and event.unit != self.unit:
            return "unit"
        return "ahead" if self.time is None or event.time > self.time else "late"

    def _words(self, event: Event, reason: Reason) -> str:
        """Return the text of a dead letter's reason."""
        time = event.time
        assert time is not None
        if reason == "unit" and self.unit is not None and event.unit is not None:
            own, others = UNIT_NAMES[event.unit], UNIT_NAMES[self.unit]
            return f"the time is in {own}, and that of the other events in {others}"
        moment, latest = iso_text(time) or f"{time:g} s", iso_text(self.time) or f"{self.time} s"
        if reason == "late":
            by = f"more than {duration_text(self.lateness)} before" if self.lateness else "before"
            return f"the time {moment} is {by} the latest one, {latest}"
        ahead = f"the time {moment} is more than {duration_text(self._skew)} ahead of the"
        beyond = time > self._now + self._skew
        return f"{ahead} clock" if beyond else f"{ahead} other events' at {latest}"

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        first = None if self._first is None else _written(self._first)
        believed = {"time": self.time, "unit": self.unit, "live": self._live, "first": first}
        decided = {"recent": self._recent.to_state(), "against": self._against, "said": self._given}
        counted = {"dead": dict(self.dead), "set": self.settings.to_state()}
        counted["buried"] = sorted(self._buried)
        return believed | {"waiting": _written(self.waiting)} | decided | counted

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`to_state` returned; former versions kept less."""
        self.time, self.unit, self._live = state["time"], state["unit"], state["live"]
        self._first = None if state["first"] is None else _read(state["first"])
        self.waiting = _read(state["waiting"])
        self.dead = {reason: state["dead"][reason] for reason in self.dead}
        self._recent = RecentTimes.from_state(state.get("recent", [None] * len(self.waiting)))
        self._against, self._given = state.get("against", 0), state.get("said")
        self.settings = ClockSettings(*state.get("set", ()))
        self._buried = set(state.get("buried", ()))


# Values of an event that every version has.
_ALWAYS_THERE = 7


def _digest(event: Event) -> str:
    """Return what tells events apart; enough of it that two are never taken for one."""
    values = list(event)
    while len(values) > _ALWAYS_THERE and not values[-1]:  # former versions had no such values
        del values[-1]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:24]


def _time_of(arrival: Arrival) -> float:
    assert arrival.event.time is not None
    return arrival.event.time


def leads_up(earlier: Arrival, later: Arrival) -> bool:
    """Return whether an event may stand before another one: in the same unit, and not later.

    Parameters
    ----------
    earlier, later : Arrival
        In the order in which they came. An event without a time may stand anywhere.

    Returns
    -------
    bool
    """
    if earlier.event.time is None:
        return True
    return earlier.event.unit == later.event.unit and earlier.event.time <= _time_of(later)


def plain(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event in types that JSON knows; other values as they are shown."""
    return {str(key): _plain_value(value) for key, value in event.items()}


def _plain_value(value: Any) -> Any:
    try:
        return loads_json(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return shown(value)


def _written(arrivals: Iterable[Arrival]) -> list[list[Any]]:
    return [[list(event), dict(given), _plain_value(place)] for event, given, place in arrivals]


def _read(arrivals: Iterable[Iterable[Any]]) -> list[Arrival]:
    """Return arrivals from what :func:`_written` gave."""
    events = ((Event(*values), *others) for values, *others in arrivals)
    return [
        Arrival(
            event._replace(
                conditions=tuple(event.conditions), prior_values=tuple(event.prior_values)
            ),
            *others,
        )
        for event, *others in events
    ]
