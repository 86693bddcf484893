"""Axes restricted to single cells: the groups that a method without intervals and sets knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.rules import Axis, Rule


@dataclass(frozen=True)
class SingleCells:
    """An axis whose rules are its single cells.

    Attributes
    ----------
    axis : Axis
        The axis as the audit has it.
    chosen : tuple of int
        The cells that there is a rule for: not missing numbers.
    """

    axis: Axis
    chosen: tuple[int, ...]

    @property
    def feature(self) -> str:
        """The feature's name."""
        return self.axis.feature

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells' names."""
        return self.axis.labels

    @property
    def rule_count(self) -> int:
        """A rule a cell."""
        return len(self.chosen)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """The identity, without cells that belong to no rule."""
        return np.eye(len(self.labels), dtype=np.int64)[list(self.chosen)]

    @property
    def value_counts(self) -> NDArray[np.int64]:
        """One value a rule."""
        return np.ones(self.rule_count, dtype=np.int64)

    @property
    def widths(self) -> NDArray[np.int64]:
        """Nothing that is wider than another."""
        return np.zeros(self.rule_count, dtype=np.int64)

    def rule(self, index: int) -> Rule:
        """Give one rule."""
        rule = self.axis.cell_rule(self.chosen[index])
        assert rule is not None
        return rule

    def cell_rule(self, cell: int) -> Rule | None:
        """Give the rule of one cell."""
        return self.axis.cell_rule(cell)

    def cells(self, table: Table, rows: slice = slice(None)) -> NDArray[np.intp]:
        """Give each row's cell."""
        return self.axis.cells(table, rows)

    def contract(self, counts: Any, axis: int) -> Any:
        """Pick the cells that there is a rule for."""
        return np.take(counts, self.chosen, axis=axis)


def single_cells(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Restrict the rules of axes to single cells."""
    return tuple(
        SingleCells(
            axis,
            tuple(cell for cell in range(len(axis.labels)) if axis.cell_rule(cell) is not None),
        )
        for axis in axes
    )
