"""Bounds of all sums of a network on one box, compiled, with assumptions if asked for.

The mathematics of :mod:`testsgd.certification.proving.linear_bounds`, for units that are 0 or the
identity below 0, and one thing more. A unit whose sum may be on both sides of 0 makes a large gap
between the lines in a box of many inputs, because bounds are reached in corners where hardly
anybody is. If nearly all points are on one side, all are assumed to be, which makes the unit a
straight line. The points that fail an assumption are counted, rounded against us, and what is
proved of the box is less by their share. Later bounds hold where every assumption holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import CATEGORY, AxisArrays, Box, Floats, Ints
from testsgd.certification.proving.compiled_counting import (
    Histogram,
    axis_range,
    compiled,
    form_above,
    form_moments,
    form_range,
    normal_above,
)
from testsgd.certification.proving.compiled_half_spaces import Forms, Spaces
from testsgd.certification.proving.half_spaces import ASSUMPTIONS

Marks = NDArray[np.int8]


class Flat(NamedTuple):
    """A problem for the compiled code; made by the prover.

    `sizes` are the columns and the units of each layer; `weights` hold a row a unit, layer after
    layer from `weight_at`; units are numbered through all layers, those of layer k from
    `neuron_at[k]`. `last_absolute` are the absolute terms of the deciding sum, its bias last.
    """

    sizes: Ints
    weights: Floats
    weight_at: Ints
    neuron_at: Ints
    biases: Floats
    extra: Floats
    slopes: Floats
    rounding: Floats
    offsets: Floats
    offset_noise: Floats
    first_absolute: Floats
    last_absolute: Floats
    above: float
    below: float
    axes: AxisArrays


class Units(NamedTuple):
    """What is known of each person's units, shape (persons, units) but for `reach`.

    `low` and `high` bound the model's own sums, which lie at most `noise` from the exact ones; the
    activation is between ``alpha * x + under`` and ``chord * x + over``, at most `gap` apart.
    `sense` is how much the deciding sum depends on a unit, `reach` (persons, units, axes) what each
    axis does.
    """

    low: Floats
    high: Floats
    noise: Floats
    alpha: Floats
    chord: Floats
    under: Floats
    over: Floats
    gap: Floats
    sense: Floats
    reach: Floats
    least_change: Floats
    most_change: Floats


class Scratch(NamedTuple):
    """Room for one box's work."""

    forms: Forms
    spaces: Spaces
    histogram: Histogram
    out_low: Floats
    out_high: Floats
    next_least: Floats
    next_most: Floats
    score: Floats
    rows: Floats


@compiled.inner
def activate(x: float, slope: float) -> float:
    """Compute the activation."""
    return x if x > 0.0 else slope * x


@compiled.inner
def bound_first_layer(flat: Flat, box: Box, units: Units) -> None:
    """Bound the first layer's sums, which differ between persons by a constant only."""
    width = flat.sizes[0]
    persons = len(flat.offsets)
    for m in range(flat.sizes[1]):
        row = flat.weights[m * width : (m + 1) * width]
        absolute = flat.first_absolute[m * width : (m + 1) * width]
        minimum = 0.0
        maximum = 0.0
        noise = 0.0
        for d in range(len(box.lo)):
            c = box.columns[d]
            p, q = axis_range(row, box, d)
            if box.kinds[d] == CATEGORY:
                biggest = 0.0
                for v in range(int(box.lo[d]), int(box.hi[d]) + 1):
                    biggest = max(biggest, absolute[c + v])
                noise += biggest
            else:
                noise += absolute[c] * max(abs(box.lo[d]), abs(box.hi[d]))
            minimum += p
            maximum += q
            for person in range(persons):
                units.reach[person, m, d] = q - p
        for p in range(persons):
            own = noise + flat.offset_noise[p, m]
            units.low[p, m] = minimum + flat.offsets[p, m] - own
            units.high[p, m] = maximum + flat.offsets[p, m] + own
            units.noise[p, m] = own
            change = flat.offsets[p, m] - flat.offsets[0, m]
            both = own + noise + flat.offset_noise[0, m]
            units.least_change[p, m] = change - both
            units.most_change[p, m] = change + both


@compiled.inner
def draw_lines(flat: Flat, k: int, units: Units) -> None:
    """Write lines around the activations of hidden layer k, and how persons differ after it.

    For a unit whose sum x lies from a < 0 to z > 0 they are ``alpha * x <= f(x) <= chord * x +
    gap``, with ``chord = (z - slope * a) / (z - a)``. A change d of a person's sum changes the
    activation by ``f(x + d) - f(x)``, which grows with x where d > 0 and falls where d < 0, as f is
    convex; so its bounds are those at the ends of x.
    """
    begin = flat.neuron_at[k]
    slope = flat.slopes[k]
    persons = len(flat.offsets)
    for p in range(persons):
        for j in range(begin, begin + flat.sizes[k + 1]):
            a = units.low[p, j]
            z = units.high[p, j]
            noise = units.noise[p, j]
            if a >= 0.0 or z <= 0.0:
                steep = 1.0 if a >= 0.0 else slope
                units.alpha[p, j] = steep
                units.chord[p, j] = steep
                units.under[p, j] = -steep * noise
                units.over[p, j] = steep * noise
                continue
            chord = (z - slope * a) / (z - a)
            gap = max((slope - chord) * a, (1.0 - chord) * z)
            alpha = 1.0 if z > -a else slope
            units.alpha[p, j] = alpha
            units.chord[p, j] = chord
            units.under[p, j] = -alpha * noise
            units.over[p, j] = gap * (1.0 + 1e-14) + chord * noise
    for p in range(1, persons):
        for i in range(flat.sizes[k + 1]):
            j = begin + i
            a = units.least_change[p, i]
            z = units.most_change[p, i]
            low = units.low[0, j]
            high = units.high[0, j]
            # Convex: the more it rises, the further right one starts.
            x = low if a >= 0.0 else high
            fall = activate(x + a, slope) - activate(x, slope)
            x = high if z >= 0.0 else low
            rise = activate(x + z, slope) - activate(x, slope)
            fall = max(fall, activate(units.low[p, j], slope) - activate(high, slope))
            rise = min(rise, activate(units.high[p, j], slope) - activate(low, slope))
            units.least_change[p, i] = fall
            units.most_change[p, i] = rise


@compiled.inner
def interval(
    flat: Flat, k: int, p: int, r: int, units: Units
) -> tuple[float, float, float, float, float]:
    """Bound sum r of layer k of person p by intervals of the activations before it.

    Returns the least and the largest sum, its noise, and the least and the largest difference from
    the sum of the first person, without the noise of both.
    """
    n = flat.sizes[k]
    begin = flat.neuron_at[k - 1]
    slope = flat.slopes[k - 1]
    row = flat.weights[flat.weight_at[k] + r * n : flat.weight_at[k] + (r + 1) * n]
    bias = flat.biases[flat.neuron_at[k] + r]
    final = k == len(flat.sizes) - 2
    minimum = bias
    maximum = bias
    magnitude = flat.last_absolute[n] if final else abs(bias)
    fall = 0.0
    rise = 0.0
    for i in range(n):
        w = row[i]
        x = activate(units.low[p, begin + i], slope)
        y = activate(units.high[p, begin + i], slope)
        size = flat.last_absolute[i] if final else abs(w)
        magnitude += size * max(abs(x), abs(y))
        x *= w
        y *= w
        minimum += min(x, y)
        maximum += max(x, y)
    if p > 0:
        for i in range(n):
            x = row[i] * units.least_change[p, i]
            y = row[i] * units.most_change[p, i]
            fall += min(x, y)
            rise += max(x, y)
    noise = flat.rounding[k] * magnitude + flat.extra[flat.neuron_at[k] + r]
    return minimum - noise, maximum + noise, noise, fall, rise


@compiled
def substitute(
    flat: Flat,
    k: int,
    p: int,
    r: int,
    noise: float,
    units: Units,
    lower: Floats,
    upper: Floats,
    lower_next: Floats,
    upper_next: Floats,
) -> tuple[float, float]:
    """Bound sum r of layer k of person p by lines in the columns, and return their constants.

    Backwards through the layers, a positive coefficient c of the lower line replaces an activation
    by its lower line, ``c * (alpha * x + under)``, a negative one by its upper line, ``c * (chord *
    x + over)``; in the upper line it is the other way round. The coefficients are left in `lower`
    and `upper` if `k` is even, else in `lower_next` and `upper_next`.
    """
    n = flat.sizes[k]
    row = flat.weights[flat.weight_at[k] + r * n : flat.weight_at[k] + (r + 1) * n]
    bias = flat.biases[flat.neuron_at[k] + r]
    final = k == len(flat.sizes) - 2
    below = bias - noise
    above = bias + noise
    for i in range(n):
        lower[i] = row[i]
        upper[i] = row[i]
    for back in range(k - 1, -1, -1):
        first = flat.neuron_at[back]
        for i in range(n):
            j = first + i
            x = lower[i]
            y = upper[i]
            if final:
                units.sense[p, j] = max(abs(x), abs(y))
            if x > 0.0:
                below += x * units.under[p, j]
                lower[i] = x * units.alpha[p, j]
            else:
                below += x * units.over[p, j]
                lower[i] = x * units.chord[p, j]
            if y > 0.0:
                above += y * units.over[p, j]
                upper[i] = y * units.chord[p, j]
            else:
                above += y * units.under[p, j]
                upper[i] = y * units.alpha[p, j]
        before = flat.sizes[back]
        for i in range(before):
            lower_next[i] = 0.0
            upper_next[i] = 0.0
        for m in range(n):
            x = lower[m]
            y = upper[m]
            if x == 0.0 and y == 0.0:
                continue
            bias = flat.biases[first + m] if back > 0 else flat.offsets[p, m]
            below += x * bias
            above += y * bias
            at = flat.weight_at[back] + m * before
            for i in range(before):
                w = flat.weights[at + i]
                lower_next[i] += x * w
                upper_next[i] += y * w
        lower, lower_next = lower_next, lower
        upper, upper_next = upper_next, upper
        n = before
    return below, above


@compiled.inner
def _assume(form: Floats, sign: float, threshold: float, assumptions: int, spaces: Spaces) -> None:
    """Add the assumption ``sign * form @ x > threshold`` to `assumptions` earlier ones."""
    for i in range(len(form)):
        spaces.forms[4 + assumptions, i] = sign * form[i]
    spaces.thresholds[4 + assumptions] = threshold


@compiled.inner
def _assume_first_layer(
    flat: Flat, box: Box, rare: float, units: Units, spaces: Spaces
) -> tuple[int, float]:
    """Assume sides for units of the first layer; return how many, and roughly the share that fails.

    The persons' sums differ by a constant, so their assumptions are nested, and the strictest one
    implies the others.
    """
    width = flat.sizes[0]
    persons = len(flat.offsets)
    assumptions = 0
    failing = 0.0
    for m in range(flat.sizes[1]):
        bent = False
        for p in range(persons):
            if units.low[p, m] < 0.0 < units.high[p, m]:
                bent = True
        if not bent or flat.slopes[0] == 1.0:
            continue
        row = flat.weights[m * width : (m + 1) * width]
        mean, variance = form_moments(row, box)
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
        assumed_on = False
        assumed_off = False
        if strictest_on < np.inf and assumptions < ASSUMPTIONS:
            _assume(row, 1.0, -strictest_on, assumptions, spaces)
            failing += 1.0 - normal_above(mean, variance, -strictest_on)
            assumptions += 1
            assumed_on = True
        if strictest_off > -np.inf and assumptions < ASSUMPTIONS:
            _assume(row, -1.0, strictest_off, assumptions, spaces)
            failing += normal_above(mean, variance, -strictest_off)
            assumptions += 1
            assumed_off = True
        for p in range(persons):
            if units.low[p, m] < 0.0 < units.high[p, m]:
                if assumed_on and flat.offsets[p, m] - units.noise[p, m] >= strictest_on:
                    units.low[p, m] = 0.0
                elif assumed_off and flat.offsets[p, m] + units.noise[p, m] <= strictest_off:
                    units.high[p, m] = 0.0
    return assumptions, failing


@compiled.inner
def _assume_later(
    box: Box,
    p: int,
    j: int,
    lower: Floats,
    upper: Floats,
    below: float,
    above: float,
    rare: float,
    assumptions: int,
    units: Units,
    spaces: Spaces,
) -> tuple[int, float]:
    """Assume a side for unit j if it is rarely on the other; return how many, and what fails."""
    off = 1.0 - form_above(lower, -below, box)
    if off < rare:
        _assume(lower, 1.0, -below, assumptions, spaces)
        units.low[p, j] = 0.0
        return 1, off
    on = form_above(upper, -above, box)
    if on < rare:
        _assume(upper, -1.0, above, assumptions, spaces)
        units.high[p, j] = 0.0
        return 1, on
    return 0, 0.0


@compiled.inner
def _gap(low: float, high: float, slope: float) -> float:
    """Return the largest distance between the lines around an activation.

    With the chord c = (high - slope * low) / (high - low) it is ``max((slope - c) * low,
    (1 - c) * high)``; 0 where the unit is a straight line.
    """
    if low >= 0.0 or high <= 0.0:
        return 0.0
    chord = (high - slope * low) / (high - low)
    return max((slope - chord) * low, (1.0 - chord) * high)


@compiled.inner
def bound_sums(
    flat: Flat, box: Box, rare: float, known: Marks, units: Units, scratch: Scratch
) -> tuple[int, float]:
    """Bound all layers; return the number of assumptions, and roughly the share that fails.

    `known` says of the units after the first layer whether they are surely on (1) or off (2) in
    this box, because they were in a larger one; without assumptions it is brought up to date.
    """
    layers = len(flat.sizes) - 1
    width = flat.sizes[0]
    rows = scratch.rows
    forms = scratch.forms
    persons = len(flat.offsets)
    neurons = flat.neuron_at[layers - 1]
    index = 0
    failing = 0.0
    assumptions = 0
    bound_first_layer(flat, box, units)
    for p in range(persons):
        for m in range(flat.sizes[1]):
            units.gap[p, m] = _gap(units.low[p, m], units.high[p, m], flat.slopes[0])
    if rare > 0.0:
        assumptions, failing = _assume_first_layer(flat, box, rare, units, scratch.spaces)
    for k in range(1, layers):
        draw_lines(flat, k - 1, units)
        final = k == layers - 1
        for p in range(persons):
            for r in range(flat.sizes[k + 1]):
                minimum, maximum, noise, fall, rise = interval(flat, k, p, r, units)
                j = flat.neuron_at[k] + r
                units.noise[p, j] = noise
                # The sums of both persons are rounded.
                scratch.next_least[r] = fall - noise - units.noise[0, j]
                scratch.next_most[r] = rise + noise + units.noise[0, j]
                if not final:
                    units.low[p, j] = minimum
                    units.high[p, j] = maximum
                    units.gap[p, j] = 0.0
                    index = p * (neurons - flat.sizes[1]) + j - flat.sizes[1]
                    if known[index] == 1:
                        units.low[p, j] = max(minimum, 0.0)
                        units.high[p, j] = max(maximum, 0.0)
                        continue
                    if known[index] == 2:
                        units.low[p, j] = min(minimum, 0.0)
                        units.high[p, j] = min(maximum, 0.0)
                        continue
                    if minimum >= 0.0 or maximum <= 0.0:
                        if rare <= 0.0:
                            known[index] = 1 if minimum >= 0.0 else 2
                        continue
                below, above = substitute(
                    flat, k, p, r, noise, units, rows[0], rows[1], rows[2], rows[3]
                )
                lower = rows[2][:width] if k % 2 == 1 else rows[0][:width]
                upper = rows[3][:width] if k % 2 == 1 else rows[1][:width]
                x, _ = form_range(lower, box)
                _, y = form_range(upper, box)
                minimum = max(minimum, x + below)
                maximum = min(maximum, y + above)
                if final:
                    scratch.out_low[p] = minimum
                    scratch.out_high[p] = maximum
                    forms.low_constant[p] = below
                    forms.high_constant[p] = above
                    if p > 0:
                        forms.least_change[p] = scratch.next_least[r]
                        forms.most_change[p] = scratch.next_most[r]
                    for i in range(width):
                        forms.low[p, i] = lower[i]
                        forms.high[p, i] = upper[i]
                    continue
                units.low[p, j] = minimum
                units.high[p, j] = maximum
                if minimum >= 0.0 or maximum <= 0.0:
                    if rare <= 0.0:
                        known[index] = 1 if minimum >= 0.0 else 2
                    continue
                units.gap[p, j] = _gap(minimum, maximum, flat.slopes[k])
                for d in range(len(box.lo)):
                    a, b = axis_range(lower, box, d)
                    c, e = axis_range(upper, box, d)
                    units.reach[p, j, d] = max(b - a, e - c)
                if rare > 0.0 and assumptions < ASSUMPTIONS and flat.slopes[k] != 1.0:
                    more, fails = _assume_later(
                        box,
                        p,
                        j,
                        lower,
                        upper,
                        below,
                        above,
                        rare,
                        assumptions,
                        units,
                        scratch.spaces,
                    )
                    assumptions += more
                    failing += fails
            if p > 0:
                for r in range(flat.sizes[k + 1]):
                    units.least_change[p, r] = scratch.next_least[r]
                    units.most_change[p, r] = scratch.next_most[r]
    return assumptions, failing
