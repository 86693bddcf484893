"""Decimals of fixed point, as warehouses export them, and numbers of Arrow, as those of pandas."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

_INT64 = np.iinfo(np.int64)
# Beyond it floats skip whole numbers.
_EXACT_IN_FLOATS = 2**53


def without_decimals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which decimals of fixed point are integers or floats.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows. Not changed; returned as it is if no column is of decimals.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> without_decimals(pd.DataFrame({"pay": [Decimal("1.50")]}))["pay"].dtype
    dtype('float64')
    """
    # By position, as two columns may have one name.
    candidates = {
        position: frame.iloc[:, position]
        for position, dtype in enumerate(frame.dtypes)
        if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.ArrowDtype)
    }
    converted = frame.copy(deep=False)
    is_changed = False
    for position, column in candidates.items():
        numbers = numbers_of_decimals(column)
        if numbers is not column:
            converted.isetitem(position, numbers.array)
            is_changed = True
    return converted if is_changed else frame


def numbers_of_decimals(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of decimals as numbers, any other column as it is.

    Decimals without a fraction become integers if 64 bits hold them, others floats.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type: objects of Python's ``Decimal`` and decimals of Arrow are converted.

    Returns
    -------
    pandas.Series

    Examples
    --------
    >>> numbers_of_decimals(pd.Series([Decimal("30"), Decimal("41.00")])).tolist()
    [30, 41]
    >>> numbers_of_decimals(pd.Series([Decimal("0.25"), None])).tolist()
    [0.25, nan]
    """
    if not _are_decimals(column):
        return column
    missing = np.array([_is_missing(cell) for cell in column.array], dtype=bool)
    present = [_as_decimal(cell) for cell in column.array[~missing]]
    if all(cell.is_finite() and cell == cell.to_integral_value() for cell in present):
        whole = [int(cell) for cell in present]
        if _INT64.min <= min(whole) and max(whole) <= _INT64.max:
            return _whole_numbers(whole, missing, column)
    floats = np.full(len(column), np.nan)
    floats[~missing] = [float(cell) for cell in present]
    return pd.Series(floats, index=column.index, name=column.name)


def numbers_of_arrow(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of numbers that Arrow holds as one of NumPy, any other column as it is.

    pandas cannot calculate everything with a column of Arrow, such as remainders.

    Parameters
    ----------
    column : pandas.Series
        Cells of any type.

    Returns
    -------
    pandas.Series
        Decimals as :func:`numbers_of_decimals` returns them. Whole numbers beside missing cells are
        of a type of pandas that holds both, such as ``Int64``; of other numbers a missing one is
        NaN.

    Examples
    --------
    >>> numbers_of_arrow(pd.Series([1, 0], dtype="int64[pyarrow]")).dtype
    dtype('int64')
    >>> numbers_of_arrow(pd.Series([1, None], dtype="int64[pyarrow]")).dtype
    Int64Dtype()
    """
    dtype = column.dtype
    if not isinstance(dtype, pd.ArrowDtype) or dtype.kind not in "iuf":
        return numbers_of_decimals(column)
    numpy_type: Any = dtype.pyarrow_dtype.to_pandas_dtype()
    if dtype.kind == "f":
        floats = column.to_numpy(dtype=numpy_type, na_value=np.nan)
        return pd.Series(floats, index=column.index, name=column.name)
    missing = column.isna().to_numpy()
    whole = column.to_numpy(dtype=numpy_type, na_value=0)
    cells: Any = pd.arrays.IntegerArray(whole, missing) if missing.any() else whole
    return pd.Series(cells, index=column.index, name=column.name)


def _are_decimals(column: pd.Series[Any]) -> bool:
    """Return whether the cells are decimals, at least one, perhaps beside other numbers."""
    if isinstance(column.dtype, pd.ArrowDtype):
        return column.dtype.type is Decimal and bool(column.notna().any())
    if column.dtype != object:
        return False
    # Most columns of objects are of texts, which the first one tells.
    first = next((cell for cell in column.array if not _is_missing(cell)), None)
    if not isinstance(first, Decimal | int | float | np.number):
        return False
    kinds = {type(cell) for cell in column.array if not _is_missing(cell)}
    return Decimal in kinds and all(
        issubclass(kind, Decimal | int | float | np.number) and kind is not bool for kind in kinds
    )


def _is_missing(cell: Any) -> bool:
    """Return whether a cell is missing; a NaN that signals may not even be compared."""
    if isinstance(cell, Decimal):
        return cell.is_nan()
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or cell is pd.NA or cell is pd.NaT or is_nan


def _as_decimal(cell: Any) -> Decimal:
    if isinstance(cell, Decimal):
        return cell
    return Decimal(cell.item() if isinstance(cell, np.number) else cell)


def _whole_numbers(whole: list[int], missing: Any, column: pd.Series[Any]) -> pd.Series[Any]:
    """Return whole numbers as a column: integers, or floats beside missing cells.

    Beside missing cells they are integers too where floats would not hold them exactly.
    """
    numbers = np.zeros(len(column), dtype=np.int64)
    numbers[~missing] = whole
    cells: Any = numbers
    if missing.any() and max(map(abs, whole)) < _EXACT_IN_FLOATS:
        cells = np.where(missing, np.nan, numbers)
    elif missing.any():
        cells = pd.arrays.IntegerArray(numbers, missing)
    return pd.Series(cells, index=column.index, name=column.name)
