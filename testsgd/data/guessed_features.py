"""How a feature is described of which only a part is given, or nothing: by its cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import category_text, distinct_values, row_name
from testsgd.data.cell_texts import renamed
from testsgd.errors import ParameterError

if TYPE_CHECKING:
    from testsgd.data.inference import InferredColumn

MOST_CODES = 10
"""Whole numbers with so few values are taken for codes, if rules are to be about them."""

# Bins of a sensitive number, each with about as many rows.
_QUANTILE_BINS = 10
# Keys of a description that say into which bins a number is divided, and all that only numbers
# have, or only categories.
_BINS = ("bins", "edges")
_OF_NUMBERS = ("range", "step", *_BINS)
_OF_CATEGORIES = ("values", "map")


def completed_feature(
    cells: pd.Series[Any],
    column: InferredColumn,
    chosen: Mapping[str, Any],
    *,
    sensitive: bool,
) -> dict[str, Any]:
    """Return what is not given of a feature's description."""
    kind = _kind_by_keys(column, chosen)
    if kind is None:
        return _feature(cells, column, sensitive=sensitive)
    present = cells.dropna()
    if kind == "categorical" and "values" not in chosen and len(present):
        names = chosen.get("map")
        if not isinstance(names, Mapping):
            return {"type": kind, "values": ordered_values(present)}
        used = renamed(present.map(category_text), names)
        return {"type": kind, "values": ordered_values(used)}
    if kind not in ("integer", "decimal") or "range" in chosen or not len(present):
        return {"type": kind}
    if not pd.api.types.is_any_real_numeric_dtype(present.dtype):
        raise _no_numbers(present, column.name, kind)
    return _numbers(present, kind, sensitive=sensitive and chosen.keys().isdisjoint(_BINS))


def _kind_by_keys(column: InferredColumn, chosen: Mapping[str, Any]) -> Any:
    """Return the type that is given, or that only fits the keys that are; None if any does."""
    if "type" in chosen:
        return chosen["type"]
    is_number = column.kind in ("integer", "decimal")
    if is_number and not chosen.keys().isdisjoint(_OF_NUMBERS):
        return column.kind
    if column.is_feature and not chosen.keys().isdisjoint(_OF_CATEGORIES):
        return "categorical"
    return None


def _no_numbers(present: pd.Series[Any], name: str, kind: str) -> ParameterError:
    """Return the error of a feature that is declared a number, and whose cells are none."""
    is_number = [isinstance(cell, int | float) for cell in present]
    position = 0 if all(is_number) else is_number.index(False)
    cell = present.iloc[position]
    what = f"the text {cell!r}" if isinstance(cell, str) else f"{cell!r}"
    return ParameterError(
        f"it is to be {kind}, and row {row_name(present, position)} holds {what}",
        where=f"features.{name}.type",
        remedy='write "categorical", or make the cells numbers',
        column=name,
    )


def _feature(cells: pd.Series[Any], column: InferredColumn, *, sensitive: bool) -> dict[str, Any]:
    """Return the description of a feature."""
    present = cells.dropna()
    codes = column.kind == "integer" and column.distinct <= MOST_CODES
    if column.kind == "categorical" or (codes and sensitive):
        return {"type": "categorical", "values": ordered_values(present)}
    return _numbers(present, column.kind, sensitive=sensitive)


def _numbers(present: pd.Series[Any], kind: str, *, sensitive: bool) -> dict[str, Any]:
    """Return the description of a feature that is a number, of a sensitive one with its bins."""
    numbers = present.to_numpy(dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    feature: dict[str, Any] = {"type": kind, "range": (low, high)}
    if sensitive and low < high:
        feature["edges"] = quantile_edges(numbers, whole=kind == "integer")
    return feature


def ordered_values(present: pd.Series[Any]) -> list[str]:
    """Return the distinct values of cells as texts: numbers by size, categories by their order.

    Examples
    --------
    >>> ordered_values(pd.Series([10, 9, 10])), ordered_values(pd.Series(["b", "a"]))
    (['9', '10'], ['a', 'b'])
    """
    if isinstance(present.dtype, pd.CategoricalDtype):
        counts = np.bincount(present.cat.codes, minlength=len(present.cat.categories))
        return [
            category_text(value)
            for value, count in zip(present.cat.categories, counts, strict=True)
            if count
        ]
    if pd.api.types.is_numeric_dtype(present.dtype):
        return [category_text(value) for value in np.sort(present.unique())]
    return sorted(counted_texts(present))


def counted_texts(present: pd.Series[Any]) -> dict[str, int]:
    """Return how many cells have each text; none is missing.

    A text is made for each distinct value, not for each cell, where equal values have equal texts.
    Of other objects that is not sure: decimals are equal though written differently.
    """
    if present.dtype == object and pd.api.types.infer_dtype(present) != "string":
        present = present.map(category_text)
    codes, values = distinct_values(present)
    counts: dict[str, int] = {}
    for value, count in zip(values, np.bincount(codes, minlength=len(values)), strict=True):
        if count:
            text = category_text(value)
            counts[text] = counts.get(text, 0) + int(count)
    return counts


def quantile_edges(
    numbers: NDArray[np.float64], *, whole: bool, bins: int = _QUANTILE_BINS
) -> list[float]:
    """Return ascending bin limits between which there are about equally many numbers.

    The inner limits are the quantiles ``1/bins, 2/bins, ...``. For whole numbers they are rounded
    up to whole numbers, and if there are at most `bins` different ones, each has a bin of its own.
    Other limits have so few decimals that they move by at most half a percent of the range. A
    value that many rows share at either end has a bin of its own.

    Parameters
    ----------
    numbers : numpy.ndarray of float, shape (n,)
        Finite numbers; at least two different ones, unless they are whole.
    whole : bool
        Whether the numbers are whole.
    bins : int
        The number of bins to aim for. There may be fewer, as equal limits are joined.

    Returns
    -------
    list of float
        The limits; a bin holds its lower limit, the last bin its upper one, too.

    Examples
    --------
    >>> quantile_edges(np.arange(100.0), whole=True)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 99.0]
    >>> quantile_edges(np.array([1.0, 2.0, 3.0]), whole=True)
    [1.0, 2.0, 3.0, 4.0]
    """
    low, high = float(numbers.min()), float(numbers.max())
    distinct = np.unique(numbers)
    if whole and len(distinct) <= bins:
        return [*distinct.tolist(), float(high + 1)]
    inner = np.quantile(numbers, np.arange(1, bins) / bins)
    rounded = np.ceil(inner) if whole else _rounded(inner, span=high - low)
    limits = {float(limit) for limit in rounded if low < limit < high}
    # A value that many rows share at either end is a bin of its own, or nothing would be compared.
    if inner[0] <= low:
        limits.add(float(distinct[1] if whole else (low + distinct[1]) / 2))
    if inner[-1] >= high:
        limits.add(high if whole else float((distinct[-2] + high) / 2))
    # The last bin has its upper limit in it.
    return [low, *sorted(limits), high + 1 if high in limits else high]


def _rounded(limits: NDArray[np.float64], *, span: float) -> NDArray[np.float64]:
    """Return limits with few decimals: they move by at most half a percent of `span`, the range."""
    decimals = int(np.ceil(-np.log10(span))) + 2
    return np.asarray(np.round(limits, decimals), dtype=np.float64)
