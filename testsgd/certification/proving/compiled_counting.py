"""Linear forms on one box, compiled: points above a threshold, range and moments.

Counts as :func:`testsgd.certification.proving.half_spaces.round_half_space` does, for one box at a
time; see there for why the count never exceeds the truth. A form has a coefficient a column: one
for an axis of numbers, one a value for a category; see
:class:`testsgd.certification.proving.axes.Axes`.

"""

from __future__ import annotations

from math import ceil, erf, floor, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testsgd._machine_code import compiler
from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_INTEGER,
    WEIGHTED_REAL,
    Floats,
)

Ints = NDArray[np.int64]

# Sums may be taken in any order, which the bound on rounding allows for.
compiled = compiler(Path(__file__).parent)

# Rounds a quotient up, so that a point is never given more than its due.
_UP = 1.0 + 4e-15
# Contributions whose sum is below this count as 0: a step must not be.
_LEAST_STEPS = 1e-290


@compiled
def cumulative_at(
    edges: Floats, cumulative: Floats, start: int, stop: int, position: float
) -> float:
    """Measure of the part of an axis below `position`; linear between the edges."""
    low, high = start, stop - 1
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


@compiled
def share_below(
    kind: int,
    lo: float,
    hi: float,
    backwards: bool,
    t: float,
    edges: Floats,
    cumulative: Floats,
    start: int,
    stop: int,
    shift: float,
) -> float:
    """Share of [lo, hi] whose distance from its start (its end, if backwards) is below `t`."""
    if kind == INTEGER:
        n = hi - lo + 1.0
        return min(max(ceil(t), 0.0), n) / n
    if kind == REAL:
        width = hi - lo
        if width <= 0.0:
            return 1.0 if t > 0.0 else 0.0
        return min(max(t, 0.0), width) / width
    if kind == WEIGHTED_REAL:
        first = cumulative_at(edges, cumulative, start, stop, lo)
        last = cumulative_at(edges, cumulative, start, stop, hi)
        t = min(max(t, 0.0), hi - lo)
        if backwards:
            inside = last - cumulative_at(edges, cumulative, start, stop, hi - t)
        else:
            inside = cumulative_at(edges, cumulative, start, stop, lo + t) - first
        return inside / (last - first) if last > first else 0.0
    # Integers with weights: position k of the axis is the value shift + k.
    n = hi - lo + 1.0
    m = int(min(max(ceil(t), 0.0), n))
    a = start + int(lo - shift)
    b = start + int(hi - shift) + 1
    whole = cumulative[b] - cumulative[a]
    if whole <= 0.0:
        return 0.0
    inside = cumulative[b] - cumulative[b - m] if backwards else cumulative[a + m] - cumulative[a]
    return float(inside / whole)


@compiled
def point_share(
    kind: int, lo: float, hi: float, k: int, cumulative: Floats, start: int, shift: float
) -> float:
    """Share of the value lo + k among the values lo to hi."""
    if kind == INTEGER:
        return 1.0 / (hi - lo + 1.0)
    a = start + int(lo - shift)
    b = start + int(hi - shift) + 1
    whole = cumulative[b] - cumulative[a]
    if whole <= 0.0:
        return 0.0
    return float((cumulative[a + k + 1] - cumulative[a + k]) / whole)


@compiled
def share_above(
    form: Floats,
    threshold: float,
    lo: Floats,
    hi: Floats,
    kinds: Ints,
    columns: Ints,
    edges: Floats,
    cumulative: Floats,
    starts: Ints,
    shifts: Floats,
    bins: int,
    order: Ints,
    sizes: Floats,
    histogram: Floats,
    other: Floats,
) -> float:
    """Lower bound on the share of a box where ``form @ x > threshold``.

    `order`, `sizes`, `histogram` (bins + 2) and `other` (bins + 2) are scratch.
    """
    axes = len(lo)
    base = 0.0
    total = 0.0
    for d in range(axes):
        c = columns[d]
        if kinds[d] == CATEGORY:
            least = form[c + int(lo[d])]
            most = least
            for v in range(int(lo[d]) + 1, int(hi[d]) + 1):
                least = min(least, form[c + v])
                most = max(most, form[c + v])
            base += least
            sizes[d] = most - least
        else:
            a = form[c]
            base += a * lo[d] if a > 0.0 else a * hi[d]
            sizes[d] = abs(a) * (hi[d] - lo[d])
        total += sizes[d]
    need = threshold - base
    if need < 0.0:
        return 1.0
    if need >= total:
        return 0.0
    last = -1
    for d in range(axes):
        if kinds[d] != CATEGORY and sizes[d] > 0.0 and (last < 0 or sizes[d] > sizes[last]):
            last = d
    others = 0.0
    count = 0
    for d in range(axes):
        if d == last or sizes[d] <= 0.0:
            continue
        others += sizes[d]
        # Narrow axes first: the histogram stays short while they are taken in.
        place = count
        while place > 0 and sizes[order[place - 1]] > sizes[d]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = d
        count += 1
    step = others / bins if others > _LEAST_STEPS else 1.0
    histogram[0] = 1.0
    top = 0
    for place in range(count):
        d = order[place]
        reach = int(sizes[d] / step / _UP)
        if reach == 0:
            continue
        reach = min(reach, bins - top)
        for s in range(top + reach + 1):
            other[s] = 0.0
        c = columns[d]
        start = starts[d]
        stop = starts[d + 1]
        if kinds[d] == CATEGORY:
            least = form[c + int(lo[d])]
            for v in range(int(lo[d]) + 1, int(hi[d]) + 1):
                least = min(least, form[c + v])
            for v in range(int(lo[d]), int(hi[d]) + 1):
                q = min(int((form[c + v] - least) / step / _UP), reach)
                w = point_share(
                    WEIGHTED_INTEGER, lo[d], hi[d], v - int(lo[d]), cumulative, start, 0.0
                )
                for s in range(top + 1):
                    other[s + q] += w * histogram[s]
        else:
            a = abs(form[c]) / step
            backwards = form[c] < 0.0
            discrete = kinds[d] != REAL and kinds[d] != WEIGHTED_REAL
            if discrete and hi[d] - lo[d] <= reach:
                n = int(hi[d] - lo[d]) + 1
                for k in range(n):
                    q = min(int(a * k / _UP), reach)
                    at = n - 1 - k if backwards else k
                    w = point_share(kinds[d], lo[d], hi[d], at, cumulative, start, shifts[d])
                    for s in range(top + 1):
                        other[s + q] += w * histogram[s]
            else:
                before = 0.0
                for q in range(reach + 1):
                    upto = 1.0
                    if q < reach:
                        upto = share_below(
                            kinds[d],
                            lo[d],
                            hi[d],
                            backwards,
                            (q + 1) / a * _UP,
                            edges,
                            cumulative,
                            start,
                            stop,
                            shifts[d],
                        )
                    w = upto - before
                    before = upto
                    if w > 0.0:
                        for s in range(top + 1):
                            other[s + q] += w * histogram[s]
        top += reach
        for s in range(top + 1):
            histogram[s] = other[s]
    share = 0.0
    if last < 0:
        for s in range(top + 1):
            if s * step / _UP > need:
                share += histogram[s]
    else:
        a = abs(form[columns[last]])
        backwards = form[columns[last]] < 0.0
        kind = kinds[last]
        discrete = kind != REAL and kind != WEIGHTED_REAL
        for s in range(top + 1):
            if histogram[s] > 0.0:
                v = (need - s * step / _UP) / a
                if v < 0.0:
                    share += histogram[s]
                    continue
                # floor gives a whole number of the machine, which must not overflow.
                v = min(v * _UP, hi[last] - lo[last] + 1.0)
                t = floor(v) + 1.0 if discrete else v
                share += histogram[s] * (
                    1.0
                    - share_below(
                        kind,
                        lo[last],
                        hi[last],
                        backwards,
                        t,
                        edges,
                        cumulative,
                        starts[last],
                        starts[last + 1],
                        shifts[last],
                    )
                )
    return min(max(share - 1e-12, 0.0), 1.0)


_ROOT_TWO = sqrt(2.0)


@compiled
def axis_range(form: Floats, column: int, kind: int, lo: float, hi: float) -> tuple[float, float]:
    """Least and largest value of one axis's part of a form."""
    if kind == CATEGORY:
        least = form[column + int(lo)]
        most = least
        for v in range(int(lo) + 1, int(hi) + 1):
            least = min(least, form[column + v])
            most = max(most, form[column + v])
        return least, most
    a = form[column]
    if a > 0.0:
        return a * lo, a * hi
    return a * hi, a * lo


@compiled
def form_range(
    form: Floats, lo: Floats, hi: Floats, kinds: Ints, columns: Ints
) -> tuple[float, float]:
    """Least and largest value of a form on a box."""
    least = 0.0
    most = 0.0
    for d in range(len(lo)):
        a, b = axis_range(form, columns[d], kinds[d], lo[d], hi[d])
        least += a
        most += b
    return least, most


@compiled
def form_size(form: Floats, lo: Floats, hi: Floats, kinds: Ints, columns: Ints) -> float:
    """Largest sum of the absolute terms of a form."""
    size = 0.0
    for d in range(len(lo)):
        c = columns[d]
        if kinds[d] == CATEGORY:
            most = 0.0
            for v in range(int(lo[d]), int(hi[d]) + 1):
                most = max(most, abs(form[c + v]))
            size += most
        else:
            size += abs(form[c]) * max(abs(lo[d]), abs(hi[d]))
    return size


@compiled
def form_moments(
    form: Floats, lo: Floats, hi: Floats, kinds: Ints, columns: Ints
) -> tuple[float, float]:
    """Mean and variance of a form on a box, all points alike; only chooses, proves nothing."""
    mean = 0.0
    variance = 1e-300
    for d in range(len(lo)):
        c = columns[d]
        if kinds[d] == CATEGORY:
            n = hi[d] - lo[d] + 1.0
            first = 0.0
            second = 0.0
            for v in range(int(lo[d]), int(hi[d]) + 1):
                first += form[c + v]
                second += form[c + v] * form[c + v]
            mean += first / n
            variance += max(second / n - (first / n) ** 2, 0.0)
        else:
            a = form[c]
            w = hi[d] - lo[d]
            mean += a * (lo[d] + hi[d]) * 0.5
            real = kinds[d] == REAL or kinds[d] == WEIGHTED_REAL
            variance += a * a * (w * w if real else w * (w + 2.0)) / 12.0
    return mean, variance


@compiled
def normal_above(mean: float, variance: float, threshold: float) -> float:
    """Share of a normal variable above a threshold; only chooses, proves nothing."""
    return 0.5 * (1.0 + erf((mean - threshold) / (sqrt(variance) * _ROOT_TWO)))
