"""Periods of the time of events, at the end of each of which a property is judged."""

from __future__ import annotations

from testsgd.monitoring.trials import ONE_MOMENT


class Periods:
    """The periods of `seconds` that follow each other from the first event of a stream on.

    `over`: how many of them have been judged. An event at just the end of a period is in the next
    one.

    Examples
    --------
    >>> days = Periods(86_400.0)
    >>> days.next_end(200_000.0, origin=0.0)
    86400.0
    >>> days.skip(200_000.0, origin=0.0)
    >>> days.over, days.next_end(200_000.0, origin=0.0)
    (2, None)
    """

    __slots__ = ("_seconds", "over")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.over = 0

    def next_end(self, time: float, origin: float) -> float | None:
        """Return the end of the first period that is over by a time and not judged; else None."""
        if self._number_at(time - origin) <= self.over:
            return None
        return origin + (self.over + 1) * self._seconds

    def skip(self, time: float, origin: float, change: float | None = None) -> None:
        """Take the next period for judged, and those that end by a time before anything changes.

        `change`: a moment until which nothing that is compared changes; None if nothing does.
        """
        last = self._number_at(time - origin)
        if change is not None:
            last = min(last, self._number_at(change - origin))
        self.over = max(self.over + 1, last)

    def go_back(self, elapsed: float) -> None:
        """Go on `elapsed` seconds after the stream began."""
        self.over = self._number_at(elapsed)

    def _number_at(self, elapsed: float) -> int:
        """Return how many periods are over `elapsed` seconds after the stream began."""
        return max(0, int((elapsed + ONE_MOMENT) // self._seconds))
