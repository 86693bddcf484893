"""Ctrl-C as a wish to stop soon, so that long work ends with what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C while the block runs, in place of breaking off in the middle of a step.

    A second Ctrl-C breaks off. Where somebody else handles the signal, or in another thread than
    the main one, nothing is changed.

    Yields
    ------
    callable
        Whether somebody pressed Ctrl-C.

    Examples
    --------
    >>> with stop_on_interrupt() as asked_to_stop:
    ...     before = asked_to_stop()
    ...     signal.raise_signal(signal.SIGINT)
    ...     before, asked_to_stop()
    (False, True)
    """
    pressed = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            signal.default_int_handler(number, frame)
        pressed.set()

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
