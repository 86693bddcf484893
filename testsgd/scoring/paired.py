"""Intervals for differences within pairs: the same cases under two conditions.

Each pair gives a difference between -1 and 1. A sample in which almost all pairs agree knows little
of how much pairs differ, so the mean and the variance are taken with two pairs more, one with the
largest difference and one with the smallest. For yes/no answers that is the adjusted Wald interval
of Bonett and Price (2012); here answers may also be means of several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.exact_intervals import ANGLES, BETWEEN, clopper_pearson, errors_at
from testsgd.scoring.margins import normal_quantile

Floats = NDArray[np.float64]


def paired_interval(
    mean: Any, mean_square: Any, pairs: Any, confidence: float
) -> tuple[Floats, Floats]:
    """Compute the interval for the mean of differences within pairs.

    With two pairs more, one of difference 1 and one of -1, let c be the mean and v the variance:
    the interval is c plus and minus z sqrt(v / (n + 2)) for n pairs. It is cut to [-1, 1], and
    widened to hold the observed mean.

    Parameters
    ----------
    mean : array_like of float
        Mean of the differences.
    mean_square : array_like of float
        Mean of their squares.
    pairs : array_like of float
        Number of independent pairs.
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    low, high : numpy.ndarray of float64
        The ends; NaN without independent pairs.

    References
    ----------
    Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data. Journal of Educational and Behavioral Statistics 37(4).

    Examples
    --------
    >>> low, high = paired_interval(0.1, 0.2, 100, 0.95)
    >>> float(low.round(3)), float(high.round(3))
    (0.01, 0.186)
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


def paired_tails_interval(
    mean: Floats, mean_size: Floats, pairs: Floats, error: float
) -> tuple[Floats, Floats]:
    """Compute intervals for means of differences within pairs, with exact tails.

    The mean difference is that of the gains less that of the losses. Each varies no more than a
    rate over as many yes/no answers. A pair that gains does not lose, so the two stray in opposite
    directions: as :func:`testsgd.scoring.exact_difference`, with the errors of the two on the
    ellipse of their correlation instead of a circle.

    Parameters
    ----------
    mean : numpy.ndarray of float64, shape (n,)
        Mean of the differences.
    mean_size : numpy.ndarray of float64, shape (n,)
        Mean of their absolute values.
    pairs : numpy.ndarray of float64, shape (n,)
        Number of independent pairs.
    error : float
        Two-sided error rate.

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (n,)
        The ends, within [-1, 1].

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27, for correlated estimates; the largest sum over the ellipse
    is ours.
    """
    gain = np.maximum(mean_size + mean, 0) / 2
    loss = np.maximum(mean_size - mean, 0) / 2
    # With a pair more that gains and one that loses, so that no correlation seems to be 0.
    gains = (gain * pairs + 1) / (pairs + 2)
    losses = (loss * pairs + 1) / (pairs + 2)
    opposed = np.sqrt(gains * losses / ((1 - gains) * (1 - losses)))
    widest = np.arccos(np.minimum(opposed, 1))
    shares = np.linspace(0, 1, ANGLES)
    angles = [(np.cos(part * widest), np.cos((1 - part) * widest)) for part in shares]
    # All angles at once: most callers have a few means, and an end takes far less than a call.
    error_gain, error_loss = np.moveaxis(np.array(list(errors_at(angles, error))), 1, 0)
    low_gain, high_gain = clopper_pearson(gain * pairs, pairs, error_gain)
    low_loss, high_loss = clopper_pearson(loss * pairs, pairs, error_loss)
    sums_below = (gain - low_gain) + (high_loss - loss)
    sums_above = (high_gain - gain) + (loss - low_loss)
    below = BETWEEN * np.maximum(sums_below.max(axis=0), 0.0)
    above = BETWEEN * np.maximum(sums_above.max(axis=0), 0.0)
    return np.maximum(mean - below, -1), np.minimum(mean + above, 1)


def paired_rates_interval(
    gained: Any, lost: Any, pairs: Any, confidence: float
) -> tuple[Floats, Floats]:
    """Compute Tango's score interval for the change of a rate between two answers to each case.

    The change is (gained - lost) / pairs. The interval is the changes that a score test does not
    reject.

    Parameters
    ----------
    gained : array_like of float
        Cases that answered no at first and yes then.
    lost : array_like of float
        Cases that answered yes at first and no then.
    pairs : array_like of float
        All cases.
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    low, high : numpy.ndarray of float64
        The ends, within [-1, 1], with the change between them; NaN without cases.

    References
    ----------
    Tango (1998), Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design. Statistics in Medicine 17.

    Examples
    --------
    >>> low, high = paired_rates_interval(15, 5, 100, 0.95)
    >>> bool(low < 0.1 < high)
    True
    """
    gained, lost, pairs = np.broadcast_arrays(
        *(np.asarray(value, dtype=np.float64) for value in (gained, lost, pairs))
    )
    quantile = float(normal_quantile(confidence))
    high = _score_end(gained, lost, pairs, quantile)
    low = -_score_end(lost, gained, pairs, quantile)
    known = pairs > 0
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _score_end(gained: Floats, lost: Floats, pairs: Floats, quantile: float) -> Floats:
    """Return the largest change whose score test does not reject what was seen, by bisection.

    All arrays have the same shape. Changes d from the observed one to 1 are bisected; d is rejected
    if n d - (gained - lost) is above z sqrt(n (2 l + d (1 - d))), l being the likeliest share of
    losses.
    """
    size = np.maximum(pairs, 1)
    low, high = (gained - lost) / size, np.ones(np.shape(gained))
    for _ in range(60):
        middle = (low + high) / 2
        # The most likely share of losses, if the change is `middle`.
        linear = -gained - lost + (2 * size - gained + lost) * middle
        constant = -lost * middle * (1 - middle)
        root = np.sqrt(np.maximum(linear**2 - 8 * size * constant, 0))
        losses = np.maximum((root - linear) / (4 * size), 0)
        variance = np.maximum(size * (2 * losses + middle * (1 - middle)), 0)
        rejected = size * middle - (gained - lost) > quantile * np.sqrt(variance)
        low = np.where(rejected, low, middle)
        high = np.where(rejected, middle, high)
    end: Floats = (low + high) / 2
    return end


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Compute the exact two-sided p-value of the hypothesis that as many gain as lose.

    Parameters
    ----------
    gained, lost : int
        Pairs that changed in each direction.

    Returns
    -------
    float
        1 if no pair changed.

    References
    ----------
    McNemar (1947).

    Examples
    --------
    >>> mcnemar_p_value(0, 5)
    0.0625
    """
    from scipy.special import bdtr

    changed = gained + lost
    return min(1.0, 2 * float(bdtr(min(gained, lost), changed, 0.5))) if changed else 1.0


def combined_interval(
    parts: Sequence[tuple[float, tuple[float, float]]], factors: Sequence[float]
) -> tuple[float, float]:
    """Combine intervals of independent estimates into one for a sum of their multiples.

    The distances from the estimates to their ends, times the factors, are added as squares.

    Parameters
    ----------
    parts : sequence of (float, (float, float))
        Each estimate with its interval.
    factors : sequence of float
        What each estimate is multiplied by.

    Returns
    -------
    low, high : float

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27.

    Examples
    --------
    >>> low, high = combined_interval([(0.5, (0.2, 0.8)), (0.1, (-0.3, 0.5))], [1.0, -1.0])
    >>> round(low, 3), round(high, 3)
    (-0.1, 0.9)
    """
    total = math.fsum(factor * value for (value, _), factor in zip(parts, factors, strict=True))
    below = above = 0.0
    for (value, (low, high)), factor in zip(parts, factors, strict=True):
        ends = sorted((factor * low, factor * high))
        below += (factor * value - ends[0]) ** 2
        above += (ends[1] - factor * value) ** 2
    return total - math.sqrt(below), total + math.sqrt(above)
