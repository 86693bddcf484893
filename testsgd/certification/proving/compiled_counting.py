"""Linear forms on one box, compiled: points above a threshold, range and moments.

Why a count never exceeds the truth says :mod:`testsgd.certification.proving.half_spaces`.
"""

from __future__ import annotations

from math import ceil, erf, floor, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd._machine_code import Compiler
from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_REAL,
    AxisArrays,
    Box,
    Floats,
    Ints,
)

compiled = Compiler(Path(__file__).parent)

# Rounds a quotient up, so that a point is never given more than its due.
UP = 1.0 + 4e-15
# Contributions whose sum is below this count as 0: a step must not be.
LEAST_STEPS = 1e-290


class Histogram(NamedTuple):
    """Memory for counting: the axes in order, their sizes, and two histograms (bins + 2) each."""

    order: Ints
    sizes: Floats
    counts: Floats
    other: Floats


@compiled
def make_histogram(axes: int, bins: int) -> Histogram:
    """Return the memory for boxes of `axes` axes, counted with `bins` bins."""
    return Histogram(
        np.zeros(axes, dtype=np.int64), np.zeros(axes), np.zeros(bins + 2), np.zeros(bins + 2)
    )


@compiled
def make_box(axes: AxisArrays, lo: Floats, hi: Floats) -> Box:
    """Put the ends of a box and its axes together."""
    return Box(
        lo, hi, axes.kinds, axes.columns, axes.edges, axes.cumulative, axes.starts, axes.shifts
    )


@compiled.inner
def is_discrete(kind: int) -> bool:
    """Return whether an axis of this kind holds single values."""
    return bool(kind != REAL and kind != WEIGHTED_REAL)


@compiled.inner
def cumulative_at(box: Box, axis: int, position: float) -> float:
    """Return the measure of an axis below `position`; linear between the edges."""
    edges = box.edges
    cumulative = box.cumulative
    low = box.starts[axis]
    high = box.starts[axis + 1] - 1
    if position <= edges[low]:
        return 0.0
    if position >= edges[high]:
        return float(cumulative[high])
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= position:
            low = middle
        else:
            high = middle
    part = (position - edges[low]) / (edges[high] - edges[low])
    return float(cumulative[low] + part * (cumulative[high] - cumulative[low]))


@compiled.inner
def share_below(box: Box, axis: int, backwards: bool, t: float) -> float:
    """Return the share of an axis nearer than `t` to its start (to its end, if backwards)."""
    kind = box.kinds[axis]
    lo = box.lo[axis]
    hi = box.hi[axis]
    if kind == INTEGER:
        n = hi - lo + 1.0
        return float(min(max(ceil(t), 0.0), n) / n)
    if kind == REAL:
        width = hi - lo
        if width <= 0.0:
            return 1.0 if t > 0.0 else 0.0
        return float(min(max(t, 0.0), width) / width)
    if kind == WEIGHTED_REAL:
        first = cumulative_at(box, axis, lo)
        last = cumulative_at(box, axis, hi)
        t = min(max(t, 0.0), hi - lo)
        if backwards:
            inside = last - cumulative_at(box, axis, hi - t)
        else:
            inside = cumulative_at(box, axis, lo + t) - first
        return inside / (last - first) if last > first else 0.0
    # Integers with weights: position k of the axis is the value shift + k.
    cumulative = box.cumulative
    n = hi - lo + 1.0
    m = int(min(max(ceil(t), 0.0), n))
    a = box.starts[axis] + int(lo - box.shifts[axis])
    b = box.starts[axis] + int(hi - box.shifts[axis]) + 1
    whole = cumulative[b] - cumulative[a]
    if whole <= 0.0:
        return 0.0
    inside = cumulative[b] - cumulative[b - m] if backwards else cumulative[a + m] - cumulative[a]
    return float(inside / whole)


@compiled.inner
def point_share(box: Box, axis: int, k: int) -> float:
    """Return the share of the value lo + k of an axis of single values."""
    lo = box.lo[axis]
    hi = box.hi[axis]
    if box.kinds[axis] == INTEGER:
        return float(1.0 / (hi - lo + 1.0))
    cumulative = box.cumulative
    a = box.starts[axis] + int(lo - box.shifts[axis])
    b = box.starts[axis] + int(hi - box.shifts[axis]) + 1
    whole = cumulative[b] - cumulative[a]
    if whole <= 0.0:
        return 0.0
    return float((cumulative[a + k + 1] - cumulative[a + k]) / whole)


@compiled.inner
def axis_range(form: Floats, box: Box, axis: int) -> tuple[float, float]:
    """Return the least and the largest value of one axis's part of a form."""
    column = box.columns[axis]
    lo = box.lo[axis]
    hi = box.hi[axis]
    if box.kinds[axis] == CATEGORY:
        minimum = form[column + int(lo)]
        maximum = minimum
        for v in range(int(lo) + 1, int(hi) + 1):
            minimum = min(minimum, form[column + v])
            maximum = max(maximum, form[column + v])
        return minimum, maximum
    a = form[column]
    if a > 0.0:
        return a * lo, a * hi
    return a * hi, a * lo


@compiled.inner
def axis_sizes(form: Floats, box: Box, sizes: Floats) -> tuple[float, float, int]:
    """Fill `sizes` with how far each axis moves a form, shape (axes,).

    Returns the least value of the form, the sum of the sizes, and the axis of numbers that moves it
    most; -1 if none does.
    """
    base = 0.0
    total = 0.0
    largest = -1
    for axis in range(len(box.lo)):
        minimum, maximum = axis_range(form, box, axis)
        base += minimum
        if box.kinds[axis] == CATEGORY:
            sizes[axis] = maximum - minimum
        else:
            # The ends themselves may be rounded by more than their distance.
            sizes[axis] = abs(form[box.columns[axis]]) * (box.hi[axis] - box.lo[axis])
            if sizes[axis] > 0.0 and (largest < 0 or sizes[axis] > sizes[largest]):
                largest = axis
        total += sizes[axis]
    return base, total, largest


@compiled.inner
def lay_out_form(
    form: Floats, threshold: float, box: Box, bins: float, sizes: Floats
) -> tuple[float, float, int]:
    """Prepare a half-space of a box for counting, and fill in how far each axis moves the form.

    Returns by how much the form must exceed its least value (-1: every point is above, infinity:
    none); the size of a step; and which axis of numbers is solved for, -1 if none.
    """
    base, total, largest = axis_sizes(form, box, sizes)
    need = threshold - base
    if need < 0.0:
        return -1.0, 1.0, -1
    if need >= total:
        return np.inf, 1.0, -1
    others = 0.0
    for axis in range(len(box.lo)):
        if axis != largest:
            others += sizes[axis]
    return need, others / bins if others > LEAST_STEPS else 1.0, largest


@compiled.inner
def steps_at(form: Floats, box: Box, axis: int, step: float, reach: int, value: float) -> int:
    """Return how many steps an axis makes at a value, rounded down; `reach` is above 0."""
    c = box.columns[axis]
    if box.kinds[axis] == CATEGORY:
        minimum, _ = axis_range(form, box, axis)
        return min(int((form[c + int(value)] - minimum) / step / UP), reach)
    # The distance from the end where the form is least.
    distance = box.hi[axis] - value if form[c] < 0.0 else value - box.lo[axis]
    return min(int(abs(form[c]) / step * distance / UP), reach)


@compiled.inner
def _take_in(histogram: Histogram, top: int, steps: int, share: float) -> None:
    """Add `share` times the counts to the other histogram, moved by `steps` steps."""
    for s in range(top + 1):
        histogram.other[s + steps] += share * histogram.counts[s]


@compiled.inner
def _spread_axis(
    form: Floats, box: Box, axis: int, step: float, reach: int, top: int, histogram: Histogram
) -> None:
    """Convolve the histogram with one axis's steps, at most `reach`."""
    c = box.columns[axis]
    lo = box.lo[axis]
    hi = box.hi[axis]
    if box.kinds[axis] == CATEGORY:
        for v in range(int(lo), int(hi) + 1):
            q = steps_at(form, box, axis, step, reach, float(v))
            _take_in(histogram, top, q, point_share(box, axis, v - int(lo)))
        return
    a = abs(form[c]) / step
    backwards = form[c] < 0.0
    if is_discrete(box.kinds[axis]) and hi - lo <= reach:
        n = int(hi - lo) + 1
        for k in range(n):
            q = min(int(a * k / UP), reach)
            _take_in(histogram, top, q, point_share(box, axis, n - 1 - k if backwards else k))
        return
    before = 0.0
    for q in range(reach + 1):
        upto = share_below(box, axis, backwards, (q + 1) / a * UP) if q < reach else 1.0
        if upto > before:
            _take_in(histogram, top, q, upto - before)
        before = upto


@compiled
def share_above(form: Floats, threshold: float, box: Box, bins: int, histogram: Histogram) -> float:
    """Return a lower bound on the share of a box where ``form @ x > threshold``.

    Let ``need`` be the threshold minus the least value of the form, and ``s`` the size of a step.
    Of every axis d but the one that is solved for, a, the contribution v_d >= 0 is rounded down to
    q_d steps, so that a point is counted only if it is in the half-space::

        sum_d q_d * s + v_a > need

    The distribution of sum_d q_d is the convolution of those of the axes: ``counts[q]`` is the
    share of the box that makes q steps. The share above is the sum over q of counts[q] times the
    share of axis a with ``v_a > need - q * s``. Quotients are rounded by more than their own error,
    against the count, and 1e-12 is subtracted for the rounding of the sums.
    """
    order = histogram.order
    sizes = histogram.sizes
    counts = histogram.counts
    need, step, last = lay_out_form(form, threshold, box, bins, sizes)
    if need < 0.0:
        return 1.0
    if need == np.inf:
        return 0.0
    count = 0
    for axis in range(len(box.lo)):
        if axis == last or sizes[axis] <= 0.0:
            continue
        # Narrow axes first: the histogram stays short while they are taken in.
        index = count
        while index > 0 and sizes[order[index - 1]] > sizes[axis]:
            order[index] = order[index - 1]
            index -= 1
        order[index] = axis
        count += 1
    counts[0] = 1.0
    top = 0
    for index in range(count):
        axis = order[index]
        reach = int(sizes[axis] / step / UP)
        if reach == 0:
            continue
        reach = min(reach, bins - top)
        for s in range(top + reach + 1):
            histogram.other[s] = 0.0
        _spread_axis(form, box, axis, step, reach, top, histogram)
        top += reach
        for s in range(top + 1):
            counts[s] = histogram.other[s]
    share = 0.0
    if last < 0:
        for s in range(top + 1):
            if s * step / UP > need:
                share += counts[s]
    else:
        a = abs(form[box.columns[last]])
        backwards = form[box.columns[last]] < 0.0
        discrete = is_discrete(box.kinds[last])
        for s in range(top + 1):
            if counts[s] > 0.0:
                v = (need - s * step / UP) / a
                if v < 0.0:
                    share += counts[s]
                    continue
                # floor gives a whole number of the machine, which must not overflow.
                v = min(v * UP, box.hi[last] - box.lo[last] + 1.0)
                t = floor(v) + 1.0 if discrete else v
                share += counts[s] * (1.0 - share_below(box, last, backwards, t))
    return min(max(share - 1e-12, 0.0), 1.0)


@compiled.inner
def _is_counted(
    form: Floats, threshold: float, box: Box, bins: float, point: Floats, sizes: Floats
) -> bool:
    """Return whether a point is among those that :func:`share_above` counts."""
    need, step, last = lay_out_form(form, threshold, box, bins, sizes)
    if need < 0.0 or need == np.inf:
        return bool(need < 0.0)
    steps = 0
    for axis in range(len(point)):
        reach = int(sizes[axis] / step / UP) if axis != last else 0
        if reach > 0:
            steps += steps_at(form, box, axis, step, reach, point[axis])
    left = need - steps * step / UP
    if left < 0.0 or last < 0:
        return bool(left < 0.0)
    a = form[box.columns[last]]
    distance = box.hi[last] - point[last] if a < 0.0 else point[last] - box.lo[last]
    return bool(distance > left / abs(a) * UP)


@compiled
def find_counted(
    axes: AxisArrays,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    thresholds: Floats,
    bins: Floats,
    points: Floats,
    counted: NDArray[np.bool_],
) -> None:
    """Fill `counted`, shape (n,), with which points are counted, each in its box and half-space."""
    sizes = np.zeros(lo.shape[1])
    for row in range(len(points)):
        if np.isfinite(thresholds[row]):
            box = make_box(axes, lo[row], hi[row])
            counted[row] = _is_counted(
                forms[row], thresholds[row], box, bins[row], points[row], sizes
            )


_ROOT_TWO = sqrt(2.0)


@compiled.inner
def form_range(form: Floats, box: Box) -> tuple[float, float]:
    """Return the least and the largest value of a form on a box."""
    minimum = 0.0
    maximum = 0.0
    for axis in range(len(box.lo)):
        a, b = axis_range(form, box, axis)
        minimum += a
        maximum += b
    return minimum, maximum


@compiled.inner
def form_size(form: Floats, box: Box) -> float:
    """Return the largest sum of the absolute terms of a form on a box."""
    size = 0.0
    for d in range(len(box.lo)):
        c = box.columns[d]
        if box.kinds[d] == CATEGORY:
            maximum = 0.0
            for v in range(int(box.lo[d]), int(box.hi[d]) + 1):
                maximum = max(maximum, abs(form[c + v]))
            size += maximum
        else:
            size += abs(form[c]) * max(abs(box.lo[d]), abs(box.hi[d]))
    return size


@compiled.inner
def form_moments(form: Floats, box: Box) -> tuple[float, float]:
    """Mean and variance of a form on a box, all points alike; only chooses, proves nothing."""
    mean = 0.0
    variance = 1e-300
    for d in range(len(box.lo)):
        c = box.columns[d]
        lo = box.lo[d]
        hi = box.hi[d]
        if box.kinds[d] == CATEGORY:
            n = hi - lo + 1.0
            first = 0.0
            second = 0.0
            for v in range(int(lo), int(hi) + 1):
                first += form[c + v]
                second += form[c + v] * form[c + v]
            mean += first / n
            variance += max(second / n - (first / n) ** 2, 0.0)
        else:
            a = form[c]
            w = hi - lo
            mean += a * (lo + hi) * 0.5
            variance += a * a * (w * (w + 2.0) if is_discrete(box.kinds[d]) else w * w) / 12.0
    return mean, variance


@compiled.inner
def normal_above(mean: float, variance: float, threshold: float) -> float:
    """Share of a normal variable above a threshold; only chooses, proves nothing."""
    return 0.5 * (1.0 + erf((mean - threshold) / (sqrt(variance) * _ROOT_TWO)))


@compiled.inner
def form_above(form: Floats, threshold: float, box: Box) -> float:
    """Return roughly the share of a box with a form above a threshold; it proves nothing."""
    mean, variance = form_moments(form, box)
    return normal_above(mean, variance, threshold)
