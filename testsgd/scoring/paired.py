"""Intervals for differences within pairs: the same cases under two conditions.

Each pair gives a difference between -1 and 1. As for other intervals, a sample in which almost all
pairs agree knows little of how much pairs differ, so the mean and the variance are taken with two
pairs more, one with the largest difference and one with the smallest. For yes/no answers that is
the adjusted Wald interval of Bonett and Price (2012), which adds one to each count of pairs that
disagree; here answers may also be means of several, and differences shares in between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.margins import normal_quantile

Floats = NDArray[np.float64]


def paired_interval(
    mean: Any, mean_square: Any, pairs: Any, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the interval for the mean of differences within pairs.

    Parameters
    ----------
    mean, mean_square : array_like of float
        Mean of the pairs' differences, and of their squares.
    pairs : array_like of float
        Number of independent pairs; NaN is returned where it is 0.
    confidence : float
        Confidence level.

    Returns
    -------
    low, high : numpy.ndarray of float64
        Within [-1, 1]; the mean lies between them.

    References
    ----------
    Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data. Journal of Educational and Behavioral Statistics 37(4).

    Examples
    --------
    Of 100 pairs, 20 change for the better and 5 for the worse.

    >>> low, high = paired_interval(0.15, 0.25, 100, 0.95)
    >>> float(low.round(3)), float(high.round(3))
    (0.051, 0.243)
    """
    mean = np.asarray(mean, dtype=np.float64)
    pairs = np.asarray(pairs, dtype=np.float64)
    centre = mean * pairs / (pairs + 2)
    variance = (np.asarray(mean_square, dtype=np.float64) * pairs + 2) / (pairs + 2) - centre**2
    reach = normal_quantile(confidence) * np.sqrt(np.maximum(variance, 0) / (pairs + 2))
    known = pairs > 0
    low = np.where(known, np.maximum(np.minimum(centre - reach, mean), -1), np.nan)
    high = np.where(known, np.minimum(np.maximum(centre + reach, mean), 1), np.nan)
    return low, high
