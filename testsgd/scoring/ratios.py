"""Intervals of ratios: those of the logarithms of two values, combined as those of differences are.

What is combined are the intervals of each value at any error rate, whatever they are of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.exact_intervals import ALL_ANGLES, BETWEEN, FEW, Ends, Interval, errors_at
from testsgd.scoring.population import TOGETHER, Side, rate_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EndsInterval:
    """Intervals that a function gives, both ends at once."""

    ends: Ends

    def low(self, error: Any) -> Floats:
        """Return the lower ends."""
        return self.ends(error)[0]

    def high(self, error: Any) -> Floats:
        """Return the upper ends."""
        return self.ends(error)[1]


@dataclass(frozen=True)
class LogarithmicInterval:
    """The intervals of the logarithms of values."""

    values: Interval

    def low(self, error: Any) -> Floats:
        """Return the lower ends."""
        return self._logarithms(self.values.low(error))

    def high(self, error: Any) -> Floats:
        """Return the upper ends."""
        return self._logarithms(self.values.high(error))

    @staticmethod
    def _logarithms(values: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(np.maximum(values, 0.0))
        return logarithms


def most_below(
    first: Floats,
    ends_first: Interval,
    second: Floats,
    ends_second: Interval,
    error: Any,
    angles: Sequence[tuple[float, float]],
) -> Floats:
    """Return how far below its value a difference may be, at most over all angles, shape (n,).

    See :func:`testsgd.scoring.exact_difference`.
    """
    errors = list(errors_at(angles, error))
    if len(first) <= FEW:
        # All angles at once, shape (angles, n).
        pairs = np.moveaxis(np.array(errors), 1, 0)
        error_first, error_second = pairs.reshape(2, len(angles), -1)
        sums = (first - ends_first.low(error_first)) + (ends_second.high(error_second) - second)
        largest: Floats = BETWEEN * np.maximum(sums.max(axis=0), 0.0)
        return largest
    below = np.zeros(len(first))
    for error_first, error_second in errors:
        low = ends_first.low(error_first)
        high = ends_second.high(error_second)
        below = np.maximum(below, (first - low) + (high - second))
    return BETWEEN * below


def difference_ends(
    first: Floats, ends_first: Interval, second: Floats, ends_second: Interval, error: Any
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of differences of independent values."""
    with np.errstate(invalid="ignore"):
        below = most_below(first, ends_first, second, ends_second, error, ALL_ANGLES)
        above = most_below(second, ends_second, first, ends_first, error, ALL_ANGLES)
        return first - second - below, first - second + above


def ratio_interval(
    first: Floats, of_first: Interval, second: Floats, of_second: Interval, error: Any
) -> tuple[Floats, Floats, Floats]:
    """Compute the ratios of independent values, and the ends of their intervals.

    The intervals of the logarithms are combined as Newcombe, and Zou and Donner, do those of rates.

    Parameters
    ----------
    first, second : numpy.ndarray of float64, shape (n,)
        The values, none below 0.
    of_first, of_second : Interval
        Their intervals.
    error : float, or numpy.ndarray of float64, shape (n,)
        Two-sided error rate.

    Returns
    -------
    ratio, low, high : numpy.ndarray of float64, shape (n,)
        An upper end may be infinite.

    Examples
    --------
    >>> from testsgd.scoring.exact_intervals import ShareInterval
    >>> few = ShareInterval(np.array([20.0]), np.array([80.0]))
    >>> many = ShareInterval(np.array([50.0]), np.array([50.0]))
    >>> ratio, low, high = ratio_interval(np.array([0.2]), few, np.array([0.5]), many, 0.05)
    >>> ratio.round(2).item(), low.round(2).item(), high.round(2).item()
    (0.4, 0.24, 0.63)
    """
    # A few answers may leave a ratio open to beyond what a number can hold.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        both = (first > 0) & (second > 0)
        log_low, log_high = difference_ends(
            np.log(first),
            LogarithmicInterval(of_first),
            np.log(second),
            LogarithmicInterval(of_second),
            error,
        )
        # A value of 0 has no logarithm. What is known of the ratio are the ends of both sides, each
        # with half of the error.
        half = error / 2
        low = np.where(both, np.exp(log_low), of_first.low(half) / of_second.high(half))
        high = np.where(both, np.exp(log_high), of_first.high(half) / of_second.low(half))
        ratio = first / second
    return ratio, np.nan_to_num(low), np.where(np.isnan(high), np.inf, high)


def smaller_to_larger(ratio: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ratios and their intervals turned so that the smaller value is divided by the larger.

    A ratio that is not known, of 0 to 0, is one of equal values: 1.

    Examples
    --------
    >>> ends = smaller_to_larger(np.array([2.0, 0.9]), np.array([1.6, 0.75]), np.array([4.0, 1.2]))
    >>> [values.tolist() for values in ends]
    [[0.5, 0.9], [0.25, 0.75], [0.625, 1.0]]
    """
    with np.errstate(divide="ignore", over="ignore"):
        turned = np.where(np.isnan(ratio), 1.0, np.minimum(ratio, 1 / ratio))
        # Beyond 1 on both sides: which value is the smaller one is open.
        upper = np.where(low > 1, 1 / low, np.minimum(high, 1.0))
        return turned, np.minimum(low, 1 / high), upper


def population_ratio(
    inside: Side, outside: Side, error: Any, *, margin_kind: Literal["none", "wald", "anytime"]
) -> tuple[Floats, Floats, Floats]:
    """Compute the ratio of the smaller of two rates to the larger one, with its interval.

    As :func:`testsgd.scoring.population_interval` for differences, it is of the population that the
    rows are drawn from. Intervals of the logarithms of both rates are combined.

    Parameters
    ----------
    inside, outside : Side
        The rows and answers of each group and of its complement.
    error : array_like of float
        Two-sided error rate, one for all groups or one a group.
    margin_kind : {"none", "wald", "anytime"}
        What the answers are, as for :func:`testsgd.scoring.population_interval`.

    Returns
    -------
    ratio, low, high : numpy.ndarray of float64, shape (groups,)
        The ratios, at most 1, and the ends; NaN where nothing was sampled on one side.

    Examples
    --------
    >>> inside = Side(np.array([100]), np.array([100]), np.array([20]))
    >>> outside = Side(np.array([100]), np.array([100]), np.array([50]))
    >>> ratio, low, high = population_ratio(inside, outside, 0.05, margin_kind="none")
    >>> ratio.round(2).item(), low.round(2).item(), high.round(2).item()
    (0.4, 0.24, 0.63)
    """
    errors = np.broadcast_to(np.asarray(error, dtype=np.float64), inside.rows.shape)
    ratios = np.full((3, len(errors)), np.nan)
    known = np.flatnonzero((inside.samples > 0) & (outside.samples > 0))
    for start in range(0, len(known), TOGETHER):
        chosen = known[start : start + TOGETHER]
        first, second = inside.take(chosen), outside.take(chosen)
        ratio, low, high = ratio_interval(
            first.rate,
            EndsInterval(partial(rate_interval, first, margin_kind)),
            second.rate,
            EndsInterval(partial(rate_interval, second, margin_kind)),
            errors[chosen],
        )
        ratios[:, chosen] = smaller_to_larger(ratio, low, high)
    return ratios[0], ratios[1], ratios[2]
