"""Reading a log of groups, recommendations, costs and labels from a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import row_name
from testsgd.data.cells import missing_column, parsed_numbers, read_cells
from testsgd.data.description import CellParsing
from testsgd.errors import DataError

_KEYS = ("group", "recommendation", "cost", "label")
_NEEDED = _KEYS[:2]
# What pandas and people write for 0 and 1; a label may be unknown.
_DECISIONS = {"accept": 1.0, "reject": 0.0, "true": 1.0, "false": 0.0}
_LABELS = {"true": 1.0, "false": 0.0, "": math.nan}


@dataclass(frozen=True)
class InputLog:
    """What was seen, a row a decision.

    Attributes
    ----------
    where : str
        The file.
    groups : tuple of str
    recommendations : numpy.ndarray of int, shape (n,)
    costs : numpy.ndarray of float, shape (n,), optional
        None if the file has no such column.
    labels : numpy.ndarray of float, shape (n,), optional
        0 or 1, NaN where the cell is empty; None if the file has no such column.
    unknown : int
        Rows that were left out, because their group is none of those asked for.
    """

    where: str
    groups: tuple[str, ...]
    recommendations: NDArray[np.int64]
    costs: NDArray[np.float64] | None
    labels: NDArray[np.float64] | None
    unknown: int = 0


def read_log(
    path: Path | str,
    groups: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    unknown: Literal["refuse", "pass"] = "refuse",
) -> InputLog:
    """Read a log.

    Parameters
    ----------
    path : path-like
        A CSV file with a header.
    groups : sequence of str, optional
        The groups that are known; any, if not given.
    columns : mapping, optional
        What the columns of ``group``, ``recommendation``, ``cost`` and ``label`` are called, if
        not that. A cost or a label is only needed if its column is named here.
    unknown : {"refuse", "pass"}
        Rows of other groups are an error, or are left out.

    Returns
    -------
    InputLog

    Raises
    ------
    DataError
        If the file cannot be read, lacks a column, or a cell is no good; names the row.
    """
    path = Path(path)
    where, names = str(path), {key: key for key in _KEYS} | dict(columns or {})
    cells = read_cells(path, CellParsing())
    cells = pd.DataFrame({name: cells[name].str.strip() for name in cells.columns})
    for key in (*_NEEDED, *(columns or {})):
        if names[key] not in cells:
            raise missing_column(names[key], cells.columns, where)
    known = _known(cells[names["group"]], groups, unknown, where)
    cells = cells[known]
    if len(cells) == 0:
        raise DataError(
            "no row is of a known group", where=where, remedy="correct groups.names or the data"
        )
    present = {key: cells[name] for key, name in names.items() if name in cells}
    return InputLog(
        where=where,
        groups=tuple(present["group"]),
        recommendations=_numbers(
            present["recommendation"], _DECISIONS, {0.0, 1.0}, "0 (reject) or 1 (accept)", where
        ).astype(np.int64),
        costs=_numbers(present["cost"], {}, None, "a number of at least 0", where)
        if "cost" in present
        else None,
        labels=_numbers(
            present["label"], _LABELS, {0.0, 1.0}, "0 or 1, or nothing if it is not known", where
        )
        if "label" in present
        else None,
        unknown=int((~known).sum()),
    )


def _known(
    seen: pd.Series[Any],
    groups: Sequence[str] | None,
    unknown: Literal["refuse", "pass"],
    where: str,
) -> NDArray[np.bool_]:
    """Say which rows are of a group that is known; an error if there must be no others."""
    named = (seen != "").to_numpy()
    known = named if groups is None else seen.isin(list(groups)).to_numpy()
    bad = np.flatnonzero(~(named if unknown == "pass" else known))
    if len(bad):
        row, text = row_name(seen, int(bad[0])), seen.iloc[int(bad[0])]
        raise DataError(
            f"the group {text!r} (row {row}) is unknown" if text else f"row {row} has no group",
            where=where,
            remedy=f"the groups are {', '.join(groups)}" if groups and text else "name it",
            group=text,
            row=row,
        )
    return known


def _numbers(
    texts: pd.Series[Any],
    words: Mapping[str, float],
    allowed: set[float] | None,
    wanted: str,
    where: str,
) -> NDArray[np.float64]:
    """Read cells as numbers; an empty cell is NaN if `words` has it."""
    lower = texts.str.lower()
    numbers = parsed_numbers(texts).to_numpy(dtype=np.float64)
    for word, value in words.items():
        numbers = np.where(lower == word, value, numbers)
    if allowed is None:
        good = (numbers >= 0) & np.isfinite(numbers)
    else:
        good = np.isin(numbers, list(allowed)) | np.asarray(lower == "") & ("" in words)
    bad = np.flatnonzero(~good)
    if len(bad):
        row, text = row_name(texts, int(bad[0])), texts.iloc[int(bad[0])]
        raise DataError(
            f"{texts.name!r} is {text!r} in row {row}",
            where=where,
            remedy=f"give {wanted}",
            value=text,
            row=row,
        )
    return numbers.astype(np.float64)
