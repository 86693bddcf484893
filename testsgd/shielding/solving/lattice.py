"""Numbering the values that counters can have after a number of events.

A state is a tuple of D whole numbers, how often each kind of event has happened in each group;
after t events their sum is at most t. (If every event is of some kind the sum is t, and the last
number, which follows from the others, is left out.) So a time has ``C(t + D, D)`` states; they are
its layer.

A row has all states with the same first D - 1 numbers. Rows are ordered by the sum of their
numbers, then lexicographically. So a row has the same place at all times, only its length changes;
and the state after an event is in the same place of another row, or one place further in this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class CounterLattice:
    """The states of D counters, with D at least 2, at times 0 to `horizon`.

    Parameters
    ----------
    dimensions : int
        The number of counters, D.
    horizon : int
        The number of events.

    Notes
    -----
    That the counters are state enough is section 3.2 of the paper on fairness shields, with its
    Theorem 1. The module describes how the states of a time are numbered.

    Examples
    --------
    >>> lattice = CounterLattice(2, horizon=3)
    >>> [lattice.size(step) for step in range(4)], lattice.total
    ([1, 3, 6, 10], 10)
    >>> [states.tolist() for _, states in lattice.blocks(1)]
    [[[0, 0], [0, 1]], [[1, 0]]]
    >>> lattice.index(1, np.array([[1, 0]])).tolist()
    [2]
    """

    def __init__(self, dimensions: int, horizon: int) -> None:
        self.dimensions = dimensions
        self.horizon = horizon

    def size(self, step: int) -> int:
        """Return the number of states after `step` events, ``C(step + D, D)``."""
        return comb(step + self.dimensions, self.dimensions)

    @property
    def total(self) -> int:
        """Number of states of all times before the last event."""
        return comb(self.horizon + self.dimensions, self.dimensions + 1)

    @property
    def row_count(self) -> int:
        """Number of rows, exact also where they would not fit into memory."""
        return comb(self.horizon + self.dimensions - 1, self.dimensions - 1)

    @cached_property
    def rows(self) -> Ints:
        """Number of rows of each sum, 0 to the horizon; shape (horizon + 1,)."""
        width = self.dimensions - 1
        return np.array([comb(total + width - 1, width - 1) for total in range(self.horizon + 1)])

    @cached_property
    def row_starts(self) -> Ints:
        """The first row of each sum; shape (horizon + 2,)."""
        return np.concatenate([[0], np.cumsum(self.rows)]).astype(np.int64)

    def bases(self, step: int) -> Ints:
        """Return where the rows of each sum start in a layer, and its size; shape (step + 2,)."""
        totals = np.arange(step + 1)
        return np.concatenate([[0], np.cumsum(self.rows[: step + 1] * (step - totals + 1))])

    @cached_property
    def prefixes(self) -> NDArray[np.int16]:
        """The first D - 1 numbers of each row; shape (rows, D - 1)."""
        totals = range(self.horizon + 1)
        classes = [np.array([[total]], dtype=np.int16) for total in totals]
        for columns in range(2, self.dimensions):
            classes = [_with_first(classes[: total + 1], total, columns) for total in totals]
        return np.concatenate(classes)

    @cached_property
    def next_rows(self) -> NDArray[np.int32]:
        """Place, among those of its sum, of the row with one number larger, shape (rows, D - 1)."""
        rows = np.empty(self.prefixes.shape, dtype=np.int32)
        for column in range(self.dimensions - 1):
            larger = self.prefixes.astype(np.int64)
            larger[:, column] += 1
            rows[:, column] = rank(larger)
        return rows

    def index(self, step: int, states: Ints) -> Ints:
        """Return the places of states in the layer of a time, shape (n, D) to shape (n,)."""
        prefixes = states[:, : self.dimensions - 1].astype(np.int64)
        totals = prefixes.sum(axis=1)
        starts = self.bases(step)[totals]
        last = states[:, self.dimensions - 1]
        return np.asarray(starts + rank(prefixes) * (step - totals + 1) + last)

    def blocks(self, step: int, most: int = 1 << 20) -> Iterator[tuple[slice, Ints]]:
        """Yield slices of a layer, of about `most` states each, with their states, shape (n, D)."""
        done = 0
        for total in range(step + 1):
            length = step - total + 1
            at_once = max(1, most // length)
            first, last = self.row_starts[total], self.row_starts[total + 1]
            for start in range(first, last, at_once):
                stop = min(start + at_once, last)
                states = np.empty((stop - start, length, self.dimensions), dtype=np.int64)
                states[:, :, :-1] = self.prefixes[start:stop, None]
                states[:, :, -1] = np.arange(length)
                here = slice(done, done + (stop - start) * length)
                yield here, states.reshape(-1, self.dimensions)
                done = here.stop


def rank(prefixes: Ints) -> Ints:
    """Return the place of each row among all rows of its sum; shape (n, columns) to shape (n,)."""
    columns = prefixes.shape[1]
    left = prefixes.sum(axis=1)
    index = np.zeros(len(prefixes), dtype=np.int64)
    for column in range(columns - 1):
        first = prefixes[:, column]
        # All rows, less those whose number here is at least as large.
        index += _tuples(columns - column, left) - _tuples(columns - column, left - first)
        left = left - first
    return index


def _tuples(columns: int, total: Ints) -> Ints:
    """Return how many tuples of `columns` numbers have each sum, ``C(sum + columns - 1, sum)``."""
    count = np.ones_like(total)
    for column in range(1, columns):
        count = count * (total + column) // column
    return count


def _with_first(shorter: list[NDArray[np.int16]], total: int, columns: int) -> NDArray[np.int16]:
    """Return the rows of one sum, shape (rows, columns): a first number, and a shorter row.

    `shorter` has the rows of columns - 1 numbers for each sum, 0 to `total`.
    """
    prefixes = np.empty((sum(len(rows) for rows in shorter), columns), dtype=np.int16)
    start = 0
    for first in range(total + 1):
        rest = shorter[total - first]
        prefixes[start : start + len(rest), 0] = first
        prefixes[start : start + len(rest), 1:] = rest
        start += len(rest)
    return prefixes
