"""The text `missing` in rows without a description: it is read as a missing value."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from testsgd.data.categories import MISSING


def without_missing_texts(
    frame: pd.DataFrame, *, but: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return rows in which cells with the text ``missing`` are missing, and in which columns.

    Reports call missing cells so, and a group of both would be two groups of one name. It is what
    ``fillna("missing")`` writes.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows. Not changed; returned as it is if no cell has that text.
    but : collection of str
        Columns that stay as they are.

    Returns
    -------
    frame : pandas.DataFrame
        Columns that hold only numbers beside that text have a type of numbers.
    columns : tuple of str
        The columns that had such a cell.

    Examples
    --------
    >>> people = pd.DataFrame({"race": ["white", "missing"], "pay": [10, "missing"]})
    >>> frame, columns = without_missing_texts(people)
    >>> frame["pay"].tolist(), columns
    ([10.0, nan], ('race', 'pay'))
    """
    if not frame.columns.is_unique:
        return frame, ()
    replaced = {}
    for name in frame.columns:
        if name not in but:
            column = frame[name]
            known = without_missing_text(column)
            if known is not column:
                replaced[name] = known
    if not replaced:
        return frame, ()
    return frame.assign(**replaced), tuple(map(str, replaced))


def without_missing_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column in which cells with the text ``missing`` are missing.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type. Not changed; returned as it is if no cell has that text.

    Returns
    -------
    pandas.Series

    Examples
    --------
    >>> without_missing_text(pd.Series(["f", "missing"])).isna().tolist()
    [False, True]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        if MISSING not in column.cat.categories:
            return column
        return column.cat.remove_categories([MISSING])
    if not may_hold_texts(column):
        return column
    marked = (column == MISSING).fillna(False).to_numpy(dtype=bool)
    if not marked.any():
        return column
    known = column.mask(marked, None)
    if column.dtype != object:
        return known
    kind = pd.api.types.infer_dtype(known, skipna=True)
    return pd.to_numeric(known) if kind in _NUMBERS else known


# What pandas calls objects of which all are numbers.
_NUMBERS = ("integer", "floating", "mixed-integer-float", "integer-na")


def may_hold_texts(column: pd.Series[Any]) -> bool:
    """Return whether a column is of a type whose cells can be texts."""
    dtype = column.dtype
    return bool(pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype))


def with_texts_of_categories(given: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return rows as a model is asked about them, which may know the category ``missing``.

    Parameters
    ----------
    given : pandas.DataFrame
        The rows as they were given.
    read : pandas.DataFrame
        The same without that text, see :func:`without_missing_texts`.

    Returns
    -------
    pandas.DataFrame
        The given columns, but those of numbers from `read`.

    Examples
    --------
    >>> people = pd.DataFrame({"race": ["white", "missing"], "pay": [10, "missing"]})
    >>> with_texts_of_categories(people, without_missing_texts(people)[0]).values.tolist()
    [['white', 10.0], ['missing', nan]]
    """
    numbers = {
        name: read[name]
        for name in (given.columns if given.columns.is_unique else ())
        if may_hold_texts(given[name]) and pd.api.types.is_numeric_dtype(read[name].dtype)
    }
    return given.assign(**numbers) if numbers else given
