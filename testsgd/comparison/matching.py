"""How near two findings are: by the rows in them, whatever words and numbers they come with.

A group and everybody else are one division of the rows: who says that men are favoured has also
said that all others are not.
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
    """Return how near two findings are: the best :func:`alikeness` of their groups, or 0."""
    pairs = [
        alikeness((left & right).sum(), left.sum(), right.sum(), len(left))
        for left in one
        for right in other
    ]
    return float(max(pairs, default=0.0))


def alikeness(both: ArrayLike, one: ArrayLike, other: ArrayLike, rows: int) -> Floats:
    """Return how alike two divisions of the rows are, by Jaccard's index of the smaller sides.

    Given are the rows in both groups, in the one, in the other, and in all. Jaccard's index, the
    rows in both groups as a share of those in either, is taken of the groups and of those outside,
    whichever is smaller: two groups of nearly everybody always share most rows, and say nothing
    alike if those outside are others. Of two groups with at most half of the rows it is that of the
    groups. Or the same after one group is exchanged for everybody else, if that is larger.

    >>> float(alikeness(20, 30, 40, 100))  # the rows in both as a share of those in either
    0.4
    >>> round(float(alikeness(90, 95, 95, 100)), 2)  # nobody is outside of both
    0.05
    """
    shared, ones, others = (np.asarray(number, dtype=float) for number in (both, one, other))
    here, there = ones - shared, others - shared
    neither = rows - ones - others + shared
    straight = np.minimum(_share(shared, rows - neither), _share(neither, rows - shared))
    turned = np.minimum(_share(here, rows - there), _share(there, rows - here))
    return np.maximum(straight, turned)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
