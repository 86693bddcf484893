"""Intervals for paired differences, of one group or of all groups at once.

If they are to hold for all of many groups at once, each is one of 99.9% or more. There a normal
interval is too narrow where few pairs differ, all in one direction: from so few it is not seen how
many do in truth. So, as for other rates, the tails are taken from the binomial distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.parameters import AuditParameters
from testsgd.rules.text import TermRuleSets
from testsgd.scoring import clopper_pearson, paired_interval

Floats = NDArray[np.float64]

_ANGLES = 7


@dataclass(frozen=True)
class PairedIntervals:
    """How the intervals of paired differences are computed.

    Attributes
    ----------
    confidence : float
        Of each interval.
    tails : bool
        Take them from the binomial distribution, see :func:`paired_tails_interval`, and not from
        the normal, see :func:`testsgd.scoring.paired_interval`.
    """

    confidence: float
    tails: bool

    def __call__(
        self, mean: Floats, mean_square: Floats, mean_size: Floats, pairs: Floats
    ) -> tuple[Floats, Floats]:
        """Compute intervals from the means of differences, of their squares and their sizes."""
        if self.tails:
            return paired_tails_interval(mean, mean_size, pairs, 1 - self.confidence)
        return paired_interval(mean, mean_square, pairs, self.confidence)


def paired_intervals(
    rule_sets: TermRuleSets, parameters: AuditParameters, *, groups: int | None = None
) -> PairedIntervals:
    """Choose the paired intervals by what the audit is to guarantee.

    A simultaneous guarantee is for all paired intervals at once, by Bonferroni's inequality. For
    the other kinds each paired interval has the confidence that was asked for.

    Parameters
    ----------
    rule_sets : TermRuleSets
        The groups; those of a category with one term have no others to be compared with.
    parameters : AuditParameters
        The guarantee and its confidence.
    groups : int, optional
        How many are looked at, if not all of them.
    """
    if parameters.guarantee != "simultaneous":
        return PairedIntervals(parameters.confidence, tails=False)
    if groups is None:
        groups = sum(len(one) for one in rule_sets.category_sets if min(one.shape) > 1)
    return PairedIntervals(1 - (1 - parameters.confidence) / max(1, groups), tails=True)


def paired_tails_interval(
    mean: Floats, mean_size: Floats, pairs: Floats, error: float
) -> tuple[Floats, Floats]:
    """Compute intervals for means of differences within pairs, with exact tails.

    The mean difference is that of the gains less that of the losses. A pair has a gain or a loss
    between 0 and 1, so each mean varies no more than a rate over as many yes/no answers. A pair
    that gains does not lose, so the two means stray in opposite directions, and their difference
    strays further than if they were independent: by their correlation.

    Parameters
    ----------
    mean, mean_size : numpy.ndarray of float64
        Mean of the pairs' differences, and of their sizes.
    pairs : numpy.ndarray of float64
        Number of independent pairs.
    error : float
        Two-sided error rate of each interval.

    Returns
    -------
    low, high : numpy.ndarray of float64
        Within [-1, 1].

    Notes
    -----
    As :func:`testsgd.scoring.exact_difference`, with errors of the two means on the ellipse of
    their correlation instead of a circle.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27, for correlated estimates; taking the largest sum over the
    ellipse is ours.

    Examples
    --------
    Of 100 pairs, 20 change for the better and 5 for the worse.

    >>> low, high = paired_tails_interval(*np.array([[0.15], [0.25], [100]]), error=0.05)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.045], [0.257])
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr, ndtri

    gain, loss = np.maximum(mean_size + mean, 0) / 2, np.maximum(mean_size - mean, 0) / 2
    # With a pair more that gains and one that loses, so that no correlation seems to be 0.
    gains, losses = ((part * pairs + 1) / (pairs + 2) for part in (gain, loss))
    opposed = np.sqrt(gains * losses / ((1 - gains) * (1 - losses)))
    widest = np.arccos(np.minimum(opposed, 1))
    quantile = -ndtri(error / 2)
    below = above = np.zeros(len(mean))
    for part in np.linspace(0, 1, _ANGLES):
        of_gain = 2 * ndtr(-quantile * np.cos(part * widest))
        of_loss = 2 * ndtr(-quantile * np.cos((1 - part) * widest))
        low_gain, high_gain = clopper_pearson(gain * pairs, pairs, of_gain)
        low_loss, high_loss = clopper_pearson(loss * pairs, pairs, of_loss)
        below = np.maximum(below, (gain - low_gain) + (high_loss - loss))
        above = np.maximum(above, (high_gain - gain) + (loss - low_loss))
    # The largest sum may lie between two of the points.
    between = 1 / np.cos(np.pi / 4 / (_ANGLES - 1))
    return np.maximum(mean - between * below, -1), np.minimum(mean + between * above, 1)
