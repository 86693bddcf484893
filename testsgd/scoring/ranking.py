"""Ranking groups, and telling findings from near copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How much each of some groups overlaps with each of others, shape (groups, others).
Overlaps = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]

# Numbers in one block of groups by cells, 8 MB.
_BLOCK_NUMBERS = 1 << 20
# The rest of a block is compared anew with each group that is kept from it.
_MOST_GROUPS = 128


def rank_groups(
    score: NDArray[np.float64],
    support: NDArray[np.int64],
    rules: NDArray[np.int64],
    decided: NDArray[np.bool_],
    first_by: NDArray[np.float64] | None = None,
    harmed: NDArray[np.bool_] | None = None,
) -> NDArray[np.intp]:
    """Order groups: decided ones first, by `first_by`, score, support, then by fewer rules.

    Of a group and its complement, which have the same score, the harmed one comes first.
    """
    # Scores that are equal but for the rounding of their rates are ties.
    keys: list[NDArray[Any]] = [rules, -support]
    if harmed is not None:
        keys.append(~harmed)
    keys.append(-np.round(score, 12))
    if first_by is not None:
        keys.append(-np.round(first_by, 12))
    return np.lexsort((*keys, ~decided))


def distinct_groups(
    order: NDArray[np.intp],
    overlaps: Overlaps,
    *,
    overlap: float,
    limit: int,
    block: int = 64,
) -> list[int]:
    """Walk down a ranking and keep the groups that are no near copy of one kept before.

    A near copy overlaps by at least `overlap`. Ends with `limit` groups. The result does not depend
    on `block`, the number of groups compared at once.
    """
    kept: list[int] = []
    for start in range(0, len(order), block):
        candidates = order[start : start + block]
        # Compared with everything kept before at once, then with each that is kept from the block.
        fresh = np.flatnonzero(_no_copy(overlaps, candidates, kept, overlap))
        while len(fresh):
            kept.append(int(candidates[fresh[0]]))
            if len(kept) >= limit:
                return kept
            fresh = fresh[1:]
            fresh = fresh[_no_copy(overlaps, candidates[fresh], kept[-1:], overlap)]
    return kept


def member_overlaps(
    members: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    weights: NDArray[np.int64],
    *,
    with_complements: bool = False,
    complements: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None = None,
) -> Overlaps:
    """Measure overlaps by Jaccard's index; `members` gives groups' cells, `weights` cells' rows.

    With complements, a group and its complement are one finding, if they are so on both sides: the
    larger of the index and of the smaller one of each with the other's complement. `complements`
    gives the cells of these, if they are not all others.
    """
    total = float(weights.sum())

    def overlaps(groups: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        inside, inside_others = (members(some).astype(np.float64) for some in (groups, others))
        both = (inside * weights) @ inside_others.T
        size, size_others = (inside @ weights)[:, None], inside_others @ weights
        # A quotient: 7 of 100 is 0.07, but 0.07 times 100 is a little above 7.
        shares: NDArray[np.float64] = both / (size + size_others - both)
        if with_complements:
            only, only_others = size - both, size_others - both
            rows_out, rows_out_others = total - size, total - size_others
            if complements is not None:
                outside, outside_others = (
                    complements(some).astype(np.float64) for some in (groups, others)
                )
                only = (inside * weights) @ outside_others.T
                only_others = (outside * weights) @ inside_others.T
                rows_out, rows_out_others = (outside @ weights)[:, None], outside_others @ weights
            # A group of all rows has no complement to be compared with.
            across = only / np.maximum(size + rows_out_others - only, 1)
            across_others = only_others / np.maximum(size_others + rows_out - only_others, 1)
            shares = np.maximum(shares, np.minimum(across, across_others))
        return shares

    return overlaps


def block_of(cells: int) -> int:
    """Return how many groups of so many cells to compare at once."""
    return max(8, min(_MOST_GROUPS, _BLOCK_NUMBERS // max(1, cells)))


def _no_copy(
    overlaps: Overlaps, groups: NDArray[np.intp], kept: list[int], overlap: float
) -> NDArray[np.bool_]:
    if not kept or not len(groups):
        return np.ones(len(groups), dtype=bool)
    shares = overlaps(groups, np.array(kept, dtype=np.intp))
    return np.asarray(np.all(shares < overlap, axis=1), dtype=bool)
