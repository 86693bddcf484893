"""Data frames one below the other."""

from __future__ import annotations

from typing import Any

import pandas as pd


def joined_frames(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Put the rows of a data frame below those of another.

    Parameters
    ----------
    first, second : pandas.DataFrame
        With the same columns, in any order.

    Returns
    -------
    pandas.DataFrame
        Columns as in `first`, of its types wherever these hold the values of `second`; rows are
        numbered anew.

    Examples
    --------
    >>> first = pd.DataFrame({"age": [20, 30], "sex": pd.Categorical(["f", "m"])})
    >>> second = pd.DataFrame({"sex": ["m"], "age": [40.0]})
    >>> joined_frames(first, second).dtypes.astype(str).tolist()
    ['int64', 'category']
    """
    if list(first.columns) != list(second.columns):
        second = second[list(first.columns)]
    changed = {
        name: _as_type_of(first[name], second[name])
        for name in first.columns
        if first[name].dtype != second[name].dtype
    }
    return pd.concat([first, second.assign(**changed)], ignore_index=True)


def _as_type_of(first: pd.Series[Any], second: pd.Series[Any]) -> pd.Series[Any]:
    """Give a column the type of another, unless values would change."""
    if isinstance(first.dtype, pd.CategoricalDtype):
        known = second.dropna().isin(first.cat.categories)
        return second.astype(first.dtype) if bool(known.all()) else second
    try:
        cast = second.astype(first.dtype)
        same = cast.isna() & second.isna() | (cast.astype(object) == second.astype(object))
    except (TypeError, ValueError):
        return second
    return cast if bool(same.all()) else second
