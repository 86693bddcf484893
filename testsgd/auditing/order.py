"""The order of the findings, the same for rows and for texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.scoring import rank_groups


def order_groups(
    estimates: Estimates,
    size: NDArray[np.float64],
    rule_counts: NDArray[np.int64],
    *,
    first_by: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Rank the groups.

    Parameters
    ----------
    estimates : Estimates
        Their rates.
    size : numpy.ndarray of float64, shape (groups,)
        What they are ranked by; NaN where it is not known.
    rule_counts : numpy.ndarray of int64, shape (groups,)
        How many rules each has.
    first_by : numpy.ndarray of float64, shape (groups,), optional
        What they are ranked by before `size`.

    Returns
    -------
    numpy.ndarray of int
        The groups, first things first; those without a sample on one side or without a size are
        left out.
    """
    ranking = rank_groups(
        np.nan_to_num(size), estimates.rows_in, rule_counts, estimates.decided, first_by
    )
    return ranking[(estimates.sampled & ~np.isnan(size))[ranking]]
