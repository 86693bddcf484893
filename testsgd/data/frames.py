"""Data frames of any library as pandas frames."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import pandas as pd


def as_pandas(data: Any) -> pd.DataFrame | None:
    """Give a data frame of pandas, polars, Arrow, ... as one of pandas; None if it is none.

    Examples
    --------
    >>> as_pandas(["a", "b"]) is None
    True
    """
    if isinstance(data, pd.DataFrame):
        return data
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        return None
    # Column by column through numpy: pyarrow is not needed to leave polars.
    return pd.DataFrame({name: _column(frame[name]) for name in frame.columns})


def _column(column: Any) -> Any:
    values = column.to_list()
    return pd.array(values, dtype=None) if values else values
