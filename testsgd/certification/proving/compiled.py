"""Looking at boxes one by one in machine code, for narrow networks of ReLU layers.

The same bounds as :mod:`testsgd.certification.proving.linear_bounds`.
"""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
from numba import njit

from testsgd.certification.proving.compiled_counting import CATEGORY, OPTIONS, share_above

_ROOT_TWO = sqrt(2.0)


@njit(**OPTIONS)
def _axis_range(form, c, kind, lo, hi):
    if kind == CATEGORY:
        least = form[c + int(lo)]
        most = least
        for v in range(int(lo) + 1, int(hi) + 1):
            least = min(least, form[c + v])
            most = max(most, form[c + v])
        return least, most
    a = form[c]
    if a > 0.0:
        return a * lo, a * hi
    return a * hi, a * lo


@njit(**OPTIONS)
def _range_of(form, lo, hi, kinds, columns):
    least = 0.0
    most = 0.0
    for d in range(len(lo)):
        a, b = _axis_range(form, columns[d], kinds[d], lo[d], hi[d])
        least += a
        most += b
    return least, most


@njit(**OPTIONS)
def _moments(form, lo, hi, kinds, columns):
    """Mean and variance of a form over a box, all points alike; only chooses, proves nothing."""
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
            w = hi[d] - lo[d] + 1.0
            mean += a * (lo[d] + hi[d]) * 0.5
            variance += a * a * (w * w - 1.0) / 12.0
    return mean, variance


@njit(**OPTIONS)
def _normal_above(mean, variance, threshold):
    return 0.5 * (1.0 + erf((mean - threshold) / (sqrt(variance) * _ROOT_TWO)))


@njit(**OPTIONS)
def _act(x, slope):
    return x if x > 0.0 else slope * x


@njit(**OPTIONS)
def look(
    lo, hi, start, stop, bins,
    sizes, weights, weight_at, neuron_at, biases, extra, slopes, rounding,
    offsets, offset_noise, first_absolute, last_absolute, above, below,
    kinds, columns, edges, cumulative, starts, shifts,
    status, fair, unfair, axis, expected, forms, thresholds,
):
    """Look at boxes start..stop, see :class:`testsgd.certification.proving.prover.Looked`.

    forms and thresholds have a row a box (or no rows: then the half-spaces are not kept).
    """
    keep = len(forms) > 0
    layers = len(sizes) - 1          # affine maps
    hidden = layers - 1
    width = sizes[0]
    persons = len(offsets)
    axes = lo.shape[1]
    neurons = neuron_at[hidden]
    widest = 0
    for k in range(layers + 1):
        widest = max(widest, sizes[k])
    low = np.zeros((persons, neurons))
    high = np.zeros((persons, neurons))
    alpha = np.zeros((persons, neurons))
    chord = np.zeros((persons, neurons))
    under = np.zeros((persons, neurons))
    over = np.zeros((persons, neurons))
    gap = np.zeros((persons, neurons))
    sense = np.zeros((persons, neurons))
    reach = np.zeros((persons, neurons, axes))
    least_change = np.zeros((persons, widest))
    most_change = np.zeros((persons, widest))
    next_least = np.zeros(widest)
    next_most = np.zeros(widest)
    lower = np.zeros(widest)
    upper = np.zeros(widest)
    lower_next = np.zeros(widest)
    upper_next = np.zeros(widest)
    form_low = np.zeros((persons, width))
    form_high = np.zeros((persons, width))
    constant_low = np.zeros(persons)
    constant_high = np.zeros(persons)
    out_low = np.zeros(persons)
    out_high = np.zeros(persons)
    common = np.zeros((2, width))
    score = np.zeros(axes)
    order = np.zeros(axes, dtype=np.int64)
    spans = np.zeros(axes)
    histogram = np.zeros(bins + 2)
    other = np.zeros(bins + 2)
    positive_form = np.zeros(width)
    negative_form = np.zeros(width)
    first_low = np.zeros(sizes[1])
    first_high = np.zeros(sizes[1])
    first_noise = np.zeros(sizes[1])
    for b in range(start, stop):
        box_lo = lo[b]
        box_hi = hi[b]
        # The first layer: the same for all persons up to a constant.
        for m in range(sizes[1]):
            row = weights[weight_at[0] + m * width : weight_at[0] + (m + 1) * width]
            absolute = first_absolute[m * width : (m + 1) * width]
            least = 0.0
            most = 0.0
            magnitude = 0.0
            for d in range(axes):
                c = columns[d]
                if kinds[d] == CATEGORY:
                    p, q = _axis_range(row, c, CATEGORY, box_lo[d], box_hi[d])
                    biggest = 0.0
                    for v in range(int(box_lo[d]), int(box_hi[d]) + 1):
                        biggest = max(biggest, absolute[c + v])
                    magnitude += biggest
                else:
                    p = row[c] * box_lo[d]
                    q = row[c] * box_hi[d]
                    if p > q:
                        p, q = q, p
                    magnitude += absolute[c] * max(abs(box_lo[d]), abs(box_hi[d]))
                least += p
                most += q
                reach[0, m, d] = q - p
            first_low[m] = least
            first_high[m] = most
            first_noise[m] = rounding[0] * magnitude
        for p in range(persons):
            for m in range(sizes[1]):
                noise = first_noise[m] + offset_noise[p, m]
                low[p, m] = first_low[m] + offsets[p, m] - noise
                high[p, m] = first_high[m] + offsets[p, m] + noise
                over[p, m] = noise
                least_change[p, m] = offsets[p, m] - offsets[0, m] - 2.0 * noise
                most_change[p, m] = offsets[p, m] - offsets[0, m] + 2.0 * noise
                if p > 0:
                    for d in range(axes):
                        reach[p, m, d] = reach[0, m, d]
        for k in range(1, layers):
            begin = neuron_at[k - 1]
            n_in = sizes[k]
            slope = slopes[k - 1]
            # Lines below and above the activation of the layer before.
            for p in range(persons):
                for i in range(n_in):
                    j = begin + i
                    a = low[p, j]
                    z = high[p, j]
                    noise = over[p, j]
                    if a >= 0.0:
                        alpha[p, j] = 1.0
                        chord[p, j] = 1.0
                        under[p, j] = -noise
                        over[p, j] = noise
                        gap[p, j] = 0.0
                    elif z <= 0.0:
                        alpha[p, j] = slope
                        chord[p, j] = slope
                        under[p, j] = -slope * noise
                        over[p, j] = slope * noise
                        gap[p, j] = 0.0
                    else:
                        s = (z - slope * a) / (z - a)
                        t = max((slope - s) * a, (1.0 - s) * z)
                        alpha[p, j] = 1.0 if z > -a else slope
                        chord[p, j] = s
                        under[p, j] = -alpha[p, j] * noise
                        over[p, j] = t * (1.0 + 1e-14) + s * noise
                        gap[p, j] = t
            # How far the other persons' activations may lie from the first person's.
            for p in range(1, persons):
                for i in range(n_in):
                    j = begin + i
                    a = least_change[p, i]
                    z = most_change[p, i]
                    l0 = low[0, j]
                    u0 = high[0, j]
                    x = l0 if a >= 0.0 else u0
                    least = _act(x + a, slope) - _act(x, slope)
                    x = u0 if z >= 0.0 else l0
                    most = _act(x + z, slope) - _act(x, slope)
                    least_change[p, i] = max(least, _act(low[p, j], slope) - _act(u0, slope))
                    most_change[p, i] = min(most, _act(high[p, j], slope) - _act(l0, slope))
            for p in range(persons):
                for r in range(sizes[k + 1]):
                    row = weights[weight_at[k] + r * n_in : weight_at[k] + (r + 1) * n_in]
                    least = biases[neuron_at[k] + r]
                    most = least
                    final = k == hidden
                    magnitude = last_absolute[n_in] if final else abs(least)
                    smallest = 0.0
                    greatest = 0.0
                    for i in range(n_in):
                        w = row[i]
                        x = _act(low[p, begin + i], slope)
                        y = _act(high[p, begin + i], slope)
                        size = last_absolute[i] if final else abs(w)
                        magnitude += size * max(abs(x), abs(y))
                        x *= w
                        y *= w
                        least += min(x, y)
                        most += max(x, y)
                    if p > 0:
                        for i in range(n_in):
                            x = row[i] * least_change[p, i]
                            y = row[i] * most_change[p, i]
                            smallest += min(x, y)
                            greatest += max(x, y)
                    noise = rounding[k] * magnitude + extra[neuron_at[k] + r]
                    least -= noise
                    most += noise
                    if p > 0:
                        next_least[r] = smallest - 2.0 * noise
                        next_most[r] = greatest + 2.0 * noise
                    if not final and (least >= 0.0 or most <= 0.0):
                        j = neuron_at[k] + r
                        low[p, j] = least
                        high[p, j] = most
                        over[p, j] = noise
                        continue
                    # Backwards: lower and upper line through all layers before.
                    lower_constant = biases[neuron_at[k] + r] - noise
                    upper_constant = biases[neuron_at[k] + r] + noise
                    n_here = n_in
                    for i in range(n_here):
                        lower[i] = row[i]
                        upper[i] = row[i]
                    for back in range(k - 1, -1, -1):
                        first = neuron_at[back]
                        for i in range(n_here):
                            j = first + i
                            x = lower[i]
                            if final:
                                sense[p, j] = max(abs(x), abs(upper[i]))
                            if x > 0.0:
                                lower_constant += x * under[p, j]
                                lower[i] = x * alpha[p, j]
                            else:
                                lower_constant += x * over[p, j]
                                lower[i] = x * chord[p, j]
                            x = upper[i]
                            if x > 0.0:
                                upper_constant += x * over[p, j]
                                upper[i] = x * chord[p, j]
                            else:
                                upper_constant += x * under[p, j]
                                upper[i] = x * alpha[p, j]
                        n_before = sizes[back]
                        for i in range(n_before):
                            lower_next[i] = 0.0
                            upper_next[i] = 0.0
                        for m in range(n_here):
                            x = lower[m]
                            y = upper[m]
                            if x == 0.0 and y == 0.0:
                                continue
                            if back > 0:
                                bias = biases[neuron_at[back] + m]
                            else:
                                bias = offsets[p, m]
                            lower_constant += x * bias
                            upper_constant += y * bias
                            at = weight_at[back] + m * n_before
                            for i in range(n_before):
                                w = weights[at + i]
                                lower_next[i] += x * w
                                upper_next[i] += y * w
                        lower, lower_next = lower_next, lower
                        upper, upper_next = upper_next, upper
                        n_here = n_before
                    x, _ = _range_of(lower[:width], box_lo, box_hi, kinds, columns)
                    _, y = _range_of(upper[:width], box_lo, box_hi, kinds, columns)
                    least = max(least, x + lower_constant)
                    most = min(most, y + upper_constant)
                    if final:
                        out_low[p] = least
                        out_high[p] = most
                        constant_low[p] = lower_constant
                        constant_high[p] = upper_constant
                        for i in range(width):
                            form_low[p, i] = lower[i]
                            form_high[p, i] = upper[i]
                    else:
                        j = neuron_at[k] + r
                        low[p, j] = least
                        high[p, j] = most
                        over[p, j] = noise
                        for d in range(axes):
                            f, g = _axis_range(lower, columns[d], kinds[d], box_lo[d], box_hi[d])
                            h, e = _axis_range(upper, columns[d], kinds[d], box_lo[d], box_hi[d])
                            reach[p, j, d] = max(g - f, e - h)
                if p > 0:
                    for r in range(sizes[k + 1]):
                        least_change[p, r] = next_least[r]
                        most_change[p, r] = next_most[r]
        # The verdict on the whole box.
        ups = 0
        downs = 0
        for p in range(persons):
            if out_low[p] > above:
                ups += 1
            if out_high[p] < below:
                downs += 1
        fair[b] = 0.0
        unfair[b] = 0.0
        axis[b] = -1
        expected[b] = 0.0
        if ups == persons:
            status[b] = 1
            fair[b] = 1.0
            continue
        if downs == persons:
            status[b] = 1
            fair[b] = 1.0
            continue
        if ups > 0 and downs > 0:
            status[b] = 2
            unfair[b] = 1.0
            continue
        status[b] = 0
        # Where to split: the axis that does most to the gaps between the lines.
        for d in range(axes):
            score[d] = 0.0
        for p in range(persons):
            for j in range(neurons):
                if gap[p, j] > 0.0:
                    whole = 1e-300
                    for d in range(axes):
                        whole += reach[p, j, d]
                    part = gap[p, j] * sense[p, j] / whole
                    for d in range(axes):
                        score[d] += part * reach[p, j, d]
        best = -1
        for d in range(axes):
            if box_hi[d] > box_lo[d] and (best < 0 or score[d] > score[best]):
                best = d
        if best >= 0 and score[best] <= 0.0:
            widest_span = -1.0
            for d in range(axes):
                if box_hi[d] > box_lo[d]:
                    f, g = _axis_range(form_low[0], columns[d], kinds[d], box_lo[d], box_hi[d])
                    if g - f > widest_span:
                        widest_span = g - f
                        best = d
        axis[b] = best
        # Half-spaces: everybody above, everybody below; one form each.
        for i in range(width):
            x = 0.0
            y = 0.0
            for p in range(persons):
                x += form_low[p, i]
                y += form_high[p, i]
            common[0, i] = x / persons
            common[1, i] = y / persons
        common_low = 1e300
        common_high = -1e300
        best_up = -1.0
        best_down = -1.0
        up_threshold = 0.0
        down_threshold = 0.0
        for p in range(persons):
            for i in range(width):
                lower[i] = form_low[p, i] - common[0, i]
                upper[i] = form_high[p, i] - common[1, i]
            x, _ = _range_of(lower[:width], box_lo, box_hi, kinds, columns)
            _, y = _range_of(upper[:width], box_lo, box_hi, kinds, columns)
            common_low = min(common_low, constant_low[p] + x)
            common_high = max(common_high, constant_high[p] + y)
            # Everybody's output is at least this person's plus the least change.
            dip = 0.0
            rise = 0.0
            own_least = least_change[p, 0] if p > 0 else 0.0
            own_most = most_change[p, 0] if p > 0 else 0.0
            for q in range(persons):
                if q != p:
                    x = least_change[q, 0] if q > 0 else 0.0
                    y = most_change[q, 0] if q > 0 else 0.0
                    dip = min(dip, x - own_most)
                    rise = max(rise, y - own_least)
            mean, variance = _moments(form_low[p], box_lo, box_hi, kinds, columns)
            t = above - constant_low[p] - dip
            estimate = _normal_above(mean, variance, t)
            if estimate > best_up:
                best_up = estimate
                up_threshold = t
                for i in range(width):
                    positive_form[i] = form_low[p, i]
            mean, variance = _moments(form_high[p], box_lo, box_hi, kinds, columns)
            t = below - constant_high[p] - rise
            estimate = 1.0 - _normal_above(mean, variance, t)
            if estimate > best_down:
                best_down = estimate
                down_threshold = -t
                for i in range(width):
                    negative_form[i] = -form_high[p, i]
        mean, variance = _moments(common[0], box_lo, box_hi, kinds, columns)
        t = above - common_low
        estimate = _normal_above(mean, variance, t)
        if estimate > best_up:
            best_up = estimate
            up_threshold = t
            for i in range(width):
                positive_form[i] = common[0, i]
        mean, variance = _moments(common[1], box_lo, box_hi, kinds, columns)
        t = below - common_high
        estimate = 1.0 - _normal_above(mean, variance, t)
        if estimate > best_down:
            best_down = estimate
            down_threshold = -t
            for i in range(width):
                negative_form[i] = -common[1, i]
        x = 0.0
        if best_up > 1e-6:
            x = share_above(
                positive_form, up_threshold, box_lo, box_hi, kinds, columns, edges, cumulative,
                starts, shifts, bins, order, spans, histogram, other,
            )
        y = 0.0
        if best_down > 1e-6:
            y = share_above(
                negative_form, down_threshold, box_lo, box_hi, kinds, columns, edges, cumulative,
                starts, shifts, bins, order, spans, histogram, other,
            )
        fair[b] = x + y
        if keep:
            forms[b, 0] = positive_form
            forms[b, 1] = negative_form
            thresholds[b, 0] = up_threshold if best_up > 1e-6 else np.inf
            thresholds[b, 1] = down_threshold if best_down > 1e-6 else np.inf
            thresholds[b, 2] = np.inf
            thresholds[b, 3] = np.inf
        # Unfair: one person above and another below; at least what both shares exceed 1 by.
        best_pair = 1e-4
        upper_person = -1
        lower_person = -1
        for p in range(persons):
            mean, variance = _moments(form_low[p], box_lo, box_hi, kinds, columns)
            up = _normal_above(mean, variance, above - constant_low[p])
            for q in range(persons):
                if q == p:
                    continue
                mean, variance = _moments(form_high[q], box_lo, box_hi, kinds, columns)
                down = 1.0 - _normal_above(mean, variance, below - constant_high[q])
                if up + down - 1.0 > best_pair:
                    best_pair = up + down - 1.0
                    upper_person = p
                    lower_person = q
        if upper_person < 0:
            best_pair = 0.0
        expected[b] = max(1.0 - max(best_up, 0.0) - max(best_down, 0.0) - best_pair, 0.0)
        if upper_person >= 0:
            for i in range(width):
                lower[i] = form_low[upper_person, i]
                upper[i] = -form_high[lower_person, i]
            s = above - constant_low[upper_person]
            t = constant_high[lower_person] - below
            f = share_above(
                lower[:width], s, box_lo, box_hi, kinds, columns, edges, cumulative, starts,
                shifts, bins, order, spans, histogram, other,
            )
            f += share_above(
                upper[:width], t, box_lo, box_hi, kinds, columns, edges, cumulative, starts,
                shifts, bins, order, spans, histogram, other,
            )
            unfair[b] = min(max(f - 1.0, 0.0), 1.0 - x - y)
            if keep:
                for i in range(width):
                    forms[b, 2, i] = lower[i]
                    forms[b, 3, i] = upper[i]
                thresholds[b, 2] = s
                thresholds[b, 3] = t
