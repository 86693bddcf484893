"""Rates on two sides, with exact intervals for the few of many comparisons that are surest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.scoring import Side, error_quantile, population_interval


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
        """What puts the surest first: of a group and its complement that with the lower rate."""
        return -round(self.lower_bound, 12), self.difference


def differences_of(sums: Floats) -> Floats:
    """Return the differences of rates, of rows and answers inside, then outside: (4, n)."""
    rows_in, yes_in, rows_out, yes_out = sums
    differences: Floats = yes_in / rows_in - yes_out / rows_out
    return differences


def normal_bounds(sums: Floats, *, margin: float) -> Floats:
    """Return the sizes of differences less some standard errors; `sums` as in `differences_of`."""
    rows_in, yes_in, rows_out, yes_out = sums
    # With a row of each kind more, or a group of equal answers would not vary at all.
    share_in, share_out = (yes_in + 1) / (rows_in + 2), (yes_out + 1) / (rows_out + 2)
    variance = share_in * (1 - share_in) / rows_in + share_out * (1 - share_out) / rows_out
    bounds: Floats = np.abs(differences_of(sums)) - margin * np.sqrt(variance)
    return bounds


def compared_rates(sums: Floats, *, error: float) -> list[ComparedRates]:
    """Compute the exact interval of each difference, at a two-sided error rate.

    Answers that are shares of a row vary no more than if rows answered yes or no.
    """
    rows_in, yes_in, rows_out, yes_out = sums
    inside, outside = Side(rows_in, rows_in, yes_in), Side(rows_out, rows_out, yes_out)
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


# Intervals are computed of those whose differences are largest by a normal margin.
_LOOKED_AT = 500


def surest(sums: Floats, *, error: float, most: int) -> list[tuple[int, ComparedRates]]:
    """Return the comparisons with the largest lower bounds, with their places in `sums`.

    `error` is the two-sided error rate of each interval; `sums` as in `differences_of`.
    """
    bounds = normal_bounds(sums, margin=error_quantile(error))
    chosen = _largest(bounds, max(most, _LOOKED_AT))
    rates = compared_rates(sums[:, chosen], error=error)
    found = list(zip(chosen.tolist(), rates, strict=True))
    return sorted(found, key=lambda item: (*item[1].order, item[0]))[:most]


def _largest(values: Floats, most: int) -> NDArray[np.intp]:
    """Return the places of the largest values in order, of equal ones the first; `most` at most."""
    candidates = np.arange(len(values))
    if len(values) > most:
        # There are very many, so that they are not sorted all.
        least = np.partition(values, len(values) - most)[len(values) - most]
        candidates = np.flatnonzero(values >= least)
    order = np.argsort(-values[candidates], kind="stable")
    return candidates[order][:most]
