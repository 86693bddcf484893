"""Intervals of differences of independent values, from the intervals of the values themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.margins import error_quantiles

Floats = NDArray[np.float64]
# The interval of a rate, low and high, at a two-sided error rate.
Ends = Callable[[Any], tuple[Floats, Floats]]

ANGLES = 7

# At each of them the errors of both values are equally unlikely together.
ALL_ANGLES = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, np.pi / 2, ANGLES)]


def exact_difference(
    rate_in: Any, ends_in: Ends, rate_out: Any, ends_out: Ends, error: Any
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
    below, above = largest_sums(rate_in, ends_in, rate_out, ends_out, error, ALL_ANGLES)
    difference = rate_in - rate_out
    return np.maximum(difference - below, -1.0), np.minimum(difference + above, 1.0)


def largest_sums(
    rate_in: Floats,
    ends_in: Ends,
    rate_out: Floats,
    ends_out: Ends,
    error: Any,
    angles: Sequence[tuple[Any, Any]],
) -> tuple[Floats, Floats]:
    """Return how far the difference may be below and above its value, at most over all angles.

    `rate_in` and `rate_out` have the shape (n,), as both results have.
    """
    below = above = np.zeros(())
    for error_in, error_out in errors_at(angles, error):
        low_in, high_in = ends_in(error_in)
        low_out, high_out = ends_out(error_out)
        below = np.maximum(below, (rate_in - low_in) + (high_out - rate_out))
        above = np.maximum(above, (high_in - rate_in) + (rate_out - low_out))
    return BETWEEN * below, BETWEEN * above


# The largest sum may lie between two of the angles.
BETWEEN = float(1 / np.cos(np.pi / 4 / (ANGLES - 1)))


def errors_at(angles: Sequence[tuple[Any, Any]], error: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the two-sided error rates of both rates at each angle, given as cosine and sine."""
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    quantile = error_quantiles(error)
    for part_in, part_out in angles:
        yield 2 * ndtr(-quantile * part_in), 2 * ndtr(-quantile * part_out)
