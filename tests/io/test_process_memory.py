"""The memory of this process grows by what it holds."""

from __future__ import annotations

import numpy as np

from testsgd.io import process_memory


def test_an_array_that_is_filled_counts() -> None:
    before = process_memory()
    array = np.ones(2**23)
    grown = process_memory() - before
    assert 0.9 * array.nbytes < grown < 1.5 * array.nbytes
