"""Confidence sequences of how far two rates are apart: they hold however often one looks.

Against each pair of rates (p, q) two bets are made, one against p with the answers of the first
group and one against q with those of the second, as for one rate in
:mod:`testsgd.scoring.sequences`. The product of the two capitals is a martingale that begins at 1
if (p, q) is true, in whatever order the answers of the two groups come. The chance that it ever
reaches 1/a is at most a (Ville).

- What survives, the pairs of rates against which the product is below 1/a, holds the true pair at
  all times at once with confidence 1 - a. The interval of the difference |p - q|, or of the ratio
  1 - min/max, goes from its least value there to its largest.
- The least product over all pairs of rates whose difference (or ratio) is at most a threshold is
  evidence against that threshold: whatever the true rates within it are, it is no larger than the
  capital against them.

For two groups of the same size the interval has about four fifths of the width of what two
intervals for the two rates say, each with half the error. It gains less the more the sizes differ:
with a thousand times as many samples of one group it is about a third wider.

See the sources of :mod:`testsgd.scoring.sequences`, and R. Turner, A. Ly and P. Grünwald, Generic
E-variables for exact sequential k-sample tests that allow for optional stopping, Journal of
Statistical Planning and Inference 230, 2024, with other bets, in blocks of both groups.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring import pair_likelihood as likelihood
from testsgd.scoring.betting_martingale import weight_of_rate
from testsgd.scoring.sequences import TUNED_FOR

Floats = NDArray[np.float64]
PairMeasure = Literal["difference", "ratio"]

# The weight of the bets does not depend on the confidence asked for: all intervals and all evidence
# of a pair come from one martingale, and are wrong together or not at all. It is the best one here.
_TUNED_TO = 0.95

_SLACK = 0.01


def pair_interval(
    successes: Any,
    samples: Any,
    confidence: Any,
    *,
    measure: PairMeasure = "difference",
    tuned_for: float = TUNED_FOR,
) -> tuple[Floats, Floats]:
    """Compute the interval of the distance of two rates that holds at all times at once.

    Parameters
    ----------
    successes, samples : array_like of int, shape (..., 2)
        How many of how many so far, in each of the two groups; they are broadcast.
    confidence : float or array_like of float, shape (...)
        Probability that the interval covers the truth after all numbers of samples of both groups.
    measure : {"difference", "ratio"}
        The absolute difference of the rates, or 1 minus the lower rate over the higher one (0 if
        both are 0).
    tuned_for : float
        After so many samples of each group it is narrowest. It must not depend on the answers.

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (...)
        The ends, rounded outward. Without samples 0 and 1. Of two rates of which one is unknown,
        `low` is 0 and `high` as far as any rate can be from the known one.

    Examples
    --------
    >>> low, high = pair_interval([[30, 60], [300, 600]], [[100, 100], [1000, 1000]], 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.227], [0.585, 0.371])
    """
    wins, losses, shape = _as_pairs(successes, samples)
    confidences = np.broadcast_to(np.asarray(confidence, dtype=np.float64), shape).ravel()
    low = np.zeros(len(confidences))
    high = np.ones(len(confidences))
    active = np.flatnonzero(confidences < 1)
    if not active.size:
        return low.reshape(shape), high.reshape(shape)
    level = -np.log1p(-confidences[active])
    wins = wins[:, active]
    losses = losses[:, active]
    scale = likelihood.SCALES[measure]
    weight = weight_of_rate(_TUNED_TO, tuned_for)
    # Each pair in both orders: the largest p - q, and the largest q - p.
    seen = likelihood.Seen(
        np.concatenate([wins, wins[::-1]], axis=1),
        np.concatenate([losses, losses[::-1]], axis=1),
        weight,
        scale,
    )
    gaps = likelihood.largest_gaps(
        seen, np.tile(level + 10 * likelihood.PRECISION * (1 + level), 2)
    )
    first, second = gaps[: active.size], gaps[active.size :]
    low[active] = scale.measured(np.maximum(-first, -second)) * (1 - 1e-12)
    high[active] = np.minimum(scale.measured(np.maximum(first, second)) * (1 + 1e-12), 1.0)
    return low.reshape(shape), high.reshape(shape)


def pair_evidence(
    successes: Any,
    samples: Any,
    threshold: float,
    *,
    measure: PairMeasure = "difference",
    tuned_for: float = TUNED_FOR,
) -> Floats:
    """Compute the evidence that two rates are farther apart than a threshold, at any time.

    It is the logarithm of the least capital against two rates whose difference (or 1 minus ratio)
    is no larger than the threshold, rounded down; 0 where that is negative, as it is where the
    observed rates are no farther apart. If the threshold is kept, the chance that it ever reaches
    log(1/a) is at most a. It is above log(1/a) where the interval with confidence 1 - a lies above
    the threshold.

    Parameters
    ----------
    successes, samples : array_like of int, shape (..., 2)
        How many of how many so far, in each of the two groups; they are broadcast.
    threshold : float
        Largest value of the measure that is allowed.
    measure : {"difference", "ratio"}
        The absolute difference of the rates, or 1 minus the lower rate over the higher one.
    tuned_for : float
        As for :func:`pair_interval`. It must not depend on the answers.

    Returns
    -------
    numpy.ndarray of float64, shape (...)
        At least 0.

    Examples
    --------
    >>> evidence = pair_evidence([[30, 60], [300, 600]], [[100, 100], [1000, 1000]], 0.1)
    >>> (evidence > np.log(1 / 0.05)).tolist()
    [False, True]
    """
    wins, losses, shape = _as_pairs(successes, samples)
    evidence = np.zeros(wins.shape[1])
    if threshold >= 1:
        return evidence.reshape(shape)
    scale = likelihood.SCALES[measure]
    gap = scale.gap(max(threshold, 0.0))
    weight = weight_of_rate(_TUNED_TO, tuned_for)
    swapped = wins[0] * (wins[1] + losses[1]) < wins[1] * (wins[0] + losses[0])
    seen = likelihood.Seen(
        np.where(swapped, wins[::-1], wins), np.where(swapped, losses[::-1], losses), weight, scale
    )
    rates = seen.observed()
    active = np.flatnonzero((seen.samples > 0).all(axis=0) & (rates[0] - rates[1] > gap))
    if active.size:
        seen = seen.at(active)
        line = likelihood.least_on_lines(
            seen, np.full(active.size, gap), _start_of_single_pair(seen, gap)
        )
        least = line.least - 10 * likelihood.PRECISION * (1 + np.abs(line.least))
        evidence[active] = np.maximum(least, 0.0)
    return evidence.reshape(shape)


def may_be_evident(
    successes: tuple[int, int],
    samples: tuple[int, int],
    threshold: float,
    level: float,
    *,
    measure: PairMeasure = "difference",
    tuned_for: float = TUNED_FOR,
) -> bool:
    """Return False only if :func:`pair_evidence` of one pair is below a level, in microseconds.

    True is no proof: it means that the evidence must be computed. A monitor asks this first.

    Parameters
    ----------
    successes, samples : tuple of int
        How many of how many so far, in each of the two groups.
    threshold : float
        Largest value of the measure that is allowed.
    level : float
        Evidence that is asked for, a logarithm.
    measure, tuned_for
        As for :func:`pair_evidence`.

    Returns
    -------
    bool

    Examples
    --------
    >>> samples = (100, 100)
    >>> may_be_evident((50, 50), samples, 0.1, 3.0), may_be_evident((30, 90), samples, 0.1, 3.0)
    (False, True)
    """
    if threshold >= 1 or 0 in samples:
        return False
    scale = likelihood.SCALES[measure]
    gap = scale.gap(max(threshold, 0.0))
    # The group with the higher rate comes first.
    high = 1 if successes[0] * samples[1] < successes[1] * samples[0] else 0
    low = 1 - high
    observed = successes[high] / samples[high] - successes[low] / samples[low]
    if measure == "difference" and observed < threshold:
        return False
    evidence = likelihood.evidence_at_most(
        (successes[high], successes[low]),
        (samples[high] - successes[high], samples[low] - successes[low]),
        weight_of_rate(_TUNED_TO, tuned_for),
        gap,
        logarithmic=scale.logarithmic,
    )
    # Logarithms of gamma functions of large numbers are not exact.
    return evidence >= level - _SLACK


def _start_of_single_pair(seen: likelihood.Seen, gap: float) -> Floats | None:
    """Return where the search on a line begins, shape (1,), for a single pair; else None."""
    if seen.wins.shape[1] != 1:
        return None
    wins, losses = (tuple(counts[:, 0].tolist()) for counts in (seen.wins, seen.losses))
    logarithmic = seen.scale.logarithmic
    return np.array(
        [likelihood.minimising_position(wins, losses, seen.weight, gap, logarithmic=logarithmic)]
    )


def _as_pairs(successes: Any, samples: Any) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Return successes and failures, shape (2, pairs), and the shape of what is asked for."""
    won, number = np.broadcast_arrays(
        np.asarray(successes, dtype=np.float64), np.asarray(samples, dtype=np.float64)
    )
    wins = np.ascontiguousarray(won.reshape(-1, 2).T)
    total = np.ascontiguousarray(number.reshape(-1, 2).T)
    return wins, total - wins, won.shape[:-1]
