"""Looking at boxes one by one in machine code, for narrow networks of ReLU layers.

The same as :mod:`testsgd.certification.proving.linear_bounds` and
:mod:`testsgd.certification.proving.half_spaces`, and one thing more: assumptions. A unit whose sum
may be on both sides of 0 makes a gap between the lines, and in a box of many inputs the gap is
large, because the bounds of the sum are reached in corners where hardly anybody is. If nearly all
points of the box are on one side, it is assumed that all are, which makes the unit a straight line.
The points for which an assumption fails are counted, rounded against us, and what is proved of the
box is less by their share. Bounds of later units, and of how persons differ, then hold for the
points for which every assumption holds.
"""

from __future__ import annotations

from math import erf, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from testsgd.certification.proving.compiled_bounds import (
    Floats,
    Units,
    axis_range,
    bound_first_layer,
    draw_lines,
    form_moments,
    form_range,
    interval,
    substitute,
)
from testsgd.certification.proving.compiled_counting import CATEGORY, OPTIONS, share_above

# Half-spaces of a box: everybody above, everybody below, one above, another below; assumptions.
ASSUMPTIONS = 16
SPACES = 4 + ASSUMPTIONS
# Shares that are not worth counting.
_LEAST_SHARE = 1e-6
_LEAST_UNFAIR = 1e-4
# Assumptions are tried if more than about this share of a box is left.
_MUCH = 0.1
# Of sums of as many terms as there are axes.
_SUMS = 1e-14
_ROOT_TWO = sqrt(2.0)


class Views(NamedTuple):
    """Where results go, a row a box; see :class:`testsgd.certification.proving.prover.Looked`."""

    status: NDArray[np.int8]
    fair: Floats
    unfair: Floats
    axis: NDArray[np.int64]
    expected: Floats
    known: NDArray[np.int8]
    forms: Floats
    thresholds: Floats


class Scratch(NamedTuple):
    """Room for one box's work."""

    form_low: Floats
    form_high: Floats
    constant_low: Floats
    constant_high: Floats
    out_low: Floats
    out_high: Floats
    next_least: Floats
    next_most: Floats
    spaces: Floats
    thresholds: Floats
    score: Floats
    order: NDArray[np.int64]
    spans: Floats
    histogram: Floats
    other: Floats


@njit(**OPTIONS)
def _normal_above(mean, variance, threshold):
    return 0.5 * (1.0 + erf((mean - threshold) / (sqrt(variance) * _ROOT_TWO)))


@njit(**OPTIONS)
def _count(flat, lo, hi, form, threshold, bins, scratch):
    return share_above(
        form, threshold, lo, hi, flat.kinds, flat.columns, flat.edges, flat.cumulative,
        flat.starts, flat.shifts, bins, scratch.order, scratch.spans, scratch.histogram,
        scratch.other,
    )  # fmt: skip


@njit(**OPTIONS)
def _assume(flat, form, sign, threshold, made, scratch):
    """Assume ``sign * form @ x > threshold``."""
    place = 4 + made
    for i in range(flat.sizes[0]):
        scratch.spaces[place, i] = sign * form[i]
    scratch.thresholds[place] = threshold


@njit(**OPTIONS)
def _assume_first_layer(flat, lo, hi, rare, units, scratch):
    """Assume sides for first-layer units; gives how many, and roughly how much fails.

    The persons' sums differ by a constant, so their assumptions are nested, and the strictest one
    implies the others.
    """
    width = flat.sizes[0]
    persons = len(flat.offsets)
    made = 0
    about = 0.0
    for m in range(flat.sizes[1]):
        bent = False
        for p in range(persons):
            if units.low[p, m] < 0.0 < units.high[p, m]:
                bent = True
        if not bent or flat.slopes[0] == 1.0:
            continue
        row = flat.weights[m * width : (m + 1) * width]
        mean, variance = form_moments(row, lo, hi, flat.kinds, flat.columns)
        strictest_on = np.inf
        strictest_off = -np.inf
        for p in range(persons):
            if not units.low[p, m] < 0.0 < units.high[p, m]:
                continue
            on = _normal_above(mean, variance, -flat.offsets[p, m])
            if 1.0 - on < rare:
                strictest_on = min(strictest_on, flat.offsets[p, m] - units.noise[p, m])
            elif on < rare:
                strictest_off = max(strictest_off, flat.offsets[p, m] + units.noise[p, m])
        taken_on = False
        taken_off = False
        if strictest_on < np.inf and made < ASSUMPTIONS:
            _assume(flat, row, 1.0, -strictest_on, made, scratch)
            about += 1.0 - _normal_above(mean, variance, -strictest_on)
            made += 1
            taken_on = True
        if strictest_off > -np.inf and made < ASSUMPTIONS:
            _assume(flat, row, -1.0, strictest_off, made, scratch)
            about += _normal_above(mean, variance, -strictest_off)
            made += 1
            taken_off = True
        for p in range(persons):
            if units.low[p, m] < 0.0 < units.high[p, m]:
                if taken_on and flat.offsets[p, m] - units.noise[p, m] >= strictest_on:
                    units.low[p, m] = 0.0
                elif taken_off and flat.offsets[p, m] + units.noise[p, m] <= strictest_off:
                    units.high[p, m] = 0.0
    return made, about


@njit(**OPTIONS)
def _assume_later(flat, lo, hi, p, j, lower, upper, below, above, rare, made, units, scratch):
    """Assume a side for a unit of a later layer, if its lines say that it is rarely on the other.

    Gives whether one was assumed, and roughly how much fails.
    """
    mean, variance = form_moments(lower, lo, hi, flat.kinds, flat.columns)
    off = 1.0 - _normal_above(mean, variance, -below)
    if off < rare:
        _assume(flat, lower, 1.0, -below, made, scratch)
        units.low[p, j] = 0.0
        return 1, off
    mean, variance = form_moments(upper, lo, hi, flat.kinds, flat.columns)
    on = _normal_above(mean, variance, -above)
    if on < rare:
        _assume(flat, upper, -1.0, above, made, scratch)
        units.high[p, j] = 0.0
        return 1, on
    return 0, 0.0


@njit(**OPTIONS)
def _gap(low, high, slope):
    """How far the lines around an activation are apart."""
    if low >= 0.0 or high <= 0.0:
        return 0.0
    chord = (high - slope * low) / (high - low)
    return max((slope - chord) * low, (1.0 - chord) * high)


@njit(**OPTIONS)
def _bound_sums(flat, lo, hi, rare, known, units, scratch, rows):
    """Bound all layers; gives how many assumptions were made, and roughly how much fails.

    `known` says of the units after the first layer whether they are surely on (1) or off (2) in
    this box, because they were in a larger one; without assumptions it is brought up to date.
    """
    layers = len(flat.sizes) - 1
    width = flat.sizes[0]
    persons = len(flat.offsets)
    neurons = flat.neuron_at[layers - 1]
    place = 0
    about = 0.0
    made = 0
    bound_first_layer(flat, lo, hi, units)
    for p in range(persons):
        for m in range(flat.sizes[1]):
            units.gap[p, m] = _gap(units.low[p, m], units.high[p, m], flat.slopes[0])
    if rare > 0.0:
        made, about = _assume_first_layer(flat, lo, hi, rare, units, scratch)
    for k in range(1, layers):
        draw_lines(flat, k - 1, units)
        final = k == layers - 1
        for p in range(persons):
            for r in range(flat.sizes[k + 1]):
                least, most, noise, fall, rise = interval(flat, k, p, r, units)
                j = flat.neuron_at[k] + r
                units.noise[p, j] = noise
                # The sums of both persons are rounded.
                scratch.next_least[r] = fall - noise - units.noise[0, j]
                scratch.next_most[r] = rise + noise + units.noise[0, j]
                if not final:
                    units.low[p, j] = least
                    units.high[p, j] = most
                    units.gap[p, j] = 0.0
                    place = p * (neurons - flat.sizes[1]) + j - flat.sizes[1]
                    if known[place] == 1:
                        units.low[p, j] = max(least, 0.0)
                        units.high[p, j] = max(most, 0.0)
                        continue
                    if known[place] == 2:
                        units.low[p, j] = min(least, 0.0)
                        units.high[p, j] = min(most, 0.0)
                        continue
                    if least >= 0.0 or most <= 0.0:
                        if rare <= 0.0:
                            known[place] = 1 if least >= 0.0 else 2
                        continue
                below, above = substitute(
                    flat, k, p, r, noise, units, rows[0], rows[1], rows[2], rows[3]
                )
                lower = rows[2][:width] if k % 2 == 1 else rows[0][:width]
                upper = rows[3][:width] if k % 2 == 1 else rows[1][:width]
                x, _ = form_range(lower, lo, hi, flat.kinds, flat.columns)
                _, y = form_range(upper, lo, hi, flat.kinds, flat.columns)
                least = max(least, x + below)
                most = min(most, y + above)
                if final:
                    scratch.out_low[p] = least
                    scratch.out_high[p] = most
                    scratch.constant_low[p] = below
                    scratch.constant_high[p] = above
                    for i in range(width):
                        scratch.form_low[p, i] = lower[i]
                        scratch.form_high[p, i] = upper[i]
                    continue
                units.low[p, j] = least
                units.high[p, j] = most
                if least >= 0.0 or most <= 0.0:
                    if rare <= 0.0:
                        known[place] = 1 if least >= 0.0 else 2
                    continue
                units.gap[p, j] = _gap(least, most, flat.slopes[k])
                for d in range(len(lo)):
                    a, b = axis_range(lower, flat.columns[d], flat.kinds[d], lo[d], hi[d])
                    c, e = axis_range(upper, flat.columns[d], flat.kinds[d], lo[d], hi[d])
                    units.reach[p, j, d] = max(b - a, e - c)
                if rare > 0.0 and made < ASSUMPTIONS and flat.slopes[k] != 1.0:
                    one, roughly = _assume_later(
                        flat, lo, hi, p, j, lower, upper, below, above, rare, made, units, scratch
                    )  # fmt: skip
                    made += one
                    about += roughly
            if p > 0:
                for r in range(flat.sizes[k + 1]):
                    units.least_change[p, r] = scratch.next_least[r]
                    units.most_change[p, r] = scratch.next_most[r]
    return made, about


@njit(**OPTIONS)
def _split_axis(flat, lo, hi, units, scratch):
    """Give the axis that does most to the gaps; -1 if every axis has one value."""
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


@njit(**OPTIONS)
def _size(form, lo, hi, flat):
    """Largest sum of the absolute terms of a form."""
    size = 0.0
    for d in range(len(lo)):
        c = flat.columns[d]
        if flat.kinds[d] == CATEGORY:
            most = 0.0
            for v in range(int(lo[d]), int(hi[d]) + 1):
                most = max(most, abs(form[c + v]))
            size += most
        else:
            size += abs(form[c]) * max(abs(lo[d]), abs(hi[d]))
    return size


@njit(**OPTIONS)
def _choose_fair(flat, lo, hi, units, scratch, rows):
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
    low_size = _size(rows[0], lo, hi, flat)
    high_size = _size(rows[1], lo, hi, flat)
    shared_low = np.inf
    shared_high = -np.inf
    for p in range(persons):
        for i in range(width):
            rows[2, i] = scratch.form_low[p, i] - rows[0, i]
            rows[3, i] = scratch.form_high[p, i] - rows[1, i]
        x, _ = form_range(rows[2][:width], lo, hi, flat.kinds, flat.columns)
        _, y = form_range(rows[3][:width], lo, hi, flat.kinds, flat.columns)
        # A person's constants cover the rounding of that person's form, not of the mean.
        x -= _SUMS * (axes + 4) * (low_size + _size(scratch.form_low[p], lo, hi, flat))
        y += _SUMS * (axes + 4) * (high_size + _size(scratch.form_high[p], lo, hi, flat))
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
        estimate = _normal_above(mean, variance, t)
        if estimate > best_up:
            best_up = estimate
            thresholds[0] = t
            for i in range(width):
                spaces[0, i] = form[i]
        form = scratch.form_high[p]
        mean, variance = form_moments(form, lo, hi, flat.kinds, flat.columns)
        t = flat.below - scratch.constant_high[p] - rise
        estimate = 1.0 - _normal_above(mean, variance, t)
        if estimate > best_down:
            best_down = estimate
            thresholds[1] = -t
            for i in range(width):
                spaces[1, i] = -form[i]
    mean, variance = form_moments(rows[0][:width], lo, hi, flat.kinds, flat.columns)
    estimate = _normal_above(mean, variance, flat.above - shared_low)
    if estimate > best_up:
        best_up = estimate
        thresholds[0] = flat.above - shared_low
        for i in range(width):
            spaces[0, i] = rows[0, i]
    mean, variance = form_moments(rows[1][:width], lo, hi, flat.kinds, flat.columns)
    estimate = 1.0 - _normal_above(mean, variance, flat.below - shared_high)
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


@njit(**OPTIONS)
def _choose_unfair(flat, lo, hi, scratch):
    """Choose two persons of whom one is above and another below; gives roughly their share."""
    width = flat.sizes[0]
    persons = len(flat.offsets)
    best = _LEAST_UNFAIR
    upper = -1
    lower = -1
    for p in range(persons):
        mean, variance = form_moments(scratch.form_low[p], lo, hi, flat.kinds, flat.columns)
        up = _normal_above(mean, variance, flat.above - scratch.constant_low[p])
        if up <= best:
            continue
        for q in range(persons):
            if q == p:
                continue
            mean, variance = form_moments(scratch.form_high[q], lo, hi, flat.kinds, flat.columns)
            down = 1.0 - _normal_above(mean, variance, flat.below - scratch.constant_high[q])
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


@njit(**OPTIONS)
def _bound_box(flat, lo, hi, rare, known, units, scratch, rows):
    """Bound a box and choose its half-spaces.

    Gives the status of the box, and roughly the share that they leave undecided.
    """
    persons = len(flat.offsets)
    for place in range(4, SPACES):
        scratch.thresholds[place] = -np.inf
    made, about = _bound_sums(flat, lo, hi, rare, known, units, scratch, rows)
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
    up, down = _choose_fair(flat, lo, hi, units, scratch, rows)
    pair = _choose_unfair(flat, lo, hi, scratch)
    left = 1.0 - max(up, 0.0) - max(down, 0.0) - pair
    return 0, min(max(left, 0.0) + about, 1.0)


@njit(**OPTIONS)
def _count_box(flat, lo, hi, bins, scratch, row):
    """Count the chosen half-spaces; gives the shares that are surely fair and surely unfair."""
    lost = 0.0
    for place in range(4, SPACES):
        if scratch.thresholds[place] == -np.inf:
            break
        lost += 1.0 - _count(
            flat, lo, hi, scratch.spaces[place], scratch.thresholds[place], bins, scratch
        )
        if lost >= 1.0:
            return 0.0, 0.0
    above = 0.0
    below = 0.0
    lost_to_both = False
    if scratch.thresholds[0] < np.inf:
        above = _count(flat, lo, hi, scratch.spaces[0], scratch.thresholds[0], bins, scratch)
    if scratch.thresholds[1] < np.inf:
        below = _count(flat, lo, hi, scratch.spaces[1], scratch.thresholds[1], bins, scratch)
    # Everything holds only for those for whom every assumption does. The two half-spaces may have
    # common points among the others; if so, these are lost to both.
    if lost > 0.0 and above > 0.0 and below > 0.0:
        for i in range(flat.sizes[0]):
            row[i] = scratch.spaces[0, i] + scratch.spaces[1, i]
        _, most = form_range(row[: flat.sizes[0]], lo, hi, flat.kinds, flat.columns)
        if most >= scratch.thresholds[0] + scratch.thresholds[1]:
            lost_to_both = True
    if lost_to_both:
        fair = max(above - lost, 0.0) + max(below - lost, 0.0)
    else:
        fair = max(above + below - lost, 0.0)
    fair = min(fair, 1.0)
    unfair = 0.0
    if scratch.thresholds[2] < np.inf:
        unfair = -1.0 - lost
        for place in range(2, 4):
            unfair += _count(
                flat, lo, hi, scratch.spaces[place], scratch.thresholds[place], bins, scratch
            )
        unfair = min(max(unfair, 0.0), 1.0 - fair)
    return fair, unfair


@njit(**OPTIONS)
def _look_at_one(flat, lo, hi, b, bins, rare, known, views, units, scratch, rows):
    """Look at one box without and, if much is left, with assumptions; the better is counted."""
    status, expected = _bound_box(flat, lo, hi, 0.0, known, units, scratch, rows)
    views.status[b] = status
    views.axis[b] = -1
    views.fair[b] = 1.0 if status == 1 else 0.0
    views.unfair[b] = 1.0 if status == 2 else 0.0
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
    fair, unfair = _count_box(flat, lo, hi, bins, scratch, rows[0])
    views.fair[b] = fair
    views.unfair[b] = unfair
    if len(views.forms) > 0:
        for place in range(SPACES):
            views.thresholds[b, place] = scratch.thresholds[place]
            for i in range(flat.sizes[0]):
                views.forms[b, place, i] = scratch.spaces[place, i]


@njit(**OPTIONS)
def look(flat, lo, hi, start, stop, bins, rare, views):
    """Look at boxes start..stop.

    Parameters
    ----------
    flat : Flat
    lo, hi : numpy.ndarray, shape (boxes, axes)
    start, stop : int
    bins : int
        How finely to count.
    rare : numpy.ndarray
        What to try: a unit is assumed to be on one side if less than about this part, of what is
        left undecided without assumptions, is on the other. Empty: no assumptions.
    views : Views
        Filled; `forms` and `thresholds` have a row a box, or none if they are not wanted.
    """
    persons = len(flat.offsets)
    axes = lo.shape[1]
    width = flat.sizes[0]
    widest = flat.sizes.max()
    neurons = flat.neuron_at[len(flat.sizes) - 2]
    shape = (persons, neurons)
    units = Units(
        np.zeros(shape), np.zeros(shape), np.zeros((persons, neurons + 1)), np.zeros(shape), np.zeros(shape),
        np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape),
        np.zeros((persons, neurons, axes)),
        np.zeros((persons, widest)), np.zeros((persons, widest)),
    )  # fmt: skip
    scratch = Scratch(
        np.zeros((persons, width)), np.zeros((persons, width)),
        np.zeros(persons), np.zeros(persons), np.zeros(persons), np.zeros(persons),
        np.zeros(widest), np.zeros(widest), np.zeros((SPACES, width)), np.zeros(SPACES),
        np.zeros(axes), np.zeros(axes, dtype=np.int64), np.zeros(axes),
        np.zeros(bins + 2), np.zeros(bins + 2),
    )  # fmt: skip
    rows = np.zeros((4, widest))
    for b in range(start, stop):
        _look_at_one(
            flat, lo[b], hi[b], b, bins, rare, views.known[b], views, units, scratch, rows
        )  # fmt: skip
