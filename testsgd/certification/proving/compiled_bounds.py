"""Bounds of one box in machine code: first layer, lines, differences between persons, substitution.

The same mathematics as :mod:`testsgd.certification.proving.linear_bounds` and
:mod:`testsgd.certification.proving.relaxation`, for units that are 0 or the identity below 0.
"""

from __future__ import annotations

from testsgd.certification.proving.axes import CATEGORY, Floats
from testsgd.certification.proving.compiled_arrays import Flat, Units
from testsgd.certification.proving.compiled_forms import axis_range
from testsgd.certification.proving.machine_code import compiled


@compiled
def activate(x: float, slope: float) -> float:
    """Compute the activation."""
    return x if x > 0.0 else slope * x


@compiled
def bound_first_layer(flat: Flat, lo: Floats, hi: Floats, units: Units) -> None:
    """Bound the first layer's sums, which differ between persons by a constant only."""
    axes = len(lo)
    width = flat.sizes[0]
    persons = len(flat.offsets)
    for m in range(flat.sizes[1]):
        row = flat.weights[m * width : (m + 1) * width]
        absolute = flat.first_absolute[m * width : (m + 1) * width]
        least = 0.0
        most = 0.0
        noise = 0.0
        for d in range(axes):
            c = flat.columns[d]
            p, q = axis_range(row, c, flat.kinds[d], lo[d], hi[d])
            if flat.kinds[d] == CATEGORY:
                biggest = 0.0
                for v in range(int(lo[d]), int(hi[d]) + 1):
                    biggest = max(biggest, absolute[c + v])
                noise += biggest
            else:
                noise += absolute[c] * max(abs(lo[d]), abs(hi[d]))
            least += p
            most += q
            for person in range(persons):
                units.reach[person, m, d] = q - p
        for p in range(persons):
            own = noise + flat.offset_noise[p, m]
            units.low[p, m] = least + flat.offsets[p, m] - own
            units.high[p, m] = most + flat.offsets[p, m] + own
            units.noise[p, m] = own
            change = flat.offsets[p, m] - flat.offsets[0, m]
            both = own + noise + flat.offset_noise[0, m]
            units.least_change[p, m] = change - both
            units.most_change[p, m] = change + both


@compiled
def draw_lines(flat: Flat, k: int, units: Units) -> None:
    """Lines below and above the activations of hidden layer k, and how persons differ after it."""
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


@compiled
def interval(
    flat: Flat, k: int, p: int, r: int, units: Units
) -> tuple[float, float, float, float, float]:
    """Bound sum r of layer k from the activations before it; also by how much persons differ.

    Gives least, most, noise, and the least and most change without the noise of both persons.
    """
    n = flat.sizes[k]
    begin = flat.neuron_at[k - 1]
    slope = flat.slopes[k - 1]
    row = flat.weights[flat.weight_at[k] + r * n : flat.weight_at[k] + (r + 1) * n]
    bias = flat.biases[flat.neuron_at[k] + r]
    final = k == len(flat.sizes) - 2
    least = bias
    most = bias
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
        least += min(x, y)
        most += max(x, y)
    if p > 0:
        for i in range(n):
            x = row[i] * units.least_change[p, i]
            y = row[i] * units.most_change[p, i]
            fall += min(x, y)
            rise += max(x, y)
    noise = flat.rounding[k] * magnitude + flat.extra[flat.neuron_at[k] + r]
    return least - noise, most + noise, noise, fall, rise


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
    """Write sum r of layer k as lines in the columns; gives their constants.

    The coefficients are left in `lower` and `upper` if `k` is even, else in the other two.
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
