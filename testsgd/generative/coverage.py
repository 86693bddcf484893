"""Combinations of several groupings' values: which have appeared, and what is left to appear.

That every combination of all groupings appears takes exponentially many outputs. Testing of
software asks for less: that for any k of the groupings all combinations of their values appear
(k-way coverage). With k = 2 that is the paper's all-paired fairness.

See Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
in Generative AIs: Definitions 8 and 9, Figure 3; Nie and Leung, A survey of combinatorial testing,
ACM Computing Surveys 43, 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.errors import DataError, ParameterError

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# Each combination takes eight bytes.
MOST_COMBINATIONS = 20_000_000
# Outputs that are looked at together for combinations that are new: at first, and at most.
_FIRST_PORTION = 1 << 13
_LARGEST_PORTION = 1 << 17


@dataclass(frozen=True)
class Combination:
    """Values of some groupings.

    Parameters
    ----------
    groupings : tuple of int
        Columns of the groupings, from 0.
    values : tuple of int
        A value of each, from 1.

    Examples
    --------
    >>> Combination(groupings=(0, 2), values=(1, 3)).values
    (1, 3)
    """

    groupings: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Coverage:
    """Which combinations have appeared in a sequence of outputs, and when first.

    Parameters
    ----------
    sizes : tuple of int
        Number of values of each grouping.
    strength : int
        How many groupings a combination is of (k).
    outputs : int
        Length of the sequence.
    subsets : tuple of tuple of int
        The choices of k groupings, in the order of their columns.
    first : tuple of numpy.ndarray of int64
        For each choice the position at which a combination first appeared, from 1, and 0 where it
        never did; its shape is that of the sizes of the groupings, value 1 at index 0.

    Examples
    --------
    >>> found = combination_coverage([[1, 1], [2, 1]], sizes=[2, 2], strength=2)
    >>> found.first[0].tolist()
    [[1, 0], [2, 0]]
    """

    sizes: tuple[int, ...]
    strength: int
    outputs: int
    subsets: tuple[tuple[int, ...], ...]
    first: tuple[Integers, ...]

    @property
    def total(self) -> int:
        """Number of all combinations: over all choices, the product of the sizes."""
        return sum(appeared.size for appeared in self.first)

    @property
    def covered(self) -> int:
        """Number of combinations that have appeared."""
        return sum(int(np.count_nonzero(appeared)) for appeared in self.first)

    @property
    def share(self) -> float:
        """Share of all combinations that have appeared, as the paper's Figure 3 has it."""
        return self.covered / self.total

    @property
    def holds(self) -> bool:
        """Whether every combination has appeared."""
        return self.covered == self.total

    @property
    def curve(self) -> Integers:
        """Number of combinations that appeared in the first 1, 2, ... outputs; shape (outputs,)."""
        new = np.zeros(self.outputs + 1, dtype=np.int64)
        for appeared in self.first:
            new += np.bincount(appeared.ravel(), minlength=self.outputs + 1)
        return np.cumsum(new[1:])

    def missing(self, *, limit: int | None = None) -> list[Combination]:
        """Return the combinations that never appeared, choice by choice, up to a limit."""
        left = self.total if limit is None else limit
        found: list[Combination] = []
        for groupings, appeared in zip(self.subsets, self.first, strict=True):
            absent = np.argwhere(appeared == 0)[: left - len(found)]
            found.extend(Combination(groupings, tuple(values)) for values in (absent + 1).tolist())
        return found


def combination_coverage(labels: ArrayLike, *, sizes: ArrayLike, strength: int = 2) -> Coverage:
    """Compute which combinations of k groupings' values have appeared, and when first.

    An output counts for a choice of groupings only if none of them is 0 there; it may count for
    other choices. How much is covered depends on the declared sizes: a value that is declared and
    never appears takes all its combinations out of reach.

    Parameters
    ----------
    labels : array_like of int, shape (outputs, K)
        Labels of K groupings, from 0 (unrelated) to their sizes, after removal by the condition.
    sizes : array_like of int, shape (K,)
        Number of values of each grouping, at least 1.
    strength : int, default 2
        How many groupings a combination is of (k), from 1 to K.

    Returns
    -------
    Coverage

    Raises
    ------
    ParameterError
        If a size or the strength is out of range, or there are too many combinations.
    DataError
        If the labels are no such table.

    References
    ----------
    Definition 9 of the paper for k = 2, Definition 8 for two groupings.

    Examples
    --------
    >>> found = combination_coverage([[1, 1, 2], [2, 1, 0], [1, 2, 2]], sizes=[2, 2, 2], strength=2)
    >>> found.total, found.curve.tolist()
    (12, [3, 4, 6])
    >>> found.missing(limit=1)
    [Combination(groupings=(0, 1), values=(2, 2))]
    """
    shape = _checked_sizes(sizes, strength)
    table = _checked_table(labels, shape)
    subsets = tuple(combinations(range(len(shape)), strength))
    _check_number(shape, subsets)
    first = tuple(_first_appearances(table, groupings, shape) for groupings in subsets)
    return Coverage(shape, strength, len(table), subsets, first)


def outputs_needed_at_least(found: Coverage) -> int:
    """Compute a number of further outputs below which the rest cannot be covered.

    One output has one combination of each choice of groupings. So the largest number of
    combinations that one choice misses is needed; more may be. An upper limit is the length of
    :func:`covering_plan`.

    Parameters
    ----------
    found : Coverage
        What has appeared.

    Returns
    -------
    int
        0 if and only if nothing is missing.

    Examples
    --------
    >>> outputs_needed_at_least(combination_coverage([[1, 1, 1]], sizes=[2, 2, 3], strength=2))
    5
    """
    return max(int(np.count_nonzero(appeared == 0)) for appeared in found.first)


def covering_plan(found: Coverage) -> Integers:
    """Compute outputs that would cover everything that is missing, by a greedy rule.

    Each planned output takes a missing combination of the choice that misses most. The other
    groupings follow one by one, those with most values first; each gets the value that completes
    most missing combinations, and of those the one that most missing combinations still need. So
    each planned output covers something, and the plan is at least as long as the shortest. It may
    be longer: finding the shortest is hard.

    Parameters
    ----------
    found : Coverage
        What has appeared.

    Returns
    -------
    numpy.ndarray of int64, shape (planned, K)
        A value from 1 of each grouping, one row a planned output; no rows if nothing is missing.

    References
    ----------
    Cohen, Dalal, Fredman and Patton, The AETG system, IEEE Transactions on Software Engineering
    23, 1997, build test suites one row at a time in this manner; theirs draws at random.

    Examples
    --------
    >>> covering_plan(combination_coverage([[1, 1], [2, 2]], sizes=[2, 2], strength=2)).tolist()
    [[1, 2], [2, 1]]
    """
    missing = [appeared == 0 for appeared in found.first]
    left = [int(np.count_nonzero(absent)) for absent in missing]
    rows: list[list[int]] = []
    while any(left):
        values = _greedy_row(found, missing, int(np.argmax(left)))
        for number, groupings in enumerate(found.subsets):
            place = tuple(values[grouping] for grouping in groupings)
            left[number] -= int(missing[number][place])
            missing[number][place] = False
        rows.append([value + 1 for value in values])
    return np.array(rows, dtype=np.int64).reshape(-1, len(found.sizes))


def _greedy_row(found: Coverage, missing: list[Booleans], seed: int) -> list[int]:
    """Return one row, values from 0, that has a missing combination of the choice `seed`."""
    chosen: dict[int, int] = {}
    place = np.unravel_index(int(np.argmax(missing[seed])), missing[seed].shape)
    for grouping, value in zip(found.subsets[seed], place, strict=True):
        chosen[grouping] = int(value)
    rest = [grouping for grouping in range(len(found.sizes)) if grouping not in chosen]
    for grouping in sorted(rest, key=lambda one: -found.sizes[one]):
        chosen[grouping] = _greedy_value(found, missing, grouping, chosen)
    return [chosen[grouping] for grouping in range(len(found.sizes))]


def _greedy_value(
    found: Coverage, missing: list[Booleans], grouping: int, chosen: dict[int, int]
) -> int:
    """Return the value that completes most missing combinations, then the one most needed."""
    completed = np.zeros(found.sizes[grouping], dtype=np.int64)
    needed = np.zeros(found.sizes[grouping], dtype=np.int64)
    for groupings, absent in zip(found.subsets, missing, strict=True):
        if grouping not in groupings:
            continue
        # The chosen groupings' axes are fixed; all others but this one's are counted over.
        fixed = tuple(chosen.get(member, slice(None)) for member in groupings)
        open_members = [member for member in groupings if member not in chosen]
        others = tuple(axis for axis, member in enumerate(open_members) if member != grouping)
        counts = np.count_nonzero(absent[fixed], axis=others)
        needed += counts
        if not others:
            completed += counts
    # The last key is the first to sort by; of equal ones the lowest value.
    return int(np.lexsort((-needed, -completed))[0])


def _first_appearances(
    table: NDArray[np.integer[Any]], groupings: tuple[int, ...], sizes: tuple[int, ...]
) -> Integers:
    """Return the position, from 1, at which each combination first appeared; 0 if it did not.

    `table` are the labels of all groupings, shape (outputs, groupings), from 1; 0 without a value.
    The result has the sizes of the chosen `groupings` as its shape.
    """
    shape = tuple(sizes[grouping] for grouping in groupings)
    first = np.zeros(prod(shape), dtype=np.int64)
    begin = 0
    portion = _FIRST_PORTION
    # Most combinations appear early, and what comes after the last of them says nothing new.
    while begin < len(table) and not first.all():
        columns = table[begin : begin + portion, list(groupings)].astype(np.int64)
        known = np.flatnonzero((columns > 0).all(axis=1))
        codes = np.ravel_multi_index(tuple(columns[known].T - 1), shape)
        new = first[codes] == 0
        # Of several assignments to one place the last stays: backwards, that is the earliest
        # output.
        first[codes[new][::-1]] = begin + known[new][::-1] + 1
        begin += portion
        portion = min(2 * portion, _LARGEST_PORTION)
    return first.reshape(shape)


def _checked_sizes(sizes: ArrayLike, strength: int) -> tuple[int, ...]:
    """Return the sizes of the groupings, if they and the strength are in range."""
    row = np.asarray(sizes)
    if row.ndim != 1 or row.size == 0 or not np.issubdtype(row.dtype, np.integer) or row.min() < 1:
        raise ParameterError(
            f"the numbers of values are {row.tolist()}",
            remedy="give one whole number of at least 1 for each grouping",
        )
    if not 1 <= strength <= len(row):
        raise ParameterError(
            f"the strength is {strength} and there are {len(row)} groupings",
            remedy=f"give a strength from 1 to {len(row)}",
        )
    return tuple(int(size) for size in row)


def _checked_table(labels: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.integer[Any]]:
    """Return labels as a table (outputs, groupings), checked to lie between 0 and the sizes."""
    table = np.asarray(labels)
    if table.size == 0:
        return np.zeros((0, len(sizes)), dtype=np.int64)
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
        raise DataError(
            f"labels of the type {table.dtype} and the shape {table.shape}",
            remedy="give a table of whole numbers, one row an output and one column a grouping",
        )
    if table.shape[1] != len(sizes):
        raise DataError(
            f"the table has {table.shape[1]} columns for {len(sizes)} groupings",
            remedy="give one column for each grouping",
        )
    wrong = (table < 0) | (table > np.array(sizes))
    if wrong.any():
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        raise DataError(
            f"the label {int(table[row, column])} is none of the values 0 to {sizes[column]}",
            where=f"output {row + 1}, grouping {column + 1}",
            remedy="give the number of all values of each grouping",
        )
    return table


def _check_number(sizes: tuple[int, ...], subsets: tuple[tuple[int, ...], ...]) -> None:
    """Raise an error if there are too many combinations to hold."""
    total = sum(prod(sizes[grouping] for grouping in groupings) for groupings in subsets)
    if total > MOST_COMBINATIONS:
        raise ParameterError(
            f"there are {total} combinations",
            remedy=f"lower the strength or declare fewer values: at most {MOST_COMBINATIONS}",
        )
