"""The contingency table of the sensitive features: which combinations occur, and sums over them.

Only the combinations ("cells") that occur are kept. For sums over every rule set at once, the table
is contracted for each subset of the features, axis by axis, with the features' rule matrices. What
would be too large is cut along the rules contracted so far, so that the room needed is bounded.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.rules.axes import Axis, Number
from testsgd.rules.rule import RuleSet

Counts = NDArray[np.int64]

# Rows laid out at once: what a processor keeps at hand, and a long table is never copied.
_CHUNK = 1 << 16
# Combinations that always fit into a table, two megabytes.
_SHORT_TABLE = 1 << 19


@dataclass(frozen=True)
class _Layout:
    """Order that puts the cells of a combination side by side, and where each begins."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    joint: Counts  # Which combination each is


@dataclass(frozen=True)
class Contingency:
    """Contingency table of the sensitive features: the combinations of their cells that occur.

    A combination has one cell of each axis. Only those that occur in the table are kept, and are
    the "cells" of the contingency table. Quantities are arrays of shape (q, cells): each row has
    one number a combination, such as its number of people, or of those who are selected.
    :func:`lay_out` makes one from a table.

    Examples
    --------
    >>> from testsgd.rules import CategoryAxis
    >>> axes = (CategoryAxis("sex", ("f", "m"), (0, 1)), CategoryAxis("race", ("A", "B"), (0, 1)))
    >>> cells = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int16)
    >>> contingency = Contingency(axes, cells, np.array([0, 0, 1, 2, 2, 2], dtype=np.int32))
    >>> contingency.tally().tolist()
    [2, 1, 3]
    >>> contingency.dense((0,), contingency.tally()[None]).tolist()
    [[3, 3]]
    """

    axes: tuple[Axis, ...]  # The sensitive features.
    coordinates: NDArray[np.int16]  # Each combination's cell on each axis; shape (cells, features).
    cell_of_row: NDArray[np.int32]  # Each row's combination; shape (rows,).
    # A bootstrap sums over the same subsets again and again; how to is worked out once for each.
    _layouts: dict[tuple[int, ...], _Layout] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def cells(self) -> int:
        """How many combinations occur."""
        return len(self.coordinates)

    def of_cells(self, cells: NDArray[np.intp]) -> Contingency:
        """Return the table with only the chosen combinations, and without rows."""
        return Contingency(self.axes, self.coordinates[cells], np.zeros(0, dtype=np.int32))

    def tally(self, weights: Counts | None = None) -> Counts:
        """Sum whole-number weights of rows over each cell, shape (cells,).

        Without weights the rows are counted.
        """
        # Sums of whole numbers below 2**53 are exact in a float.
        sums = np.bincount(self.cell_of_row, weights=weights, minlength=self.cells)
        return np.rint(sums).astype(np.int64)

    def marginal(
        self, subset: Sequence[int], quantities: NDArray[Number]
    ) -> tuple[Counts, NDArray[Number]]:
        """Sum quantities over the combinations of a subset of the features that occur.

        Parameters
        ----------
        subset : sequence of int
            Places of the features among the axes.
        quantities : numpy.ndarray, shape (q, cells)

        Returns
        -------
        joint : numpy.ndarray of int64, shape (combinations,)
            Place of each combination in the full array of the subset's cells, ascending.
        sums : numpy.ndarray, shape (q, combinations)
        """
        layout = self._layout(tuple(subset))
        # Integer sums wrap and never round, which the fingerprints of the lattice rely on.
        sums = np.add.reduceat(quantities[:, layout.order], layout.starts, axis=1)
        return layout.joint, sums

    def _layout(self, subset: tuple[int, ...]) -> _Layout:
        """Return the layout of a subset of the features, computed once for each."""
        if subset not in self._layouts:
            joint = np.ravel_multi_index(
                tuple(self.coordinates[:, axis].astype(np.intp) for axis in subset),
                self.shape(subset),
            )
            order = np.argsort(joint, kind="stable")
            ordered = joint[order]
            starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            self._layouts[subset] = _Layout(order, starts, ordered[starts])
        return self._layouts[subset]

    def dense(self, subset: Sequence[int], quantities: NDArray[Number]) -> NDArray[Number]:
        """Return :meth:`marginal` as a full array, shape (q, cells of each axis of the subset)."""
        shape = self.shape(subset)
        joint, sums = self.marginal(subset, quantities)
        full = np.zeros((len(quantities), math.prod(shape)), dtype=quantities.dtype)
        full[:, joint] = sums
        return full.reshape(len(quantities), *shape)

    def shape(self, subset: Sequence[int]) -> tuple[int, ...]:
        """Return the number of cells on each axis of a subset."""
        return tuple(len(self.axes[axis].labels) for axis in subset)


def lay_out(table: Table, axes: Sequence[Axis]) -> Contingency:
    """Return the contingency table of a table's rows over given axes.

    Parameters
    ----------
    table : Table
        The rows.
    axes : sequence of Axis
        The sensitive features, as from :func:`sensitive_axes`.

    Returns
    -------
    Contingency
        The combinations that occur, in the order of their cells on the axes.

    Raises
    ------
    ParameterError
        If there are 2^62 possible combinations or more, which cannot be numbered.
    """
    shape = tuple(len(axis.labels) for axis in axes)
    if np.prod([float(size) for size in shape]) >= 2.0**62:
        raise ParameterError(
            f"{len(axes)} sensitive features with {', '.join(map(str, shape))} cells are too many",
            where="sensitive features",
            remedy="use fewer bins (--bins) or fewer sensitive features",
        )
    joint = np.zeros(len(table), dtype=np.int64)
    for start in range(0, len(table), _CHUNK):
        rows = slice(start, start + _CHUNK)
        for axis, size in zip(axes, shape, strict=True):
            joint[rows] = joint[rows] * size + axis.cells(table, rows)
    codes, occurring = _numbered(joint, int(np.prod(shape)))
    coordinates = np.column_stack(np.unravel_index(occurring, shape))
    return Contingency(tuple(axes), coordinates.astype(np.int16), codes)


def _numbered(joint: NDArray[np.integer], combinations: int) -> tuple[NDArray[np.int32], Counts]:
    """Return each row's combination, numbered by ascending code, and the codes that occur.

    `joint` holds each row's code, from 0 to `combinations` - 1, shape (rows,). A table of all
    combinations is quicker than hashing, if it is not far longer than the rows.
    """
    if combinations > max(_SHORT_TABLE, len(joint)):
        codes, uniques = pd.factorize(joint, sort=True)
        return codes.astype(np.int32), np.asarray(uniques, dtype=np.int64)
    occurs = np.zeros(combinations, dtype=bool)
    occurs[joint] = True
    occurring = np.flatnonzero(occurs)
    number = np.zeros(combinations, dtype=np.int32)
    number[occurring] = np.arange(len(occurring), dtype=np.int32)
    return number[joint], occurring


# Numbers in one block; 2 MB, which a processor keeps at hand.
_BLOCK_NUMBERS = 1 << 18


@dataclass(frozen=True)
class Block(Generic[Number]):
    """Sums over consecutive rule sets of one subset of the features."""

    subset: int
    first: int  # The place of the first of them among those of the subset
    sums: NDArray[Number]  # Shape (q, rule sets)


def feature_subsets(axes: Sequence[Axis], max_features: int) -> tuple[tuple[int, ...], ...]:
    """Return the subsets of features that rule sets may be over, small ones first.

    Parameters
    ----------
    axes : sequence of Axis
        The sensitive features.
    max_features : int
        Most features in a subset.

    Returns
    -------
    tuple of tuple of int
        Places of the features among the axes, ascending in each subset.

    Examples
    --------
    >>> from testsgd.rules import IntervalAxis
    >>> axes = [IntervalAxis(name, (0.0, 1.0, 2.0)) for name in ("age", "income", "tenure")]
    >>> feature_subsets(axes, 2)
    ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    sizes = range(1, min(max_features, len(axes)) + 1)
    return tuple(
        subset for size in sizes for subset in itertools.combinations(range(len(axes)), size)
    )


def candidate_count(axes: Sequence[Axis], max_features: int) -> int:
    """Return the number of rule sets that the axes allow, whether rows satisfy them or not.

    It is the sum, over all subsets of at most `max_features` features, of the product of their
    numbers of rules.

    Parameters
    ----------
    axes : sequence of Axis
        The sensitive features.
    max_features : int
        Most rules in a rule set.

    Returns
    -------
    int

    Examples
    --------
    >>> from testsgd.rules import IntervalAxis
    >>> axes = [IntervalAxis(name, (0.0, 1.0, 2.0)) for name in ("age", "income", "tenure")]
    >>> candidate_count(axes, 2)  # two rules a feature: 3 * 2 and 3 * 2 * 2
    18
    """
    return sum(
        math.prod(axes[axis].rule_count for axis in subset)
        for subset in feature_subsets(axes, max_features)
    )


# This number of rule sets takes a few seconds with intervals that hold at once.
_MOST_RULE_SETS = 250_000
_LEAST_DEPTH = 3
# So many take some minutes and a few GB; fewer rules are looked at where there would be more.
_MOST_AT_LEAST_DEPTH = 25_000_000


def default_depth(axes: Sequence[Axis]) -> int:
    """Return the most rules in a rule set, where no number is asked for.

    As many as there are features that have rules, while no more than 250,000 rule sets are
    possible; else as many as make no more than these, but at least 3, or fewer where 3 make more
    than 25 million.

    Parameters
    ----------
    axes : sequence of Axis
        The sensitive features.

    Returns
    -------
    int
        At least 1.
    """
    deepest = max(1, sum(axis.rule_count > 0 for axis in axes))
    depth = min(_LEAST_DEPTH, deepest)
    while depth > 1 and candidate_count(axes, depth) > _MOST_AT_LEAST_DEPTH:
        depth -= 1
    while depth < deepest and candidate_count(axes, depth + 1) <= _MOST_RULE_SETS:
        depth += 1
    return depth


def rule_set_sums(
    contingency: Contingency, quantities: NDArray[Number], max_features: int
) -> Iterator[Block[Number]]:
    """Yield the sums of quantities over the rows of every rule set, in blocks of bounded size.

    The rule sets of one subset of the features come one after the other, the rule of the last
    feature changing fastest. Subsets come in the order of :func:`feature_subsets`; a subset with a
    feature that has no rule is left out.

    Parameters
    ----------
    contingency : Contingency
        The combinations that occur.
    quantities : numpy.ndarray, shape (q, cells)
        What is summed, tallied by cell.
    max_features : int
        Most rules in a rule set.

    Yields
    ------
    Block
        Sums of consecutive rule sets of one subset, shape (q, rule sets).
    """
    axes = contingency.axes
    for index, subset in enumerate(feature_subsets(axes, max_features)):
        rule_counts = [axes[axis].rule_count for axis in subset]
        if 0 in rule_counts:
            continue
        cells = contingency.dense(subset, quantities)[:, None]
        for first, sums in _expand(cells, [axes[axis] for axis in subset], 0):
            yield Block(index, first, sums)


def _expand(
    sums: NDArray[Number], axes: list[Axis], first: int
) -> Iterator[tuple[int, NDArray[Number]]]:
    """Contract the remaining axes, in blocks of bounded size.

    `sums` has the shape (q, rule sets of the axes before, cells of each remaining axis); `first` is
    the place of its first rule set once everything is contracted.
    """
    rest = math.prod(axis.rule_count for axis in axes)
    before = sums.shape[1]
    fits = len(sums) * before * rest <= _BLOCK_NUMBERS
    if fits or (before == 1 and len(axes) == 1):
        for index, axis in enumerate(axes, start=2):
            sums = axis.contract(sums, index)
        yield first, np.ascontiguousarray(sums).reshape(len(sums), -1)
    elif before > 1:
        step = max(1, _BLOCK_NUMBERS // (len(sums) * rest))
        for start in range(0, before, step):
            yield from _expand(sums[:, start : start + step], axes, first + start * rest)
    else:
        yield from _expand(axes[0].contract(sums, 2)[:, 0], axes[1:], first)


def cell_sums(
    contingency: Contingency,
    subset: tuple[int, ...],
    places: Counts,
    numbers: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sums of rule sets' numbers over those that select each cell, shape (q, cells).

    It is the transpose of summing cells over rule sets.

    Parameters
    ----------
    contingency : Contingency
    subset : tuple of int
        The features that the rule sets are over.
    places : numpy.ndarray of shape (rule sets,)
        Their places among all rule sets over these features, ascending.
    numbers : numpy.ndarray of shape (q, rule sets)

    Returns
    -------
    numpy.ndarray of shape (q, cells)
    """
    # Shape (q, rule sets of the axes that are left, cells of the axes that are done).
    spread = numbers[:, :, None]
    for axis in (contingency.axes[index] for index in reversed(subset)):
        places, rules = np.divmod(places, axis.rule_count)
        starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
        places = places[starts]
        spread = _spread_rules(spread, axis.matrix[rules].astype(np.float64), starts)
    cells = np.ravel_multi_index(
        tuple(contingency.coordinates[:, axis].astype(np.intp) for axis in subset),
        contingency.shape(subset),
    )
    sums: NDArray[np.float64] = spread[:, 0, cells]
    return sums


def _spread_rules(
    numbers: NDArray[np.float64], rules: NDArray[np.float64], starts: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Put the cells of one axis in place of its rules, in blocks of bounded size.

    `numbers` has the shape (q, rule sets, cells of later axes), `rules` holds the rule of each, and
    `starts` says where the rule sets begin that have the same rules on the axes before.
    """
    queries, size, later = numbers.shape
    spread = np.empty((queries, len(starts), rules.shape[1] * later))
    step = max(1, _BLOCK_NUMBERS // (queries * rules.shape[1] * later))
    first = 0
    stops = np.r_[starts[1:], size]
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(stops, starts[first] + step, side="right")))
        rows = slice(starts[first], stops[last - 1])
        # Cells of this axis come before those of later ones.
        products = rules[rows, :, None] * numbers[:, rows, None, :]
        products = products.reshape(queries, -1, spread.shape[2])
        spread[:, first:last] = np.add.reduceat(products, starts[first:last] - rows.start, axis=1)
        first = last
    return spread


def decode(
    axes: Sequence[Axis], subset: tuple[int, ...], indices: Counts
) -> tuple[NDArray[np.intp], ...]:
    """Return the rule of each axis of a subset, an array (n,) an axis.

    `indices` are places among all rule sets of the subset, shape (n,).
    """
    shape = tuple(axes[axis].rule_count for axis in subset)
    return tuple(np.unravel_index(indices, shape))


def rule_set_at(axes: Sequence[Axis], subset: tuple[int, ...], place: int) -> RuleSet:
    """Return one rule set from its place among those of a subset of the features."""
    indices = decode(axes, subset, np.array([place], dtype=np.int64))
    return RuleSet(
        tuple(axes[axis].rule(int(index[0])) for axis, index in zip(subset, indices, strict=True))
    )
