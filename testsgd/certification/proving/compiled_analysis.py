"""Boxes analysed one by one in compiled code, for narrow networks of ReLU layers.

The same as :mod:`testsgd.certification.proving.half_spaces`: which half-spaces to count, and what
the counts prove, less the share of the points for which an assumption fails. Where much of a box is
left undecided, it is analysed again under assumptions.

"""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_bounds import (
    SPACES,
    Flat,
    Marks,
    Scratch,
    Units,
    Views,
    bound_sums,
)
from testsgd.certification.proving.compiled_counting import (
    axis_range,
    compiled,
    form_moments,
    form_range,
    form_size,
    normal_above,
    share_above,
)

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
    """Return whether two half-spaces of a box surely have no point in common, or one has none."""
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


# Assumptions are tried if more than about this share of a box is left.
_MUCH = 0.1


@compiled
def _bound_box(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    rare: float,
    known: Marks,
    units: Units,
    scratch: Scratch,
    rows: Floats,
) -> tuple[int, float]:
    """Bound a box and choose its half-spaces.

    Gives the status of the box, and roughly the share that they leave undecided.
    """
    persons = len(flat.offsets)
    for place in range(4, SPACES):
        scratch.thresholds[place] = -np.inf
    made, about = bound_sums(flat, lo, hi, rare, known, units, scratch, rows)
    if made == 0:
        ups = 0
        downs = 0
        for p in range(persons):
            if scratch.out_low[p] > flat.above:
                ups += 1
            if scratch.out_high[p] < flat.below:
                downs += 1
        if ups == persons or downs == persons:
            return 1, 0.0
        if ups > 0 and downs > 0:
            return 2, 0.0
    up, down = choose_fair(flat, lo, hi, units, scratch, rows)
    pair = choose_unfair(flat, lo, hi, scratch)
    left = 1.0 - max(up, 0.0) - max(down, 0.0) - pair
    return 0, min(max(left, 0.0) + about, 1.0)


@compiled
def _split_axis(flat: Flat, lo: Floats, hi: Floats, units: Units, scratch: Scratch) -> int:
    """Return the axis that does most to the gaps; -1 if every axis has one value."""
    axes = len(lo)
    score = scratch.score
    for d in range(axes):
        score[d] = 0.0
    for p in range(len(flat.offsets)):
        for j in range(flat.neuron_at[len(flat.sizes) - 2]):
            if units.gap[p, j] > 0.0:
                whole = 1e-300
                for d in range(axes):
                    whole += units.reach[p, j, d]
                part = units.gap[p, j] * units.sense[p, j] / whole
                for d in range(axes):
                    score[d] += part * units.reach[p, j, d]
    best = -1
    for d in range(axes):
        if hi[d] > lo[d] and (best < 0 or score[d] > score[best]):
            best = d
    if best >= 0 and score[best] <= 0.0:
        # No gap: what is left is lost to counting, so the widest part of the sum is halved.
        most = -1.0
        for d in range(axes):
            if hi[d] > lo[d]:
                a, b = axis_range(scratch.form_low[0], flat.columns[d], flat.kinds[d], lo[d], hi[d])
                if b - a > most:
                    most = b - a
                    best = d
    return best


@compiled
def _analyse_box(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    b: int,
    bins: int,
    rare: Floats,
    known: Marks,
    views: Views,
    units: Units,
    scratch: Scratch,
    rows: Floats,
) -> None:
    """Look at one box without and, if much is left, with assumptions; the better is counted."""
    status, expected = _bound_box(flat, lo, hi, 0.0, known, units, scratch, rows)
    views.status[b] = status
    views.axis[b] = -1
    views.fair[b] = 1.0 if status == 1 else 0.0
    views.unfair[b] = 1.0 if status == 2 else 0.0
    views.cover[b] = 0.0
    views.apart[b] = 3
    views.expected[b] = 0.0
    if status != 0:
        return
    views.axis[b] = _split_axis(flat, lo, hi, units, scratch)
    if expected > _MUCH:
        best = 0.0
        tried = 0.0
        for place in range(len(rare)):
            tried = rare[place] * expected
            _, left = _bound_box(flat, lo, hi, tried, known, units, scratch, rows)
            if left < expected:
                expected = left
                best = tried
        if tried != best:
            _bound_box(flat, lo, hi, best, known, units, scratch, rows)
    views.expected[b] = expected
    fair, unfair, cover, apart = count_half_spaces(flat, lo, hi, bins, scratch, rows[0])
    views.fair[b] = fair
    views.unfair[b] = unfair
    views.cover[b] = cover
    views.apart[b] = apart
    if len(views.forms) > 0:
        for place in range(SPACES):
            views.thresholds[b, place] = scratch.thresholds[place]
            views.counted[b, place] = scratch.counted[place]
            for i in range(flat.sizes[0]):
                views.forms[b, place, i] = scratch.spaces[place, i]


@compiled
def analyse_boxes(
    flat: Flat, lo: Floats, hi: Floats, start: int, stop: int, bins: int, rare: Floats, views: Views
) -> None:
    """Look at boxes start..stop.

    `lo`, `hi`: shape (boxes, axes); `rare`: what to try: a unit is assumed to be on one side if
    less than about this part, of what is left undecided without assumptions, is on the other.
    Empty: no assumptions; `views`: filled; `forms`, `thresholds` and `counted` have a row a box, or
    none if not wanted.
    """
    persons = len(flat.offsets)
    axes = lo.shape[1]
    width = flat.sizes[0]
    widest = flat.sizes.max()
    neurons = flat.neuron_at[len(flat.sizes) - 2]
    shape = (persons, neurons)
    units = Units(
        np.zeros(shape), np.zeros(shape), np.zeros((persons, neurons + 1)),
        np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape),
        np.zeros(shape), np.zeros(shape), np.zeros((persons, neurons, axes)),
        np.zeros((persons, widest)), np.zeros((persons, widest)),
    )  # fmt: skip
    scratch = Scratch(
        np.zeros((persons, width)), np.zeros((persons, width)),
        np.zeros(persons), np.zeros(persons), np.zeros(persons), np.zeros(persons),
        np.zeros(widest), np.zeros(widest), np.zeros((SPACES, width)), np.zeros(SPACES),
        np.zeros(SPACES),
        np.zeros(axes), np.zeros(axes, dtype=np.int64), np.zeros(axes),
        np.zeros(bins + 2), np.zeros(bins + 2),
    )  # fmt: skip
    rows = np.zeros((4, widest))
    for b in range(start, stop):
        known = views.known[b]
        _analyse_box(flat, lo[b], hi[b], b, bins, rare, known, views, units, scratch, rows)
