"""Combinations of values of several groupings: which appear, and how many outputs are missing.

Full intersectional fairness asks for every combination of all groupings, which are too many. The
combinations of every k groupings are few, as in combinatorial testing (paper, Definitions 8 and 9).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.errors import ParameterError

Integers = NDArray[np.int64]
Subset = tuple[int, ...]
Values = tuple[int, ...]

# A plan of further outputs is only made for so many combinations that are missing.
_MOST_PLANNED = 20_000
# Tables of more combinations would fill the memory.
_MOST_COMBINATIONS = 20_000_000


@dataclass(frozen=True)
class Coverage:
    """Which combinations of the values of k groupings appear."""

    combinations: int  # All that there are.
    covered: int  # Those that appear.
    curve: Integers  # How many had appeared after each output, shape (n,).
    # Those that do not appear: the groupings, counted from 0, and the value of each, from 1.
    missing: tuple[tuple[Subset, Values], ...]
    # At least so many further outputs are needed: the most combinations that any k groupings lack,
    # for an output has one combination of these.
    least_further: int
    enough_further: int | None  # So many are enough; None if that was not computed.

    @property
    def share(self) -> float:
        """The covered combinations as a share of all; the paper's coverage for k = 2."""
        return self.covered / self.combinations


def combinations_covered(labels: ArrayLike, *, sizes: Sequence[int], strength: int = 2) -> Coverage:
    """Find which combinations of the values of every k groupings appear.

    Parameters
    ----------
    labels : array_like of int, shape (n, K)
        Value of each output for each grouping; 0: unrelated, which is in no combination.
    sizes : sequence of int, length K
        The number of values of each grouping.
    strength : int
        How many groupings a combination joins, k.

    Returns
    -------
    Coverage

    Raises
    ------
    ParameterError
        If `strength` is not between 1 and K, or there are too many combinations.

    References
    ----------
    Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
    in Generative AIs, Definitions 8 and 9; the curve is that of Figure 3.

    Examples
    --------
    >>> found = combinations_covered([[1, 1], [2, 1], [2, 1]], sizes=(2, 2))
    >>> found.share, found.curve.tolist(), found.missing
    (0.5, [1, 2, 2], (((0, 1), (1, 2)), ((0, 1), (2, 2))))
    >>> found.least_further, found.enough_further
    (2, 2)
    """
    matrix = np.asarray(labels, dtype=np.int64).reshape(-1, len(sizes))
    if not 1 <= strength <= len(sizes):
        raise ParameterError(
            f"{strength} is not between 1 and {len(sizes)}",
            where="strength",
            remedy="join at most as many groupings as there are",
        )
    subsets = tuple(itertools.combinations(range(len(sizes)), strength))
    each = [math.prod(sizes[index] for index in subset) for subset in subsets]
    if sum(each) > _MOST_COMBINATIONS:
        raise ParameterError(
            f"there are {sum(each):,} combinations",
            where="strength",
            remedy="join fewer groupings, or leave some out",
        )
    rises = np.zeros(len(matrix), dtype=np.int64)
    missing: list[tuple[Subset, Values]] = []
    most_missing = 0
    for subset, number in zip(subsets, each, strict=True):
        shape = tuple(sizes[index] for index in subset)
        rows, codes = _codes(matrix, subset, shape)
        seen, first = np.unique(codes, return_index=True)
        np.add.at(rises, rows[first], 1)
        absent = np.setdiff1d(np.arange(number), seen, assume_unique=True)
        most_missing = max(most_missing, len(absent))
        values = np.stack(np.unravel_index(absent, shape), axis=1) + 1
        missing += [(subset, tuple(row)) for row in values.tolist()]
    curve = np.cumsum(rises)
    enough = None
    if len(missing) <= _MOST_PLANNED:
        enough = len(further_outputs(missing, sizes=sizes))
    return Coverage(
        combinations=sum(each),
        covered=sum(each) - len(missing),
        curve=curve,
        missing=tuple(missing),
        least_further=most_missing,
        enough_further=enough,
    )


def _codes(matrix: Integers, subset: Subset, shape: tuple[int, ...]) -> tuple[Integers, Integers]:
    """Return the outputs that have all values of some groupings, and a number for each."""
    columns = matrix[:, subset]
    rows = np.flatnonzero((columns != 0).all(axis=1))
    codes = np.ravel_multi_index(tuple((columns[rows] - 1).T), shape)
    return rows, np.asarray(codes, dtype=np.int64)


def further_outputs(
    missing: Sequence[tuple[Subset, Values]], *, sizes: Sequence[int]
) -> list[Values]:
    """Return outputs that cover all missing combinations, made one by one.

    Each begins with a missing combination, and takes in as many others as agree with it. There may
    be shorter plans.

    Parameters
    ----------
    missing : sequence of (groupings, values)
        Combinations: groupings counted from 0, and the value of each, counted from 1.
    sizes : sequence of int
        The number of values of each grouping.

    Returns
    -------
    list of tuple of int
        A value of every grouping for each output.

    Examples
    --------
    >>> further_outputs([((0, 1), (1, 2)), ((1, 2), (2, 1))], sizes=(2, 2, 2))
    [(1, 2, 1)]
    """
    left = list(missing)
    plan = []
    while left:
        chosen: dict[int, int] = {}
        kept = []
        for subset, values in left:
            if all(
                chosen.get(index, value) == value
                for index, value in zip(subset, values, strict=True)
            ):
                chosen.update(zip(subset, values, strict=True))
            else:
                kept.append((subset, values))
        plan.append(tuple(chosen.get(index, 1) for index in range(len(sizes))))
        left = kept
    return plan
