"""Confidence intervals of shares, those of Clopper and Pearson, and of their differences.

An interval that is to hold for thousands of groups at once is one of 99.99% for each. That far out
a rate over fifty rows is no longer like a normal one, and Wilson's interval covers less than it
says; Clopper's and Pearson's takes the tails from the binomial distribution itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.beta_quantile import beta_quantile
from testsgd.scoring.margins import error_quantiles

Floats = NDArray[np.float64]
# The interval of a rate, low and high, at a two-sided error rate.
Ends = Callable[[Any], tuple[Floats, Floats]]

ANGLES = 7

# Of so few differences the ends at all angles are computed at once, or without a search for some.
FEW = 32

# At each of them the errors of both values are equally unlikely together.
ALL_ANGLES = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, np.pi / 2, ANGLES)]


def clopper_pearson(successes: Any, size: Any, error: Any) -> tuple[Floats, Floats]:
    """Compute the interval of Clopper and Pearson, also for numbers that are not whole.

    Parameters
    ----------
    successes, size : array_like of float
        How many of how many.
    error : array_like of float
        Two-sided error rate, such as 0.05; half of it at each end.

    Returns
    -------
    low, high : numpy.ndarray of float64
        0 and 1 where the size is 0.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 50, 0.05)
    >>> float(low), float(high.round(4))
    (0.0, 0.0711)
    """
    interval = ShareInterval.of(successes, size)
    return interval.low(error), interval.high(error)


def lower_end(successes: Any, failures: Any, error: Any) -> Floats:
    """Return the lower end of the interval of Clopper and Pearson.

    The upper end is 1 minus that of the failures.

    Examples
    --------
    >>> float(lower_end(50, 0, 0.05).round(4))
    0.9289
    """
    ends = beta_quantile(np.maximum(successes, 1e-12), failures + 1, np.asarray(error) / 2)
    low: Floats = np.where(successes > 0, ends, 0.0)
    return low


class Interval(Protocol):
    """The confidence intervals of some values, at any two-sided error rate."""

    def low(self, error: Any) -> Floats:
        """Return the lower ends."""
        ...

    def high(self, error: Any) -> Floats:
        """Return the upper ends."""
        ...


@dataclass(frozen=True)
class ShareInterval:
    """The intervals of Clopper and Pearson, of shares."""

    successes: Floats
    failures: Floats

    @classmethod
    def of(cls, successes: Any, size: Any) -> ShareInterval:
        """Return the intervals of successes among `size` cases; broadcast."""
        size = np.asarray(size, dtype=np.float64)
        # Rounding may put a number of successes a hair beyond none or all.
        within = np.clip(np.asarray(successes, dtype=np.float64), 0, size)
        return cls(within, size - within)

    def low(self, error: Any) -> Floats:
        """Return the lower ends."""
        return lower_end(self.successes, self.failures, error)

    def high(self, error: Any) -> Floats:
        """Return the upper ends."""
        return 1 - lower_end(self.failures, self.successes, error)

    def take(self, groups: NDArray[np.intp]) -> ShareInterval:
        """Return the intervals of some of the values."""
        return ShareInterval(self.successes[groups], self.failures[groups])

    def rough_ends(self, error: Any) -> tuple[Floats, Floats]:
        """Return the ends of Wilson's intervals.

        See Wilson (1927), Probable inference, the law of succession, and statistical inference.
        Journal of the American Statistical Association 22.
        """
        quantile = error_quantiles(error)
        size = self.successes + self.failures
        # Of no rows nothing is known, whatever they are divided by.
        variance = self.successes * self.failures / np.maximum(size, 1e-12)
        middle = self.successes + quantile**2 / 2
        half = quantile * np.sqrt(variance + quantile**2 / 4)
        return (middle - half) / (size + quantile**2), (middle + half) / (size + quantile**2)

    def most_distant(self, error: Any) -> Floats:
        """Return how far both ends are from the share at most, without computing them.

        An end is a quantile of a beta distribution whose mean is within 1 / (n + 1) of the share
        and whose tails are at most those of a normal one with the variance 1 / (4 (n + 2)), n being
        the number of cases. See Marchal and Arbel (2017), On the sub-Gaussianity of the beta and
        Dirichlet distributions. Electronic Communications in Probability 22.
        """
        size = self.successes + self.failures
        # An error of 0 is one that nothing is beyond.
        with np.errstate(divide="ignore"):
            deviation: Floats = np.sqrt(np.log(2 / np.asarray(error)) / (2 * (size + 2)))
        return 1 / (size + 1) + deviation

    @property
    def slowing(self) -> NDArray[np.bool_]:
        """Everywhere: the ends are quantiles of beta distributions with log-concave functions.

        A beta density whose second parameter is 1 or more is log-concave or falls, and with either
        the logarithm of the distribution function is concave; so a quantile is a convex function of
        the logarithm of its level. See Bagnoli and Bergstrom (2005), Log-concave probability and
        its applications. Economic Theory 26.
        """
        return np.ones(len(self.successes), dtype=bool)

    @property
    def logarithms_slowing(self) -> NDArray[np.bool_]:
        """Whether the logarithms of both ends provably move ever slower likewise.

        The logarithm of a beta variable has a log-concave density if the second parameter is 1 or
        more. For the lower end it is the failures and 1; for the upper end it is the failures.
        """
        enough: NDArray[np.bool_] = self.failures >= 1
        return enough


def exact_difference(
    rate_in: Any,
    ends_in: Ends,
    rate_out: Any,
    ends_out: Ends,
    error: Any,
    *,
    at_once: bool = False,
) -> tuple[Floats, Floats]:
    """Combine the intervals of two independent rates into one for their difference.

    If both rates were normal, errors of cos(t) and of sin(t) times the same quantile would be
    equally unlikely together for every angle t; the largest sum of the two over all angles is
    Newcombe's interval. Here the errors at each angle are taken from the rates' own intervals, so
    it stays true where the tails are not normal: tests/scoring/test_exact_tails.py enumerates all
    outcomes of two rates, and no interval covers less than it claims, for rates from 0.001 to 0.995
    and levels up to 99.99%.

    Parameters
    ----------
    rate_in, rate_out : array_like of float, shape (n,)
        The observed rates.
    ends_in, ends_out : callable
        The interval of each rate: from a two-sided error rate to its low and high ends.
    error : float or numpy.ndarray of float64, shape (n,)
        Two-sided error rate of the difference.
    at_once : bool
        Whether both `ends_in` and `ends_out` also take errors of the shape (angles, n). A few
        differences take far less time then.

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (n,)
        The ends, within [-1, 1].

    Notes
    -----
    See Newcombe (1998), Statistics in Medicine 17, method 10; Zou and Donner (2008), Statistics in
    Medicine 27, for the same with other intervals. Taking the largest sum over the angles is ours.

    Examples
    --------
    >>> from functools import partial
    >>> from testsgd.scoring import clopper_pearson
    >>> inside, outside = partial(clopper_pearson, 20, 100), partial(clopper_pearson, 50, 100)
    >>> low, high = exact_difference(0.2, inside, 0.5, outside, 0.05)
    >>> bool(low < -0.3 < high < 0)
    True
    """
    rate_in = np.asarray(rate_in, dtype=float)
    rate_out = np.asarray(rate_out, dtype=float)
    below = above = np.zeros(())
    errors = list(errors_at(ALL_ANGLES, error))
    if at_once and np.ndim(error) and len(error) <= FEW:
        errors = [tuple(np.moveaxis(np.array(errors), 1, 0))]
    for error_in, error_out in errors:
        low_in, high_in = ends_in(error_in)
        low_out, high_out = ends_out(error_out)
        below = np.maximum(below, (rate_in - low_in) + (high_out - rate_out))
        above = np.maximum(above, (high_in - rate_in) + (rate_out - low_out))
    if below.ndim > rate_in.ndim:
        below, above = below.max(axis=0), above.max(axis=0)
    difference = rate_in - rate_out
    return (
        np.maximum(difference - BETWEEN * below, -1.0),
        np.minimum(difference + BETWEEN * above, 1.0),
    )


# The largest sum may lie between two of the angles.
BETWEEN = float(1 / np.cos(np.pi / 4 / (ANGLES - 1)))


def errors_at(angles: Sequence[tuple[Any, Any]], error: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the two-sided error rates of both rates at each angle, given as cosine and sine."""
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    quantile = error_quantiles(error)
    for part_in, part_out in angles:
        yield 2 * ndtr(-quantile * part_in), 2 * ndtr(-quantile * part_out)
