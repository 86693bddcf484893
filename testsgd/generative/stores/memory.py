"""A state in memory, which ends with the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from testsgd.errors import StateError
from testsgd.generative.stores.protocol import Change, evaluate, sorted_keys


class MemoryStore:
    """Keeps the state in memory, for one process and as long as it runs.

    The journal is in memory too, and grows with every line.

    Examples
    --------
    >>> from testsgd.generative.stores import Change, Written
    >>> store = MemoryStore()
    >>> store.update([Change("a", lambda text: Written(text="1", answer=text))])
    [None]
    >>> store.read()
    {'a': '1'}
    """

    waits = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[str, str] = {}
        self._lines: list[str] = []
        self._closed = False

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Make all changes or none; see :meth:`Store.update`."""
        update = list(changes)
        sorted_keys([update])
        with self._lock:
            self._check_open()
            evaluated = evaluate([update], self._texts)
            self._texts.update(evaluated.texts)
            self._lines.extend(evaluated.lines)
        (outcome,) = evaluated.outcomes
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def read(self) -> dict[str, str]:
        """Return the text of every key."""
        with self._lock:
            self._check_open()
            return dict(self._texts)

    def journal(self) -> Iterator[str]:
        """Return the lines that updates added, in order."""
        with self._lock:
            self._check_open()
            return iter(self._lines[:])

    def close(self) -> None:
        """End the store; what it kept is gone."""
        with self._lock:
            self._closed = True
            self._texts = {}
            self._lines = []

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("the store is closed")
