"""The combinations of sensitive values that a method tries, in the cells of the audit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.baseline import BaselineFinding, Subject
from testsgd.baselines.coding import Points, RowCoding
from testsgd.data import Feature
from testsgd.rules import Axis, Contingency, IntervalAxis, RuleSet

# More combinations than these are not all tried, only those that occur.
MOST_COMBINATIONS = 5_000

# The note of a result where a missing value of every row leaves no combination.
NO_COMBINATIONS = "no row has a value for every sensitive feature, so there is nothing to combine"


@dataclass(frozen=True)
class Combinations:
    """Combinations of cells, one of every sensitive feature."""

    axes: tuple[Axis, ...]  # The sensitive features.
    # The cells of each that have values: not that of missing numbers, and no bin outside the
    # feature's range.
    usable: tuple[NDArray[np.intp], ...]
    cells: NDArray[np.intp]  # The cell on each axis; shape (combinations, features).
    # True: these are all combinations of usable cells, the last feature's cell changing
    # fastest.
    complete: bool
    possible: int  # How many combinations there are.

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many usable cells each axis has."""
        return tuple(len(cells) for cells in self.usable)

    def note(self) -> str:
        """Write which combinations are tried; nothing if all are."""
        if self.complete:
            return ""
        return (
            f"of {self.possible:,} possible combinations of sensitive values only "
            f"{len(self):,} that occur in the data were tried"
        )


def sensitive_combinations(
    contingency: Contingency, coding: RowCoding, *, most: int = MOST_COMBINATIONS
) -> Combinations:
    """Return all combinations of sensitive cells or, if there are too many, the most frequent."""
    axes = contingency.axes
    usable = tuple(
        np.flatnonzero(~np.isnan(cell_values(axis, coding.feature_of(axis)))) for axis in axes
    )
    possible = math.prod(len(cells) for cells in usable)
    if possible <= most:
        grid = np.meshgrid(*usable, indexing="ij")
        cells = np.column_stack([part.ravel() for part in grid])
        return Combinations(axes, usable, cells, complete=True, possible=possible)
    occurring = contingency.coordinates.astype(np.intp)
    fits = np.ones(len(occurring), dtype=bool)
    for index, known in enumerate(usable):
        fits &= np.isin(occurring[:, index], known)
    counts = contingency.tally()[fits]
    frequent = np.sort(np.argsort(-counts, kind="stable")[:most])
    return Combinations(axes, usable, occurring[fits][frequent], complete=False, possible=possible)


def drawn_values(
    axis: Axis, feature: Feature, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw values uniformly from every cell of a sensitive feature, shape (cells, count).

    They are numbers, or indices of categories; NaN in a cell without values.
    """
    if not isinstance(axis, IntervalAxis):
        return np.repeat(_categories(axis, feature)[:, None], count, axis=1)
    values = np.full((len(axis.labels), count), np.nan)
    for cell, low, high in _bins(axis, feature):
        if feature.type == "integer":
            values[cell] = generator.integers(int(low), int(high) + 1, count)
        else:
            values[cell] = generator.uniform(low, high, count)
    return values


def cell_values(axis: Axis, feature: Feature) -> NDArray[np.float64]:
    """Return one value of every cell: the category or the middle of the bin; NaN if it has none."""
    if not isinstance(axis, IntervalAxis):
        return _categories(axis, feature)
    values = np.full(len(axis.labels), np.nan)
    for cell, low, high in _bins(axis, feature):
        middle = (low + high) / 2
        values[cell] = np.floor(middle) if feature.type == "integer" else middle
    return values


def _categories(axis: Axis, feature: Feature) -> NDArray[np.float64]:
    """Return the index of each cell's category; -1 for missing cells, which are never declared."""
    indices = {value: index for index, value in enumerate(feature.values or [])}
    return np.array([indices.get(label, -1) for label in axis.labels], dtype=np.float64)


def combination_points(combinations: Combinations, coding: RowCoding) -> Points:
    """Return one value of each sensitive feature for every combination, as points have them."""
    columns = [
        cell_values(axis, coding.feature_of(axis))[combinations.cells[:, index]]
        for index, axis in enumerate(combinations.axes)
    ]
    return np.column_stack(columns)


def rule_set_of(axes: tuple[Axis, ...], cells: Mapping[int, int]) -> RuleSet:
    """Return the rule set of one cell on each of some axes."""
    rules = [axes[axis].cell_rule(cell) for axis, cell in cells.items()]
    return RuleSet(tuple(rule for rule in rules if rule is not None))


def finding_of(subject: Subject, cells: Mapping[int, int], value: float) -> BaselineFinding:
    """Return the group of one cell on each of some axes as a finding."""
    rule_set = rule_set_of(subject.axes, cells)
    return BaselineFinding(
        text=rule_set.text,
        value=value,
        rows=rows_of(subject.contingency, cells),
        complement=rule_set.complement(subject.table),
    )


def rows_of(contingency: Contingency, cells: Mapping[int, Any]) -> NDArray[np.bool_]:
    """Return which rows lie in the given cells, one or several, of each of some axes."""
    coordinates = contingency.coordinates
    inside = np.ones(len(coordinates), dtype=bool)
    for axis, chosen in cells.items():
        inside &= np.isin(coordinates[:, axis], chosen)
    return inside[contingency.cell_of_row]


def _bins(axis: IntervalAxis, feature: Feature) -> Iterator[tuple[int, float, float]]:
    """Yield the bins that have values, with their ends within the range.

    The largest decimal is the limit itself, which a draw has no chance to hit.
    """
    lowest, highest = feature.range or (-np.inf, np.inf)
    for cell in range(axis.bins):
        low, high = max(axis.edges[cell], lowest), min(axis.edges[cell + 1], highest)
        # The upper limit belongs to the last bin only.
        open_end = cell < axis.bins - 1 and high == axis.edges[cell + 1]
        if feature.type == "integer":
            upper = np.floor(high)
            low, high = float(np.ceil(low)), float(upper - (open_end and upper == high))
        elif low == high and open_end:
            # The range leaves but one point of the bin, which belongs to the next one.
            continue
        if low <= high:
            yield cell, low, high
