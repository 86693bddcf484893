"""The similarity of two findings, by their rows and not by their descriptions or numbers.

A group and its complement are one division of the rows: a finding that men are favoured is also
one that all others are not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.baselines import BaselineFinding

# From here on one method's finding is the other's too.
NEAR = 0.5

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]


def groups_of(finding: BaselineFinding) -> tuple[Rows, ...]:
    """Return the rows of a finding's groups: none, one, or the two of a pair; no empty ones."""
    groups = (finding.rows, finding.rows_other)
    return tuple(rows for rows in groups if rows is not None and rows.any())


def similarity(one: Sequence[Rows], other: Sequence[Rows]) -> float:
    """Return the similarity of two findings: the best :func:`alikeness` of their groups, or 0."""
    pairs = [
        alikeness((left & right).sum(), left.sum(), right.sum(), len(left))
        for left in one
        for right in other
    ]
    return float(max(pairs, default=0.0))


def alikeness(both: ArrayLike, one: ArrayLike, other: ArrayLike, rows: int) -> Floats:
    """Return how alike two divisions of the rows are, by Jaccard's index of the smaller sides.

    Jaccard's index, the rows in both groups as a share of those in either, is taken of the groups
    and of their complements, and the smaller one counts: two groups of nearly all rows always share
    most of them, and are not alike if their complements differ. Of two groups with at most half of
    the rows it is that of the groups. The same is done with one group exchanged for its complement,
    and the larger result is returned.

    Parameters
    ----------
    both, one, other : array-like of int
        Rows in both groups, in the one, and in the other; the shapes broadcast.
    rows : int
        All rows.

    Returns
    -------
    numpy.ndarray of float64
        Between 0 and 1.

    Examples
    --------
    >>> float(alikeness(20, 30, 40, 100))  # the rows in both as a share of those in either
    0.4
    >>> round(float(alikeness(90, 95, 95, 100)), 2)  # no row is outside of both
    0.05
    """
    in_both, in_one, in_other = (np.asarray(count, dtype=float) for count in (both, one, other))
    only_one = in_one - in_both
    only_other = in_other - in_both
    neither = rows - in_one - in_other + in_both
    direct = np.minimum(_share(in_both, rows - neither), _share(neither, rows - in_both))
    exchanged = np.minimum(_share(only_one, rows - only_other), _share(only_other, rows - only_one))
    return np.maximum(direct, exchanged)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
