"""The inputs that are not protected as axes of boxes, and the measure of intervals of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, Marginal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What an axis holds. The compiled code knows them by these numbers.
INTEGER, REAL, CATEGORY, WEIGHTED_INTEGER, WEIGHTED_REAL = range(5)


class AxisArrays(NamedTuple):
    """The arrays of :class:`Axes` that the compiled code works with."""

    kinds: Ints
    columns: Ints
    edges: Floats
    cumulative: Floats
    starts: Ints
    shifts: Floats


class Box(NamedTuple):
    """One box for the compiled code: its ends, shape (axes,), and the arrays of the axes."""

    lo: Floats
    hi: Floats
    kinds: Ints
    columns: Ints
    edges: Floats
    cumulative: Floats
    starts: Ints
    shifts: Floats


@dataclass(frozen=True)
class Axes:
    """The inputs of a domain that are not protected, in its order, as axes of boxes.

    A box has a lower and an upper end on each axis, both part of it; those of a category are
    indices.
    """

    # INTEGER and REAL count uniformly; a CATEGORY always has its measure in `cumulative`; shape
    # (axes,).
    kinds: Ints
    # Ends of the axes; of a category the first and the last index; shape (axes,).
    low: Floats
    high: Floats
    # First column of an axis in linear forms. A number has one column, a category one a value;
    # shape (axes,).
    columns: Ints
    width: int  # Columns in all.
    # Measures of the axes that have one, one after the other: the measure below each edge.
    edges: Floats
    cumulative: Floats
    # Where each axis's measure starts; nothing between two equal ones; shape (axes + 1,).
    starts: Ints
    # The value that edge 0 of a whole number's measure stands before; shape (axes,).
    shifts: Floats

    @property
    def arrays(self) -> AxisArrays:
        """The axes for the compiled code, whose arrays must not be empty."""
        edges, cumulative = (np.append(array, 0.0) for array in (self.edges, self.cumulative))
        return AxisArrays(self.kinds, self.columns, edges, cumulative, self.starts, self.shifts)

    @property
    def discrete(self) -> NDArray[np.bool_]:
        """Which axes hold single values, shape (axes,)."""
        return np.asarray((self.kinds != REAL) & (self.kinds != WEIGHTED_REAL), dtype=np.bool_)

    def shares(self, lo: Floats, hi: Floats) -> Floats:
        """Return the share of the domain in each box, shape (n,), of ends of shape (n, axes)."""
        share = np.ones(len(lo))
        for axis, kind in enumerate(self.kinds):
            share *= self.part(axis, int(kind), lo[:, axis], hi[:, axis])
        return share

    def part(self, axis: int, kind: int, lo: Floats, hi: Floats) -> Floats:
        """Return the share of an axis in each of n intervals, shape (n,)."""
        low, high = self.low[axis], self.high[axis]
        if kind == INTEGER:
            part = (hi - lo + 1.0) / (high - low + 1.0)
        elif kind == REAL:
            part = (hi - lo) / (high - low) if high > low else np.ones(len(lo))
        else:
            rows = slice(self.starts[axis], self.starts[axis + 1])
            ends = (lo - self.shifts[axis], hi + 1.0 - self.shifts[axis])
            if kind == WEIGHTED_REAL:
                ends = (lo, hi)
            below, upto = (np.interp(end, self.edges[rows], self.cumulative[rows]) for end in ends)
            part = upto - below
        return np.asarray(part, dtype=np.float64)

    def middles(self, axis: NDArray[np.int64], start: Floats, end: Floats) -> Floats:
        """Return where to halve intervals of some axes, by their measure; shape (n,).

        Of single values, the last one of the lower half. Of real numbers, the common end of both.
        """
        discrete = self.discrete[axis]
        middle = np.where(discrete, np.floor((start + end) / 2), (start + end) / 2)
        for one in np.unique(axis[self.kinds[axis] >= CATEGORY]):
            rows = axis == one
            measure = slice(self.starts[one], self.starts[one + 1])
            edges, cumulative = self.edges[measure], self.cumulative[measure]
            if self.kinds[one] == WEIGHTED_REAL:
                below, upto = (np.interp(x[rows], edges, cumulative) for x in (start, end))
                half = np.interp((below + upto) / 2, cumulative, edges)
                inside = (half > start[rows]) & (half < end[rows])
                middle[rows] = np.where(inside, half, middle[rows])
                continue
            first = (start[rows] - self.shifts[one]).astype(np.intp)
            last = (end[rows] - self.shifts[one]).astype(np.intp)
            target = (cumulative[first] + cumulative[last + 1]) / 2
            index = np.searchsorted(cumulative, target) - 1
            # The edge that is nearer to the half: before or after the value that holds it.
            nearer = target - cumulative[index] < cumulative[index + 1] - target
            index = np.clip(index - nearer, first, last - 1)
            middle[rows] = index + self.shifts[one]
        return middle


def lay_out(domain: Domain) -> Axes:
    """Return the inputs of a domain that are not protected as axes."""
    kinds, ends, sizes, lengths = [], [], [], [0]
    edges, cumulative = [np.zeros(0)], [np.zeros(0)]
    for given in domain.free:
        measure = domain.marginals.get(given.name)
        size = 1
        if isinstance(given, CategoryInput):
            size = given.size
            kind, low, high = CATEGORY, 0.0, size - 1.0
            uniform = np.arange(size + 1, dtype=np.float64)
            measure = measure or Marginal(uniform, uniform / size)
        else:
            low, high = float(given.low), float(given.high)
            kind = INTEGER if isinstance(given, IntegerInput) else REAL
            if measure is not None:
                kind = WEIGHTED_INTEGER if kind == INTEGER else WEIGHTED_REAL
        kinds.append(kind)
        ends.append((low, high))
        sizes.append(size)
        lengths.append(0 if measure is None else len(measure.positions))
        if measure is not None:
            edges.append(measure.positions)
            cumulative.append(measure.cumulative)
    lows, highs = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    return Axes(
        kinds=np.array(kinds, dtype=np.int64),
        low=lows.copy(),
        high=highs.copy(),
        columns=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        width=sum(sizes),
        edges=np.concatenate(edges),
        cumulative=np.concatenate(cumulative),
        starts=np.cumsum(lengths, dtype=np.int64),
        shifts=np.where(np.array(kinds) == WEIGHTED_INTEGER, lows, 0.0),
    )
