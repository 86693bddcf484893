"""States in memory: they are gone when the process ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from testsgd.generative.stores.protocol import Change


class MemoryStore:
    """Keep states in memory; several threads may use it.

    Examples
    --------
    >>> from testsgd.generative.stores import Written
    >>> store = MemoryStore()
    >>> store.update([Change("a", lambda text: Written(text="1", line="one", answer=7))])
    [7]
    >>> store.read(), list(store.journal())
    ({'a': '1'}, ['one'])
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[str, str] = {}
        self._lines: list[str] = []

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Apply changes, all or none, and return the answer of each."""
        with self._lock:
            texts: dict[str, str] = {}
            lines = []
            answers = []
            for change in changes:
                known = texts.get(change.key, self._texts.get(change.key))
                written = change.apply(known)
                if written.text is not None:
                    texts[change.key] = written.text
                if written.line is not None:
                    lines += written.line.splitlines()
                answers.append(written.answer)
            self._texts.update(texts)
            self._lines += lines
            return answers

    def read(self) -> dict[str, str]:
        """Return every key with its text."""
        with self._lock:
            return dict(self._texts)

    def journal(self) -> Iterator[str]:
        """Return the lines of the journal in their order."""
        with self._lock:
            return iter(tuple(self._lines))

    def close(self) -> None:
        """Do nothing: memory is freed by itself."""
