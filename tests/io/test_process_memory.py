"""The memory of this process grows by what it holds."""

from __future__ import annotations

import mmap

import numpy as np

from testsgd.io import process_memory

BYTES = 2**26


def test_an_array_that_is_filled_counts() -> None:
    before = process_memory()
    # Pages of its own: an array may get memory that was freed, and is counted already.
    with mmap.mmap(-1, BYTES) as pages:
        np.frombuffer(pages, dtype=np.uint8).fill(1)
        grown = process_memory() - before
    assert 0.9 * BYTES < grown < 1.5 * BYTES
