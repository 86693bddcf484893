"""The order of the findings, the same for rows and for texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.parameters import AuditParameters
from testsgd.scoring import Overlaps, distinct_groups, rank_groups

# The distinct view is for reading; nobody reads more than this.
DISTINCT_GROUPS = 20


def order_groups(
    estimates: Estimates,
    size: NDArray[np.float64],
    rule_counts: NDArray[np.int64],
    overlaps: Overlaps,
    parameters: AuditParameters,
    *,
    first_by: NDArray[np.float64] | None = None,
    block: int = 64,
) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """Rank the groups, and tell the first that are no near copies of one before them.

    Parameters
    ----------
    estimates : Estimates
        Their rates.
    size : numpy.ndarray of float64, shape (groups,)
        What they are ranked by; NaN where it is not known.
    rule_counts : numpy.ndarray of int64, shape (groups,)
        How many rules each has.
    overlaps : callable
        How much groups overlap, as :func:`testsgd.scoring.distinct_groups` wants it.
    parameters : AuditParameters
        From which overlap two groups are one finding.
    first_by : numpy.ndarray of float64, shape (groups,), optional
        What they are ranked by before `size`.
    block : int
        Groups compared at once.

    Returns
    -------
    ranking : numpy.ndarray of int
        The groups by size, those without a sample on one side or without a size left out.
    distinct : tuple of int
        The first decided ones that are no near copies, at most :data:`DISTINCT_GROUPS`.
    """
    ranking = rank_groups(
        np.nan_to_num(size), estimates.rows_in, rule_counts, estimates.decided, first_by
    )
    ranking = ranking[(estimates.sampled & ~np.isnan(size))[ranking]]
    distinct = distinct_groups(
        ranking[estimates.decided[ranking]],
        overlaps,
        overlap=parameters.overlap,
        limit=DISTINCT_GROUPS,
        block=block,
    )
    return ranking, tuple(distinct)
