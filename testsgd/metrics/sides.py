"""A metric's value on one side of a comparison, for many groups at once, and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.cells import (
    DENOMINATOR,
    DENOMINATOR_SQUARED,
    NUMERATOR,
    NUMERATOR_SQUARED,
    PRODUCT,
)
from testsgd.metrics.definitions import Floats, Scale
from testsgd.scoring import ratios
from testsgd.scoring.exact_intervals import ShareInterval
from testsgd.scoring.largest_sum import WideningInterval
from testsgd.scoring.margins import error_quantiles


@dataclass(frozen=True)
class NumberInterval:
    """The intervals of Student's t, of means of any numbers."""

    value: Floats
    spread: Floats
    freedom: Floats

    def low(self, error: Any) -> Floats:
        """Return the lower ends."""
        return self.value - self._half(error)

    def high(self, error: Any) -> Floats:
        """Return the upper ends."""
        return self.value + self._half(error)

    def take(self, groups: NDArray[np.intp]) -> NumberInterval:
        """Return the intervals of some of the values."""
        return NumberInterval(self.value[groups], self.spread[groups], self.freedom[groups])

    def rough_ends(self, error: Any) -> tuple[Floats, Floats]:
        """Return the ends of normal intervals."""
        half = error_quantiles(error) * self.spread
        return self.value - half, self.value + half

    @property
    def slowing(self) -> NDArray[np.bool_]:
        """Nowhere: the tails of Student's t are too heavy for it."""
        return np.zeros(len(self.value), dtype=bool)

    def _half(self, error: Any) -> Floats:
        # Imported here: a tenth of a second.
        from scipy.special import stdtrit

        half: Floats = -stdtrit(self.freedom, np.asarray(error) / 2) * self.spread
        return half


@dataclass(frozen=True)
class LogarithmicInterval(ratios.LogarithmicInterval):
    """The intervals of the logarithms of values."""

    values: WideningInterval

    def take(self, groups: NDArray[np.intp]) -> LogarithmicInterval:
        """Return the intervals of some of the values."""
        return LogarithmicInterval(self.values.take(groups))

    def rough_ends(self, error: Any) -> tuple[Floats, Floats]:
        """Return the logarithms of about where the ends of the values are."""
        low, high = self.values.rough_ends(error)
        return self._logarithms(low), self._logarithms(high)

    @property
    def slowing(self) -> NDArray[np.bool_]:
        """Whether the logarithms of both ends provably move ever slower."""
        if isinstance(self.values, ShareInterval):
            return self.values.logarithms_slowing
        return np.zeros_like(self.values.slowing)


@dataclass(frozen=True)
class Sides:
    """A metric of some groups of rows, all arrays of shape (groups,)."""

    counted: Floats  # Rows that the denominator counts.
    numerator: Floats
    denominator: Floats
    # Sum of the squares of (numerator - value * denominator): how far rows stray from the value.
    residual: Floats
    denominator_squared: Floats
    # Sum of (numerator - value * denominator) * denominator: 0 if all denominators are alike.
    residual_by_denominator: Floats
    scale: Scale

    @cached_property
    def value(self) -> Floats:
        """The metric; NaN where no row counts."""
        counts = self.denominator > 0
        return np.where(counts, self.numerator / np.where(counts, self.denominator, 1), np.nan)

    @property
    def standard_error(self) -> Floats:
        """The standard error of the value, by linearisation; NaN where no row counts."""
        counts = self.denominator > 0
        denominator = np.where(counts, self.denominator, 1)
        return np.where(counts, np.sqrt(self.residual) / denominator, np.nan)

    @property
    def deviation(self) -> Floats:
        """How far rows of equal weight stray from the value; NaN where no row counts."""
        return self.standard_error * np.sqrt(self.effective_size)

    @property
    def effective_size(self) -> Floats:
        """The effective sample size: rows of equal weight that would say as much.

        See Kish (1965), Survey Sampling, section 11.7.
        """
        counts = self.denominator_squared > 0
        squares = np.where(counts, self.denominator_squared, 1)
        return np.where(counts, self.denominator**2 / squares, 0.0)

    def take(self, groups: NDArray[np.intp]) -> Sides:
        """Return the metric of some of the groups."""
        return Sides(
            self.counted[groups],
            self.numerator[groups],
            self.denominator[groups],
            self.residual[groups],
            self.denominator_squared[groups],
            self.residual_by_denominator[groups],
            self.scale,
        )

    @classmethod
    def where(cls, condition: NDArray[np.bool_], first: Sides, second: Sides) -> Sides:
        """Return the first where a condition holds, and else the second."""
        return cls(
            np.where(condition, first.counted, second.counted),
            np.where(condition, first.numerator, second.numerator),
            np.where(condition, first.denominator, second.denominator),
            np.where(condition, first.residual, second.residual),
            np.where(condition, first.denominator_squared, second.denominator_squared),
            np.where(condition, first.residual_by_denominator, second.residual_by_denominator),
            first.scale,
        )

    def interval(self) -> WideningInterval:
        """Return the confidence intervals of the values, at any error rate.

        A share of rows has the interval of Clopper and Pearson, at the number of rows that a share
        with such a variance would be of; with weights these are fewer, as Korn and Graubard have
        it. A mean of numbers between 0 and 1 varies less than a share, so it is one of more rows.
        A mean of any numbers has that of Student's t: it holds the better the more rows there are,
        and the less skewed the numbers are.

        See Korn and Graubard (1998), Confidence intervals for proportions with small expected
        number of positive counts estimated from survey data. Survey Methodology 24.
        """
        value = np.nan_to_num(self.value)
        if self.scale != "number":
            size = self._share_size(value)
            successes = np.clip(value * size, 0, size)
            return ShareInterval(successes, size - successes)
        freedom = np.maximum(self.effective_size - 1, 1)
        spread = np.nan_to_num(self.standard_error) * np.sqrt((freedom + 1) / freedom)
        return NumberInterval(value, spread, freedom)

    def _share_size(self, value: Floats) -> Floats:
        """Return the number of rows of a share with the value's variance, shape (groups,)."""
        size = self.effective_size
        spread = value * (1 - value)
        # The variance of a row, with one row more that is a share's: few rows that all agree say
        # little of how far they stray.
        variance = size * np.nan_to_num(self.standard_error) ** 2
        guarded = (size * variance + spread) / (size + 1)
        known = guarded > 0
        share_size = np.where(known, size * spread / np.where(known, guarded, 1), size)
        return np.minimum(share_size, size) if self.scale == "share" else share_size


def sides_of(sums: Floats, *, scale: Scale) -> Sides:
    """Return a metric of groups from the rows that count and the sums over them (6, groups).

    With numerators a and denominators b of the rows, the value is v = sum(a) / sum(b) and the
    residual is sum((a - v b)**2) = sum(a**2) - 2 v sum(a b) + v**2 sum(b**2).
    """
    counted = sums[0]
    parts = sums[1:]
    counts = parts[DENOMINATOR] > 0
    value = np.where(counts, parts[NUMERATOR] / np.where(counts, parts[DENOMINATOR], 1), 0.0)
    residual = (
        parts[NUMERATOR_SQUARED]
        - 2 * value * parts[PRODUCT]
        + value**2 * parts[DENOMINATOR_SQUARED]
    )
    # Rounding may leave less than nothing. Numbers that are the same in all rows differ by rounding
    # only, which is no difference, so they keep a spread of a millionth.
    noise = 1e-12 * (parts[NUMERATOR_SQUARED] + value**2 * parts[DENOMINATOR_SQUARED])
    least = noise if scale == "number" else 0.0
    return Sides(
        counted,
        parts[NUMERATOR],
        parts[DENOMINATOR],
        np.where(residual > noise, residual, least),
        parts[DENOMINATOR_SQUARED],
        parts[PRODUCT] - value * parts[DENOMINATOR_SQUARED],
        scale,
    )
