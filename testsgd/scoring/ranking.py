"""Ranking groups, and telling findings from near copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How much each of some groups overlaps with each of others, shape (groups, others).
Overlaps = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]

# From others to a function that says which groups are near copies of each, shape (groups, others).
NearCopies = Callable[[NDArray[np.intp]], Callable[[NDArray[np.intp]], NDArray[np.bool_]]]

# Numbers in one block of groups by cells, 8 MB.
_BLOCK_NUMBERS = 1 << 20
# The groups of a block are compared with each other.
_MOST_GROUPS = 128


def rank_groups(
    score: NDArray[np.float64],
    support: NDArray[np.int64],
    rules: NDArray[np.int64],
    decided: NDArray[np.bool_],
    first_by: NDArray[np.float64] | None = None,
    harmed: NDArray[np.bool_] | None = None,
    then_by: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Return the groups in their order: decided ones first, then by `first_by`, score and support.

    In the order of their weight the keys are: decided groups, a large `first_by`, a large
    `then_by`, a large score, harmed groups, many rows, and few rules. `first_by`, `then_by` and the
    score are compared to 12 decimals.
    Of a group and its complement, which have the same score, the harmed one comes first.

    Parameters
    ----------
    score : numpy.ndarray of float64, shape (groups,)
        Size of each group's difference.
    support : numpy.ndarray of int64, shape (groups,)
        Rows of each group.
    rules : numpy.ndarray of int64, shape (groups,)
        Number of rules that describe it.
    decided : numpy.ndarray of bool, shape (groups,)
        False puts a group behind all that are decided.
    first_by : numpy.ndarray of float64, shape (groups,), optional
        What counts before the score, such as a lower confidence bound.
    harmed : numpy.ndarray of bool, shape (groups,), optional
        Whether the group has the lower rate, not its complement.
    then_by : numpy.ndarray of float64, shape (groups,), optional
        What counts where `first_by` is equal, before the score.

    Returns
    -------
    numpy.ndarray of int, shape (groups,)
        Indices of the groups, the first one first.

    Examples
    --------
    >>> score, support = np.array([0.1, 0.3, 0.3]), np.array([500, 60, 90])
    >>> rank_groups(score, support, np.array([1, 1, 2]), np.ones(3, dtype=bool)).tolist()
    [2, 1, 0]
    """
    # Scores that are equal but for the rounding of their rates are ties.
    keys: list[NDArray[Any]] = [_order_of_ties(support, rules, harmed), -np.round(score, 12)]
    if then_by is not None:
        keys.append(-np.round(then_by, 12))
    if first_by is not None:
        keys.append(-np.round(first_by, 12))
    if not decided.all():
        keys.append(~decided)
    return np.lexsort(keys)


def _order_of_ties(
    support: NDArray[np.int64], rules: NDArray[np.int64], harmed: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Return one number that orders groups of equal scores, shape (groups,): one sort, not three.

    The smallest comes first: harmed groups, then many rows, then few rules.
    """
    if len(support) == 0:
        return np.zeros(0, dtype=np.int64)
    most_rows = int(support.max())
    most_rules = int(rules.max())
    ties: NDArray[np.int64] = (most_rows - support) * (most_rules + 1) + rules
    if harmed is not None:
        ties += ~harmed * ((most_rows + 1) * (most_rules + 1))
    return ties


def distinct_groups(
    order: NDArray[np.intp],
    overlaps: Overlaps,
    *,
    overlap: float,
    limit: int,
    block: int = 64,
) -> list[int]:
    """Return the groups of a ranking that are no near copy of one kept before.

    Parameters
    ----------
    order : numpy.ndarray of int
        Indices of the groups, best first.
    overlaps : callable
        How much groups overlap, as from :func:`member_overlaps`.
    overlap : float
        Overlap from which on a group is a near copy.
    limit : int
        Most groups to return.
    block : int
        Groups compared at once; it does not change the result.

    Returns
    -------
    list of int
        Indices of the groups, best first.

    Examples
    --------
    >>> cells = np.array([[True, True, False], [True, False, False], [False, False, True]])
    >>> overlaps = member_overlaps(lambda groups: cells[groups], np.array([6, 4, 10]))
    >>> distinct_groups(np.array([0, 1, 2]), overlaps, overlap=0.6, limit=5)
    [0, 2]
    """
    kept: list[int] = []
    for start in range(0, len(order), block):
        candidates = order[start : start + block]
        # Compared with everything kept before at once, then what is left with each other.
        fresh = candidates[_no_copy(overlaps, candidates, kept, overlap)]
        if len(fresh) == 0:
            continue
        near = ~(overlaps(fresh, fresh) < overlap)
        left = np.arange(len(fresh))
        while len(left):
            kept.append(int(fresh[left[0]]))
            if len(kept) >= limit:
                return kept
            left = left[1:][~near[left[1:], left[0]]]
    return kept


def first_without_copy(
    order: NDArray[np.intp],
    chosen: NDArray[np.intp],
    overlaps: Overlaps,
    *,
    overlap: float,
    block: int = 64,
) -> int | None:
    """Return the first group of an order that is no near copy of some chosen ones.

    Parameters
    ----------
    order, chosen : numpy.ndarray of int
        Indices of groups.
    overlaps : callable
        How much groups overlap, as from :func:`member_overlaps`.
    overlap : float
        Overlap from which on a group is a near copy.
    block : int
        Groups compared at once; it does not change the result.

    Returns
    -------
    int or None
        Its index; None if there is no such group.

    Examples
    --------
    >>> cells = np.array([[True, True, False], [True, False, False], [False, False, True]])
    >>> overlaps = member_overlaps(lambda groups: cells[groups], np.array([6, 4, 10]))
    >>> first_without_copy(np.array([0, 1, 2]), np.array([1]), overlaps, overlap=0.5)
    2
    """
    for start in range(0, len(order), block):
        candidates = order[start : start + block]
        left = np.flatnonzero((overlaps(candidates, chosen) < overlap).all(axis=1))
        if len(left):
            return int(candidates[left[0]])
    return None


def member_overlaps(
    members: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    weights: NDArray[np.int64],
    *,
    with_complements: bool = False,
    complements: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None = None,
) -> Overlaps:
    """Return a function that measures by Jaccard's index how much groups overlap.

    The index of two groups is the rows in both over the rows in either. With complements, a group
    and its complement are one finding if they match on both sides: the overlap is the larger of the
    index and of the smaller one of each group with the other's complement.

    Parameters
    ----------
    members : callable
        Gives the cells of groups, from indices (groups,) to bool (groups, cells).
    weights : numpy.ndarray of int64, shape (cells,)
        The rows of each cell.
    with_complements : bool
        Whether complements count.
    complements : callable, optional
        Gives the cells of the groups' complements, if these are not all others.

    Returns
    -------
    callable
        From the indices of groups and of others to float (groups, others).

    Examples
    --------
    >>> cells = np.array([[True, True, False], [True, False, False], [False, False, True]])
    >>> overlaps = member_overlaps(lambda groups: cells[groups], np.array([6, 4, 10]))
    >>> overlaps(np.array([0]), np.array([0, 1, 2])).tolist()
    [[1.0, 0.6, 0.0]]
    """
    total = float(weights.sum())

    def overlaps(groups: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        size, size_others, both = _common_members(members, weights, groups, others)
        # A quotient: 7 of 100 is 0.07, but 0.07 times 100 is a little above 7.
        shares: NDArray[np.float64] = both / (size + size_others - both)
        if not with_complements:
            return shares
        only = size - both
        only_others = size_others - both
        rows_out = total - size
        rows_out_others = total - size_others
        if complements is not None:
            outside = complements(groups).astype(np.float64)
            outside_others = complements(others).astype(np.float64)
            inside = members(groups).astype(np.float64)
            inside_others = members(others).astype(np.float64)
            only = (inside * weights) @ outside_others.T
            only_others = (outside * weights) @ inside_others.T
            rows_out = (outside @ weights)[:, None]
            rows_out_others = outside_others @ weights
        across = _overlaps_across(size, only, rows_out_others)
        across_others = _overlaps_across(size_others, only_others, rows_out)
        return np.maximum(shares, np.minimum(across, across_others))

    return overlaps


def near_copies(
    members: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    weights: NDArray[np.int64],
    *,
    overlap: float,
    with_complements: bool = False,
    complements: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None = None,
) -> NearCopies:
    """Return a function that decides which groups overlap others by at least `overlap`.

    The others are prepared once for all groups that are compared with them. Limits of the rows they
    share decide nearly all pairs, without any quotient. What is left is computed as
    `member_overlaps` does, so both agree to the last bit.

    Parameters
    ----------
    members : callable
        Gives the cells of groups, from indices (groups,) to bool (groups, cells).
    weights : numpy.ndarray of int64, shape (cells,)
        The rows of each cell.
    overlap : float
        Share of the rows in either of two groups that are in both, between 0 and 1.
    with_complements, complements
        As for :func:`member_overlaps`.

    Returns
    -------
    callable
        From the indices of others to a function from those of groups to bool (groups, others).

    Examples
    --------
    >>> cells = np.array([[True, True, False], [True, False, False], [False, False, True]])
    >>> copies = near_copies(lambda groups: cells[groups], np.array([6, 4, 10]), overlap=0.6)
    >>> copies(np.array([0, 1, 2]))(np.array([0])).tolist()
    [[True, True, False]]
    """
    if complements is not None:
        overlaps = member_overlaps(
            members, weights, with_complements=with_complements, complements=complements
        )
        return lambda others: lambda groups: overlaps(groups, others) >= overlap
    total = float(weights.sum())
    # A little too generous, so that rounding leaves out none.
    least = overlap * (1 - 1e-9)

    def copies_of(others: NDArray[np.intp]) -> Callable[[NDArray[np.intp]], NDArray[np.bool_]]:
        inside_others = members(others).astype(np.float64)
        weighted_others = (inside_others * weights).T
        sizes_others = inside_others @ weights
        most_apart = least * (sizes_others - total) / (1 + least)

        def copies(groups: NDArray[np.intp]) -> NDArray[np.bool_]:
            inside = members(groups).astype(np.float64)
            both = inside @ weighted_others
            size = (inside @ weights)[:, None]
            likely = both >= (size + sizes_others) * (least / (1 + least))
            if with_complements:
                # As many rows at most may be shared if each is to lie in the other's complement.
                apart = both <= size / (1 + least) + most_apart
                apart &= both <= (sizes_others + least * (size - total)) / (1 + least)
                likely |= apart
            first, second = np.nonzero(likely)
            size = size[first, 0]
            size_others = sizes_others[second]
            both = both[first, second]
            shares = both / (size + size_others - both)
            if with_complements:
                across = _overlaps_across(size, size - both, total - size_others)
                across_others = _overlaps_across(size_others, size_others - both, total - size)
                shares = np.maximum(shares, np.minimum(across, across_others))
            likely[first, second] = shares >= overlap
            return likely

        return copies

    return copies_of


def _common_members(
    members: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    weights: NDArray[np.int64],
    groups: NDArray[np.intp],
    others: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of groups (groups, 1), of others (others,), and of both."""
    inside = members(groups).astype(np.float64)
    inside_others = members(others).astype(np.float64)
    both = (inside * weights) @ inside_others.T
    return (inside @ weights)[:, None], inside_others @ weights, both


def _overlaps_across(
    size: NDArray[np.float64], only: NDArray[np.float64], rows_out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Jaccard's index of groups and complements.

    `size`: rows of the groups; `only`: rows that are in both; `rows_out`: rows of the complements.
    """
    # A group of all rows has no complement to be compared with.
    overlaps: NDArray[np.float64] = only / np.maximum(size + rows_out - only, 1)
    return overlaps


def block_of(cells: int) -> int:
    """Return the number of groups to compare at once, so that a block needs bounded memory.

    Parameters
    ----------
    cells : int
        Cells of each group.

    Returns
    -------
    int
        From 8 to 128.

    Examples
    --------
    >>> block_of(1_000), block_of(50_000)
    (128, 20)
    """
    return max(8, min(_MOST_GROUPS, _BLOCK_NUMBERS // max(1, cells)))


def _no_copy(
    overlaps: Overlaps, groups: NDArray[np.intp], kept: list[int], overlap: float
) -> NDArray[np.bool_]:
    """Return a mask of the groups that are no near copy of a kept one, shape (groups,)."""
    if not kept or not len(groups):
        return np.ones(len(groups), dtype=bool)
    shares = overlaps(groups, np.array(kept, dtype=np.intp))
    return np.asarray(np.all(shares < overlap, axis=1), dtype=bool)
