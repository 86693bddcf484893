"""Confidence sequences of a rate: intervals that hold whenever one looks, and however often.

An interval for a fixed number of samples covers the truth with its confidence if it is looked at
once. A confidence sequence covers it after all numbers of samples at once, whatever made sampling
stop: the margin, the answers, a budget, or what was seen of other groups.

For each possible rate p somebody who doubts it puts a part of the capital on the next answer, at
odds that are fair if p is true. Then the capital is a martingale that begins at 1, and the chance
that it ever reaches 1/a is at most a (Ville). The sequence is what survives: the rates against
which the capital is below 1/a. The bet is on the share of successes so far, mixed with p itself as
if p had been seen in `c` samples before; :mod:`testsgd.scoring.betting_martingale` has its formula.
Its logarithm is convex in p, so what survives is an interval.

See J. Ville, Étude critique de la notion de collectif, 1939 (the inequality); H. Robbins, Annals of
Mathematical Statistics 41, 1970, and D. A. Darling and H. Robbins, PNAS 58, 1967 (mixtures of
martingales); S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Annals of Statistics 49, 2021
(the beta-binomial mixture, and its tuning); I. Waudby-Smith and A. Ramdas, Estimating means of
bounded random variables by betting, JRSS B 86, 2024.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.betting_martingale import log_wealth, log_wealth_slope, weight_of_rate

Floats = NDArray[np.float64]

# Samples after which the sequence is narrowest for its confidence, if nothing else is known.
TUNED_FOR = 2000

_ITERATIONS = 100
_PRECISION = 1e-11


def confidence_sequence(
    successes: Any, samples: Any, confidence: Any, *, tuned_for: float = TUNED_FOR
) -> tuple[Floats, Floats]:
    """Compute the interval of a rate that holds after all numbers of samples at once.

    It is narrowest after `tuned_for` samples; its guarantee holds for any choice that does not
    depend on the answers.

    Parameters
    ----------
    successes, samples : array_like of float
        How many of how many so far; broadcast.
    confidence : array_like of float
        Probability that the interval covers the rate after all numbers of samples; broadcast, too.
    tuned_for : float
        Number of samples after which the interval is narrowest.

    Returns
    -------
    low, high : numpy.ndarray of float64
        The ends; 0 and 1 without samples.

    Notes
    -----
    The interval holds the rates p against which the capital of a bet is below 1 / (1 - confidence).
    The module's description names the sources.

    Examples
    --------
    >>> low, high = confidence_sequence([0, 283], [0, 1000], 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.241], [1.0, 0.328])
    """
    shapes = (np.asarray(each, dtype=np.float64) for each in (successes, samples, confidence))
    won, number, level = np.broadcast_arrays(*shapes)
    wins = won.ravel()
    total = number.ravel()
    if np.ndim(confidence) == 0:
        levels, which = np.array([float(confidence)]), None
    else:
        levels, which = np.unique(level.ravel(), return_inverse=True)
    weights = np.array([weight_of_rate(one, tuned_for) for one in levels.tolist()])
    limits = np.array([math.log1p(-one) for one in levels.tolist()])
    if which is not None:
        weights, limits = np.tile(weights[which], 2), np.tile(limits[which], 2)
    # The upper end is one less the lower end of the rate of failures. Both are found together.
    losses = total - wins
    ends = _lower_end(
        np.concatenate([wins, losses]), np.concatenate([losses, wins]), limits, weights
    )
    low, high = ends[: len(wins)], 1 - ends[len(wins) :]
    return low.reshape(won.shape), high.reshape(won.shape)


def sequence_margin(
    successes: Any, samples: Any, confidence: float, *, tuned_for: float = TUNED_FOR
) -> Floats:
    """Compute how far the ends of the confidence sequence lie from the observed rate, at most.

    Parameters
    ----------
    successes, samples, confidence, tuned_for
        As for :func:`confidence_sequence`.

    Returns
    -------
    numpy.ndarray of float64
        Infinite without samples.

    Examples
    --------
    Wider than Wald's 0.028, which holds for one look only.

    >>> float(sequence_margin(283, 1000, 0.95).round(3))
    0.045
    """
    low, high = confidence_sequence(successes, samples, confidence, tuned_for=tuned_for)
    number = np.asarray(samples, dtype=np.float64)
    rate = np.asarray(successes, dtype=np.float64) / np.maximum(number, 1)
    return np.where(number > 0, np.maximum(rate - low, high - rate), np.inf)


def _lower_end(wins: Floats, losses: Floats, limits: Floats, weights: Floats) -> Floats:
    """Return the lower ends, shape (n,), by Newton's method kept inside a bracket.

    `limits`, the logarithms of the errors, and `weights` are one for all or one for each.

    The logarithm of the capital is convex and falls there, so that from the first step on Newton's
    method stays on the outer side of the end.
    """
    ends = np.zeros(len(wins))
    # Nothing is too small a rate for a single success: the capital stays bounded near 0.
    active = np.flatnonzero(wins >= 2)
    wins = wins[active]
    losses = losses[active]
    each = len(limits) > 1
    if each:
        limits, weights = limits[active], weights[active]
    total = wins + losses
    outer = np.zeros(len(active))
    inner = wins / total
    spread = np.sqrt(8 * inner * (1 - inner) / total) + 4 / total
    rate = np.maximum(inner - spread, inner / 4)
    for _ in range(_ITERATIONS):
        if len(active) == 0:
            break
        excess = log_wealth(rate, wins, losses, weights) + limits
        slope = log_wealth_slope(rate, wins, losses, weights)
        outer = np.where(excess >= 0, rate, outer)
        inner = np.where(excess < 0, rate, inner)
        # Close to the inner end it may not fall; then the step leads out of the bracket.
        following = rate - excess / np.minimum(slope, -1e-9)
        known = (following > outer) & (following < inner)
        known |= np.abs(following - rate) <= _PRECISION * rate
        following = np.where(known, following, (outer + inner) / 2)
        ends[active] = following
        unfinished = np.abs(following - rate) > _PRECISION * rate
        active = active[unfinished]
        wins = wins[unfinished]
        losses = losses[unfinished]
        outer = outer[unfinished]
        inner = inner[unfinished]
        rate = following[unfinished]
        if each:
            limits, weights = limits[unfinished], weights[unfinished]
    return ends
