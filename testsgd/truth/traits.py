"""Sensitive features of a generated population: their cells, and what stands in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.rules import Axis, CategoryAxis, IntervalAxis, IntervalRule, Rule, ValueRule


@dataclass(frozen=True)
class CategoryTrait:
    """A categorical feature; every value is a cell.

    Attributes
    ----------
    name : str
        The feature's name.
    values : tuple of str
        Its values.
    shares : tuple of float
        How many people have each; they add up to 1.
    """

    name: str
    values: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def feature(self) -> dict[str, Any]:
        """The feature, as a data set's description has it."""
        return {"type": "categorical", "values": list(self.values), "sensitive": True}

    @property
    def axis(self) -> Axis:
        """The axis that an audit lays out, if all values occur."""
        return CategoryAxis(self.name, self.values, tuple(range(len(self.values))))

    def column(self, cells: NDArray[np.intp], generator: np.random.Generator) -> pd.Series[Any]:
        """Write people's cells as a column."""
        return pd.Series(pd.Categorical.from_codes(cells, categories=pd.Index(self.values)))

    def cells(self, column: pd.Series[Any]) -> NDArray[np.intp]:
        """Read people's cells from a column of any type."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            if tuple(column.cat.categories) == self.values:
                return column.cat.codes.to_numpy().astype(np.intp)
            column = column.astype(object)
        return pd.Categorical(column, categories=list(self.values)).codes.astype(np.intp)

    def inside(self, rule: Rule) -> NDArray[np.bool_]:
        """Say which cells satisfy a rule."""
        if not isinstance(rule, ValueRule):
            raise TypeError(f"{rule.text} is no rule about values")
        return np.array([value in rule.values for value in self.values])


@dataclass(frozen=True)
class NumberTrait:
    """A whole number in bins; inside a bin every number is as frequent as the next.

    Attributes
    ----------
    name : str
        The feature's name.
    low : int
        The smallest number.
    width : int
        How many numbers a bin has.
    shares : tuple of float
        How many people are in each bin; they add up to 1.
    """

    name: str
    low: int
    width: int
    shares: tuple[float, ...]

    @property
    def edges(self) -> tuple[float, ...]:
        """The bins' limits."""
        return tuple(float(self.low + self.width * bin_) for bin_ in range(len(self.shares) + 1))

    @property
    def feature(self) -> dict[str, Any]:
        """The feature, as a data set's description has it."""
        high = self.low + self.width * len(self.shares) - 1
        return {
            "type": "integer",
            "range": [self.low, high],
            "edges": list(self.edges),
            "sensitive": True,
        }

    @property
    def axis(self) -> Axis:
        """The axis that an audit lays out."""
        return IntervalAxis(self.name, self.edges)

    def column(self, cells: NDArray[np.intp], generator: np.random.Generator) -> pd.Series[Any]:
        """Write people's cells as a column; where in its bin a number lies is drawn."""
        offsets = generator.integers(0, self.width, len(cells))
        return pd.Series(self.low + self.width * cells + offsets)

    def cells(self, column: pd.Series[Any]) -> NDArray[np.intp]:
        """Read people's cells from a column of numbers."""
        return ((column.to_numpy(dtype=np.float64) - self.low) // self.width).astype(np.intp)

    def inside(self, rule: Rule) -> NDArray[np.bool_]:
        """Say which cells satisfy a rule whose limits are limits of bins."""
        if not isinstance(rule, IntervalRule):
            raise TypeError(f"{rule.text} is no rule about numbers")
        starts = np.array(self.edges[:-1])
        low = -np.inf if rule.low is None else rule.low
        high = np.inf if rule.high is None else rule.high
        return np.asarray((starts >= low) & (starts < high))


Trait: TypeAlias = CategoryTrait | NumberTrait
