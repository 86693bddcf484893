"""The same for each of several metrics, at once where there are processors for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


def of_each(
    function: Callable[[_Item], _Found], items: Sequence[_Item], *, at_once: int | None = None
) -> list[_Found]:
    """Return what a function finds of each item, in their order; at most `at_once` together.

    NumPy and SciPy leave Python to other threads while they compute, so threads are enough; there
    are none for a single item, or on a single processor.

    Examples
    --------
    >>> of_each(abs, [-2, 1])
    [2, 1]
    """
    threads = min(len(items), _processors(), at_once or len(items))
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads, thread_name_prefix="metrics") as pool:
        return list(pool.map(function, items))


def _processors() -> int:
    """Return how many processors this process may use."""
    # Not every system says which of its processors a process may use.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
