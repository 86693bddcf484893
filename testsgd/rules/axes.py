"""Axes: the cells into which a sensitive feature falls, and the rules over them.

A rule over a feature is a set of its cells. Summing a table of counts over a rule's cells is one
product with a 0/1 matrix (a row a rule, a column a cell); `contract` does it for every
rule at once. For intervals the product is taken as a difference of running sums, for subsets of
values by adding one value after another to all the subsets without it; both add whole numbers, so
nothing is rounded. Floats, which only a bootstrap sums, are rounded as floats are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.data import DEFAULT_BINS, MISSING, Feature, Table
from testsgd.data.categories import MOST_VALUES
from testsgd.errors import ParameterError
from testsgd.report.formatting import whole_numbers
from testsgd.rules.rule import IntervalRule, Rule, ValueRule

# What is summed: whole numbers, or for a bootstrap floats.
Number = TypeVar("Number", np.int64, np.float32, np.float64)

# 2 to the 12th rules over one feature; more would be a search over noise, and over no screen.
MOST_IN_SUBSETS = 12
# Of more values each is a rule by itself, and so is every subset of as many of the commonest.
_COMMONEST = 8


class Axis(Protocol):
    """Cells of one sensitive feature and the rules over them.

    Every value of the feature falls into one cell. A rule selects a set of cells. Rules are
    numbered from 0, and cells too; both orders are fixed by the axis.

    Notes
    -----
    :class:`CategoryAxis` and :class:`IntervalAxis` are such axes, and :func:`sensitive_axes`
    returns those of a table. No rule selects all cells or none, so that each has rows inside and
    outside wherever all cells have rows.

    Examples
    --------
    >>> axis: Axis = IntervalAxis("age", (0.0, 30.0, 60.0, 90.0))
    >>> axis.labels, axis.rule_count
    (('0 to 30', '30 to 60', '60 to 90'), 5)
    >>> axis.rule(2).text, axis.matrix[2].tolist()
    ('30 <= age < 60', [0, 1, 0])
    >>> counts = np.array([1, 2, 4])
    >>> bool(np.array_equal(axis.contract(counts, 0), axis.matrix @ counts))
    True
    """

    @property
    def feature(self) -> str:
        """The feature's name."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells' names, in order."""

    @property
    def rule_count(self) -> int:
        """How many rules there are over the feature."""

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The 0/1 matrix, shape (rules, cells)."""

    @property
    def value_counts(self) -> NDArray[np.int64]:
        """How many values each rule names, shape (rules,); 0 for intervals."""

    @property
    def widths(self) -> NDArray[np.int64]:
        """How many bins each rule spans, shape (rules,); 0 for subsets of values."""

    def rule(self, index: int) -> Rule:
        """Return one rule."""

    def cell_rule(self, cell: int) -> Rule | None:
        """Return the rule that selects one cell; None for the only bin that there is."""

    def cells(self, table: Table, rows: slice = slice(None)) -> NDArray[np.intp]:
        """Return each row's cell, shape (rows,)."""

    def contract(self, counts: NDArray[Number], axis: int) -> NDArray[Number]:
        """Replace the cells along an array's axis by sums over each rule's cells.

        The result has `rule_count` numbers along `axis`: ``matrix @ counts`` along it.
        """


@dataclass(frozen=True)
class CategoryAxis:
    """Values of a categorical feature that occur, a cell each; every proper subset is a rule.

    Of k values that occur there are 2^k - 2 rules: the empty set and the set of all values are
    left out. Rule i selects the values whose bits are set in i + 1.

    Examples
    --------
    >>> axis = CategoryAxis("region", ("north", "east", "west"), (0, 1, 2))
    >>> axis.rule_count, axis.rule(2).text
    (6, 'region in {north, east}')
    >>> axis.contract(np.array([10, 20, 30]), 0).tolist()
    [10, 20, 30, 30, 40, 50]
    """

    feature: str  # The feature's name.
    # The values that occur, in their declared order, "missing" last if cells are missing.
    values: tuple[str, ...]
    codes: tuple[int, ...]  # Their places among the declared values, -1 for missing.

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells' names, in order."""
        return self.values

    @property
    def rule_count(self) -> int:
        """Every subset but the empty one and the whole."""
        return (1 << len(self.values)) - 2

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """The 0/1 matrix; rule i selects the values whose bits are set in i + 1."""
        subsets = np.arange(1, self.rule_count + 1)
        bits: NDArray[np.int64] = (subsets[:, None] >> np.arange(len(self.values))) & 1
        return bits

    @property
    def value_counts(self) -> NDArray[np.int64]:
        """How many values each rule names."""
        counts: NDArray[np.int64] = np.sum(self.matrix, axis=1, dtype=np.int64)
        return counts

    @property
    def widths(self) -> NDArray[np.int64]:
        """Zeros: a subset has no width."""
        return np.zeros(self.rule_count, dtype=np.int64)

    def rule(self, index: int) -> ValueRule:
        """Return one rule."""
        chosen = [value for place, value in enumerate(self.values) if ((index + 1) >> place) & 1]
        return ValueRule(self.feature, tuple(chosen))

    def cell_rule(self, cell: int) -> Rule | None:
        """Return the rule that selects one value."""
        return ValueRule(self.feature, (self.values[cell],))

    def cells(self, table: Table, rows: slice = slice(None)) -> NDArray[np.intp]:
        """Return each row's cell, shape (rows,)."""
        cell_of = np.zeros(max(self.codes) + 2, dtype=np.intp)
        for cell, code in enumerate(self.codes):
            cell_of[code] = cell
        return cell_of[table.codes(self.feature, rows)]

    def contract(self, counts: NDArray[Number], axis: int) -> NDArray[Number]:
        """Replace values along an axis by sums over each proper subset of them."""
        sums = _sums_over_subsets(_moved_first(counts, axis))
        return _moved_back(sums[1:-1], axis)


@dataclass(frozen=True)
class ManyValuesAxis(CategoryAxis):
    """Values of a feature with too many of them for all their subsets to be rules.

    Every subset of the commonest values is a rule, that of all of them too, and each other value by
    itself; the rarest together are one more. Of c commonest of k values there are 2^c - 1 + k - c
    rules, or one more.

    Examples
    --------
    >>> values = ("north", "east", "south", "west")
    >>> axis = ManyValuesAxis("region", values, (0, 1, 2, 3), common=(0, 2))
    >>> [axis.rule(index).text for index in (0, 1, 2)]
    ['region = north', 'region = south', 'region in {north, south}']
    >>> [axis.rule(index).text for index in (3, 4)]
    ['region = east', 'region = west']
    >>> axis.contract(np.array([10, 20, 30, 40]), 0).tolist()
    [10, 30, 40, 20, 40]
    """

    common: tuple[int, ...] = ()  # The cells of the commonest values, ascending.
    # Those of the values that have too few rows to be judged, if these are two or more.
    rare: tuple[int, ...] = ()

    @cached_property
    def _others(self) -> NDArray[np.intp]:
        """The cells of the other values, ascending."""
        return np.setdiff1d(np.arange(len(self.values)), self.common)

    @property
    def rule_count(self) -> int:
        """The subsets of the commonest values but the empty one, the others, and the rarest."""
        return (1 << len(self.common)) - 1 + len(self._others) + bool(self.rare)

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """The 0/1 matrix; rule i selects the commonest values whose bits are set in i + 1."""
        subsets = np.arange(1, 1 << len(self.common))
        matrix = np.zeros((self.rule_count, len(self.values)), dtype=np.int64)
        bits = (subsets[:, None] >> np.arange(len(self.common))) & 1
        matrix[: len(subsets), list(self.common)] = bits
        matrix[len(subsets) + np.arange(len(self._others)), self._others] = 1
        if self.rare:
            matrix[-1, list(self.rare)] = 1
        return matrix

    def rule(self, index: int) -> ValueRule:
        """Return one rule."""
        chosen = np.flatnonzero(self.matrix[index])
        return ValueRule(self.feature, tuple(self.values[cell] for cell in chosen))

    def contract(self, counts: NDArray[Number], axis: int) -> NDArray[Number]:
        """Replace values along an axis by sums over each rule's values."""
        moved: NDArray[Number] = _moved_first(counts, axis)
        subsets = _sums_over_subsets(moved[list(self.common)])
        parts = [subsets[1:], moved[self._others]]
        if self.rare:
            parts.append(moved[list(self.rare)].sum(axis=0, dtype=counts.dtype)[None])
        sums: NDArray[Number] = np.concatenate(parts)
        return _moved_back(sums, axis)


@dataclass(frozen=True)
class IntervalAxis:
    """Bins of a continuous feature, a cell each; every proper run of adjacent bins is a rule.

    Of b bins there are b (b + 1) / 2 - 1 rules: the run of all bins is left out. If the feature
    is missing in some rows, these are one more cell, which is a rule of its own.

    Examples
    --------
    >>> axis = IntervalAxis("age", (0.0, 30.0, 60.0, 90.0))
    >>> [axis.rule(index).text for index in range(axis.rule_count)]
    ['age < 30', 'age < 60', '30 <= age < 60', 'age >= 30', 'age >= 60']
    >>> axis.contract(np.array([1, 2, 4]), 0).tolist()
    [1, 3, 2, 6, 4]
    """

    feature: str  # The feature's name.
    edges: tuple[float, ...]  # The bins' limits, ascending; the last bin has its upper limit in it.
    # True: there is one more cell, last, for rows in which the feature is missing. It has a rule of
    # its own, the last.
    has_missing: bool = False
    greatest: float | None = None  # The greatest number there can be, if all are whole.

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells' names, in order."""
        ends = list(zip(self.edges, self.edges[1:], strict=False))
        names = [f"{low:.10g} to {high:.10g}" for low, high in ends]
        if self.greatest is not None:
            # The last bin has its upper limit in it, which may be beyond the greatest number.
            ends[-1] = (ends[-1][0], min(self.greatest, ends[-1][1]) + 1)
            names = [whole_numbers(*end) or name for end, name in zip(ends, names, strict=True)]
        return (*names, MISSING) if self.has_missing else tuple(names)

    @cached_property
    def _runs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first bin, and the bin after the last, of each proper run, shape (runs,)."""
        starts, stops = np.triu_indices(self.bins + 1, k=1)
        proper = (stops - starts) < self.bins
        return starts[proper], stops[proper]

    @property
    def rule_count(self) -> int:
        """Every run but the whole range, and missing values."""
        return len(self._runs[0]) + self.has_missing

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """The 0/1 matrix; the cell of missing values is in the last rule alone."""
        starts, stops = self._runs
        cells = np.arange(len(self.labels))
        inside = (cells >= starts[:, None]) & (cells < stops[:, None])
        if self.has_missing:
            inside = np.vstack([inside, cells == self.bins])
        return inside.astype(np.int64)

    @property
    def value_counts(self) -> NDArray[np.int64]:
        """Zeros, as an interval names no values; 1 for missing values."""
        counts = np.zeros(self.rule_count, dtype=np.int64)
        if self.has_missing:
            counts[-1] = 1
        return counts

    @property
    def widths(self) -> NDArray[np.int64]:
        """How many bins each rule spans; 0 for missing values."""
        starts, stops = self._runs
        return np.append(stops - starts, [0] * self.has_missing).astype(np.int64)

    def rule(self, index: int) -> Rule:
        """Return one rule, open at the ends of the range."""
        if index == len(self._runs[0]):
            return ValueRule(self.feature, (MISSING,))
        start, stop = int(self._runs[0][index]), int(self._runs[1][index])
        return self._interval(start, stop)

    def cell_rule(self, cell: int) -> Rule | None:
        """Return the rule that selects one bin, or missing values."""
        if cell == self.bins:
            return ValueRule(self.feature, (MISSING,))
        return self._interval(cell, cell + 1) if self.bins > 1 else None

    def _interval(self, start: int, stop: int) -> IntervalRule:
        return IntervalRule(
            self.feature,
            None if start == 0 else self.edges[start],
            None if stop == self.bins else self.edges[stop],
        )

    def cells(self, table: Table, rows: slice = slice(None)) -> NDArray[np.intp]:
        """Return each row's cell, shape (rows,)."""
        numbers = table.numbers(self.feature, rows)
        bins = np.searchsorted(self.edges[1:-1], numbers, side="right")
        # NaN is sorted behind everything; it has a cell of its own.
        return np.where(np.isnan(numbers), self.bins, bins)

    def contract(self, counts: NDArray[Number], axis: int) -> NDArray[Number]:
        """Replace bins along an axis by sums over each run of them, and over missing values."""
        moved: NDArray[Number] = _moved_first(counts, axis)
        running = np.zeros((self.bins + 1, *moved.shape[1:]), dtype=counts.dtype)
        np.cumsum(moved[: self.bins], axis=0, out=running[1:])
        starts, stops = self._runs
        sums = running[stops] - running[starts]
        if self.has_missing:
            sums = np.concatenate([sums, moved[self.bins :]])
        return _moved_back(sums, axis)


def _moved_first(numbers: NDArray[Number], axis: int) -> NDArray[Number]:
    """Return an array with one axis first; numpy's own takes ten times as long for the same."""
    return numbers.transpose(axis, *range(axis), *range(axis + 1, numbers.ndim))


def _moved_back(numbers: NDArray[Number], axis: int) -> NDArray[Number]:
    """Return an array with its first axis moved to `axis`."""
    return numbers.transpose(*range(1, axis + 1), 0, *range(axis + 1, numbers.ndim))


def _sums_over_subsets(numbers: NDArray[Number]) -> NDArray[Number]:
    """Return the sums over each subset of the items along the first axis.

    The result's item i is the sum over those whose bits are set in i.
    """
    sums = np.zeros((1 << len(numbers), *numbers.shape[1:]), dtype=numbers.dtype)
    for place, value in enumerate(numbers):
        without = 1 << place
        np.add(sums[:without], value, out=sums[without : 2 * without])
    return sums


def sensitive_axes(
    table: Table,
    *,
    bins: int | None = None,
    whole_limits: bool = True,
    rows: NDArray[np.int64] | None = None,
    min_rows: int = 0,
) -> tuple[Axis, ...]:
    """Return one axis for each sensitive feature of a table, in the order of the description.

    A continuous feature gets the bins of :func:`bin_edges`; a categorical one a cell for each value
    that occurs in the table. Of up to 12 values every subset is a rule; of more, every subset of
    the 8 commonest, each other value by itself, and all that have too few rows together.

    Parameters
    ----------
    table : Table
        The rows.
    bins : int, optional
        Number of equal intervals of every continuous feature, in place of what the description has.
    whole_limits : bool
        As for :func:`bin_edges`.
    rows : numpy.ndarray of int64, shape (n,), optional
        How many rows each one of the table counts as; one, if not given.
    min_rows : int
        Values with fewer rows are too few to be groups.

    Returns
    -------
    tuple of Axis

    Raises
    ------
    ParameterError
        If more than 1,000 values of a categorical feature occur.
    """
    axes: list[Axis] = []
    for name in table.specification.sensitive:
        feature = table.specification.features[name]
        if feature.continuous:
            edges = bin_edges(feature, bins=bins, whole_limits=whole_limits)
            greatest = None
            if feature.type == "integer":
                greatest = edges[-1] if feature.range is None else feature.range[1]
            missing = table.missing[name] > 0
            axes.append(IntervalAxis(name, edges, has_missing=missing, greatest=greatest))
        else:
            axes.append(_category_axis(table, name, feature, rows, min_rows=min_rows))
    return tuple(axes)


def notes_on_values(axes: Iterable[Axis]) -> list[str]:
    """Return a sentence for each feature not all of whose subsets of values are rules.

    Parameters
    ----------
    axes : iterable of Axis

    Returns
    -------
    list of str

    Examples
    --------
    >>> axis = ManyValuesAxis("region", ("north", "east", "south"), (0, 1, 2), common=(0, 2))
    >>> notes_on_values([axis])
    ['of the 3 values of region each is looked at, and every subset of the 2 commonest']
    """
    return [
        f"of the {len(axis.values)} values of {axis.feature} each is looked at, and every subset "
        f"of the {len(axis.common)} commonest{_with_rare(axis)}"
        for axis in axes
        if isinstance(axis, ManyValuesAxis)
    ]


def _with_rare(axis: ManyValuesAxis) -> str:
    """Return how the values are looked at that have too few rows, if there are some."""
    return f", and the {len(axis.rare)} rarest together" if axis.rare else ""


def bin_edges(
    feature: Feature, *, bins: int | None = None, whole_limits: bool = True
) -> tuple[float, ...]:
    """Return the limits of a continuous feature's bins.

    They are the edges of the description if it has some and `bins` is not given. Otherwise the
    range is cut into equal bins; between bins of an integer feature each limit is the next whole
    number, which moves no row. An integer feature with no more numbers than bins has one bin a
    number.

    Parameters
    ----------
    feature : Feature
        The feature's description. Without a range, it is taken to be from 0 to 1.
    bins : int, optional
        Number of bins, in place of what the description has.
    whole_limits : bool
        Whether limits between bins of an integer feature are whole numbers; if not, its bins are
        equally wide, as in the paper.

    Returns
    -------
    tuple of float
        The limits, ascending, one more than there are bins.

    Examples
    --------
    >>> bin_edges(Feature(type="integer", range=(0, 100), bins=4))
    (0.0, 25.0, 50.0, 75.0, 100.0)
    >>> bin_edges(Feature(type="integer", range=(18, 79), bins=4))
    (18.0, 34.0, 49.0, 64.0, 79.0)
    >>> bin_edges(Feature(type="integer", range=(1, 4)))  # a bin a whole number
    (1.0, 2.0, 3.0, 4.0, 5.0)
    """
    if bins is None and feature.edges is not None:
        return tuple(feature.edges)
    low, high = feature.range or (0.0, 1.0)
    count = bins or feature.bins or DEFAULT_BINS
    if feature.type == "integer" and high - low + 1 <= count:
        return tuple(float(edge) for edge in np.arange(low, high + 2))
    # As fractions of the decimals that people write: in floats 0.3 would come out as
    # 0.30000000000000004, and a row at 0.3 be misplaced.
    first, last = Fraction(str(low)), Fraction(str(high))
    limits = [first + (last - first) * step / count for step in range(count + 1)]
    if feature.type == "integer" and whole_limits:
        whole = {Fraction(math.ceil(limit)) for limit in limits[1:-1]}
        limits = [first, *sorted(limit for limit in whole if first < limit < last), last]
    return tuple(map(float, limits))


def _category_axis(
    table: Table,
    name: str,
    feature: Feature,
    rows: NDArray[np.int64] | None,
    *,
    min_rows: int,
) -> CategoryAxis:
    """Return the axis of a categorical feature: the values that occur in a table."""
    declared = feature.values or []
    # Missing values have the code -1.
    counts = np.bincount(table.codes(name) + 1, weights=rows, minlength=len(declared) + 1)
    present = np.roll(counts, -1) > 0
    codes = [code if code < len(declared) else -1 for code in np.flatnonzero(present).tolist()]
    values = tuple(MISSING if code < 0 else declared[code] for code in codes)
    if len(values) <= MOST_IN_SUBSETS:
        return CategoryAxis(name, values, tuple(codes))
    if len(values) > MOST_VALUES:
        raise ParameterError(
            f"the sensitive feature {name!r} has {len(values):,} values",
            where=f"feature {name!r}",
            remedy=f"join values with `map` in the description, down to {MOST_VALUES:,} at most",
            feature=name,
            values=len(values),
        )
    rows_of_values = counts[np.array(codes) + 1]
    commonest = np.argsort(-rows_of_values, kind="stable")[:_COMMONEST]
    rare = np.flatnonzero(rows_of_values < min_rows)
    if len(rare) == len(values):
        # No rule selects all values.
        rare = np.setdiff1d(rare, commonest)
    return ManyValuesAxis(
        name,
        values,
        tuple(codes),
        common=tuple(sorted(commonest.tolist())),
        rare=tuple(rare.tolist()) if len(rare) > 1 else (),
    )
