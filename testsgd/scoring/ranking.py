"""Ranking groups, and telling findings from near copies of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Numbers in one block of groups by cells, 8 MB.
_BLOCK_NUMBERS = 1 << 20


def rank_groups(
    score: NDArray[np.float64],
    support: NDArray[np.int64],
    rules: NDArray[np.int64],
    decided: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Order groups: decided ones first, by score, ties by support, then by fewer rules.

    Parameters
    ----------
    score, support, rules, decided : numpy.ndarray, shape (groups,)
        Score, number of rows, number of rules, and whether the score is known well enough.

    Returns
    -------
    numpy.ndarray of int
        Positions of the groups, best first.

    Examples
    --------
    >>> order = rank_groups(np.array([0.1, 0.3, 0.3]), np.array([50, 50, 60]),
    ...                     np.array([1, 1, 2]), np.array([True, True, True]))
    >>> order.tolist()
    [2, 1, 0]
    """
    # Scores that are equal but for the rounding of their rates are ties.
    return np.lexsort((rules, -support, -np.round(score, 12), ~decided))


def distinct_groups(
    order: NDArray[np.intp],
    members: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    weights: NDArray[np.int64],
    *,
    overlap: float,
    limit: int,
) -> list[int]:
    """Walk down a ranking and keep the groups that are no near copy of one kept before.

    Parameters
    ----------
    order : numpy.ndarray of int
        Groups, best first.
    members : callable
        Gives for some groups which cells belong to them, shape (groups, cells).
    weights : numpy.ndarray of int64, shape (cells,)
        Rows in each cell.
    overlap : float
        A group is a near copy of another if the rows in both are at least this share of the rows
        in either (Jaccard's index).
    limit : int
        Stop after so many are kept.

    Returns
    -------
    list of int
        The groups kept, best first.

    Examples
    --------
    >>> table = np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1]], dtype=bool)
    >>> distinct_groups(np.arange(3), lambda groups: table[groups], np.ones(6, dtype=np.int64),
    ...                 overlap=0.8, limit=10)
    [0, 2]
    """
    kept: list[int] = []
    kept_members = np.zeros((0, len(weights)), dtype=np.float64)
    kept_sizes = np.zeros(0)
    step = max(8, _BLOCK_NUMBERS // max(1, len(weights)))
    for start in range(0, len(order), step):
        block = order[start : start + step]
        inside = members(block).astype(np.float64)
        sizes = inside @ weights
        weighted = inside * weights
        # Compare with everything kept so far at once, then one by one within the block.
        fresh = _no_copy(weighted, sizes, kept_members, kept_sizes, overlap)
        for place in np.flatnonzero(fresh):
            if not _no_copy(
                weighted[place : place + 1],
                sizes[place : place + 1],
                kept_members,
                kept_sizes,
                overlap,
            )[0]:
                continue
            kept.append(int(block[place]))
            kept_members = np.vstack([kept_members, inside[place]])
            kept_sizes = np.append(kept_sizes, sizes[place])
            if len(kept) >= limit:
                return kept
    return kept


def _no_copy(
    weighted: NDArray[np.float64],
    sizes: NDArray[np.float64],
    kept_members: NDArray[np.float64],
    kept_sizes: NDArray[np.float64],
    overlap: float,
) -> NDArray[np.bool_]:
    if len(kept_sizes) == 0:
        return np.ones(len(sizes), dtype=bool)
    both = weighted @ kept_members.T
    either = sizes[:, None] + kept_sizes - both
    # A quotient: 7 of 100 is 0.07, but 0.07 times 100 is a little above 7.
    return np.asarray(np.all(both / either < overlap, axis=1), dtype=bool)
