"""Predictions, labels and weights as a user gives them: one value a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from testsgd.data import as_pandas, check_row_order
from testsgd.data.cells import missing_column
from testsgd.data.decimals import numbers_of_arrow
from testsgd.data.sampling import check_some_keys
from testsgd.errors import DataError, ParameterError


def values_of(values: Any, what: str, *, rows: int) -> pd.Series[Any]:
    """Return predictions, labels or weights as a series, shape (rows,), its index from 0.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 1), or data frame of one column
        One value a row.
    what : str
        The parameter that an error names.
    rows : int
        How many there must be.

    Returns
    -------
    pandas.Series

    Raises
    ------
    DataError
        If there is not one value a row, or `values` are a lazy frame or a relation, whose rows have
        no fixed order.

    Examples
    --------
    >>> values_of(np.array([[1], [0]]), "y_pred", rows=2).tolist()
    [1, 0]
    """
    series = column_of(values, what)
    if len(series) != rows:
        raise other_length(what, len(series), rows)
    return series.reset_index(drop=True)


def keys_of_units(
    clusters: Any, rows: pd.DataFrame, *, sensitive: Collection[str]
) -> pd.Series[Any] | None:
    """Return the key of each row's unit, shape (n,), its index from 0; None if no key is given.

    Parameters
    ----------
    clusters : str, array-like of shape (n,), or None
        A column of `rows` by its name, or one value a row.
    rows : data frame, n rows
    sensitive : collection of str
        The sensitive features.

    Returns
    -------
    pandas.Series or None
        Its name is that of the column, or of the series that is given.

    Raises
    ------
    DataError
        If there is no such column, not one value a row, or no row has a value.
    ParameterError
        If the column is a sensitive feature.

    Examples
    --------
    >>> people = pd.DataFrame({"person": ["a", "a", "b"]})
    >>> keys_of_units("person", people, sensitive=()).tolist()
    ['a', 'a', 'b']
    """
    if clusters is None:
        return None
    if isinstance(clusters, str):
        if clusters not in rows:
            raise missing_column(clusters, rows.columns, "the data")
        if clusters in sensitive:
            raise ParameterError(
                f"the column {clusters!r} says which rows are one unit, and cannot be sensitive "
                "too: a group would be one unit, or a few",
                where="clusters",
                remedy="leave it out of the sensitive features, or give its values as clusters",
                column=clusters,
            )
        keys = rows[clusters].reset_index(drop=True)
    else:
        keys = values_of(clusters, "clusters", rows=len(rows))
    check_some_keys(keys, where="clusters")
    return keys


def check_same_order(given: Mapping[str, Any]) -> None:
    """Refuse values of pandas whose rows are those of other values in another order.

    Rows go together by their position. So an index that has the labels of another index in another
    order is a mistake, or at least not clear if one of them counts from 0, as a new series does:
    arrays say that the rows are in one order. Other labels beside such an index go by position.

    Parameters
    ----------
    given : mapping of str to object
        By the parameter that an error names. Series and data frames of pandas are compared, alone
        or in a mapping of names to columns; anything else has no index.

    Raises
    ------
    DataError
        If two have the same labels in their index, in another order.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [30, 40]}, index=["a", "b"])
    >>> decided = pd.Series([1, 0], index=["a", "b"])
    >>> check_same_order({"sensitive_features": people, "y_pred": decided})
    """
    before: list[pd.Index[Any]] = []
    for where, index in _indexes(given):
        if any(index is other or index.equals(other) for other in before):
            continue
        if any(_has_other_order(index, other) for other in before):
            raise DataError(
                "the index has the rows in another order than the other columns have them",
                where=where,
                remedy="bring them into one order with .loc, or give arrays (.to_numpy()) if they "
                "are",
            )
        before.append(index)


def _indexes(given: Mapping[str, Any]) -> Iterator[tuple[str, pd.Index[Any]]]:
    """Return each index of pandas, and what an error calls it."""
    for where, values in given.items():
        parts = {where: values}
        if isinstance(values, Mapping):
            parts = {f"{where}[{name!r}]": column for name, column in values.items()}
        for called, part in parts.items():
            if isinstance(part, (pd.Series, pd.DataFrame)):
                yield called, part.index


def _has_other_order(index: pd.Index[Any], other: pd.Index[Any]) -> bool:
    """Return whether an index that is not equal to another one has the same labels."""
    if index.nlevels != other.nlevels:
        # Labels of several levels are tuples, which no label of one level is.
        return False
    if len(index) != len(other) or not index.is_unique or not other.is_unique:
        return False
    if isinstance(other, (pd.PeriodIndex, pd.IntervalIndex)):
        # Arrow's texts are only compared with values that Arrow knows.
        index = index.astype(object)
    return bool(index.isin(other).all())


def check_present(missing: int, *, where: str) -> None:
    """Refuse predictions of which some are missing.

    Parameters
    ----------
    missing : int
        How many are missing.
    where : str
        What an error names, such as the parameter.

    Raises
    ------
    DataError
        If there are any.

    Examples
    --------
    >>> check_present(0, where="y_pred")
    """
    if missing:
        raise DataError(
            f"{missing:,} predictions are missing",
            where=where,
            remedy="leave out the rows without a prediction",
        )


def other_length(what: str, length: int, rows: int) -> DataError:
    """Return the error of a column that is longer or shorter than the others."""
    return DataError(
        f"there are {length:,} values for {rows:,} rows",
        where=what,
        remedy="give one for each row of the sensitive features",
    )


def column_of(values: Any, what: str) -> pd.Series[Any]:
    """Return predictions, labels or weights as a series, with the name that they have.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 1), or data frame of one column
        One value a row.
    what : str
        The parameter that an error names.

    Returns
    -------
    pandas.Series
        A series is returned as it is, but that decimals of fixed point and numbers of Arrow are
        integers or floats.

    Raises
    ------
    DataError
        If there is not one value a row, or `values` are a lazy frame or a relation, whose rows have
        no fixed order.

    Examples
    --------
    >>> column_of(pd.DataFrame({"granted": [1, 0]}), "y_pred").name
    'granted'
    """
    if isinstance(values, pd.Series):
        return numbers_of_arrow(values)
    check_row_order(values, where=what)
    frame = as_pandas(values, where=what)
    if frame is not None:
        if frame.shape[1] != 1:
            raise _not_one_column(what, f"a data frame of {frame.shape[1]:,} columns")
        return numbers_of_arrow(frame.iloc[:, 0])
    series = series_of(values)
    if series is not None:
        return series
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise _not_one_column(what, f"an array of shape {shape}")
        values = np.asarray(values)[:, 0]
    if isinstance(values, (np.ndarray, pd.Categorical, pd.CategoricalIndex)):
        # A categorical lists classes that no row may have.
        return numbers_of_arrow(pd.Series(values))
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping, Set)):
        raise _not_one_column(what, f"of type {type(values).__name__}")
    listed = list(values)
    for row, value in enumerate(listed):
        # An array of no dimension is a number.
        shape = getattr(value, "shape", None)
        if shape or isinstance(value, (list, tuple, Mapping, Set)):
            raise _not_one_column(what, f"of type {type(value).__name__} in row {row:,}")
    return numbers_of_arrow(pd.Series(listed))


def series_of(values: Any) -> pd.Series[Any] | None:
    """Return a series of pandas, Polars, Arrow, ... as one of pandas, None of anything else.

    Parameters
    ----------
    values : object
        Anything. An array of Arrow counts as a series that has no name.

    Returns
    -------
    pandas.Series or None
        Decimals of fixed point and numbers of Arrow are integers or floats.

    Examples
    --------
    >>> import polars
    >>> series_of(polars.Series("sex", ["f", "m"])).name, series_of(["f", "m"]) is None
    ('sex', True)
    """
    if isinstance(values, pd.Series):
        return numbers_of_arrow(values)
    column = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(column, nw.Series):
        # Of Arrow, whose cells are no values of Python, or of Polars.
        return numbers_of_arrow(pd.Series(column.to_list(), name=column.name or None))
    if hasattr(values, "to_pylist") and not hasattr(values, "column_names"):
        # An array of Arrow of one piece, which narwhals does not know; no batch of rows.
        return numbers_of_arrow(pd.Series(values.to_pylist()))
    return None


def _not_one_column(what: str, given: str) -> DataError:
    return DataError(
        f"it is {given}, not one value a row",
        where=what,
        remedy="give a list, a series, or an array of shape (n,)",
    )
