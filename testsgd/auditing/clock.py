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
        """Time the block under this name."""
        started = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - started, 4)
