"""When a search has to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType

from testsgd.certification.outcome import Stopped


class Clock:
    """Tells a search whether to go on; while it is held, the first Ctrl-C only asks it to stop.

    A second Ctrl-C breaks off. Where somebody else handles the signal, or in another thread than
    the main one, Ctrl-C is left as it is.

    Parameters
    ----------
    limit : float or None
        Seconds.
    should_stop : callable, optional
        Asked between steps; True stops the search.

    Examples
    --------
    >>> with Clock(60.0, None) as clock:
    ...     before = clock.stopped()
    ...     signal.raise_signal(signal.SIGINT)
    ...     before, clock.stopped()
    (None, 'interrupted')
    """

    def __init__(self, limit: float | None, should_stop: Callable[[], bool] | None = None) -> None:
        self._limit = limit
        self._should_stop = should_stop
        self._interrupted = False
        self._ours = False
        self.start()

    def start(self, already: float = 0.0) -> None:
        """Begin to count; `already` are the seconds that an earlier run took."""
        self._start = time.perf_counter()
        self._already = already

    def __enter__(self) -> Clock:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            signal.default_int_handler(number, frame)
        self._interrupted = True

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
