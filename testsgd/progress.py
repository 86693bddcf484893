"""How far some work is: counted while it is done, and shown on the standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# A phase's name, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
# How much of one phase is done, and how much there is.
PhaseProgress = Callable[[int, int], None]

# The phase that most calls begin with.
READING = "reading the data and the model"

# Seconds between two signs of life, however long a model thinks.
_INTERVAL = 2.0


class Phase:
    """The phase that some work is in, the share of it that is done, and the time that is left.

    Parameters
    ----------
    clock : callable
        Returns seconds that never go back.

    Examples
    --------
    >>> seconds = iter([0.0, 10.0, 12.0])
    >>> phase = Phase(clock=lambda: next(seconds))
    >>> phase.show("training", 0, 30)
    >>> phase.show("training", 10, 30)
    >>> phase.text()
    'training: 33%, about 18 s left of this'
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._name = ""
        self._done = 0
        self._total = 0
        # Time and count of the first and of the latest call for this phase. What a phase begins
        # with, such as what a journal knows already, says nothing about its pace.
        self._began = 0.0
        self._done_at_first = 0
        self._latest = 0.0

    def show(self, name: str, done: int, total: int) -> None:
        """Take up a call of progress."""
        moment = self._clock()
        if name != self._name or done < self._done:
            self._name = name
            self._began = moment
            self._done_at_first = done
        self._done = done
        self._total = total
        self._latest = moment

    def text(self) -> str:
        """Return the phase with its share, and the time that is left of it at this pace.

        A phase without parts has its name only. Empty if no phase was shown.
        """
        if not self._name or self._total <= 1:
            return self._name
        # Rounded down, so that 100% is said of what is done only.
        share = min(100, 100 * self._done // self._total)
        left = self._seconds_left()
        further = "" if left is None else f", about {_duration(left)} left of this"
        return f"{self._name}: {share}%{further}"

    def _seconds_left(self) -> float | None:
        """Return the seconds that are left at this pace; None if nothing is known of them."""
        parts = self._done - self._done_at_first
        remaining = self._total - self._done
        if parts <= 0 or remaining <= 0:
            return None
        left = (self._latest - self._began) / parts * remaining - (self._clock() - self._latest)
        # A part that takes longer than all that seemed to be left makes the pace unknown.
        return left if left > 0 else None


def _duration(seconds: float) -> str:
    """Write a duration in seconds, from two minutes on in minutes."""
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


@contextmanager
def shown_progress(
    wanted: Progress | bool | None, *, detail: Callable[[], str] | None = None
) -> Iterator[Progress | None]:
    """Show progress while the block runs, and give the block what to call.

    Parameters
    ----------
    wanted : callable, bool or None
        A callable is called itself. True: every two seconds a line says how far the work is. None:
        so it is on a terminal and in a notebook, and nothing is shown elsewhere. False: nothing.
    detail : callable, optional
        Returns what else a line says, such as what is found so far; empty if there is nothing.

    Yields
    ------
    callable or None
        What is called with a phase's name, how much is done and how much there is.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is False or (wanted is None and not _is_watched()):
        yield None
        return
    line = _Line(detail)
    is_over = threading.Event()
    speaker = threading.Thread(target=line.speak_until, args=(is_over,), daemon=True)
    speaker.start()
    try:
        yield line.take
    finally:
        is_over.set()
        speaker.join()
        line.clear()


@contextmanager
def shown_phase(wanted: PhaseProgress | bool | None, phase: str) -> Iterator[PhaseProgress | None]:
    """Show the progress of work that has one phase, as :func:`shown_progress` does.

    Parameters
    ----------
    wanted : callable, bool or None
        A callable is called itself, without the name of the phase; others as there.
    phase : str
        The name of the phase.

    Yields
    ------
    callable or None
        What is called with how much is done and how much there is.

    Examples
    --------
    >>> seen = []
    >>> with shown_phase(lambda done, total: seen.append((done, total)), "runs") as progress:
    ...     progress(1, 2)
    >>> seen
    [(1, 2)]
    """
    if callable(wanted):
        yield wanted
        return
    with shown_progress(wanted) as progress:
        yield named(phase, progress)


def named(phase: str, progress: Progress | None) -> PhaseProgress | None:
    """Return the progress of one phase, which calls `progress` with the name of the phase."""
    if progress is None:
        return None
    return lambda done, total: progress(phase, done, total)


def about(progress: Progress | None, what: str) -> Progress | None:
    """Return a progress whose phases also say what they are about, if there is one.

    So phases of two pieces of work have two names, and the share of none of them goes back.

    Examples
    --------
    >>> about(print, "all rows")("asking the model", 1, 2)
    asking the model, all rows 1 2
    """
    if progress is None or not what:
        return progress
    return lambda phase, done, total: progress(f"{phase}, {what}", done, total)


@contextmanager
def step(progress: Progress | None, phase: str) -> Iterator[None]:
    """Report a phase that has no parts: that it begins, and that it is done.

    Examples
    --------
    >>> with step(print, "comparing"):
    ...     pass
    comparing 0 1
    comparing 1 1
    """
    if progress is not None:
        progress(phase, 0, 1)
    yield
    if progress is not None:
        progress(phase, 1, 1)


class Counter:
    """Counts the questions of one phase as they are answered, in any thread.

    What is reported never goes back and is never more than there is.

    Parameters
    ----------
    progress : callable or None
        Called with the questions answered and their number, first with 0.
    total : int
        How many questions there are.

    Examples
    --------
    >>> counter = Counter(print, 8)
    0 8
    >>> with counter.asking(6):
    ...     tell_answered(1, 2)
    3 8
    6 8
    """

    def __init__(self, progress: PhaseProgress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        # Calls of the user's function must not overlap, nor come in another order.
        self._lock = threading.Lock()
        if progress is not None and total:
            progress(0, total)

    def add(self, answered: int) -> None:
        """Count further questions as answered."""
        if self._progress is None or answered <= 0:
            return
        with self._lock:
            self._done = min(self._done + answered, self._total)
            self._progress(self._done, self._total)

    def add_up_to(self, answered: int) -> None:
        """Count questions until `answered` of them are counted; fewer change nothing."""
        self.add(answered - self._done)

    @contextmanager
    def asking(self, questions: int) -> Iterator[None]:
        """Count questions that a model answers within the block.

        If it answers them in several calls, a part of them is counted after each. At the end of the
        block all are answered, those that need no call included.
        """
        if self._progress is None:
            yield
            return
        counted = 0

        def count(answered: int, asked: int) -> None:
            nonlocal counted
            further = questions * answered // asked - counted
            if further > 0:
                counted += further
                self.add(further)

        token = _listener.set(count)
        try:
            yield
        finally:
            _listener.reset(token)
        self.add(questions - counted)


# What is called when a model has answered a part of what it is asked about. Each thread has its
# own, so that two threads that ask one model count their own questions.
_listener: ContextVar[PhaseProgress | None] = ContextVar("listener", default=None)


def parts_of(total: int) -> Counter:
    """Return a counter of the calls of a model that together answer one block of questions.

    It reports to the counter that now asks, if there is one.

    Examples
    --------
    >>> with Counter(print, 10).asking(10):
    ...     parts = parts_of(4)
    ...     with parts.asking(1):
    ...         pass
    0 10
    2 10
    10 10
    """
    return Counter(_listener.get(), total)


def tell_answered(answered: int, asked: int) -> None:
    """Report that a model has answered a part of the questions of one call of ours.

    Parameters
    ----------
    answered : int
        The questions answered until now.
    asked : int
        Their number.
    """
    listener = _listener.get()
    if listener is not None:
        listener(answered, asked)


def _is_watched() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook, without importing IPython."""
    interpreter = sys.modules.get("IPython")
    shell = None if interpreter is None else interpreter.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Line:
    """The phase that some work is in; where it is watched, it is written over again and again."""

    def __init__(self, detail: Callable[[], str] | None = None) -> None:
        self._stream = sys.stderr
        self._overwrites = _is_watched()
        self._began = time.monotonic()
        self._phase = Phase()
        self._detail = detail
        self._width = 0

    def take(self, phase: str, done: int, total: int) -> None:
        """Take up how far the work is; of a phase without parts there is no share."""
        self._phase.show(phase, done, total)

    def speak_until(self, is_over: threading.Event) -> None:
        """Write a line every two seconds."""
        while not is_over.wait(_INTERVAL):
            detail = self._detail() if self._detail is not None else ""
            further = ", ".join(filter(None, (self._phase.text() or "at work", detail)))
            text = f"testsgd: {further}, {time.monotonic() - self._began:,.0f} s so far"
            self._write(f"\r{text:<{self._width}}" if self._overwrites else f"{text}\n")
            self._width = len(text)

    def clear(self) -> None:
        """Take the line away where it is written over."""
        if self._overwrites and self._width:
            self._write(f"\r{'':<{self._width}}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
