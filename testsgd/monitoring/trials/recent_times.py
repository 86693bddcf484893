"""The most recent times of a stream, and whether most of them were dropped or agree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any, Literal, NamedTuple

from testsgd.monitoring.trials.event import Unit

# The most recent events that decide. Fewer, and a short run of wrong times is most of them; more,
# and all that comes after a pause waits longer until it is counted.
WINDOW = 21
MAJORITY = WINDOW // 2 + 1
# While fewer than a window have come, most of those decide, but never less than these.
ENOUGH = 3


class Dropped(NamedTuple):
    """The time of an event that was not counted, and the reason."""

    reason: Literal["late", "unit"]
    time: float
    unit: Unit | None


@dataclass(frozen=True)
class ClockSettings:
    """How often the clock was set again, because most of the recent events were dropped by it."""

    number: int = 0
    # Of the last time: how far the stream seemed to have come, and where it went on.
    before: float | None = None
    to: float | None = None
    dropped: int = 0  # Events that were lost until then, of all times together.

    def set_once_more(self, *, before: float | None, to: float, dropped: int) -> ClockSettings:
        """Return the settings after the clock was set once more."""
        return ClockSettings(self.number + 1, before, to, self.dropped + dropped)

    def to_state(self) -> list[Any]:
        """Return all parts, as JSON has them."""
        return list(astuple(self))


class RecentTimes:
    """Which of the most recent events with a time were dropped, since the clock was decided."""

    def __init__(self, events: Iterable[Dropped | None] = ()) -> None:
        self._events: deque[Dropped | None] = deque(events, WINDOW)

    def note(self, dropped: Dropped | None = None) -> None:
        """Note an event, whose time is None here if it was counted or waits."""
        self._events.append(dropped)

    def are_mostly(self, number: int) -> bool:
        """Return whether a number of events is most of the recent ones."""
        return number >= ENOUGH and 2 * number > len(self._events)

    def dropped_alike(self, last: Dropped) -> list[float]:
        """Return the times of events that were dropped for the same reason, if most were."""
        alike = [
            event.time
            for event in self._events
            if event is not None and event.reason == last.reason and event.unit == last.unit
        ]
        return alike if len(alike) >= MAJORITY else []

    def to_state(self) -> list[Any]:
        """Return all that is kept, as JSON has it."""
        return [None if event is None else list(event) for event in self._events]

    @classmethod
    def from_state(cls, state: Iterable[Any]) -> RecentTimes:
        """Return the window that :meth:`to_state` wrote."""
        return cls(None if event is None else Dropped(*event) for event in state)
