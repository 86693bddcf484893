"""Categories: one text for one value, for columns of every type.

A pandas ``Categorical``, a column of strings, booleans, whole numbers, nullable or Arrow types all
mean the same: two cells are in one category if :func:`category_text` gives the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import DataError

Codes = NDArray[np.signedinteger[Any]]

# Values that an int16 can number from 0.
_MOST_IN_TWO_BYTES = 2**15

# A column of texts with more distinct ones is no category.
MOST_CATEGORIES = 200
# Of a sensitive feature. What has more values has other ones for nearly every row.
MOST_VALUES = 1_000

# The name under which rules and reports speak of a missing categorical value.
MISSING = "missing"


def category_text(value: Any) -> str:
    """Return the text of a categorical value.

    Parameters
    ----------
    value : object
        A string, a whole number (also one that a column of floats holds), or a boolean.

    Returns
    -------
    str

    Examples
    --------
    >>> category_text(1), category_text(1.0), category_text(True), category_text("a")
    ('1', '1', 'True', 'a')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def declared_text(value: Any, declared: Collection[str]) -> str:
    """Return the text of a categorical value as a description declares it.

    Parameters
    ----------
    value : object
        As for :func:`category_text`.
    declared : collection of str
        The declared values.

    Returns
    -------
    str
        The same as :func:`category_text`, but that a boolean may be declared in small letters.

    Examples
    --------
    >>> declared_text(True, ["false", "true"]), declared_text(True, ["False", "True"])
    ('true', 'True')
    """
    text = category_text(value)
    if isinstance(value, (bool, np.bool_)) and text not in declared and text.lower() in declared:
        return text.lower()
    return text


# The two ways to write no and yes in numbers, no first.
ZERO_ONE = (("0", "1"), ("False", "True"))


def equal_labels(labels: Collection[str]) -> dict[str, str]:
    """Return what 0 and 1 mean among the labels False and True, and these among 0 and 1.

    Parameters
    ----------
    labels : collection of str
        Labels as texts.

    Returns
    -------
    dict of str to str
        From the other two texts to the same labels as they are written here; empty if there are
        other labels, or none.

    Examples
    --------
    >>> equal_labels(["0", "1"])
    {'False': '0', 'True': '1'}
    >>> equal_labels(["True", "False"])
    {'0': 'False', '1': 'True'}
    >>> equal_labels(["no", "yes"])
    {}
    """
    numbers, booleans = ZERO_ONE
    for written, others in ((numbers, booleans), (booleans, numbers)):
        if labels and set(labels) <= set(written):
            return dict(zip(others, written, strict=True))
    return {}


def category_texts(column: pd.Series[Any]) -> NDArray[np.object_]:
    """Return the text of each cell of a column, as :func:`category_text` gives it.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type.

    Returns
    -------
    numpy.ndarray of object, shape (n,)
        Missing cells have a text too, such as ``"nan"``.

    Examples
    --------
    >>> category_texts(pd.Series([1.0, 2.5, None, 1.0])).tolist()
    ['1', '2.5', 'nan', '1']
    """
    if column.dtype == object:
        # Objects that are equal may have different texts, such as decimals.
        return np.array([category_text(cell) for cell in column], dtype=object)
    codes, values = distinct_values(column)
    missing = np.flatnonzero(codes < 0)
    # A column of one type has one way to be missing.
    text_of_missing = category_text(column.iloc[missing[0]]) if len(missing) else ""
    texts = np.array([*map(category_text, values), text_of_missing], dtype=object)
    return texts[codes]


def category_codes(
    column: pd.Series[Any], values: Sequence[str], *, feature: str, has_missing_texts: bool = False
) -> Codes:
    """Return each cell's index among the declared values.

    Parameters
    ----------
    column : pandas.Series
        The cells, of any type.
    values : sequence of str
        The declared values.
    feature : str
        The feature's name, for error messages.
    has_missing_texts : bool
        Whether a cell with the text ``missing`` counts as a missing one; without it the text is a
        value as any other, which must be declared.

    Returns
    -------
    numpy.ndarray of int16, or of int32 for more than 32,768 values, shape (n,)
        Positions in `values`; -1 for a missing cell.

    Raises
    ------
    DataError
        If a cell holds a value that is not declared.

    Examples
    --------
    >>> category_codes(pd.Series(["b", None, "a"]), ["a", "b"], feature="letter").tolist()
    [1, -1, 0]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes: NDArray[Any] = np.asarray(column.array.codes)
        uniques: Any = column.cat.categories
        table = _indices(_Identical(column.cat.categories), tuple(values))
    else:
        codes, uniques = distinct_values(column)
        table = _find_indices(uniques, values)
    # The last place of `table` serves code -1, a missing cell.
    indices: Codes = table[codes]
    is_unknown = table < 0
    # The last place is of code -1, a missing cell.
    is_unknown[-1] = False
    if has_missing_texts:
        others = [category_text(unique) != MISSING for unique in uniques]
        is_unknown[:-1] &= np.array(others, dtype=bool)
    if is_unknown.any():
        check_cells(
            column,
            is_unknown[codes],
            lambda row, value: (
                f"the value {category_text(value)!r} (row {row}) is not among the "
                f"declared values of {feature!r}"
            ),
            where=f"feature {feature!r}",
            remedy=f"add it to `values` or correct the data; declared: {_first_values(values)}",
            feature=feature,
        )
    return indices


def declared_indices(dtype: pd.CategoricalDtype, values: Sequence[str]) -> Codes:
    """Return each category's index among the declared values.

    Parameters
    ----------
    dtype : pandas.CategoricalDtype
        The type of a categorical column.
    values : sequence of str
        The declared values.

    Returns
    -------
    numpy.ndarray of int16 or int32, shape (categories,)
        Positions in `values`; -1 for a category that is not declared. The array is read-only.

    Examples
    --------
    >>> declared_indices(pd.CategoricalDtype(["b", "c", "a"]), ["a", "b"]).tolist()
    [1, -1, 0]
    """
    return _indices(_Identical(dtype.categories), tuple(values))[:-1]


class _Identical:
    """An object as a key by identity; holds on to it, so that its identity is not used again."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identical) and other.value is self.value


# The slices of a column share their categories, so one look serves thousands of calls.
@lru_cache(maxsize=1024)
def _indices(categories: _Identical, values: tuple[str, ...]) -> Codes:
    return _find_indices(list(categories.value), values)


def _find_indices(uniques: Sequence[Any], values: Sequence[str]) -> Codes:
    """Return each unique value's index among the declared ones, -1 for none and at the end."""
    position_of = {value: position for position, value in enumerate(values)}
    indices = [position_of.get(declared_text(unique, position_of), -1) for unique in uniques]
    # Two bytes are enough for all but huge numbers of values; fingerprints are of these bytes.
    kind = np.int16 if len(values) <= _MOST_IN_TWO_BYTES else np.int32
    table: Codes = np.array([*indices, -1], dtype=kind)
    table.flags.writeable = False  # many callers share it
    return table


def distinct_values(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return a column as codes and the distinct values that they stand for.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type.

    Returns
    -------
    codes : numpy.ndarray of int64, shape (n,)
        Positions in the values; -1 for a missing cell.
    values : list
        The distinct values: all categories of a categorical column in their order, even those that
        no cell has; else the values in the order in which they first occur. Where a column of
        objects mixes types, values with the same :func:`category_text` count as one.

    Examples
    --------
    >>> codes, values = distinct_values(pd.Series(["b", None, "a", "b"]))
    >>> codes.tolist(), values
    ([0, -1, 1, 0], ['b', 'a'])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes, dtype=np.int64), list(column.cat.categories)
    if column.dtype == object and pd.api.types.infer_dtype(column).startswith("mixed"):
        return _distinct_mixed(column)
    codes, uniques = pd.factorize(column, use_na_sentinel=True)
    return np.asarray(codes, dtype=np.int64), list(uniques)


def _distinct_mixed(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return codes and the values that differ in text: among objects, pandas takes True for 1."""
    codes = pd.factorize(column.map(category_text, na_action="ignore"))[0].astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    _, first = np.unique(codes[known], return_index=True)
    return codes, [column.iloc[position] for position in known[first]]


def row_name(column: pd.Series[Any], position: int) -> Any:
    """Return the name of a row as the user knows it: its entry in the index."""
    name = column.index[position]
    return name.item() if isinstance(name, np.generic) else name


def check_cells(
    column: pd.Series[Any],
    wrong: Any,
    what: Callable[[Any, Any], str],
    *,
    where: str,
    remedy: str,
    **details: Any,
) -> None:
    """Raise a :class:`DataError` about the first wrong cell, if there is one.

    `wrong`: a mask of the cells, shape (n,). `what`: from the row's name and the cell's value to
    the message. `details`: what the error holds besides the row and the value.
    """
    positions = np.flatnonzero(wrong)
    if len(positions):
        position = int(positions[0])
        row, value = row_name(column, position), column.iloc[position]
        if isinstance(value, (str, float)) and not pd.isna(value):
            details["value"] = value
        raise DataError(what(row, value), where=where, remedy=remedy, row=row, **details)


def _first_values(values: Sequence[str], limit: int = 8) -> str:
    """Return the first values as a text, with the number of all if some are left out."""
    shown = ", ".join(values[:limit])
    return f"{shown}, ... ({len(values)} in all)" if len(values) > limit else shown
