"""Updates of several threads in one transaction: what takes long is done once for all of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from testsgd.errors import StateError
from testsgd.generative.stores.protocol import Change, sorted_keys

# Commits updates together; for each its answers, or the exception that it raised itself.
Commit = Callable[[list[list[Change]]], list[list[Any] | Exception]]


class _Forks:
    """Counts the forks that led to this process, which is faster than to ask for its number."""

    count = 0

    @classmethod
    def note(cls) -> None:
        cls.count += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Forks.note)


class Combiner:
    """Calls `commit` in one thread at a time, with the updates of all that wait.

    The first thread leads: it commits its own update. Those that arrive meanwhile are put in a
    queue, and one of them leads next, with all that are in the queue by then.

    Parameters
    ----------
    commit : callable
        What it raises is raised by every update of the transaction.

    Examples
    --------
    >>> from testsgd.generative.stores.protocol import Written, evaluate
    >>> combiner = Combiner(lambda updates: evaluate(updates, {}).outcomes)
    >>> combiner.update([Change("a", lambda text: Written(answer=1))])
    [1]
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._forks = _Forks.count
        self._lock = threading.Lock()
        self._queue: list[_Pending] = []
        self._led = False

    @property
    def is_own(self) -> bool:
        """Whether this process made it; after a fork the connections are the parent's."""
        return self._forks == _Forks.count

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Commit the changes, perhaps together with those of other threads."""
        pending = _Pending(list(changes))
        if not pending.changes:
            return []
        if not self.is_own:
            raise StateError(
                "the state was opened by another process",
                remedy="open it in each process, after the fork",
            )
        # A key that cannot be kept is a mistake of this caller alone.
        sorted_keys([pending.changes])
        with self._lock:
            self._queue.append(pending)
            pending.leads = not self._led
            self._led = True
        if not pending.leads:
            self._wait(pending)
        if pending.outcome is None:
            self._lead(pending)
        assert pending.outcome is not None
        if isinstance(pending.outcome, Exception):
            raise pending.outcome
        return pending.outcome

    def _wait(self, pending: _Pending) -> None:
        """Wait until the update is committed or its thread is to lead."""
        try:
            pending.wake.wait()
        except BaseException:
            # Interrupted: the others must not wait for this thread.
            with self._lock:
                if pending in self._queue:
                    self._queue.remove(pending)
                    if pending.leads:
                        self._appoint()
            raise

    def _lead(self, own: _Pending) -> None:
        """Commit all that is in the queue, and let one of those that came meanwhile lead."""
        with self._lock:
            batch = self._queue
            self._queue = []
        try:
            outcomes = self._commit([pending.changes for pending in batch])
            for pending, outcome in zip(batch, outcomes, strict=True):
                pending.outcome = outcome
        except Exception as error:
            for pending in batch:
                pending.outcome = error
        finally:
            for pending in batch:
                if pending.outcome is None:
                    pending.outcome = StateError(
                        "the update was interrupted and may have been kept or not", unknown=True
                    )
            with self._lock:
                self._appoint()
            for pending in batch:
                if pending is not own:
                    pending.wake.set()

    def _appoint(self) -> None:
        """Let the first in the queue lead, if there is one."""
        self._led = bool(self._queue)
        if self._queue:
            self._queue[0].leads = True
            self._queue[0].wake.set()


class _Pending:
    """An update that waits for its outcome."""

    __slots__ = ("changes", "leads", "outcome", "wake")

    def __init__(self, changes: list[Change]) -> None:
        self.changes = changes
        self.leads = False
        self.outcome: list[Any] | Exception | None = None
        self.wake = threading.Event()
