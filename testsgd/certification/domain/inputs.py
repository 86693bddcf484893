"""One input of a model and the values it may take: whole numbers, real numbers or categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

from testsgd.data import category_text
from testsgd.errors import SpecificationError

# From here on, a whole number may be no exact float64, and everything here is computed in float64.
_LARGEST = 2**53


@dataclass(frozen=True)
class IntegerInput:
    """An input that takes whole numbers.

    Attributes
    ----------
    name : str
        The input.
    low, high : int
        Smallest and largest value, both possible.

    Raises
    ------
    SpecificationError
        If an end is no whole number below 2**53, or `low` is above `high`.

    Examples
    --------
    >>> IntegerInput("age", 17, 90).size
    74
    """

    name: str
    low: int
    high: int

    def __post_init__(self) -> None:
        _check_name(self.name)
        for key in ("low", "high"):
            object.__setattr__(self, key, _whole(getattr(self, key), self.name))
        _check_order(self.low, self.high, self.name)

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1

    def holds(self, value: float) -> bool:
        """Say whether a number is one of the values."""
        return self.low <= value <= self.high and value == math.floor(value)

    def text(self, value: float) -> str:
        """Write a value for people."""
        return f"{int(value)}"

    @property
    def extent(self) -> str:
        """The values in words."""
        return f"whole numbers from {self.low} to {self.high}"


@dataclass(frozen=True)
class RealInput:
    """An input that takes every real number of an interval.

    Attributes
    ----------
    name : str
        The input.
    low, high : float
        The ends. If they are equal, the input has this one value, and does not count in a volume.

    Raises
    ------
    SpecificationError
        If an end is not finite, or `low` is above `high`.

    Examples
    --------
    >>> RealInput("rate", 0.0, 0.5).extent
    'real numbers from 0 to 0.5'
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        _check_name(self.name)
        for key in ("low", "high"):
            object.__setattr__(self, key, _finite(getattr(self, key), self.name))
        _check_order(self.low, self.high, self.name)
        _finite(self.high - self.low, self.name)

    @property
    def size(self) -> int | None:
        """1 if the ends are equal, else None: there are too many values to count."""
        return 1 if self.low == self.high else None

    def holds(self, value: float) -> bool:
        """Say whether a number is one of the values."""
        return self.low <= value <= self.high

    def text(self, value: float) -> str:
        """Write a value for people, with all its digits if they are few."""
        return f"{value:.9g}"

    @property
    def extent(self) -> str:
        """The values in words."""
        return f"real numbers from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class CategoryInput:
    """An input that takes one of a few named values; a value is given by its index.

    Attributes
    ----------
    name : str
        The input.
    values : tuple of str
        The names of the values, in the order of the model.
    columns : tuple of int, optional
        If the model has a column a value and knows nothing of the group: the positions of these
        columns among all columns of the model, in the order of `values`.

    Raises
    ------
    SpecificationError
        If there are no values, one stands twice, or the columns do not fit them.

    Examples
    --------
    >>> CategoryInput("race", ("Black", "White")).text(1)
    'White'
    """

    name: str
    values: tuple[str, ...]
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if isinstance(self.values, str) or not all(_is_category(value) for value in self.values):
            raise SpecificationError(
                f"the values of the input are {self.values!r}",
                where=self.name,
                remedy='give a list of names: ["a", "b"]',
            )
        object.__setattr__(self, "values", tuple(category_text(value) for value in self.values))
        if not self.values:
            raise SpecificationError(
                "the input has no values", where=self.name, remedy="list its values"
            )
        for value in self.values:
            if self.values.count(value) > 1:
                raise SpecificationError(
                    f"the value {value!r} stands twice", where=self.name, remedy="name it once"
                )
        if self.columns is not None:
            object.__setattr__(self, "columns", _columns(self.columns, self))

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def holds(self, value: float) -> bool:
        """Say whether a number is the index of one of the values."""
        return 0 <= value < self.size and value == math.floor(value)

    def text(self, value: float) -> str:
        """Give the name of the value with this index."""
        return self.values[int(value)]

    @property
    def extent(self) -> str:
        """The values in words."""
        shown = ", ".join(self.values[:6])
        return shown if self.size <= 6 else f"{shown} and {self.size - 6} more"


DomainInput: TypeAlias = IntegerInput | RealInput | CategoryInput


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise SpecificationError(
            f"the name of an input is {name!r}", where="inputs", remedy="give it a name"
        )


def _finite(value: Any, name: str) -> float:
    try:
        number = (
            math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        )
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SpecificationError(
            f"an end of the range is {value!r}", where=name, remedy="give two finite numbers"
        )
    return number


def _whole(value: Any, name: str) -> int:
    number = _finite(value, name)
    if number != math.floor(number) or abs(number) >= _LARGEST:
        raise SpecificationError(
            f"an end of the range is {value!r}, and the input takes whole numbers",
            where=name,
            remedy="give two whole numbers below 2**53, or make the input a real one",
        )
    return int(value) if isinstance(value, Integral) else int(number)


def _check_order(low: float, high: float, name: str) -> None:
    if low > high:
        raise SpecificationError(
            f"the range [{low:g}, {high:g}] is empty: {low:g} is above {high:g}",
            where=name,
            remedy="give the smaller number first",
        )


def _is_category(value: Any) -> bool:
    return isinstance(value, (str, int, float)) or hasattr(value, "item")


def _columns(columns: Any, group: CategoryInput) -> tuple[int, ...]:
    whole = not isinstance(columns, str) and all(
        isinstance(column, Integral) and not isinstance(column, bool) and int(column) >= 0
        for column in columns
    )
    if not whole or len(set(columns)) != len(group.values):
        raise SpecificationError(
            f"the columns are {columns!r}, and there are {len(group.values)} values",
            where=group.name,
            remedy="give a different column a value: their positions, counted from 0",
        )
    return tuple(int(column) for column in columns)
