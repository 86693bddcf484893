"""Counting the points of a box in a half-space, compiled.

The same as :func:`testsgd.certification.proving.counting.round_half_space`, for one box at a time
and in machine code. See there for why the count never exceeds the truth.
"""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_INTEGER,
    WEIGHTED_REAL,
    Floats,
)
from testsgd.certification.proving.machine_code import compiled

Ints = NDArray[np.int64]

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
