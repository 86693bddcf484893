"""How far an audit is, shown on the standard error while it runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A phase's name, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

# Seconds between two signs of life, however long a model thinks.
_INTERVAL = 2.0


@contextmanager
def shown_progress(wanted: Progress | bool | None) -> Iterator[Progress | None]:
    """Show progress while the block runs, and give the block what to call.

    Parameters
    ----------
    wanted : callable, bool or None
        A callable is called itself. True: every two seconds a line says how far the work is. None:
        so it is on a terminal and in a notebook, and nothing is shown elsewhere. False: nothing.

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
    line = _Line()
    is_over = threading.Event()
    speaker = threading.Thread(target=line.speak_until, args=(is_over,), daemon=True)
    speaker.start()
    try:
        yield line.take
    finally:
        is_over.set()
        speaker.join()
        line.clear()


def _is_watched() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook, without importing IPython."""
    interpreter = sys.modules.get("IPython")
    shell = None if interpreter is None else interpreter.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Line:
    """The phase an audit is in; where it is watched, it is written over again and again."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._overwrites = _is_watched()
        self._began = time.monotonic()
        self._phase = "at work"
        self._width = 0

    def take(self, phase: str, done: int, total: int) -> None:
        """Take up how far the work is."""
        self._phase = f"{phase}: {min(1.0, done / total):.0%}" if total else phase

    def speak_until(self, is_over: threading.Event) -> None:
        """Write a line every two seconds."""
        while not is_over.wait(_INTERVAL):
            text = f"testsgd: {self._phase}, {time.monotonic() - self._began:,.0f} s so far"
            self._write(f"\r{text:<{self._width}}" if self._overwrites else f"{text}\n")
            self._width = len(text)

    def clear(self) -> None:
        """Take the line away where it is written over."""
        if self._overwrites and self._width:
            self._write(f"\r{'':<{self._width}}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
