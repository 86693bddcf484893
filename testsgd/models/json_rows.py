"""Rows of a data frame as JSON, for a model that is asked over the network."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from typing import Any

import numpy as np
import pandas as pd

from testsgd.errors import DataError


def json_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each row as a mapping of columns to what JSON can hold, in the frame's order.

    Missing cells are None. Dates and times are texts, as ISO 8601 writes them.

    Raises
    ------
    DataError
        If a cell has no place in JSON.

    Examples
    --------
    >>> json_rows(pd.DataFrame({"age": [30, 40], "since": [pd.Timestamp("2024-05-01"), pd.NaT]}))
    [{'age': 30, 'since': '2024-05-01T00:00:00'}, {'age': 40, 'since': None}]
    """
    names = [str(name) for name in frame.columns]
    columns = [_json_cells(frame.iloc[:, place], name) for place, name in enumerate(names)]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def canonical_json(row: dict[str, Any]) -> str:
    """Return a row as JSON that does not depend on the order of its columns.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": None})
    '{"a":null,"b":1}'
    """
    return json.dumps(
        row, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _json_cells(column: pd.Series[Any], name: str) -> list[Any]:
    cells = []
    for value in column.tolist():
        try:
            cells.append(_json_cell(value))
        except ValueError as error:
            raise DataError(
                f"JSON cannot hold {value!r}, a {type(value).__name__}",
                where=f"column {name!r}",
                remedy="leave the column out, or turn its cells into texts or numbers",
                column=name,
            ) from error
    return cells


def _json_cell(value: Any) -> Any:
    """Return a cell as JSON holds it; a ValueError if it cannot."""
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, np.generic):
        value = value.item()
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, decimal.Decimal)):
        number = float(value)
        if math.isinf(number):
            raise ValueError
        return number
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return pd.Timedelta(value).isoformat()
    raise ValueError
