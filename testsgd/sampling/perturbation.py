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
    declared_places,
    distinct_values,
)

DECIMAL_STEP = 0.01


def perturbation_step(feature: Feature) -> float:
    """Give the size of a perturbation.

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
    """Move every cell of a column by one step.

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
        The moved cells, of the same type.
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
    numbers = as_floats(column)
    low, high = feature.range or (-np.inf, np.inf)
    target = numbers + direction * perturbation_step(feature)
    if feature.type == "decimal":
        # 0.1 + 0.01 * 90 is a little above 1; what a rounding error puts outside is at the end.
        slack = 1e-9 * (high - low)
        target = np.where((target > high) & (target <= high + slack), high, target)
        target = np.where((target < low) & (target >= low - slack), low, target)
    with np.errstate(invalid="ignore"):
        changed = (target >= low) & (target <= high) & (target != numbers)
    if not changed.any():
        return column, changed
    return _with_numbers(column, np.where(changed, target, numbers)), changed


def _with_numbers(column: pd.Series[Any], numbers: NDArray[np.float64]) -> pd.Series[Any]:
    """Give numbers the type of a column."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        if np.issubdtype(dtype, np.integer):
            whole = np.rint(numbers).astype(np.int64)
            limits = np.iinfo(dtype.name)
            fits = whole.min() >= limits.min and whole.max() <= limits.max
            return pd.Series(whole.astype(dtype) if fits else whole, index=column.index)
        return pd.Series(numbers.astype(dtype), index=column.index)
    # Nullable and Arrow types know a missing cell of their own.
    cells = pd.array(np.where(np.isnan(numbers), 0, numbers), dtype="Float64")
    cells[np.isnan(numbers)] = pd.NA
    return pd.Series(cells, index=column.index).astype(dtype)


def _moved_categories(
    column: pd.Series[Any], feature: Feature, name: str, direction: int | NDArray[np.int64]
) -> tuple[pd.Series[Any], NDArray[np.bool_]]:
    values = feature.values or []
    codes = category_codes(column, values, feature=name).astype(np.int64)
    target = codes + direction
    changed = (codes >= 0) & (target >= 0) & (target < len(values))
    if not changed.any():
        return column, changed
    target = np.where(changed, target, codes)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        declared = declared_places(dtype, values)
        known = np.flatnonzero(declared >= 0)
        if len(known) == len(values):
            category = np.full(len(values) + 1, -1, dtype=np.int64)
            category[declared[known]] = known
            cells = pd.Categorical.from_codes(category[target], dtype=dtype)
            return pd.Series(cells, index=column.index, copy=False), changed
    originals = _original_values(column, values)
    cells = np.array([*originals, None], dtype=object)[target]
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(cells, ordered=bool(dtype.ordered)), column.index), changed
    still = codes < 0
    if still.any():
        # A missing cell stays as it was written: None, NaN or NA.
        cells[still] = column.to_numpy(dtype=object)[still]
    return pd.Series(cells, index=column.index, dtype=dtype), changed


def _original_values(column: pd.Series[Any], values: list[str]) -> list[Any]:
    """Give each declared value as the column writes it: 1, not "1", in a column of numbers."""
    _, uniques = distinct_values(column)
    written = {category_text(unique): unique for unique in uniques}
    sample = next(iter(written.values()))
    return [written[value] if value in written else _as_written(value, sample) for value in values]


def _as_written(value: str, sample: Any) -> Any:
    if isinstance(sample, (bool, np.bool_)):
        return value == "True"
    if isinstance(sample, (int, float, np.number)):
        try:
            return type(sample)(value)
        except ValueError:
            return value
    return value
