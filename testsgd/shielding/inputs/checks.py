"""Checks of the parts of an input distribution."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.errors import SpecificationError


def checked_costs(costs: Sequence[Any], *, where: str = "inputs.costs") -> tuple[float, ...]:
    """Give costs as floats: at least one, none negative, ascending.

    Raises
    ------
    SpecificationError
        If they are not.
    """
    numbers = tuple(checked_number(cost, "the cost", where) for cost in costs)
    if not numbers:
        raise SpecificationError("there is no cost", where=where, remedy="give at least one")
    for number in numbers:
        if number < 0:
            raise SpecificationError(
                f"the cost {number:g} is negative", where=where, remedy="give costs of at least 0"
            )
    if twice := repeated_one(numbers):
        raise SpecificationError(
            f"the cost {twice[0]:g} stands twice", where=where, remedy="give each cost once"
        )
    if list(numbers) != sorted(numbers):
        raise SpecificationError(
            f"the costs {', '.join(f'{number:g}' for number in numbers)} are not ascending",
            where=where,
            remedy="sort them, and the probabilities with them",
        )
    return numbers


def checked_number(value: Any, name: str, where: str) -> float:
    """Give a finite number as a float.

    Raises
    ------
    SpecificationError
        If it is none.
    """
    try:
        number = math.nan if isinstance(value, (str, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SpecificationError(
            f"{name} is {value!r}, no finite number", where=where, remedy="give a number"
        )
    return number


def checked_share(value: Any, name: str, where: str) -> float:
    """Give a probability as a float.

    Raises
    ------
    SpecificationError
        If it is none.
    """
    number = checked_number(value, name, where)
    if not 0 <= number <= 1:
        raise SpecificationError(
            f"{name} is {number:g}", where=where, remedy="give a number between 0 and 1"
        )
    return number


def checked_shares(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Give probabilities as an array that cannot be written to.

    Raises
    ------
    SpecificationError
        If a value is no probability, or the shape is another.
    """
    where = f"inputs.{name}"
    try:
        shares = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SpecificationError(
            "these are no numbers", where=where, remedy=f"give an array of the shape {shape}"
        ) from error
    if shares.shape != shape:
        raise SpecificationError(
            f"the shape is {shares.shape}",
            where=where,
            remedy=f"give an array of the shape {shape}: groups, recommendations"
            + (", costs" if len(shape) == 3 else ""),
        )
    bad = np.argwhere(~((shares >= 0) & (shares <= 1)))
    if len(bad):
        place = tuple(int(part) for part in bad[0])
        raise SpecificationError(
            f"the probability is {float(shares[place])!r}",
            where=f"{where}[{', '.join(map(str, place))}]",
            remedy="give numbers between 0 and 1",
        )
    shares.flags.writeable = False
    return shares


def repeated_one(values: Sequence[Any]) -> list[Any]:
    """Give the first value that stands twice, in a list; an empty list if there is none."""
    return [value for value, count in Counter(values).items() if count > 1][:1]
