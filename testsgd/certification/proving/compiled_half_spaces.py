"""Half-spaces of one box in machine code: which to count, and what the counts prove.

The same as :mod:`testsgd.certification.proving.half_spaces`, but that what is proved is less by the
share of the points for which an assumption fails.
"""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_arrays import SPACES, Flat, Scratch, Units
from testsgd.certification.proving.compiled_counting import share_above
from testsgd.certification.proving.compiled_forms import (
    form_moments,
    form_range,
    form_size,
    normal_above,
)
from testsgd.certification.proving.machine_code import compiled

# Shares that are not worth counting.
_LEAST_SHARE = 1e-6
_LEAST_UNFAIR = 1e-4
# Of sums of as many terms as there are axes.
_SUMS = 1e-14
# The same, for a sum of two forms; nine times what such sums err by.
_ROUNDING = 1e-15


@compiled
def choose_fair(
    flat: Flat, lo: Floats, hi: Floats, units: Units, scratch: Scratch, rows: Floats
) -> tuple[float, float]:
    """Choose the half-spaces where everybody is above and where everybody is below.

    They go to the first two of the scratch; gives roughly the shares of both.
    """
    width = flat.sizes[0]
    persons = len(flat.offsets)
    spaces = scratch.spaces
    thresholds = scratch.thresholds
    best_up = -1.0
    best_down = -1.0
    for i in range(width):
        x = 0.0
        y = 0.0
        for p in range(persons):
            x += scratch.form_low[p, i]
            y += scratch.form_high[p, i]
        rows[0, i] = x / persons
        rows[1, i] = y / persons
    axes = len(lo)
    low_size = form_size(rows[0], lo, hi, flat.kinds, flat.columns)
    high_size = form_size(rows[1], lo, hi, flat.kinds, flat.columns)
    shared_low = np.inf
    shared_high = -np.inf
    for p in range(persons):
        for i in range(width):
            rows[2, i] = scratch.form_low[p, i] - rows[0, i]
            rows[3, i] = scratch.form_high[p, i] - rows[1, i]
        x, _ = form_range(rows[2][:width], lo, hi, flat.kinds, flat.columns)
        _, y = form_range(rows[3][:width], lo, hi, flat.kinds, flat.columns)
        # A person's constants cover the rounding of that person's form, not of the mean.
        x -= (
            _SUMS
            * (axes + 4)
            * (low_size + form_size(scratch.form_low[p], lo, hi, flat.kinds, flat.columns))
        )
        y += (
            _SUMS
            * (axes + 4)
            * (high_size + form_size(scratch.form_high[p], lo, hi, flat.kinds, flat.columns))
        )
        shared_low = min(shared_low, scratch.constant_low[p] + x)
        shared_high = max(shared_high, scratch.constant_high[p] + y)
        # By how much the others may fall short of this person, or exceed it.
        dip = 0.0
        rise = 0.0
        own_least = units.least_change[p, 0] if p > 0 else 0.0
        own_most = units.most_change[p, 0] if p > 0 else 0.0
        for q in range(persons):
            if q != p:
                x = units.least_change[q, 0] if q > 0 else 0.0
                y = units.most_change[q, 0] if q > 0 else 0.0
                dip = min(dip, x - own_most)
                rise = max(rise, y - own_least)
        form = scratch.form_low[p]
        mean, variance = form_moments(form, lo, hi, flat.kinds, flat.columns)
        t = flat.above - scratch.constant_low[p] - dip
        estimate = normal_above(mean, variance, t)
        if estimate > best_up:
            best_up = estimate
            thresholds[0] = t
            for i in range(width):
                spaces[0, i] = form[i]
        form = scratch.form_high[p]
        mean, variance = form_moments(form, lo, hi, flat.kinds, flat.columns)
        t = flat.below - scratch.constant_high[p] - rise
        estimate = 1.0 - normal_above(mean, variance, t)
        if estimate > best_down:
            best_down = estimate
            thresholds[1] = -t
            for i in range(width):
                spaces[1, i] = -form[i]
    mean, variance = form_moments(rows[0][:width], lo, hi, flat.kinds, flat.columns)
    estimate = normal_above(mean, variance, flat.above - shared_low)
    if estimate > best_up:
        best_up = estimate
        thresholds[0] = flat.above - shared_low
        for i in range(width):
            spaces[0, i] = rows[0, i]
    mean, variance = form_moments(rows[1][:width], lo, hi, flat.kinds, flat.columns)
    estimate = 1.0 - normal_above(mean, variance, flat.below - shared_high)
    if estimate > best_down:
        best_down = estimate
        thresholds[1] = shared_high - flat.below
        for i in range(width):
            spaces[1, i] = -rows[1, i]
    if best_up <= _LEAST_SHARE:
        thresholds[0] = np.inf
    if best_down <= _LEAST_SHARE:
        thresholds[1] = np.inf
    return best_up, best_down


@compiled
def choose_unfair(flat: Flat, lo: Floats, hi: Floats, scratch: Scratch) -> float:
    """Choose two persons of whom one is above and another below; gives roughly their share."""
    width = flat.sizes[0]
    persons = len(flat.offsets)
    best = _LEAST_UNFAIR
    upper = -1
    lower = -1
    for p in range(persons):
        mean, variance = form_moments(scratch.form_low[p], lo, hi, flat.kinds, flat.columns)
        up = normal_above(mean, variance, flat.above - scratch.constant_low[p])
        if up <= best:
            continue
        for q in range(persons):
            if q == p:
                continue
            mean, variance = form_moments(scratch.form_high[q], lo, hi, flat.kinds, flat.columns)
            down = 1.0 - normal_above(mean, variance, flat.below - scratch.constant_high[q])
            if up + down - 1.0 > best:
                best = up + down - 1.0
                upper = p
                lower = q
    scratch.thresholds[2] = np.inf
    scratch.thresholds[3] = np.inf
    if upper < 0:
        return 0.0
    for i in range(width):
        scratch.spaces[2, i] = scratch.form_low[upper, i]
        scratch.spaces[3, i] = -scratch.form_high[lower, i]
    scratch.thresholds[2] = flat.above - scratch.constant_low[upper]
    scratch.thresholds[3] = scratch.constant_high[lower] - flat.below
    return best


@compiled
def _count(flat: Flat, lo: Floats, hi: Floats, place: int, bins: int, scratch: Scratch) -> float:
    """Count the points of a box in one half-space; gives at most their share."""
    share = share_above(
        scratch.spaces[place], scratch.thresholds[place], lo, hi, flat.kinds, flat.columns,
        flat.edges, flat.cumulative, flat.starts, flat.shifts, bins, scratch.order, scratch.spans,
        scratch.histogram, scratch.other,
    )  # fmt: skip
    scratch.counted[place] = share
    return share


@compiled
def _disjoint(
    flat: Flat, lo: Floats, hi: Floats, one: int, two: int, scratch: Scratch, row: Floats
) -> bool:
    """Say whether two half-spaces of a box surely have no point in common, or one has none."""
    if scratch.thresholds[one] == np.inf or scratch.thresholds[two] == np.inf:
        return True
    for i in range(flat.sizes[0]):
        row[i] = scratch.spaces[one, i] + scratch.spaces[two, i]
    # Whatever is in both has a sum of forms above the sum of thresholds.
    _, most = form_range(row[: flat.sizes[0]], lo, hi, flat.kinds, flat.columns)
    size = form_size(scratch.spaces[one], lo, hi, flat.kinds, flat.columns)
    size += form_size(scratch.spaces[two], lo, hi, flat.kinds, flat.columns)
    size += abs(scratch.thresholds[one]) + abs(scratch.thresholds[two])
    # With room for the rounding of these sums.
    reached = most + _ROUNDING * (len(lo) + 4) * size
    return bool(reached < scratch.thresholds[one] + scratch.thresholds[two])


@compiled
def count_half_spaces(
    flat: Flat, lo: Floats, hi: Floats, bins: int, scratch: Scratch, row: Floats
) -> tuple[float, float, float, int]:
    """Count the chosen half-spaces.

    Gives the shares that are surely fair and surely unfair; at most how much of the box is in the
    pieces that cover the rest, common parts counted as often; and which half-spaces are surely
    disjoint: 1 for everybody above and everybody below, 2 for these and one above and another
    below, 3 for both.
    """
    thresholds = scratch.thresholds
    for place in range(SPACES):
        scratch.counted[place] = 0.0
    lost = 0.0
    for place in range(4, SPACES):
        if thresholds[place] == -np.inf:
            break
        lost += 1.0 - _count(flat, lo, hi, place, bins, scratch)
        if lost >= 1.0:
            return 0.0, 0.0, 1.0, 0
    for place in range(2):
        if thresholds[place] < np.inf:
            _count(flat, lo, hi, place, bins, scratch)
    above = scratch.counted[0]
    below = scratch.counted[1]
    # Everything holds only for those for whom every assumption does. Half-spaces that contradict
    # each other may have common points among the others.
    apart = 3
    if lost > 0.0:
        apart = 1 if _disjoint(flat, lo, hi, 0, 1, scratch, row) else 0
        if _disjoint(flat, lo, hi, 1, 2, scratch, row) and _disjoint(
            flat, lo, hi, 0, 3, scratch, row
        ):
            apart += 2
    if apart % 2 == 1:
        fair = above + below - lost
        cover = 1.0 - above - below + lost
    else:
        # Common points are lost to both.
        fair = max(above - lost, 0.0) + max(below - lost, 0.0)
        cover = 1.0 - max(above, below) + lost
    fair = min(max(fair, 0.0), 1.0)
    unfair = 0.0
    if thresholds[2] < np.inf:
        one = _count(flat, lo, hi, 2, bins, scratch)
        other = _count(flat, lo, hi, 3, bins, scratch)
        unfair = min(max(one + other - 1.0 - lost, 0.0), 1.0 - fair)
        if apart == 3 and unfair > 0.0:
            cover = min(cover, 2.0 - above - below - one - other + lost)
    return fair, unfair, min(max(cover, 0.0), 1.0), apart
