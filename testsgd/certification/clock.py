"""When a search has to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from testsgd.certification.outcome import Stopped


class Clock:
    """Tells a search whether to go on; the first Ctrl-C only asks it to stop.

    Parameters
    ----------
    limit : float or None
        Seconds.
    should_stop : callable, optional
        Asked between steps; True stops the search.
    already : float
        Seconds that an earlier run took.
    """

    def __init__(
        self, limit: float | None, should_stop: Callable[[], bool] | None, already: float = 0.0
    ) -> None:
        self._start = time.perf_counter()
        self._limit = limit
        self._should_stop = should_stop
        self._already = already
        self._interrupted = False
        self._handler: Any = None

    def __enter__(self) -> Clock:
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        self._restore()  # a second Ctrl-C ends the program as usual

    def _restore(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    @property
    def seconds(self) -> float:
        """Seconds so far, those of earlier runs included."""
        return self._already + time.perf_counter() - self._start

    def in_time(self) -> bool:
        """Say whether there is time; asked within a step too."""
        late = self._limit is not None and time.perf_counter() - self._start >= self._limit
        return not (self._interrupted or late)

    def stopped(self) -> Stopped | None:
        """Say why to stop, between two steps; None to go on."""
        if self._interrupted or (self._should_stop is not None and self._should_stop()):
            return "interrupted"
        return None if self.in_time() else "time"
