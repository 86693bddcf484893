"""Counting the points of a box in a half-space with arrays, to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_REAL,
    Axes,
    Floats,
)

_UP = 1.0 + 4e-15
_SUMMING = 1e-12
_LEAST_STEPS = 1e-290


@dataclass(frozen=True)
class RoundedHalfSpace:
    axes: Axes
    lo: Floats
    hi: Floats
    form: Floats
    base: float
    need: float
    total: float
    largest: int
    rounded: tuple[int, ...]
    step: float
    bins: int

    @property
    def share(self) -> float:
        """Share of the box that is counted: at most the share where the form is above."""
        if self.need < 0:
            return 1.0
        if self.need >= self.total:
            return 0.0
        histogram = np.ones(1)
        for axis in self.rounded:
            shifts, shares = self._contributions(axis)
            reach = int(shifts[-1]) if len(shifts) else 0
            taken = np.zeros(len(histogram) + reach)
            for shift, share in zip(shifts, shares, strict=True):
                taken[shift : shift + len(histogram)] += share * histogram
            histogram = taken
        sums = np.arange(len(histogram)) * self.step / _UP
        if self.largest < 0:
            share = float(histogram[sums > self.need].sum())
        else:
            with np.errstate(over="ignore"):  # too far is beyond the axis
                left = (self.need - sums) / abs(self.form[self.axes.columns[self.largest]])
            beyond = np.ones(len(left))
            inside = left >= 0
            upto = np.minimum(left[inside], 1e300) * _UP
            if self.axes.discrete[self.largest]:
                upto = np.floor(upto) + 1.0
            beyond[inside] = 1.0 - self._below(self.largest, upto)
            share = float(histogram @ beyond)
        return min(max(share - _SUMMING, 0.0), 1.0)

    def _distance(self, axis: int, values: Floats) -> Floats:
        """How far values are from the end of the axis where the form is least."""
        column = self.axes.columns[axis]
        if self.axes.kinds[axis] == CATEGORY:
            first, last = int(self.lo[axis]), int(self.hi[axis])
            least = self.form[column + first : column + last + 1].min()
            return np.asarray(self.form[column + values.astype(np.intp)] - least)
        backwards = self.form[column] < 0
        return np.asarray(self.hi[axis] - values if backwards else values - self.lo[axis])

    def _steps(self, axis: int, distances: Floats) -> Floats:
        """How many whole steps contributions make."""
        slope = 1.0
        if self.axes.kinds[axis] != CATEGORY:
            slope = abs(self.form[self.axes.columns[axis]])
        return np.minimum(np.floor(slope / self.step * distances / _UP), self._reach(axis))

    def _reach(self, axis: int) -> int:
        """Whole steps of the axis's greatest contribution."""
        column = self.axes.columns[axis]
        end = self.hi[axis] if self.form[column] > 0 else self.lo[axis]
        if self.axes.kinds[axis] == CATEGORY:
            values = np.arange(self.lo[axis], self.hi[axis] + 1)
            return int(self._distance(axis, values).max() / self.step / _UP)
        return int(abs(self.form[column]) * self._distance(axis, np.array(end)) / self.step / _UP)

    def _contributions(self, axis: int) -> tuple[NDArray[np.intp], Floats]:
        """Return the steps that an axis can contribute, ascending, and the share of each."""
        reach = self._reach(axis)
        if self.axes.kinds[axis] == CATEGORY:
            values = np.arange(self.lo[axis], self.hi[axis] + 1)
            steps = self._steps(axis, self._distance(axis, values)).astype(np.intp)
            first = int(self.lo[axis])
            measure = np.diff(self._measure(axis))[first : first + len(values)]
            whole = measure.sum()
            shares = measure / whole if whole > 0 else measure
            each = np.bincount(steps, shares, minlength=reach + 1).astype(np.float64)
            return np.arange(reach + 1, dtype=np.intp), each
        slope = abs(self.form[self.axes.columns[axis]]) / self.step
        upto = self._below(axis, np.arange(1, reach + 1) / slope * _UP)
        each = np.diff(np.concatenate([[0.0], upto, [1.0]]))
        return np.arange(reach + 1, dtype=np.intp), each

    def _measure(self, axis: int) -> Floats:
        return self.axes.cumulative[self.axes.starts[axis] : self.axes.starts[axis + 1]]

    def _below(self, axis: int, distances: Floats) -> Floats:
        """Share of an axis's interval that is less than some distances from its least end."""
        lo, hi, kind = self.lo[axis], self.hi[axis], self.axes.kinds[axis]
        if kind == INTEGER:
            n = hi - lo + 1.0
            return np.asarray(np.clip(np.ceil(distances), 0.0, n) / n)
        if kind == REAL:
            return np.asarray(np.clip(distances, 0.0, hi - lo) / (hi - lo))
        backwards = self.form[self.axes.columns[axis]] < 0
        rows = slice(self.axes.starts[axis], self.axes.starts[axis + 1])
        edges, cumulative = self.axes.edges[rows], self.axes.cumulative[rows]
        if kind == WEIGHTED_REAL:
            first, last = lo, hi
            way = np.clip(distances, 0.0, hi - lo)
        else:
            first, last = lo - self.axes.shifts[axis], hi + 1 - self.axes.shifts[axis]
            way = np.clip(np.ceil(distances), 0.0, last - first)
        below, upto = np.interp([first, last], edges, cumulative)
        if upto <= below:
            return np.zeros(len(distances))
        if backwards:
            inside = upto - np.interp(last - way, edges, cumulative)
        else:
            inside = np.interp(first + way, edges, cumulative) - below
        return np.asarray(inside / (upto - below))


def round_half_space(
    axes: Axes, lo: Floats, hi: Floats, form: Floats, threshold: float, bins: int
) -> RoundedHalfSpace:
    """Lay out a half-space of a box for counting."""
    base = 0.0
    sizes = np.zeros(len(lo))
    for axis, column in enumerate(axes.columns):
        if axes.kinds[axis] == CATEGORY:
            part = form[column + int(lo[axis]) : column + int(hi[axis]) + 1]
            base += part.min()
            sizes[axis] = part.max() - part.min()
        else:
            base += form[column] * (lo[axis] if form[column] > 0 else hi[axis])
            sizes[axis] = abs(form[column]) * (hi[axis] - lo[axis])
    numbers = np.where(axes.kinds == CATEGORY, 0.0, sizes)
    largest = int(numbers.argmax()) if numbers.max(initial=0.0) > 0 else -1
    order = [int(axis) for axis in np.argsort(sizes, kind="stable")]
    rounded = tuple(axis for axis in order if axis != largest and sizes[axis] > 0)
    others = sum(sizes[axis] for axis in rounded)
    return RoundedHalfSpace(
        axes=axes,
        lo=lo,
        hi=hi,
        form=form,
        base=float(base),
        need=float(threshold - base),
        total=float(sizes.sum()),
        largest=largest,
        rounded=rounded,
        step=float(others / bins) if others > _LEAST_STEPS else 1.0,
        bins=bins,
    )
