"""A guarantee for all groups of a table at once, by the bootstrap of the largest deviation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates
from testsgd.auditing.guarantee import Guarantee, bonferroni, guarantee_of
from testsgd.auditing.max_statistic import (
    affordable_samples,
    max_statistics,
    smoothed_rates,
    upper_quantile,
)
from testsgd.auditing.parameters import AuditParameters
from testsgd.rules import Contingency

# For very high confidences it takes more bootstrap samples than asked for; at most so many times.
_MOST_TIMES = 10


def simultaneous(
    estimates: Estimates,
    contingency: Contingency,
    cell_samples: Counts,
    cell_favourable: Counts,
    own_samples: NDArray[np.bool_],
    parameters: AuditParameters,
    *,
    min_count: int,
    jobs: int,
) -> Guarantee:
    """Promise the confidence for all frequent groups of a table at once.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    contingency : Contingency
        The sensitive cells.
    cell_samples, cell_favourable : numpy.ndarray of int64, shape (cells,)
        Samples that all groups share, by cell, and how many of them got the favourable label.
    own_samples : numpy.ndarray of bool, shape (groups,)
        Groups that got samples of their own, which are not in those by cell.
    parameters : AuditParameters
        The confidence, the bootstrap samples and the seed.
    min_count : int
        Fewest rows of a group.
    jobs : int
        Threads. Changes no result.

    Returns
    -------
    Guarantee

    Notes
    -----
    The bootstrap says how many independent groups the search is worth: its quantile c stands for an
    error rate of 2 P(Z > c) for each group. The ends of the intervals then come from the exact
    tails of each group's rates, because c is far out. So groups of few rows, or with rates near 0
    or 1, keep the promise too.

    Groups with samples of their own are judged by Bonferroni's inequality; each kind of group then
    gets half of the error rate. So are all groups if the confidence is so high that the bootstrap
    would take more than ten times the samples that are asked for.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    if not len(own_samples):
        return bonferroni(estimates, parameters.confidence)
    own = int(own_samples.sum())
    error = (1 - parameters.confidence) / (2 if own else 1)
    samples = affordable_samples(contingency, parameters.max_features, parameters.replicates)
    # Rarer errors than one in all the bootstrap samples cannot be seen in them.
    needed = math.ceil(1 / error)
    if own == len(own_samples) or needed > _MOST_TIMES * samples:
        return bonferroni(estimates, parameters.confidence)
    samples = max(samples, needed)
    largest = max_statistics(
        contingency,
        smoothed_rates(contingency.tally(), cell_favourable, cell_samples),
        min_count=min_count,
        max_features=parameters.max_features,
        samples=samples,
        seed=parameters.seed,
        jobs=jobs,
    )
    shared_error = float(2 * ndtr(-upper_quantile(largest, error)))
    # Bonferroni's is a bound on it: a bootstrap sample is never worth more groups than there are.
    shared_error = max(shared_error, error / (len(own_samples) - own))
    errors = np.where(own_samples, error / max(1, own), shared_error)
    return guarantee_of(
        estimates,
        errors,
        kind="simultaneous",
        confidence=parameters.confidence,
        method="mixed" if own else "max-statistic",
        replicates=samples,
    )
