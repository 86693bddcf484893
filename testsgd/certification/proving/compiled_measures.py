"""Positions on axes of a box and the measure below them, compiled.

Positions are those of :mod:`testsgd.certification.proving.drawing_parts`.
"""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import INTEGER, REAL, WEIGHTED_REAL, Floats
from testsgd.certification.proving.compiled_counting import cumulative_at
from testsgd.certification.proving.drawing_parts import Where
from testsgd.certification.proving.machine_code import compiled


@compiled
def is_discrete(where: Where, axis: int) -> bool:
    """Say whether an axis holds single values."""
    return bool(where.kinds[axis] != REAL and where.kinds[axis] != WEIGHTED_REAL)


@compiled
def span_of(where: Where, lo: Floats, hi: Floats, axis: int) -> float:
    """Give the last position of an axis."""
    return float(hi[axis] - lo[axis] + (1.0 if is_discrete(where, axis) else 0.0))


@compiled
def measure_below(where: Where, lo: Floats, hi: Floats, axis: int, position: float) -> float:
    """Share of an axis of the box below a position; a whole one, if it holds single values."""
    kind = where.kinds[axis]
    if kind == INTEGER:
        return float(position / (hi[axis] - lo[axis] + 1.0))
    if kind == REAL:
        return float(position / (hi[axis] - lo[axis]))
    start = where.starts[axis]
    stop = where.starts[axis + 1]
    if kind == WEIGHTED_REAL:
        least = cumulative_at(where.edges, where.cumulative, start, stop, lo[axis])
        most = cumulative_at(where.edges, where.cumulative, start, stop, hi[axis])
        below = cumulative_at(where.edges, where.cumulative, start, stop, lo[axis] + position)
        return float(min(max((below - least) / (most - least), 0.0), 1.0))
    first = start + int(lo[axis] - where.shifts[axis])
    last = start + int(hi[axis] - where.shifts[axis]) + 1
    below = where.cumulative[first + int(position)] - where.cumulative[first]
    return float(below / (where.cumulative[last] - where.cumulative[first]))


@compiled
def place_between(
    where: Where, lo: Floats, hi: Floats, axis: int, left: float, right: float, uniform: float
) -> float:
    """Give the value at some part of the measure between two positions."""
    kind = where.kinds[axis]
    if kind == INTEGER:
        # Never to whole numbers of the machine, which might overflow.
        return float(lo[axis] + min(np.floor(left + uniform * (right - left)), right - 1.0))
    if kind == REAL:
        return float(min(lo[axis] + left + uniform * (right - left), hi[axis]))
    start = where.starts[axis]
    stop = where.starts[axis + 1]
    cumulative = where.cumulative
    if kind == WEIGHTED_REAL:
        below = cumulative_at(where.edges, cumulative, start, stop, lo[axis] + left)
        upto = cumulative_at(where.edges, cumulative, start, stop, lo[axis] + right)
        low = start
        high = stop - 1
    else:
        low = start + int(lo[axis] - where.shifts[axis]) + int(left)
        high = start + int(lo[axis] - where.shifts[axis]) + int(right)
        below = cumulative[low]
        upto = cumulative[high]
    target = below + uniform * (upto - below)
    # The stretch between two edges that holds the target; the last ones may weigh nothing.
    least = low
    while high - low > 1:
        middle = (low + high) // 2
        if cumulative[middle] <= target:
            low = middle
        else:
            high = middle
    while low > least and cumulative[low + 1] <= cumulative[low]:
        low -= 1
    if kind != WEIGHTED_REAL:
        return float(low - start + where.shifts[axis])
    inside = cumulative[low + 1] - cumulative[low]
    part = min((target - cumulative[low]) / inside, 1.0) if inside > 0.0 else 0.0
    value = where.edges[low] + part * (where.edges[low + 1] - where.edges[low])
    return float(min(max(value, lo[axis] + left), lo[axis] + right, hi[axis]))
