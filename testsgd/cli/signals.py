"""How a command is ended by a signal, and a stream without an end between two events."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Item = TypeVar("Item")


class Termination:
    """Lets a request to terminate end a command as an interruption does, so that it cleans up.

    `is_wanted`: whether there was such a request.
    """

    def __init__(self) -> None:
        self.is_wanted = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Notice requests to terminate while the block runs, unless another handler does."""
        try:
            is_ours = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
            if is_ours:
                signal.signal(signal.SIGTERM, self._notice)
        except ValueError:
            # Only the main thread may set handlers; other threads are not interrupted.
            is_ours = False
        try:
            yield
        finally:
            if is_ours:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _notice(self, _number: int, _frame: FrameType | None) -> None:
        self.is_wanted = True
        raise KeyboardInterrupt


class Ending:
    """Ends a stream at an interruption, but never within an event.

    While the next event is waited for, an interruption ends the stream at once; while one is
    worked on, after it.

    `wanted`: whether somebody interrupted. `is_unread`: whether the output has no reader any more.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.is_unread = False
        self._waiting = False

    def until(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return items until an interruption."""
        waiting = iter(items)
        while not self.wanted:
            try:
                self._waiting = True
                item = next(waiting)
                self._waiting = False
            except (KeyboardInterrupt, StopIteration):
                self._waiting = False
                return
            yield item

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Notice interruptions and requests to terminate while the block runs."""
        names = (signal.SIGINT, signal.SIGTERM)
        try:
            before = [signal.signal(name, self._notice) for name in names]
        except ValueError:
            # Only the main thread may set handlers; other threads are not interrupted.
            yield
            return
        try:
            yield
        finally:
            for name, handler in zip(names, before, strict=True):
                signal.signal(name, handler)

    def _notice(self, _number: int, _frame: FrameType | None) -> None:
        is_second = self.wanted
        self.wanted = True
        if self._waiting or is_second:
            raise KeyboardInterrupt
