"""A guarantee for the groups that are found: few of them are found by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.guarantee import Guarantee, assured_size, guarantee_of
from testsgd.scoring import equality_p_values

Floats = NDArray[np.float64]

# Error rates at which the intervals of groups with a confidence sequence are looked at.
_LEVELS = 10.0 ** -(np.arange(0, 31) / 3)


def false_discovery(estimates: Estimates, confidence: float) -> Guarantee:
    """Promise that of the groups found no more than a small share is found by chance.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    confidence : float
        1 less the share of false ones expected among the groups found.

    Returns
    -------
    Guarantee
        With the groups' q-values. A group is found if its q-value is at most 1 - `confidence`.
        The intervals are adjusted for the search too: of those of the groups found, no more than
        that share is expected to leave out the truth.

    References
    ----------
    Benjamini and Yekutieli (2001), The control of the false discovery rate in multiple testing
    under dependency. Annals of Statistics 29; (2005), False discovery rate-adjusted multiple
    confidence intervals for selected parameters. Journal of the American Statistical Association
    100. Overlapping groups depend on each other in every way, so the version for any dependency is
    used.
    """
    # Imported here: it takes a second.
    from statsmodels.stats.multitest import multipletests

    error = 1 - confidence
    groups = len(estimates.rows_in)
    q_values = np.ones(groups)
    # Groups that are not decided are not judged, but they were looked for.
    if groups:
        p_values = np.where(estimates.decided, group_p_values(estimates), 1.0)
        q_values = np.asarray(multipletests(p_values, alpha=error, method="fdr_by")[1])
    found = int((q_values <= error).sum())
    harmonic = float((1 / np.arange(1, groups + 1)).sum())
    each = error * max(1, found) / max(1.0, groups * harmonic)
    return guarantee_of(
        estimates,
        np.full(groups, each),
        kind="fdr",
        confidence=confidence,
        method="false-coverage",
        groups=groups,
        q_values=q_values,
    )


def group_p_values(estimates: Estimates) -> Floats:
    """Compute for each group the p-value of "no difference in the population"."""
    if estimates.margin_kind == "anytime":
        return _p_values_of_intervals(estimates)
    size_in = estimates.independent_in.astype(np.float64)
    size_out = estimates.independent_out.astype(np.float64)
    if estimates.margin_kind == "wald":
        # Both the rows and the draws vary; see population_interval.
        size_in, size_out = (
            1 / (1 / np.where(rows > 0, rows, 1) + 1 / np.maximum(samples, 1)) * (samples > 0)
            for rows, samples in (
                (size_in, estimates.samples_in),
                (size_out, estimates.samples_out),
            )
        )
    return equality_p_values(
        np.nan_to_num(estimates.rate_in) * size_in,
        size_in,
        np.nan_to_num(estimates.rate_out) * size_out,
        size_out,
    )


def _p_values_of_intervals(estimates: Estimates) -> Floats:
    """Give the largest of some error rates below which an interval no longer leaves out 0.

    Intervals grow as their error rate shrinks. So those that still leave out "no difference" are
    looked at again at the next smaller rate.
    """
    p_values = np.ones(len(estimates.rows_in))
    left = np.flatnonzero(estimates.sampled)
    for level in _LEVELS:
        low, high = estimates.take(left).population_interval_at(level)
        left = left[assured_size(low, high) > 0]
        if not len(left):
            break
        p_values[left] = level
    return p_values
