"""How near two findings are, by the rows in them; their texts and numbers do not count.

A group and its complement are one division of the rows: a finding that men are favoured is also one
that all others are not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.baselines import BaselineFinding

# The similarity from which two methods have the same finding.
NEAR = 0.5

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]


def groups_of(finding: BaselineFinding) -> tuple[Rows, ...]:
    """Return the rows of a finding's groups: none, one, or the two of a pair; no empty ones."""
    groups = (finding.rows, finding.rows_other)
    return tuple(rows for rows in groups if rows is not None and rows.any())


def similarity(one: Sequence[Rows], other: Sequence[Rows]) -> float:
    """Return how near two findings are: the best :func:`alikeness` of their groups, or 0.

    `one` and `other` are the groups of the two findings, each of the shape (rows,).
    """
    pairs = [
        alikeness((left & right).sum(), left.sum(), right.sum(), len(left))
        for left in one
        for right in other
    ]
    return float(max(pairs, default=0.0))


def alikeness(both: ArrayLike, one: ArrayLike, other: ArrayLike, rows: int) -> Floats:
    """Return how alike two divisions of the rows are, by Jaccard's index of the smaller sides.

    Given are the numbers of rows in both groups, in the one, in the other, and in all; the arrays
    are broadcast. Jaccard's index, the
    rows in both groups as a share of those in either, is taken of the groups and of those outside,
    whichever is smaller: two groups of nearly all rows always share most rows, and are not
    alike if those outside are others. Of two groups with at most half of the rows it is that of the
    groups. Or the same after one group is exchanged for its complement, if that is larger.

    >>> float(alikeness(20, 30, 40, 100))  # the rows in both as a share of those in either
    0.4
    >>> round(float(alikeness(90, 95, 95, 100)), 2)  # no row is outside of both
    0.05
    """
    shared = np.asarray(both, dtype=float)
    in_one = np.asarray(one, dtype=float)
    in_other = np.asarray(other, dtype=float)
    only_one = in_one - shared
    only_other = in_other - shared
    neither = rows - in_one - in_other + shared
    of_groups = np.minimum(_share(shared, rows - neither), _share(neither, rows - shared))
    # One of the groups exchanged for its complement.
    of_complements = np.minimum(
        _share(only_one, rows - only_other), _share(only_other, rows - only_one)
    )
    return np.maximum(of_groups, of_complements)


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
