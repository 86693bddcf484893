"""Bounds of all sums of a network on one box in machine code, with assumptions if asked for.

A unit whose sum may be on both sides of 0 makes a gap between the lines, and in a box of many
inputs the gap is large, because the bounds of the sum are reached in corners where hardly anybody
is. If nearly all points of the box are on one side, it is assumed that all are, which makes the
unit a straight line. The points for which an assumption fails are counted, rounded against us, and
what is proved of the box is less by their share. Bounds of later units, and of how persons differ,
then hold for the points for which every assumption holds.
"""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_arrays import (
    ASSUMPTIONS,
    Flat,
    Marks,
    Scratch,
    Units,
)
from testsgd.certification.proving.compiled_bounds import (
    bound_first_layer,
    draw_lines,
    interval,
    substitute,
)
from testsgd.certification.proving.compiled_forms import (
    axis_range,
    form_moments,
    form_range,
    normal_above,
)
from testsgd.certification.proving.machine_code import compiled


@compiled
def _assume(
    flat: Flat, form: Floats, sign: float, threshold: float, made: int, scratch: Scratch
) -> None:
    """Assume ``sign * form @ x > threshold``."""
    place = 4 + made
    for i in range(flat.sizes[0]):
        scratch.spaces[place, i] = sign * form[i]
    scratch.thresholds[place] = threshold


@compiled
def _assume_first_layer(
    flat: Flat, lo: Floats, hi: Floats, rare: float, units: Units, scratch: Scratch
) -> tuple[int, float]:
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
            on = normal_above(mean, variance, -flat.offsets[p, m])
            if 1.0 - on < rare:
                strictest_on = min(strictest_on, flat.offsets[p, m] - units.noise[p, m])
            elif on < rare:
                strictest_off = max(strictest_off, flat.offsets[p, m] + units.noise[p, m])
        taken_on = False
        taken_off = False
        if strictest_on < np.inf and made < ASSUMPTIONS:
            _assume(flat, row, 1.0, -strictest_on, made, scratch)
            about += 1.0 - normal_above(mean, variance, -strictest_on)
            made += 1
            taken_on = True
        if strictest_off > -np.inf and made < ASSUMPTIONS:
            _assume(flat, row, -1.0, strictest_off, made, scratch)
            about += normal_above(mean, variance, -strictest_off)
            made += 1
            taken_off = True
        for p in range(persons):
            if units.low[p, m] < 0.0 < units.high[p, m]:
                if taken_on and flat.offsets[p, m] - units.noise[p, m] >= strictest_on:
                    units.low[p, m] = 0.0
                elif taken_off and flat.offsets[p, m] + units.noise[p, m] <= strictest_off:
                    units.high[p, m] = 0.0
    return made, about


@compiled
def _assume_later(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    p: int,
    j: int,
    lower: Floats,
    upper: Floats,
    below: float,
    above: float,
    rare: float,
    made: int,
    units: Units,
    scratch: Scratch,
) -> tuple[int, float]:
    """Assume a side for a unit of a later layer, if its lines say that it is rarely on the other.

    Gives whether one was assumed, and roughly how much fails.
    """
    mean, variance = form_moments(lower, lo, hi, flat.kinds, flat.columns)
    off = 1.0 - normal_above(mean, variance, -below)
    if off < rare:
        _assume(flat, lower, 1.0, -below, made, scratch)
        units.low[p, j] = 0.0
        return 1, off
    mean, variance = form_moments(upper, lo, hi, flat.kinds, flat.columns)
    on = normal_above(mean, variance, -above)
    if on < rare:
        _assume(flat, upper, -1.0, above, made, scratch)
        units.high[p, j] = 0.0
        return 1, on
    return 0, 0.0


@compiled
def _gap(low: float, high: float, slope: float) -> float:
    """How far the lines around an activation are apart."""
    if low >= 0.0 or high <= 0.0:
        return 0.0
    chord = (high - slope * low) / (high - low)
    return max((slope - chord) * low, (1.0 - chord) * high)


@compiled
def bound_sums(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    rare: float,
    known: Marks,
    units: Units,
    scratch: Scratch,
    rows: Floats,
) -> tuple[int, float]:
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
