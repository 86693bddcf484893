"""Shares of what all groups have together, such as the share of women among those accepted.

The share of a group is its numerator over the denominators of all groups, added up. How far the
shares lie outside of the ranges that are given for them is decided in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness.property import Counts, whole_numbers

# The lowest and the highest share of each group.
Ranges = tuple[tuple[Fraction, Fraction], ...]


def share_bias(numerators: Sequence[int], denominators: Sequence[int], ranges: Ranges) -> Fraction:
    """Compute how far the share that is furthest outside of its range lies outside.

    Parameters
    ----------
    numerators, denominators : sequence of int
        The counters, one of each a group, in the same order.
    ranges : tuple of (Fraction, Fraction)
        The lowest and the highest share of each group.

    Returns
    -------
    Fraction
        0 if all shares are within, or as long as the denominators are 0.

    Examples
    --------
    >>> two_fifths = Fraction(2, 5), Fraction(1)
    >>> share_bias([1, 3], [1, 3], (two_fifths, (Fraction(0), Fraction(1))))
    Fraction(3, 20)
    """
    together = int(sum(denominators))
    if together == 0:
        return Fraction(0)
    shares = [Fraction(int(numerator), together) for numerator in numerators]
    outside = [
        max(low - share, share - high) for share, (low, high) in zip(shares, ranges, strict=True)
    ]
    return max(Fraction(0), *outside)


def rounded_share_biases(
    numerators: Counts, denominators: Counts, ranges: Ranges
) -> NDArray[np.float64]:
    """Compute the biases of many states in floating point, (..., groups) to (...)."""
    together = denominators.sum(axis=-1, keepdims=True)
    shares = numerators / np.maximum(together, 1)
    lows, highs = (np.array([float(ends[end]) for ends in ranges]) for end in (0, 1))
    outside = np.maximum(lows - shares, shares - highs).max(axis=-1)
    return np.asarray(np.where(together[..., 0] > 0, np.maximum(outside, 0.0), 0.0))


def shares_within(
    numerators: Counts, denominators: Counts, bound: Fraction, ranges: Ranges
) -> NDArray[np.bool_]:
    """Return a mask of the states whose shares are at most `bound` outside of their ranges, (n,).

    Both counters have shape (n, groups).
    """
    together = denominators.sum(axis=1)
    within = np.ones(len(together), dtype=bool)
    for group, (low, high) in enumerate(ranges):
        least = low - bound
        most = high + bound
        tops, all_of_them = whole_numbers(numerators[:, group], together, least, most)
        within &= (tops * least.denominator >= least.numerator * all_of_them).astype(bool)
        within &= (tops * most.denominator <= most.numerator * all_of_them).astype(bool)
    return np.asarray(within | (together == 0))
