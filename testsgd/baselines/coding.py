"""Rows as arrays of numbers, and back: so that rows can be generated and varied with numpy.

A row is a point: for every feature of the description its number, or the index of its category
among the declared ones (-1: missing). Cells are written back in the type of the table's own
column, so a model is asked about rows like those it knows. If the model needs columns that the
description does not have, a last number says whose row they are taken from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Feature, Table, as_floats
from testsgd.rules import Axis
from testsgd.sampling import perturbation_step

Points = NDArray[np.float64]

# A move of the searches: a whole number of the audit's steps, at least this share of the range.
_MOVE = 0.01


class RowCoding:
    """The way from the rows of one table to points and back.

    The columns' types are kept; a category counts as possible if some row has it. `names` are the
    features in the order of a point's numbers, `sensitive` and `insensitive` the indices of both
    kinds.

    Examples
    --------
    >>> from testsgd.data import load_specification, load_table
    >>> table = load_table(load_specification("demo"))
    >>> coding = RowCoding(table)
    >>> bool(coding.frame(coding.points(slice(0, 5))).equals(table.frame.iloc[:5]))
    True
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = tuple(table.specification.features)
        marked = set(table.specification.sensitive)
        indices = np.arange(len(self.names))
        is_sensitive = np.array([name in marked for name in self.names], dtype=bool)
        self.sensitive = indices[is_sensitive]
        self.insensitive = indices[~is_sensitive]
        self._codes = {name: table.codes(name) for name in self.names if self._categorical(name)}
        # A row for every category that occurs; the last index serves -1, a missing cell.
        self._examples = {name: _examples(codes) for name, codes in self._codes.items()}

    def feature(self, index: int) -> Feature:
        """Return the description of the feature at an index."""
        return self.table.specification.features[self.names[index]]

    def feature_of(self, axis: Axis) -> Feature:
        """Return the description of an axis's feature."""
        return self.table.specification.features[axis.feature]

    def index(self, name: str) -> int:
        """Return the index of a feature."""
        return self.names.index(name)

    def categories(self, index: int) -> NDArray[np.int64]:
        """Return the categories that occur, as indices among the declared values, ascending."""
        return np.flatnonzero(self._examples[self.names[index]][:-1] >= 0)

    def points(self, rows: slice | NDArray[np.intp] = slice(None)) -> Points:
        """Return rows of the table as points, shape (n, features); NaN for a missing number."""
        columns = [
            self._codes[name][rows].astype(np.float64)
            if name in self._codes
            else as_floats(self.table.frame[name].iloc[rows])
            for name in self.names
        ]
        if self.table.passed:
            columns.append(np.arange(len(self.table), dtype=np.float64)[rows])
        return np.column_stack(columns)

    def frame(self, points: Points) -> pd.DataFrame:
        """Write points as rows of a data frame like the table's."""
        columns: dict[str, pd.Series[Any]] = {}
        for index, name in enumerate(self.names):
            template = self.table.frame[name]
            if name in self._codes:
                chosen = self._examples[name][points[:, index].astype(np.intp)]
                columns[name] = template.iloc[chosen].reset_index(drop=True)
            else:
                columns[name] = _written(template, points[:, index])
        for name in self.table.passed:
            column = self.table.frame[name].iloc[points[:, -1].astype(np.intp)]
            columns[name] = column.reset_index(drop=True)
        return pd.DataFrame(columns)

    def uniform(self, generator: np.random.Generator, count: int) -> Points:
        """Draw points uniformly: numbers from their range, categories from those that occur.

        No cell is missing, except in a column that knows nothing else. What the description does
        not have is taken from rows at random.
        """
        points = np.empty((count, len(self.names) + bool(self.table.passed)))
        if self.table.passed:
            points[:, -1] = generator.integers(0, len(self.table), count)
        for index, name in enumerate(self.names):
            feature = self.feature(index)
            if not feature.continuous:
                known = self.categories(index)
                points[:, index] = generator.choice(known, count) if len(known) else -1
                continue
            low, high = feature.range or (0.0, 1.0)
            if self.table.frame[name].isna().all():
                points[:, index] = np.nan
            elif feature.type == "integer":
                points[:, index] = generator.integers(int(np.ceil(low)), int(high) + 1, count)
            else:
                points[:, index] = generator.uniform(low, high, count)
        return points

    def moved(self, points: Points, directions: NDArray[np.int64]) -> Points:
        """Move every feature one step of a search; what would leave its domain stays.

        Directions are 1 for up, -1 for down, 0 to stay, in the shape of the points. A step is one
        place along the order of the categories that occur, and for numbers 0.01 of the range, or
        the audit's own step if that is larger. A missing cell stays missing.
        """
        moved = points.copy()
        for index in range(len(self.names)):
            feature = self.feature(index)
            direction = directions[:, index]
            if feature.continuous:
                low, high = feature.range or (-np.inf, np.inf)
                target = points[:, index] + direction * _move(feature)
                with np.errstate(invalid="ignore"):
                    moved[:, index] = np.clip(target, low, high)
            else:
                known = self.categories(index)
                if not len(known):
                    continue
                at = np.searchsorted(known, points[:, index])
                target = known[np.clip(at + direction, 0, len(known) - 1)].astype(np.float64)
                moved[:, index] = np.where(points[:, index] < 0, points[:, index], target)
        return moved

    def _categorical(self, name: str) -> bool:
        return not self.table.specification.features[name].continuous


def _examples(codes: NDArray[np.int16]) -> NDArray[np.intp]:
    """Return for each code a row that has it, -1 where none has; the last index is of code -1."""
    examples = np.full(max(int(codes.max(initial=-1)), -1) + 2, -1, dtype=np.intp)
    codes_present, rows = np.unique(codes, return_index=True)
    examples[codes_present] = rows
    return examples


def _move(feature: Feature) -> float:
    low, high = feature.range or (0.0, 1.0)
    step = perturbation_step(feature)
    return float(step * max(1.0, np.round(_MOVE * (high - low) / step)))


def _written(template: pd.Series[Any], numbers: NDArray[np.float64]) -> pd.Series[Any]:
    """Write numbers in a column's type, or a wider one if it cannot hold them."""
    dtype = template.dtype
    if pd.api.types.is_object_dtype(dtype):  # a column without any value
        return template.iloc[np.zeros(len(numbers), dtype=np.intp)].reset_index(drop=True)
    known = numbers[~np.isnan(numbers)]
    if isinstance(dtype, np.dtype):
        if np.issubdtype(dtype, np.integer) and len(known):
            limits = np.iinfo(dtype.name)
            whole = bool(np.all(known % 1 == 0))
            if not whole or known.min() < limits.min or known.max() > limits.max:
                dtype = np.dtype(np.int64 if whole else np.float64)
        return pd.Series(numbers.astype(dtype))
    # Nullable and Arrow types know a missing cell of their own.
    cells = pd.array(np.where(np.isnan(numbers), 0, numbers), dtype="Float64")
    cells[np.isnan(numbers)] = pd.NA
    column = pd.Series(cells)
    try:
        return column.astype(dtype)
    except (OverflowError, TypeError, ValueError):
        return column
