"""The domain of a certificate: all people about whom something is proved."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.data import category_text
from testsgd.data.schema_parts import repeated
from testsgd.errors import ParameterError, SpecificationError

_SHOWN = 8


def shortened_list(names: Iterable[str]) -> str:
    """Return names as a list with commas, shortened after the first eight."""
    names = list(names)
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} ... ({len(names)} in all)"


def choice(wrong: str, names: Iterable[str]) -> str:
    """Return what to write instead of an unknown name: the one it resembles, or all of them."""
    names = list(names)
    lower = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(wrong.lower(), list(lower), n=1, cutoff=0.6)
    if near:
        return f"did you mean {lower[near[0]]}? Known are {shortened_list(names)}"
    return f"choose among {shortened_list(names)}"


# From here on, a whole number may be no exact float64, and everything here is computed in float64.
_LARGEST = 2**53
# Every combination of protected values is bounded in every box.
LARGEST_COMPARISON = 1_000


@dataclass(frozen=True)
class IntegerInput:
    """An input that takes whole numbers.

    Attributes
    ----------
    name : str
        The input.
    low, high : int
        Smallest and largest value, both possible; a SpecificationError is raised if one is no whole
        number below 2**53, or `low` is above `high`.

    Examples
    --------
    >>> IntegerInput("age", 17, 90).size
    74
    """

    name: str
    low: int
    high: int

    def __post_init__(self) -> None:
        _read_ends(self, _whole)

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1

    def holds(self, value: float) -> bool:
        """Return whether a number is one of the values."""
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
        A SpecificationError is raised if one is not finite, or `low` is above `high`.

    Examples
    --------
    >>> RealInput("rate", 0.0, 0.5).extent
    'real numbers from 0 to 0.5'
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        _read_ends(self, _finite)
        _finite(self.high - self.low, self.name)

    @property
    def size(self) -> int | None:
        """1 if the ends are equal, else None: there are too many values to count."""
        return 1 if self.low == self.high else None

    def holds(self, value: float) -> bool:
        """Return whether a number is one of the values."""
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
        columns among all columns of the model, in the order of `values`. A SpecificationError is
        raised if they do not fit the values, or these are none or one stands twice.

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
        if isinstance(self.values, str) or not all(
            isinstance(value, (str, int, float)) or hasattr(value, "item") for value in self.values
        ):
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
        if twice := repeated(list(self.values)):
            raise SpecificationError(
                f"the value {twice!r} stands twice", where=self.name, remedy="name it once"
            )
        if self.columns is not None:
            object.__setattr__(self, "columns", _columns(self.columns, self))

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def holds(self, value: float) -> bool:
        """Return whether a number is the index of one of the values."""
        return 0 <= value < self.size and value == math.floor(value)

    def text(self, value: float) -> str:
        """Return the name of the value with this index."""
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


def _read_ends(item: IntegerInput | RealInput, read: Callable[[Any, str], float]) -> None:
    """Make the ends of a range numbers of one type, the smaller first."""
    _check_name(item.name)
    for key in ("low", "high"):
        object.__setattr__(item, key, read(getattr(item, key), item.name))
    if item.low > item.high:
        raise SpecificationError(
            f"the range [{item.low:g}, {item.high:g}] is empty",
            where=item.name,
            remedy="give the smaller number first",
        )


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


@dataclass(frozen=True)
class Marginal:
    """How the weight of one input lies along its axis.

    Attributes
    ----------
    positions : numpy.ndarray of float, shape (k + 1,)
        Of whole numbers and categories: 0, 1, ..., number of values; edge k stands before value k.
        Of real numbers: the edges of bins, from the low end to the high end.
    cumulative : numpy.ndarray of float, shape (k + 1,)
        The weight before each position, rising from 0 to 1; straight in between for real numbers.

    Examples
    --------
    >>> Marginal(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.25, 1.0])).cumulative.tolist()
    [0.0, 0.25, 1.0]
    """

    positions: NDArray[np.float64]
    cumulative: NDArray[np.float64]

    def __post_init__(self) -> None:
        positions, cumulative = self.positions, self.cumulative
        fits = (
            positions.ndim == 1
            and positions.shape == cumulative.shape
            and len(positions) > 1
            and bool(np.all(np.diff(positions) > 0))
            and bool(np.all(np.diff(cumulative) >= 0))
            and cumulative[0] == 0.0
            and cumulative[-1] == 1.0
        )
        if not fits:
            raise ParameterError(
                "the weights of an input are no rising line from 0 to 1",
                where="marginals",
                remedy="give the weight before each edge, lowest edge first",
            )


@dataclass(frozen=True)
class Domain:
    """All inputs of a model, the values they may take, and who is compared.

    A person is a value for each input that is not protected. It is asked whether the decision about
    the person depends on the protected inputs.

    Attributes
    ----------
    name : str
        What to call the domain.
    inputs : tuple of IntegerInput, RealInput or CategoryInput
        All inputs of the model, in its order.
    protected : tuple of str
        Names of the protected inputs.
    protected_values : tuple of tuple of float
        The combinations that are compared, at least two: a value for each protected input, of a
        category the index.
    marginals : mapping of str to Marginal
        The weights of inputs that are not protected; an input that is not here, or all of an empty
        mapping, counts uniformly.
    weighted_by : {"data", "given"}
        Where weights come from, for reports: rows of data, or the description of the domain.
    left_out : tuple of str
        Sensitive features that are not protected, because with them there would be more
        combinations than can be compared.

    Raises
    ------
    SpecificationError, ParameterError
        If two inputs have one name, or what is protected and compared is not in the domain.

    Examples
    --------
    >>> domain = Domain("loans", (IntegerInput("age", 18, 80), IntegerInput("sex", 0, 1)),
    ...                 protected=("sex",), protected_values=((0.0,), (1.0,)))
    >>> domain.points
    63
    >>> domain.describe_value("age", 30)
    'age = 30'
    """

    name: str
    inputs: tuple[DomainInput, ...]
    protected: tuple[str, ...]
    protected_values: tuple[tuple[float, ...], ...]
    marginals: Mapping[str, Marginal] = field(default_factory=dict)
    weighted_by: Literal["data", "given"] = "data"
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        numbers = tuple(tuple(float(value) for value in row) for row in self.protected_values)
        object.__setattr__(self, "protected_values", numbers)
        _check_names(self)
        _check_protected(self)
        _check_compared(self)
        _check_marginals(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all inputs, in order."""
        return tuple(item.name for item in self.inputs)

    @property
    def free(self) -> tuple[DomainInput, ...]:
        """The inputs that are not protected, in order."""
        return tuple(item for item in self.inputs if item.name not in self.protected)

    @property
    def points(self) -> int | None:
        """How many people there are; None if an input takes all reals of an interval."""
        points = 1
        for item in self.free:
            if item.size is None:
                return None
            points *= item.size
        return points

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The columns of each category that is a group of raw columns of the model."""
        return raw_groups(self.inputs)

    def input(self, name: str) -> DomainInput:
        """Return the input of this name; a KeyError if there is none."""
        for item in self.inputs:
            if item.name == name:
                return item
        raise KeyError(name)

    def describe_value(self, name: str, value: float) -> str:
        """Write down that an input has a value, of a category by its index: ``race = Black``."""
        return f"{name} = {self.input(name).text(value)}"


def raw_groups(inputs: Sequence[DomainInput]) -> dict[str, tuple[int, ...]]:
    """Return the columns of each category that is a group of raw columns of the model."""
    return {
        item.name: item.columns
        for item in inputs
        if isinstance(item, CategoryInput) and item.columns is not None
    }


def _check_names(domain: Domain) -> None:
    if not domain.inputs:
        raise SpecificationError(
            "the domain has no inputs", where=domain.name, remedy="describe each input of the model"
        )
    if twice := repeated(list(domain.names)):
        raise SpecificationError(
            f"two inputs are called {twice!r}", where=domain.name, remedy="rename one of them"
        )


def _check_protected(domain: Domain) -> None:
    if not domain.protected:
        raise ParameterError(
            "no input is protected",
            where="protected",
            remedy=f"name at least one of {shortened_list(domain.names)}",
        )
    for name in domain.protected:
        if name not in domain.names:
            raise ParameterError(
                f"the protected attribute {name!r} is no input of the domain {domain.name!r}",
                where="protected",
                remedy=choice(name, domain.names),
                name=name,
            )
    if twice := repeated(list(domain.protected)):
        raise ParameterError(
            f"the protected attribute {twice!r} is named twice",
            where="protected",
            remedy="name it once",
        )


def check_count(combinations: int) -> None:
    """Check that not too many combinations of protected values are to be compared."""
    if combinations > LARGEST_COMPARISON:
        raise ParameterError(
            f"{combinations:,} combinations of protected values are to be compared",
            where="protected_values",
            remedy=f"choose at most {LARGEST_COMPARISON:,} of them, or protect fewer attributes",
        )


def _check_compared(domain: Domain) -> None:
    for combination in domain.protected_values:
        if len(combination) != len(domain.protected):
            raise ParameterError(
                f"the combination {combination!r} has {len(combination)} values for "
                f"{len(domain.protected)} protected inputs",
                where="protected_values",
                remedy="give a value for each of them",
            )
        for name, value in zip(domain.protected, combination, strict=True):
            if not domain.input(name).holds(value):
                raise ParameterError(
                    f"the value {value:g} of the protected attribute {name!r} is outside of the "
                    f"domain",
                    where="protected_values",
                    remedy=f"choose among {domain.input(name).extent}",
                    name=name,
                )
    check_count(len(domain.protected_values))
    distinct = len(set(domain.protected_values))
    if distinct < 2 or distinct < len(domain.protected_values):
        names = " and ".join(repr(name) for name in domain.protected)
        raise ParameterError(
            f"{'only one' if distinct else 'no'} value of the protected attribute {names} is to "
            "be compared"
            if distinct < 2
            else f"some values of the protected attribute {names} are to be compared twice",
            where="protected_values",
            remedy="compare at least two, each once",
            names=domain.protected,
        )


def _check_marginals(domain: Domain) -> None:
    free = {item.name: item for item in domain.free}
    for name, marginal in domain.marginals.items():
        item = free.get(name)
        if item is None:
            raise ParameterError(
                f"there are weights for {name!r}, which is no unprotected input",
                where="marginals",
                remedy="give weights for unprotected inputs",
            )
        ends = (item.low, item.high) if isinstance(item, RealInput) else (0, item.size)
        steps = None if isinstance(item, RealInput) else np.arange(item.size + 1)
        positions = marginal.positions
        fits = (positions[0], positions[-1]) == ends
        if not fits or (steps is not None and not np.array_equal(positions, steps)):
            raise ParameterError(
                f"the weights of {name!r} do not span the input's values",
                where="marginals",
                remedy=f"give them for {item.extent}",
            )
