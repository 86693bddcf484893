"""Given people as numbers of a domain: rows of a user, checked value by value."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, DomainInput
from testsgd.certification.domain.domain import choice
from testsgd.data import category_text
from testsgd.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

People: TypeAlias = "pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]"


def people_values(
    domain: Domain, rows: People, *, where: str = "rows", ignored: Collection[str] = ()
) -> NDArray[np.float64]:
    """Return the values of given people, shape (people, inputs), a category by its index.

    Parameters
    ----------
    domain : Domain
        The domain, which must hold all of the people.
    rows : data frame, mapping, or sequence of mappings
        A row or a mapping a person, or a mapping to lists of one length: a value for each input,
        the protected ones included. Of a category its name, of a number a number or its text.
        Other columns of a data frame are ignored.
    where : str
        What to call the rows in messages.
    ignored : collection of str
        Names in mappings that are no inputs of the domain, and are ignored.

    Returns
    -------
    numpy.ndarray of float, shape (people, inputs)

    Raises
    ------
    DataError
        If a person lacks an input or has a value outside of the domain, a mapping has another name,
        or a data frame has no column of an input.

    Examples
    --------
    >>> from testsgd.certification import find_domain
    >>> ranges = {"inputs": {"age": {"integer": [18, 80]}, "sex": {"values": ["f", "m"]}}}
    >>> people_values(find_domain(ranges, protected="sex"), {"age": 30, "sex": "m"}).tolist()
    [[30.0, 1.0]]
    """
    people = _as_mappings(rows, where)
    columns = _columns(rows)
    if columns is not None:
        _check_columns(domain, columns, where)
    values = np.empty((len(people), len(domain.inputs)))
    for number, person in enumerate(people, start=1):
        place = f"{where}, person {number}"
        if columns is None:
            _check_features(domain, person, place, ignored)
        for column, item in enumerate(domain.inputs):
            values[number - 1, column] = _value(item, person[item.name], place)
    return values


def _columns(rows: Any) -> list[str] | None:
    """Return the names of the columns of a data frame, None of anything else."""
    if hasattr(rows, "columns") and hasattr(rows, "itertuples"):
        return [str(name) for name in rows.columns]
    return None


def _as_mappings(rows: Any, where: str) -> list[Mapping[str, Any]]:
    if isinstance(rows, Mapping):
        lists = [name for name, cells in rows.items() if not _is_one(cells)]
        if not lists:
            return [rows]
        lengths = {len(rows[name]) if name in lists else None for name in rows}
        if None in lengths or len(lengths) > 1:
            raise DataError(
                "some features have lists of values, and others one value or lists of another "
                "length",
                where=where,
                remedy="give a value for each feature, or lists of one length",
            )
        names = list(rows)
        return [dict(zip(names, cells, strict=True)) for cells in zip(*rows.values(), strict=True)]
    columns = _columns(rows)
    if columns is not None:
        return [
            dict(zip(columns, cells, strict=True))
            for cells in rows.itertuples(index=False, name=None)
        ]
    is_list = isinstance(rows, Sequence) and not isinstance(rows, str)
    if is_list and all(isinstance(row, Mapping) for row in rows):
        return list(rows)
    raise DataError(
        f"the people are of type {type(rows).__name__}",
        where=where,
        remedy="give a data frame, or a mapping from inputs to values for each person",
    )


def _is_one(cells: Any) -> bool:
    """Return whether something is one value, and no list of them."""
    return isinstance(cells, str) or not hasattr(cells, "__len__")


def _check_columns(domain: Domain, columns: Sequence[str], where: str) -> None:
    """Refuse a data frame that has not exactly one column for each input; others may be there.

    A misspelt column cannot pass for another one, as the input that it should be is missing.
    """
    for item in domain.inputs:
        number = columns.count(item.name)
        if number > 1:
            raise DataError(
                f"{number} columns are called {item.name!r}",
                where=where,
                remedy="name each column once",
                name=item.name,
            )
        if number == 0:
            others = [name for name in columns if name not in domain.names]
            raise DataError(
                f"there is no column {item.name!r}, an input of the domain {domain.name!r}",
                where=where,
                remedy=f"add it ({_allowed(item)}), or rename a column; "
                f"{choice(item.name, others) if others else 'there are no others'}",
                name=item.name,
            )


def _check_features(
    domain: Domain, person: Mapping[str, Any], place: str, ignored: Collection[str]
) -> None:
    """Refuse a person who has a name that is no input, or who lacks an input."""
    # A misspelt name first: it says more than that the right one is missing.
    for name, value in person.items():
        if name not in domain.names and name not in ignored:
            raise DataError(
                f"the feature {name!r}, of value {value!r}, is no input of the domain "
                f"{domain.name!r}",
                where=place,
                remedy=f"leave it out, or rename it; {choice(str(name), domain.names)}",
                name=name,
            )
    for item in domain.inputs:
        if item.name not in person:
            raise DataError(
                f"the feature {item.name!r} is missing",
                where=place,
                remedy=f"give its value: {_allowed(item)}",
                name=item.name,
            )


def _allowed(item: DomainInput) -> str:
    """Return all values that an input may have, in words."""
    if isinstance(item, CategoryInput):
        return f"one of {', '.join(item.values)}"
    return item.extent


def _value(item: DomainInput, given: Any, place: str) -> float:
    """Return a value as a number, of a category the index."""
    if isinstance(given, np.generic):
        given = given.item()
    number = math.nan
    if isinstance(item, CategoryInput):
        text = category_text(given)
        if text in item.values:
            number = float(item.values.index(text))
    elif isinstance(given, (int, float, str)):
        try:
            number = float(given)
        except (ValueError, OverflowError):
            number = math.nan
    if math.isfinite(number) and item.holds(number):
        return number
    raise DataError(
        f"the value {given!r} of the feature {item.name!r} is outside of the domain",
        where=place,
        remedy=f"allowed: {_allowed(item)}",
        name=item.name,
    )
