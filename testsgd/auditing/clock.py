"""How long each phase of an audit takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Wall-clock seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block under this name; blocks of the same name are added."""
        started = time.perf_counter()
        yield
        seconds = self.seconds.get(name, 0.0) + time.perf_counter() - started
        self.seconds[name] = round(seconds, 4)
