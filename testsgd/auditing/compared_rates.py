"""Rates on two sides, with exact intervals for the few of many comparisons that are surest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.scoring import Side, error_quantile, population_interval
from testsgd.scoring.exact_intervals import ShareInterval
from testsgd.scoring.largest_sum import Differences


@dataclass(frozen=True, kw_only=True)
class ComparedRates:
    """Selection rates of a group and of those it is compared with."""

    rows_in: int
    rows_out: int
    rate_in: float
    rate_out: float
    interval: tuple[float, float]  # Of the difference.

    @property
    def difference(self) -> float:
        """The rate in the group minus that of the others."""
        return self.rate_in - self.rate_out

    @property
    def lower_bound(self) -> float:
        """The lower confidence bound of the size of the difference; 0 if it may be none."""
        low, high = self.interval
        return max(low, -high, 0.0)

    @property
    def order(self) -> tuple[float, float]:
        """The key to sort by, the largest lower bound first.

        Of a group and its complement, whose bounds are equal, that with the lower rate comes first.
        """
        return -round(self.lower_bound, 12), self.difference


def differences_of(sums: Floats) -> Floats:
    """Return the rates inside minus those outside, shape (n,).

    `sums` are rows and favourable answers inside, then rows and favourable answers outside, shape
    (4, n).
    """
    rows_in, yes_in, rows_out, yes_out = sums
    differences: Floats = yes_in / rows_in - yes_out / rows_out
    return differences


# Of as many differences the bounds are computed at once.
_IN_CACHE = 1 << 13


def normal_bounds(sums: Floats, *, margin: float) -> Floats:
    """Return the sizes of differences less `margin` standard errors, shape (n,).

    `sums` as in :func:`differences_of`. The bound is |p - q| - margin * sqrt(p' (1 - p') / m + q'
    (1 - q') / n), with the rates p of m rows inside and q of n rows outside; p' and q' are these
    with a favourable and another row more.
    """
    bounds = np.empty(sums.shape[1])
    # The rates of some thousands at once stay in the processor's cache.
    for start in range(0, len(bounds), _IN_CACHE):
        block = slice(start, start + _IN_CACHE)
        bounds[block] = _normal_bounds(sums[:, block], margin)
    return bounds


def _normal_bounds(sums: Floats, margin: float) -> Floats:
    """Return the bounds of :func:`normal_bounds` of a block of differences."""
    rows_in, yes_in, rows_out, yes_out = sums
    # With a row of each kind more, or a group of equal answers would not vary at all.
    share_in = (yes_in + 1) / (rows_in + 2)
    share_out = (yes_out + 1) / (rows_out + 2)
    variance = share_in * (1 - share_in) / rows_in + share_out * (1 - share_out) / rows_out
    bounds: Floats = np.abs(differences_of(sums)) - margin * np.sqrt(variance)
    return bounds


def compared_rates(sums: Floats, *, error: float) -> list[ComparedRates]:
    """Compute the exact interval of each difference, at a two-sided error rate.

    Answers that are shares of a row vary no more than if rows answered yes or no.
    """
    rows_in, yes_in, rows_out, yes_out = sums
    inside = Side(rows=rows_in, samples=rows_in, favourable=yes_in)
    outside = Side(rows=rows_out, samples=rows_out, favourable=yes_out)
    low, high = population_interval(inside, outside, error, margin_kind="none")
    return [
        ComparedRates(
            rows_in=int(rows_in[index]),
            rows_out=int(rows_out[index]),
            rate_in=float(inside.rate[index]),
            rate_out=float(outside.rate[index]),
            interval=(float(low[index]), float(high[index])),
        )
        for index in range(len(rows_in))
    ]


# Those whose differences are largest by a normal margin are looked at.
_LOOKED_AT = 500
# Exact bounds are computed of as many at once.
_AT_ONCE = 24
# What the rounding of limits and bounds may be.
_ROUNDING = 1e-9


def surest(sums: Floats, *, error: float, most: int) -> list[tuple[int, ComparedRates]]:
    """Return the `most` comparisons with the largest lower bounds, with their places in `sums`.

    `error` is the two-sided error rate of each interval; `sums` as in `differences_of`. An exact
    interval takes long, so they are computed only of those that may be among the first.
    """
    normal = normal_bounds(sums, margin=error_quantile(error))
    chosen = _largest(normal, max(most, _LOOKED_AT))
    looked_at = sums[:, chosen]
    turned = _larger_minus_smaller(looked_at)
    # With a limit of 0 the lower bound is 0.
    bounds = np.maximum(turned.lower_ends_at_most(error) + _ROUNDING, 0.0)
    differences = differences_of(looked_at)
    is_exact = bounds == 0
    while True:
        order = np.lexsort((chosen, differences, -np.round(bounds, 12)))
        first = order[:most]
        if is_exact[first].all():
            break
        nearest = order[: most + _AT_ONCE]
        inexact = nearest[~is_exact[nearest]]
        bounds[inexact] = np.maximum(turned.take(inexact).lower_ends(error), 0.0)
        is_exact[inexact] = True
    rates = compared_rates(looked_at[:, first], error=error)
    return list(zip(chosen[first].tolist(), rates, strict=True))


def _larger_minus_smaller(sums: Floats) -> Differences:
    """Return the differences of the larger rate and the smaller one; `sums` likewise."""
    rows_in, yes_in, rows_out, yes_out = sums
    inside = np.array([rows_in, yes_in / rows_in])
    outside = np.array([rows_out, yes_out / rows_out])
    above = differences_of(sums) > 0
    rows_high, high = np.where(above, inside, outside)
    rows_low, low = np.where(above, outside, inside)
    return Differences(
        first=high,
        ends_first=ShareInterval.of(high * rows_high, rows_high),
        second=low,
        ends_second=ShareInterval.of(low * rows_low, rows_low),
    )


def _largest(values: Floats, most: int) -> NDArray[np.intp]:
    """Return the places of the `most` largest values in order, of equal ones the first first."""
    candidates = np.arange(len(values))
    if len(values) > most:
        # There are very many, so that they are not sorted all.
        least = np.partition(values, len(values) - most)[len(values) - most]
        candidates = np.flatnonzero(values >= least)
    order = np.argsort(-values[candidates], kind="stable")
    return candidates[order][:most]
