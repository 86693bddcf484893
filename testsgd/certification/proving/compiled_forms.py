"""Linear forms on one box in machine code: their range, size and moments.

A form has a coefficient a column: one for an axis of numbers, one a value for a category; see
:class:`testsgd.certification.proving.axes.Axes`.
"""

from __future__ import annotations

from math import erf, sqrt

from testsgd.certification.proving.axes import CATEGORY, REAL, WEIGHTED_REAL, Floats
from testsgd.certification.proving.compiled_counting import Ints
from testsgd.certification.proving.machine_code import compiled

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
