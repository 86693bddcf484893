"""Axes of a box cut into parts on which two rounded half-spaces make constant steps.

Positions on an axis are measured from its start: those of whole numbers and categories are edges,
of which edge k is before the value k, so that a part is always between two edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import CATEGORY, INTEGER, REAL, WEIGHTED_REAL, Floats

Ints = NDArray[np.int64]

# As the counts have them.
_UP = 1.0 + 4e-15
_LEAST_STEPS = 1e-290
# Axes of so many values are cut into single ones.
SINGLE = 64


class Where(NamedTuple):
    """The axes; see :class:`testsgd.certification.proving.axes.Axes`."""

    kinds: Ints
    columns: Ints
    edges: Floats
    cumulative: Floats
    starts: Ints
    shifts: Floats


class Laid(NamedTuple):
    """A half-space of a box, laid out as it is counted.

    A sum of steps s, and the distance d on the axis that is `solved`, are inside if the slope times
    d exceeds `need` less s times `step`; `reach` is the most steps that an axis makes.
    """

    form: Floats
    need: float
    step: float
    solved: int
    reach: Ints
    up: float


class Parts(NamedTuple):
    """Parts of an axis: their edges, measures, and the steps of each half-space."""

    edges: Floats
    mass: Floats
    one: Ints
    two: Ints


def span_of(where: Where, lo: Floats, hi: Floats, axis: int) -> tuple[float, bool]:
    """Give the last position of an axis, and whether it holds single values."""
    discrete = where.kinds[axis] != REAL and where.kinds[axis] != WEIGHTED_REAL
    return (hi[axis] - lo[axis] + 1.0 if discrete else hi[axis] - lo[axis]), discrete


def measure_below(where: Where, lo: Floats, hi: Floats, axis: int, positions: Floats) -> Floats:
    """Share of an axis of the box below some positions; whole ones, if it holds single values."""
    kind = where.kinds[axis]
    start, stop = where.starts[axis], where.starts[axis + 1]
    if kind == INTEGER:
        return np.asarray(positions / (hi[axis] - lo[axis] + 1.0))
    if kind == REAL:
        return np.asarray(positions / (hi[axis] - lo[axis]))
    if kind == WEIGHTED_REAL:
        ends = np.interp(
            np.array([lo[axis], hi[axis]]), where.edges[start:stop], where.cumulative[start:stop]
        )
        below = np.interp(
            lo[axis] + positions, where.edges[start:stop], where.cumulative[start:stop]
        )
        return np.asarray(np.minimum(np.maximum((below - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0))
    first = start + int(lo[axis] - where.shifts[axis])
    last = start + int(hi[axis] - where.shifts[axis]) + 1
    below = where.cumulative[first + positions.astype(np.int64)] - where.cumulative[first]
    return np.asarray(below / (where.cumulative[last] - where.cumulative[first]))


def place_between(
    where: Where, lo: Floats, hi: Floats, axis: int, left: float, right: float, uniform: float
) -> float:
    """Give the value at some part of the measure between two positions."""
    kind = where.kinds[axis]
    if kind == INTEGER:
        return float(lo[axis] + min(np.floor(left + uniform * (right - left)), right - 1.0))
    if kind == REAL:
        return float(min(lo[axis] + left + uniform * (right - left), hi[axis]))
    start, stop = where.starts[axis], where.starts[axis + 1]
    cumulative = where.cumulative[start:stop]
    if kind == WEIGHTED_REAL:
        ends = np.array([lo[axis] + left, lo[axis] + right])
        below = np.interp(ends, where.edges[start:stop], cumulative)
        at = np.full(1, below[0] + uniform * (below[1] - below[0]))
        value = np.interp(at, cumulative, where.edges[start:stop])[0]
        return float(min(max(value, ends[0]), ends[1], hi[axis]))
    first = int(lo[axis] - where.shifts[axis])
    least, most = first + int(left), first + int(right)
    at = np.full(1, cumulative[least] + uniform * (cumulative[most] - cumulative[least]))
    place = np.searchsorted(cumulative[least : most + 1], at, "right")[0] - 1
    place = least + min(max(place, 0), most - least - 1)
    # Rounded up to the end, but the last values may weigh nothing.
    while place > least and cumulative[place + 1] <= cumulative[place]:
        place -= 1
    return float(lo[axis] + (place - first))


def choose(weights: Floats, uniform: float) -> int:
    """Choose a place in proportion to weights; -1 if none has any. Negative ones are rounding."""
    upto = np.cumsum(np.maximum(weights, 0.0))
    if not upto[-1] > 0.0:
        return -1
    place = int(np.searchsorted(upto, np.full(1, uniform * upto[-1]), "right")[0])
    place = min(place, len(upto) - 1)
    while place > 0 and weights[place] <= 0.0:
        place -= 1
    return place if weights[place] > 0.0 else -1


def lay_half_space(
    where: Where, lo: Floats, hi: Floats, form: Floats, threshold: float, bins: int
) -> Laid:
    """Lay out a half-space as it is counted; one that holds all or nothing has no axes."""
    axes = len(lo)
    reach = np.zeros(axes, dtype=np.int64)
    if threshold == np.inf:
        return Laid(form, np.inf, 1.0, -1, reach, _UP)
    sizes = np.zeros(axes)
    base = 0.0
    solved = -1
    for axis in range(axes):
        c = where.columns[axis]
        if where.kinds[axis] == CATEGORY:
            part = form[c + int(lo[axis]) : c + int(hi[axis]) + 1]
            base += part.min()
            sizes[axis] = part.max() - part.min()
            continue
        base += form[c] * (lo[axis] if form[c] > 0.0 else hi[axis])
        sizes[axis] = abs(form[c]) * (hi[axis] - lo[axis])
        if sizes[axis] > 0.0 and (solved < 0 or sizes[axis] > sizes[solved]):
            solved = axis
    need = threshold - base
    if need < 0.0:
        return Laid(form, -1.0, 1.0, -1, reach, _UP)
    if need >= sizes.sum():
        return Laid(form, np.inf, 1.0, -1, reach, _UP)
    if solved >= 0:
        sizes[solved] = 0.0
    others = sizes.sum()
    step = others / bins if others > _LEAST_STEPS else 1.0
    for axis in range(axes):
        reach[axis] = int(sizes[axis] / step / _UP)
    return Laid(form, need, step, solved, reach, _UP)


def _steps_of_values(where: Where, lo: Floats, hi: Floats, axis: int, laid: Laid) -> Ints:
    """How many steps each value of an axis makes."""
    many = int(hi[axis] - lo[axis]) + 1
    if laid.reach[axis] == 0:
        return np.zeros(many, dtype=np.int64)
    c = where.columns[axis]
    if where.kinds[axis] == CATEGORY:
        part = laid.form[c + int(lo[axis]) : c + int(hi[axis]) + 1]
        steps = np.floor((part - part.min()) / laid.step / laid.up)
    else:
        distances = np.arange(many, dtype=np.float64)
        if laid.form[c] < 0.0:
            distances = distances[::-1].copy()
        steps = np.floor(abs(laid.form[c]) / laid.step * distances / laid.up)
    return np.asarray(np.minimum(steps, laid.reach[axis]), dtype=np.int64)


def _step_edges(where: Where, lo: Floats, hi: Floats, axis: int, laid: Laid) -> Floats:
    """Positions at which one more step begins, ascending."""
    span, discrete = span_of(where, lo, hi, axis)
    a = laid.form[where.columns[axis]]
    if laid.reach[axis] == 0:
        return np.zeros(0)
    upto = np.arange(1, laid.reach[axis] + 1) / (abs(a) / laid.step) * laid.up
    if discrete:
        upto = np.ceil(upto)
    upto = np.minimum(upto, span)
    return np.asarray((span - upto)[::-1] if a < 0.0 else upto)


def _steps_between(where: Where, axis: int, laid: Laid, own: Floats, edges: Floats) -> Ints:
    """How many steps are made in each part."""
    if len(own) == 0:
        return np.zeros(len(edges) - 1, dtype=np.int64)
    if laid.form[where.columns[axis]] < 0.0:
        return (len(own) - np.searchsorted(own, edges[1:], "left")).astype(np.int64)
    return np.searchsorted(own, edges[:-1], "right").astype(np.int64)


def cut_axis(where: Where, lo: Floats, hi: Floats, axis: int, one: Laid, two: Laid) -> Parts:
    """Cut an axis into parts on which both half-spaces make the same steps throughout."""
    span, discrete = span_of(where, lo, hi, axis)
    kind = where.kinds[axis]
    if not discrete and span <= 0.0:
        none = np.zeros(1, dtype=np.int64)
        return Parts(np.zeros(2), np.ones(1), none, none)
    if kind == CATEGORY or (discrete and span <= SINGLE):
        edges = np.arange(int(span) + 1, dtype=np.float64)
        steps = _steps_of_values(where, lo, hi, axis, one)
        others = _steps_of_values(where, lo, hi, axis, two)
    else:
        own = _step_edges(where, lo, hi, axis, one)
        foreign = _step_edges(where, lo, hi, axis, two)
        # Two edges may be the same: there is nothing in between.
        edges = np.sort(np.concatenate((np.array([0.0, span]), own, foreign)))
        steps = _steps_between(where, axis, one, own, edges)
        others = _steps_between(where, axis, two, foreign, edges)
    below = measure_below(where, lo, hi, axis, edges)
    return Parts(edges, below[1:] - below[:-1], steps, others)
