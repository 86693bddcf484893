"""How a model's inputs become the columns of its first layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Step:
    """One arithmetic operation of a scaling, in the precision of its numbers.

    Attributes
    ----------
    operation : {"add", "subtract", "multiply", "divide"}
        Which.
    operand : numpy.ndarray of float32 or float64, shape (width,)
        With what, a number a column.
    """

    operation: Literal["add", "subtract", "multiply", "divide"]
    operand: NDArray[np.floating]

    def apply(self, columns: NDArray[np.floating]) -> NDArray[np.floating]:
        """Do it to columns, shape (n, width)."""
        function = getattr(np, self.operation)
        result: NDArray[np.floating] = function(columns.astype(self.operand.dtype), self.operand)
        return result


@dataclass(frozen=True)
class NumberColumns:
    """One number x as columns: ``multiplier * x + constant``, a column each.

    Attributes
    ----------
    multiplier, constant : numpy.ndarray of float64, shape (width,)
        As it says.
    relative_error : float
    absolute_error : float or numpy.ndarray of float64, shape (width,)
        The model's own column lies within ``relative_error * |multiplier * x| + absolute_error`` of
        the exact one, beside its rounding to the network's precision.
    steps : tuple of Step
        How the model itself computes the columns, if in other steps; only
        :meth:`FeedForward.encode` needs to know.
    """

    multiplier: NDArray[np.float64]
    constant: NDArray[np.float64]
    relative_error: float = 0.0
    absolute_error: float | NDArray[np.float64] = 0.0
    steps: tuple[Step, ...] = ()

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.multiplier)


@dataclass(frozen=True)
class CategoryColumns:
    """A category as columns: value v is row v of a table (one-hot: the identity).

    Attributes
    ----------
    table : numpy.ndarray of float64, shape (values, width)
        The columns of each value.
    values : tuple of str
        The values' names.
    absolute_error : float or numpy.ndarray of float64, shape (values, width)
        The model's own entries lie within this of those of the table, beside their rounding to the
        network's precision.
    """

    table: NDArray[np.float64]
    values: tuple[str, ...]
    absolute_error: float | NDArray[np.float64] = 0.0

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.table.shape[1])


@dataclass(frozen=True)
class InputColumns:
    """One input of the model, and the columns of the first layer that it becomes.

    Attributes
    ----------
    name : str
        ``"x0"``, ``"x1"`` and so on if the model has no names.
    columns : NumberColumns or CategoryColumns
        How.
    """

    name: str
    columns: NumberColumns | CategoryColumns


def number_columns(values: NDArray[np.float64], columns: NumberColumns) -> NDArray[np.floating]:
    """Compute the columns of numbers, shape (n, 1), as the model does before it rounds them."""
    if not columns.steps:
        return values * columns.multiplier + columns.constant
    result: NDArray[np.floating] = np.broadcast_to(values, (len(values), columns.width))
    for step in columns.steps:
        result = step.apply(result)
    return result
