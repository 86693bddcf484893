"""Perturbation: one feature of a person moved by one small step.

A step is 1 for integers, 0.01 of the range for decimals, and one place along the declared order for
categories. A move out of the domain, and a move of a missing value, stays where it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import (
    Feature,
    as_floats,
    category_codes,
    category_text,
    declared_indices,
    declared_text,
    distinct_values,
)

DECIMAL_STEP = 0.01


def perturbation_step(feature: Feature) -> float:
    """Return the size of a perturbation of a number.

    It is the step of the description; otherwise 0.01 of the range for decimals, and 1 for integers.

    Parameters
    ----------
    feature : Feature
        The feature's description.

    Returns
    -------
    float

    Examples
    --------
    >>> perturbation_step(Feature(type="integer", range=(0, 100)))
    1.0
    >>> perturbation_step(Feature(type="decimal", range=(0, 50)))
    0.5
    """
    if feature.step is not None:
        return feature.step
    if feature.type == "decimal" and feature.range is not None:
        return DECIMAL_STEP * (feature.range[1] - feature.range[0])
    return 1.0


def moved(
    column: pd.Series[Any], feature: Feature, name: str, direction: int | NDArray[np.int64]
) -> tuple[pd.Series[Any], NDArray[np.bool_]]:
    """Return a column in which every cell is moved by one step, and which cells have changed.

    A move out of the domain, and a move of a missing value, leaves the cell as it is.

    Parameters
    ----------
    column : pandas.Series
        The cells, of any type that fits the feature. Never changed.
    feature : Feature
        The feature's description.
    name : str
        The feature's name, for error messages.
    direction : int or numpy.ndarray of int
        1 for up, -1 for down, for all cells or for each.

    Returns
    -------
    column : pandas.Series
        The moved cells, of the same type, or of a wider one if that cannot hold them.
    changed : numpy.ndarray of bool
        Which cells are another value than before.

    References
    ----------
    Zhang et al., TestSGD, section 4.3.

    Examples
    --------
    >>> ages = pd.Series([20, 99, 100])
    >>> column, changed = moved(ages, Feature(type="integer", range=(0, 100)), "age", 1)
    >>> column.tolist(), changed.tolist()
    ([21, 100, 100], [True, True, False])
    """
    if feature.continuous:
        return _moved_numbers(column, feature, direction)
    return _moved_categories(column, feature, name, direction)


def _moved_numbers(
    column: pd.Series[Any], feature: Feature, direction: int | NDArray[np.int64]
) -> tuple[pd.Series[Any], NDArray[np.bool_]]:
    """Return moved numbers, and a mask of those that changed; none leaves the range."""
    numbers = as_floats(column)
    low, high = feature.range or (-np.inf, np.inf)
    target = numbers + direction * perturbation_step(feature)
    if feature.type == "decimal":
        # 0.1 + 0.01 * 90 is a little above 1, and 0.99 of 32 bits farther still; what a rounding
        # error puts outside is at the end.
        slack = 1e-6 * (high - low)
        target = np.where((target > high) & (target <= high + slack), high, target)
        target = np.where((target < low) & (target >= low - slack), low, target)
    with np.errstate(invalid="ignore"):
        changed = (target >= low) & (target <= high) & (target != numbers)
    if not changed.any():
        return column, changed
    return _with_numbers(column, np.where(changed, target, numbers)), changed


def _with_numbers(column: pd.Series[Any], numbers: NDArray[np.float64]) -> pd.Series[Any]:
    """Convert numbers to the type of a column, or a wider one if it cannot hold them."""
    dtype = _roomy_type(column.dtype, numbers)
    if isinstance(dtype, np.dtype):
        return pd.Series(numbers.astype(dtype), index=column.index)
    # Nullable and Arrow types know a missing cell of their own.
    cells = pd.array(np.where(np.isnan(numbers), 0, numbers), dtype="Float64")
    cells[np.isnan(numbers)] = pd.NA
    return pd.Series(cells, index=column.index).astype(dtype)


def _roomy_type(dtype: Any, numbers: NDArray[np.float64]) -> Any:
    """Return a column's type, or one of 64 bits where whole numbers would overflow or be cut."""
    if not pd.api.types.is_integer_dtype(dtype):
        return dtype
    known = numbers[~np.isnan(numbers)]
    whole = bool(np.all(known % 1 == 0))
    limits = np.iinfo((dtype if isinstance(dtype, np.dtype) else dtype.numpy_dtype).name)
    if whole and limits.min <= known.min() and known.max() <= limits.max:
        return dtype
    if isinstance(dtype, np.dtype):
        return np.dtype(np.int64 if whole else np.float64)
    if isinstance(dtype, pd.ArrowDtype):
        return "int64[pyarrow]" if whole else "double[pyarrow]"
    return "Int64" if whole else "Float64"


def _moved_categories(
    column: pd.Series[Any], feature: Feature, name: str, direction: int | NDArray[np.int64]
) -> tuple[pd.Series[Any], NDArray[np.bool_]]:
    """Return cells moved along the declared order of the values, and which have changed."""
    values = feature.values or []
    # Whether the text is one of a missing cell was asked when the rows were read.
    codes = category_codes(column, values, feature=name, has_missing_texts=True).astype(np.int64)
    target = codes + direction
    changed = (codes >= 0) & (target >= 0) & (target < len(values)) & (target != codes)
    if not changed.any():
        return column, changed
    target = np.where(changed, target, codes)
    if isinstance(column.dtype, pd.CategoricalDtype):
        dtype = _complete_type(column, column.dtype, values)
        declared = declared_indices(dtype, values)
        known = np.flatnonzero(declared >= 0)
        # The last place serves code -1, a missing cell, which stays as it was written.
        category = np.full(len(values) + 1, -1, dtype=np.int64)
        category[declared[known]] = known
        written = column.cat.set_categories(dtype.categories).cat.codes.to_numpy()
        moved_cells = pd.Categorical.from_codes(
            np.where(codes < 0, written, category[target]), dtype=dtype
        )
        return pd.Series(moved_cells, index=column.index, copy=False), changed
    originals = _original_values(column, values)
    cells = np.array([*originals, None], dtype=object)[target]
    still = codes < 0
    if still.any():
        # A missing cell stays as it was written: None, NaN or NA.
        cells[still] = column.to_numpy(dtype=object)[still]
    texts = [isinstance(original, str) for original in originals]
    if column.dtype == object or any(texts) == all(texts):
        try:
            return pd.Series(cells, index=column.index, dtype=column.dtype), changed
        except (OverflowError, ValueError):
            pass
    # The column's type cannot hold every declared value, as with "3+" among whole numbers.
    return pd.Series(cells, index=column.index, dtype=object).infer_objects(), changed


def _complete_type(
    column: pd.Series[Any], dtype: pd.CategoricalDtype, values: list[str]
) -> pd.CategoricalDtype:
    """Return a categorical column's type, with categories added for declared values it lacks."""
    indices = set(declared_indices(dtype, values).tolist())
    absent = [index for index in range(len(values)) if index not in indices]
    if not absent:
        return dtype
    originals = _original_values(column, values)
    if dtype.ordered:
        # Added at the end, a low value would count as the highest: the declared order holds.
        rest = [category for category in dtype.categories if category not in originals]
        return pd.CategoricalDtype([*originals, *rest], ordered=True)
    return pd.CategoricalDtype([*dtype.categories, *(originals[index] for index in absent)])


def _original_values(column: pd.Series[Any], values: list[str]) -> list[Any]:
    """Return each declared value as the column writes it: 1, not "1", in a column of numbers."""
    _, uniques = distinct_values(column)
    written = {declared_text(unique, values): unique for unique in uniques}
    sample = next(iter(written.values()))
    # numpy's int8 would not read "200".
    kind = type(sample.item() if isinstance(sample, np.generic) else sample)
    if kind is bool:
        booleans = {declared_text(boolean, values): boolean for boolean in (False, True)}
        written = {**booleans, **written}
    return [written[value] if value in written else _as_written(value, kind) for value in values]


def _as_written(value: str, kind: type) -> Any:
    if kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            return value
        # "01" is another category than "1".
        return number if category_text(number) == value else value
    return value
