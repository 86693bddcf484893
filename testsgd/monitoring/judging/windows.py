"""Windows of trials that are compared: tumbling ones in sequence, or a sliding one."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from testsgd.monitoring.judging.rates import GroupCounts
from testsgd.monitoring.trials import ONE_MOMENT

Values = tuple[str, ...]


class Counted(NamedTuple):
    """A trial in a sliding window: given values, group, what it added to its counters, and time."""

    conditions: Values
    group: str
    added: tuple[int, int]
    time: float | None


class SlidingWindow:
    """The last `trials` trials, or those of the last `seconds` seconds; the other one is None."""

    def __init__(self, trials: int | None, seconds: float | None) -> None:
        self._trials = trials
        self._seconds = seconds
        self._kept: deque[Counted] = deque()

    def push(self, counted: Counted) -> None:
        """Add a trial, in the order of time if the window is in seconds."""
        kept = self._kept
        if self._seconds is None or not kept or _time_of(kept[-1]) <= _time_of(counted):
            kept.append(counted)
        else:
            kept.insert(bisect_right(kept, _time_of(counted), key=_time_of), counted)

    def expired(self, time: float | None) -> list[Counted]:
        """Remove and return the trials that left the window; one of just its length ago did not."""
        removed: list[Counted] = []
        kept = self._kept
        if self._trials is not None:
            while len(kept) > self._trials:
                removed.append(kept.popleft())
        elif self._seconds is not None and time is not None:
            while kept and _time_of(kept[0]) < time - self._seconds - ONE_MOMENT:
                removed.append(kept.popleft())
        return removed

    @property
    def next_end(self) -> float | None:
        """When the oldest trial will leave the window as time passes; None if none will."""
        if self._seconds is None or not self._kept:
            return None
        return _time_of(self._kept[0]) + self._seconds

    def to_state(self) -> list[Any]:
        """Return all that is kept, as JSON has it."""
        return [list(counted) for counted in self._kept]

    def restore(self, state: list[Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        self._kept = deque(
            Counted(tuple(given), group, (added[0], added[1]), time)
            for given, group, added, time in state
        )


def _time_of(counted: Counted) -> float:
    return counted.time or 0.0


@dataclass
class TumblingWindow:
    """One of the windows that follow each other, from number 0 on.

    `decided`, `complete`: its trials, and those whose result is known; `known`: when the last one
    was. `raised`: combinations of given values for which an alert was raised.
    """

    number: int
    decided: int = 0
    complete: int = 0
    known: float | None = None
    counts: dict[Values, GroupCounts] = field(default_factory=dict)
    raised: set[Values] = field(default_factory=set)

    def add(
        self, given: Values, names: tuple[str, ...], group: str, added: tuple[int, int]
    ) -> None:
        """Count a trial."""
        if given not in self.counts:
            self.counts[given] = GroupCounts(names)
        self.counts[given].add(group, added)

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        return vars(self) | {
            "counts": [[list(given), counts.to_state()] for given, counts in self.counts.items()],
            "raised": [list(given) for given in sorted(self.raised)],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TumblingWindow:
        """Return the window that :meth:`to_state` wrote."""
        counts = {tuple(given): GroupCounts.from_state(kept) for given, kept in state["counts"]}
        return cls(**state | {"counts": counts, "raised": set(map(tuple, state["raised"]))})


class TumblingWindows:
    """The tumbling windows that are not closed, each of `trials` trials or of `seconds` seconds."""

    def __init__(self, trials: int | None, seconds: float | None) -> None:
        self._trials = trials
        self._seconds = seconds
        self._open: dict[int, TumblingWindow] = {}
        self._current = 0  # the number of the window of the present moment, if they are in time

    def of(self, number: int, time: float | None, origin: float | None) -> TumblingWindow:
        """Return the window of a trial, by the trial's number or the time when it was decided."""
        if self._trials is not None:
            index = number // self._trials
        else:
            assert time is not None
            assert origin is not None
            index = self._number_at(time - origin)
        if index not in self._open:
            self._open[index] = TumblingWindow(index)
        return self._open[index]

    def _number_at(self, elapsed: float) -> int:
        """Return the number of the window at `elapsed` seconds after the stream began."""
        assert self._seconds is not None
        # Who was decided before the first event, and came later, is in the first window.
        return max(0, int((elapsed + ONE_MOMENT) // self._seconds))

    def passed(
        self, time: float | None, origin: float | None
    ) -> list[tuple[TumblingWindow, float]]:
        """Remove and return the windows that are over, with the times when all was known."""
        if self._seconds is None or time is None or origin is None:
            return []
        current = self._number_at(time - origin)
        if current == self._current:
            return []
        self._current = current
        # A later window may have had the first event.
        waiting = sorted(self._open.values(), key=lambda window: window.number)
        over = [window for window in waiting if self.take_if_over(window)]
        ends = [origin + (window.number + 1) * self._seconds for window in over]
        return [
            (window, end if window.known is None else max(end, window.known))
            for window, end in zip(over, ends, strict=True)
        ]

    def go_back(self, elapsed: float, earlier: int) -> None:
        """Go on `elapsed` seconds after the stream began, which is `earlier` windows earlier."""
        for window in self._open.values():
            window.number += earlier
        self._open = {window.number: window for window in self._open.values()}
        self._current = self._number_at(elapsed)

    def take_if_over(self, window: TumblingWindow) -> bool:
        """Return whether a window is over with all results known; remove it then."""
        if window.complete < window.decided:
            return False
        over = window.decided == self._trials if self._trials else window.number < self._current
        if over:
            del self._open[window.number]
        return over

    def to_state(self) -> list[Any]:
        """Return all that is kept, as JSON has it."""
        return [self._current, [window.to_state() for window in self._open.values()]]

    def restore(self, state: list[Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        self._current = state[0]
        windows = [TumblingWindow.from_state(item) for item in state[1]]
        self._open = {window.number: window for window in windows}
