"""The sampling margin of a score, and when to stop sampling.

The score is a difference of two rates, each estimated from its own samples; the paper adds the two
margins (Theorem 4.2), so that both hold together with the product of their confidences.

The paper's margin is Wald's, which is made for one look at a fixed number of samples. That of a
confidence sequence (:mod:`testsgd.scoring.sequences`) is wider and holds for the number of samples
at which sampling stops, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.sequences import TUNED_FOR, sequence_margin

Floats = NDArray[np.float64]

# Fewer successes or failures than this and the normal approximation behind Wald's margin fails
# (a usual rule of thumb; at none at all the margin would be 0).
WILSON_BELOW = 10


@lru_cache(maxsize=64)
def normal_quantile(confidence: float) -> float:
    """Return the z of a two-sided confidence level, such as 1.96 for 0.95.

    Parameters
    ----------
    confidence : float
        Between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def error_quantile(error: float) -> float:
    """Return the z of a two-sided error rate, such as 1.96 for 0.05, also of a very small one.

    Parameters
    ----------
    error : float
        Two-sided error rate, half of it at each end.

    Returns
    -------
    float

    Examples
    --------
    >>> round(error_quantile(0.05), 2), round(error_quantile(1e-30), 1)
    (1.96, 11.5)
    """
    return -NormalDist().inv_cdf(error / 2)


def error_quantiles(errors: Any) -> Floats:
    """Return the z of each of many two-sided error rates, in their shape."""
    # Imported here: a tenth of a second.
    from scipy.special import ndtri

    quantiles: Floats = -ndtri(np.asarray(errors, dtype=np.float64) / 2)
    return quantiles


def wald_margin(successes: Any, samples: Any, confidence: float) -> Floats:
    """Compute the half-width of Wald's interval for a rate.

    It is z sqrt(r (1 - r) / n) for the observed rate r of n samples, and 0 at a rate of 0 or 1.

    Parameters
    ----------
    successes, samples : array_like of float
        How many of how many; broadcast. At least one sample.
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    numpy.ndarray of float64

    References
    ----------
    Zhang et al., TestSGD, equation 7.

    Examples
    --------
    >>> float(wald_margin(283, 1000, 0.95).round(3)), float(wald_margin(91, 1000, 0.95).round(3))
    (0.028, 0.018)
    """
    samples = np.asarray(samples, dtype=np.float64)
    rate = np.asarray(successes, dtype=np.float64) / samples
    return np.asarray(normal_quantile(confidence) * np.sqrt(rate * (1 - rate) / samples))


def wilson_margin(successes: Any, samples: Any, confidence: float) -> Floats:
    """Compute how far the ends of Wilson's interval lie from the observed rate, at most.

    The interval is not centred on the observed rate, so the larger of the two distances is taken:
    the true rate lies within it of the observed one whenever the interval covers it.

    Parameters
    ----------
    successes, samples : array_like of float
        How many of how many; broadcast. At least one sample.
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    numpy.ndarray of float64

    Examples
    --------
    >>> float(wilson_margin(0, 1000, 0.95).round(4))
    0.0038
    """
    # Imported here: it takes a second, and an exact audit needs it not at all.
    from statsmodels.stats.proportion import proportion_confint

    successes = np.asarray(successes, dtype=np.float64)
    samples = np.asarray(samples, dtype=np.float64)
    low, high = proportion_confint(successes, samples, alpha=1 - confidence, method="wilson")
    rate = successes / samples
    return np.asarray(np.maximum(rate - low, high - rate))


@dataclass(frozen=True)
class Margins:
    """Sampling margins of many scores, one entry a score."""

    margin: Floats  # Both sides' margins, added.
    wilson: NDArray[np.bool_]  # Where Wilson's interval had to be used on at least one side.


def score_margins(
    favourable_in: Any,
    samples_in: Any,
    favourable_out: Any,
    samples_out: Any,
    confidence: float,
    *,
    kind: Literal["wald", "anytime"] = "wald",
    tuned_for: float = TUNED_FOR,
) -> Margins:
    """Compute the sampling margin of differences of two rates.

    A side whose samples hold fewer than ten favourable or fewer than ten other labels gets Wilson's
    margin in place of Wald's, which is 0 at a rate of exactly 0 or 1.

    Parameters
    ----------
    favourable_in, samples_in, favourable_out, samples_out : array_like of int
        Favourable labels and samples on each side.
    confidence : float
        Confidence level of each side; together they hold with its square.
    kind : {"wald", "anytime"}
        Whose margin. That of a confidence sequence, ``anytime``, holds after all numbers of samples
        at once, and so do both together: answers inside tell nothing of answers outside, however
        it is decided on which side to draw next, and when to stop.
    tuned_for : float
        Samples a side for which a confidence sequence is narrowest.

    Returns
    -------
    Margins
        Infinite where a side has no samples.

    References
    ----------
    Zhang et al., TestSGD, Theorem 4.2 and Algorithm 2, line 11.

    Examples
    --------
    The worked example of the paper's section 4.2: 28.3% and 9.1% of 1000 samples each.

    >>> bool(score_margins(283, 1000, 91, 1000, 0.95).margin <= 0.05)
    True
    """
    inside, wilson_in = rate_margins(
        favourable_in, samples_in, confidence, kind=kind, tuned_for=tuned_for
    )
    outside, wilson_out = rate_margins(
        favourable_out, samples_out, confidence, kind=kind, tuned_for=tuned_for
    )
    return Margins(inside + outside, wilson_in | wilson_out)


def rate_margins(
    favourable: Any,
    samples: Any,
    confidence: float,
    *,
    kind: Literal["wald", "anytime"] = "wald",
    tuned_for: float = TUNED_FOR,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Compute the sampling margins of rates: the part of a score's margin from one side.

    Parameters
    ----------
    favourable, samples : array_like of int
        Favourable labels and samples.
    confidence : float
        Confidence level.
    kind : {"wald", "anytime"}
        Which margin, as for :func:`score_margins`.
    tuned_for : float
        Samples for which a confidence sequence is narrowest.

    Returns
    -------
    margin : numpy.ndarray of float64
        Infinite without samples.
    wilson : numpy.ndarray of bool
        Where the margin is Wilson's in place of Wald's.

    Examples
    --------
    >>> margin, wilson = rate_margins([283, 3, 0], [1000, 1000, 0], 0.95)
    >>> margin.round(3).tolist(), wilson.tolist()
    ([0.028, 0.006, inf], [False, True, True])
    """
    favourable = np.asarray(favourable, dtype=np.float64)
    samples = np.asarray(samples, dtype=np.float64)
    if kind == "anytime":
        margin = sequence_margin(favourable, samples, confidence, tuned_for=tuned_for)
        return margin, np.zeros(margin.shape, dtype=bool)
    at_least_one = np.maximum(samples, 1)
    wilson = np.asarray(np.minimum(favourable, samples - favourable) < WILSON_BELOW)
    margin = np.where(
        wilson,
        wilson_margin(np.minimum(favourable, at_least_one), at_least_one, confidence),
        wald_margin(favourable, at_least_one, confidence),
    )
    return np.where(samples > 0, margin, np.inf), wilson


def enough(
    samples_in: Any, samples_out: Any, margin: Any, *, min_samples: int, error_margin: float
) -> NDArray[np.bool_]:
    """Return where sampling may stop: more than `min_samples` on each side and a small margin.

    Parameters
    ----------
    samples_in, samples_out : array_like of int
        Samples inside and outside of each group.
    margin : array_like of float
        Sampling margin of each group's score.
    min_samples : int
        Each side must have more samples than these.
    error_margin : float
        Largest margin at which to stop.

    Returns
    -------
    numpy.ndarray of bool

    References
    ----------
    Zhang et al., TestSGD, Algorithm 2.

    Examples
    --------
    >>> inside, outside, margins = [1001, 1001], [5000, 5000], [0.04, 0.06]
    >>> enough(inside, outside, margins, min_samples=1000, error_margin=0.05).tolist()
    [True, False]
    """
    fewest = np.minimum(np.asarray(samples_in), np.asarray(samples_out))
    return np.asarray((fewest > min_samples) & (np.asarray(margin) <= error_margin))
