"""The wealth of a betting martingale against a rate: its logarithm, and two derivatives of it.

The bet mixes the share of successes so far with the rate under test, as if that had been seen in
`weight` samples before; :mod:`testsgd.scoring.sequences` says where it comes from. With S successes
and F failures the capital against the rate p is, with c for the weight::

    B(c p + S, c (1 - p) + F) / (B(c p, c (1 - p)) p^S (1 - p)^F)

For many samples the logarithms of the gamma functions are large and nearly cancel. Stirling's
formula of all of them together is short: with the mixed rate r = (c p + S) / (c + n) the logarithm
of the capital is::

    (c p + S - 1/2) log(r / p) + (c (1 - p) + F - 1/2) log((1 - r) / (1 - p)) - log(1 + n / c) / 2

and what Stirling's formula leaves out of each gamma function (Binet's function, small).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Rates closer to 0 are taken for this one. With at most one success the capital has a limit at 0,
# which it reaches here to all digits; with more it grows beyond all bounds.
LEAST_RATE = 1e-140

# Confidences below this one are taken for it: of less than 1e-16 no digit would be left. The weight
# of a bet may be any.
_LEAST_CONFIDENCE = 1e-9

# From so many samples on the gamma functions themselves would leave less than 9 digits.
_MANY = 20_000
_SERIES_FROM = 10.0
# From here on the series of the trigamma function has all digits.
_TRIGAMMA_SERIES_FROM = 20.0
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


@lru_cache(maxsize=64)
def weight_of_rate(confidence: float, tuned_for: float) -> float:
    """Return the samples that the rate under test counts for in the bet.

    It is best for this confidence and narrowest after `tuned_for` samples, and valid for any. With
    n samples the squared margin is close to r (1 - r) / n times (1 + 1/x) log((1 + x) / a^2), x
    being n over the weight. That is least where x = log((1 + x) / a^2).
    """
    start = 2 * math.log(1 / (1 - max(confidence, _LEAST_CONFIDENCE)))
    ratio = start
    for _ in range(50):
        ratio = start + math.log1p(ratio)
    return tuned_for / ratio


def log_wealth(rate: Any, wins: Any, losses: Any, weight: Any) -> Floats:
    """Return the logarithm of the wealth (the capital) of a bet against each rate.

    `wins`, `losses`: the successes and failures seen; all are broadcast. At the rates 0 and 1 it is
    the limit; where that is infinite, hundreds. It is convex in the rate; at most 0 at the observed
    one.
    """
    # Imported here: only what samples needs it.
    from scipy.special import gammaln

    yes_rate, no_rate = _rate_pair(rate)
    yes = weight * yes_rate
    no = weight * no_rate
    samples = np.add(wins, losses)
    logarithm: Floats = np.asarray(
        (gammaln(yes + wins) - gammaln(yes) - wins * np.log(yes_rate))
        + (gammaln(no + losses) - gammaln(no) - losses * np.log(no_rate))
        - (gammaln(weight + samples) - gammaln(weight))
    )
    many = np.broadcast_to(samples > _MANY, logarithm.shape)
    if many.any():
        given = np.broadcast_arrays(yes_rate, no_rate, wins, losses, weight)
        logarithm[many] = _log_wealth_by_stirling(*(each[many] for each in given))
    return logarithm


def _log_wealth_by_stirling(
    yes_rate: Floats, no_rate: Floats, wins: Any, losses: Any, weight: Floats
) -> Floats:
    """Return the logarithm of the wealth by Stirling's formula, precise for large numbers.

    All arrays have the same shape. The module's description has the formula.
    """
    yes = weight * yes_rate
    no = weight * no_rate
    samples = wins + losses
    # The mixed rate less the rate: wins - samples * rate, without loss next to 0 and 1.
    total = weight + samples
    step = (wins * no_rate - losses * yes_rate) / total
    logarithm: Floats = (
        (yes + wins - 0.5) * _log_ratio(yes + wins, yes_rate * total, step / yes_rate)
        + (no + losses - 0.5) * _log_ratio(no + losses, no_rate * total, -step / no_rate)
        - 0.5 * np.log1p(samples / weight)
        + (_binet(yes + wins) - _binet(yes))
        + (_binet(no + losses) - _binet(no))
        - (_binet(total) - _binet(weight))
    )
    return logarithm


def log_wealth_slope(rate: Any, wins: Any, losses: Any, weight: Any) -> Floats:
    """Return the derivative by the rate of the logarithm of the wealth; it grows with the rate."""
    yes_rate, no_rate = _rate_pair(rate)
    return _slope_of_term(yes_rate, wins, weight) - _slope_of_term(no_rate, losses, weight)


def log_wealth_curvature(rate: Any, wins: Any, losses: Any, weight: float) -> Floats:
    """Return the second derivative by the rate of the logarithm of the wealth; never negative."""
    yes_rate, no_rate = _rate_pair(rate)
    return _curvature_of_term(yes_rate, wins, weight) + _curvature_of_term(no_rate, losses, weight)


def _rate_pair(rate: Any) -> tuple[Floats, Floats]:
    """Return the rates of successes and failures, neither below the least rate."""
    yes_rate = np.maximum(rate, LEAST_RATE)
    return yes_rate, np.maximum(1 - yes_rate, LEAST_RATE)


def _slope_of_term(rate: Floats, wins: Any, weight: Any) -> Floats:
    """Return the derivative by p of log Gamma(c p + S) - log Gamma(c p) - S log p.

    It is 0 for S of 0 and of 1. `rate` is p, `wins` S and `weight` c.
    """
    from scipy.special import psi

    further_wins = np.maximum(wins, 1.0) - 1
    slope: Floats = (
        weight * (psi(weight * rate + 1 + further_wins) - psi(weight * rate + 1))
        - further_wins / rate
    )
    return slope


def _curvature_of_term(rate: Floats, wins: Any, weight: float) -> Floats:
    """Return the derivative by p of :func:`_slope_of_term`; never negative."""
    further_wins = np.maximum(wins, 1.0) - 1
    below = weight * rate + 1
    curvature: Floats = further_wins / rate**2 - weight**2 * (
        _trigamma(below) - _trigamma(below + further_wins)
    )
    return np.maximum(curvature, 0.0)


def _trigamma(argument: Floats) -> Floats:
    """Return the trigamma function, elementwise: Hurwitz' zeta function at 2, or its series."""
    from scipy.special import zeta

    values = np.asarray(argument, dtype=np.float64)
    inverse = 1 / np.maximum(values, _TRIGAMMA_SERIES_FROM)
    square = inverse * inverse
    tail = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    found = np.asarray(inverse + square * (0.5 + inverse * tail))
    # The zeta function takes as long as fifty of the series do.
    small = values < _TRIGAMMA_SERIES_FROM
    if small.any():
        found[small] = zeta(2.0, values[small])
    return found


def _log_ratio(numerator: Floats, denominator: Floats, excess: Floats) -> Floats:
    """Return log(numerator / denominator), elementwise.

    `excess` is their ratio minus 1, computed without loss next to 0.
    """
    near: Floats = np.log1p(np.maximum(excess, -0.5))
    return np.where(excess < -0.5, np.log(numerator / denominator), near)


def _binet(argument: Any) -> Floats:
    """Return Binet's function: log Gamma(x) minus Stirling's formula, elementwise."""
    from scipy.special import gammaln

    values = np.asarray(argument, dtype=np.float64)
    inverse = 1 / np.maximum(values, _SERIES_FROM)
    square = inverse * inverse
    series: Floats = inverse * (
        1 / 12
        - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188))))
    )
    small = values < _SERIES_FROM
    if not small.any():
        return series
    few = np.minimum(values, _SERIES_FROM)
    left_out = gammaln(few) - ((few - 0.5) * np.log(few) - few + _HALF_LOG_TWO_PI)
    return np.where(small, left_out, series)
