"""Who is compared: the protected inputs, and the combinations of their values."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from testsgd.certification.domain.domain import (
    LARGEST_COMPARISON,
    CategoryInput,
    DomainInput,
    check_count,
    choice,
    shortened_list,
)
from testsgd.data import category_text
from testsgd.errors import ParameterError

Combinations = tuple[tuple[float, ...], ...]


def protected_inputs(
    inputs: Sequence[DomainInput], protected: str | Sequence[str | int]
) -> tuple[str, ...]:
    """Return the names of protected inputs, found by name, or by position if no input has it."""
    given = [protected] if isinstance(protected, (str, int)) else list(protected)
    names = [item.name for item in inputs]
    return tuple(dict.fromkeys(_name(one, names) for one in given))


def few_enough(
    inputs: Sequence[DomainInput], protected: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the protected inputs whose values can all be compared, and those left out for it.

    The input with the most values is left out first. If no input is left that way, all are
    returned as protected.

    Examples
    --------
    >>> inputs = [
    ...     CategoryInput("race", tuple("abcde")),
    ...     CategoryInput("age", tuple(str(age) for age in range(401))),
    ...     CategoryInput("sex", ("f", "m")),
    ... ]
    >>> few_enough(inputs, ("race", "age", "sex"))
    (('race', 'sex'), ('age',))
    """
    sizes = {item.name: math.inf if item.size is None else item.size for item in inputs}
    kept = list(protected)
    while kept and math.prod(sizes[name] for name in kept) > LARGEST_COMPARISON:
        kept.remove(max(kept, key=sizes.__getitem__))
    if not kept:
        return protected, ()
    return tuple(kept), tuple(name for name in protected if name not in kept)


def _name(given: str | int, names: list[str]) -> str:
    text = str(given)
    if text in names:
        return text
    if text.isdecimal() and int(text) < len(names):
        return names[int(text)]
    raise ParameterError(
        f"the protected attribute {text!r} is not among the inputs",
        where="protected",
        remedy=choice(text, names),
        name=text,
    )


def compared_values(
    inputs: Sequence[DomainInput], protected: tuple[str, ...], values: Any
) -> Combinations:
    """Find the combinations of protected values that are compared; of a category the index.

    `values` are those of the one protected input; of several, combinations, or a list for each by
    its name, whose combinations are compared; an input that is not named takes all its values, as
    all do if None is given. Categories are given by their names.
    """
    chosen = [next(item for item in inputs if item.name == name) for name in protected]
    if values is None or isinstance(values, Mapping):
        return _product(chosen, values or {})
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError(
            f"the protected values are {values!r}",
            where="protected_values",
            remedy="give a list of values, or a list for each protected input",
        )
    return tuple(_combination(chosen, row) for row in values)


def _product(chosen: list[DomainInput], values: Mapping[Any, Any]) -> Combinations:
    names = [item.name for item in chosen]
    for name, given in values.items():
        if name not in names:
            raise ParameterError(
                f"there are values for {name!r}, which is not protected",
                where="protected_values",
                remedy=choice(str(name), names),
            )
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise ParameterError(
                f"the values of {name!r} are {given!r}",
                where="protected_values",
                remedy="give a list of them",
            )
    axes: list[Sequence[float]] = []
    for item in chosen:
        if item.name in values:
            axes.append([_value(item, value) for value in values[item.name]])
            continue
        if item.size is None:
            raise ParameterError(
                f"the protected attribute {item.name!r} takes all {item.extent}, which cannot all "
                "be compared",
                where="protected_values",
                remedy="name the values to compare",
                name=item.name,
            )
        low = 0 if isinstance(item, CategoryInput) else item.low
        axes.append([low] if item.size == 1 else range(int(low), int(low) + item.size))
    check_count(math.prod(map(len, axes)))
    return tuple(itertools.product(*axes))


def _combination(chosen: list[DomainInput], row: Any) -> tuple[float, ...]:
    cells = [row] if isinstance(row, str) or not isinstance(row, Sequence) else list(row)
    if len(cells) != len(chosen):
        raise ParameterError(
            f"the combination {row!r} is no list of {len(chosen)} values",
            where="protected_values",
            remedy=f"give a value for each of {shortened_list(item.name for item in chosen)}",
        )
    return tuple(_value(item, cell) for item, cell in zip(chosen, cells, strict=True))


def _value(item: DomainInput, given: Any) -> float:
    if isinstance(item, CategoryInput):
        text = category_text(given)
        if text in item.values:
            return float(item.values.index(text))
        remedy = choice(text, item.values)
    else:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = math.nan if isinstance(given, bool) else float(given)
            if item.holds(number):
                return number
        remedy = f"choose among {item.extent}"
    raise ParameterError(
        f"the value {given!r} of the protected attribute {item.name!r} is outside of the domain",
        where="protected_values",
        remedy=remedy,
        name=item.name,
    )
