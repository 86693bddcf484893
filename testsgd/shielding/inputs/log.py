"""A log of groups, recommendations, costs and labels: reading it, estimating from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from testsgd.data.categories import category_text, row_name
from testsgd.data.cells import missing_column, parsed_numbers, read_cells
from testsgd.data.schema import CellParsing
from testsgd.errors import DataError
from testsgd.fairness.property import checked_groups

_KEYS = ("group", "recommendation", "cost", "label")
_NEEDED = _KEYS[:2]
# What pandas and people write for 0 and 1, the numbers that may be there (None: all from 0 on), and
# what to ask for; a label may be unknown.
_READINGS: dict[str, tuple[dict[str, float], tuple[float, ...] | None, str]] = {
    "recommendation": (
        {"accept": 1.0, "reject": 0.0, "true": 1.0, "false": 0.0},
        (0.0, 1.0),
        "0 (reject) or 1 (accept)",
    ),
    "cost": ({}, None, "a number of at least 0"),
    "label": (
        {"true": 1.0, "false": 0.0, "": math.nan},
        (0.0, 1.0),
        "0 or 1, or nothing if it is not known",
    ),
}

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class InputLog:
    """What was seen, a row a decision."""

    where: str  # The file.
    groups: tuple[str, ...]
    recommendations: NDArray[np.int64]  # ; shape (n,).
    costs: NDArray[np.float64] | None  # None if the file has no such column; shape (n,).
    # 0 or 1, NaN where the cell is empty; None if the file has no such column; shape (n,).
    labels: NDArray[np.float64] | None
    unknown: int = 0  # Rows that were left out, because their group is none of those asked for.


def read_log(
    path: Path | str,
    groups: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    unknown: Literal["refuse", "pass"] = "refuse",
) -> InputLog:
    """Read a log from a CSV file with a header.

    `groups`: those that are known; left out, any. Rows of others are refused, or left out if they
    `pass`. `columns`: what those of ``group``, ``recommendation``, ``cost`` and ``label`` are
    called, if not that; a cost or a label is only needed if its column is named here.
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
        remedy = "correct groups.names or the data"
        raise DataError("no row is of a known group", where=where, remedy=remedy)
    numbers = {
        key: _numbers(cells[names[key]], key, where) for key in _READINGS if names[key] in cells
    }
    return InputLog(
        where=where,
        groups=tuple(cells[names["group"]]),
        recommendations=numbers["recommendation"].astype(np.int64),
        costs=numbers.get("cost"),
        labels=numbers.get("label"),
        unknown=int((~known).sum()),
    )


def _known(
    seen: pd.Series[Any],
    groups: Sequence[str] | None,
    unknown: Literal["refuse", "pass"],
    where: str,
) -> NDArray[np.bool_]:
    """Return which rows are of a group that is known; an error if there must be no others."""
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


def _numbers(texts: pd.Series[Any], key: str, where: str) -> Floats:
    """Read cells as numbers; an empty cell is NaN if the key's words have it."""
    words, allowed, wanted = _READINGS[key]
    lower = texts.str.lower()
    numbers = parsed_numbers(texts).to_numpy(dtype=np.float64)
    for word, value in words.items():
        numbers = np.where(lower == word, value, numbers)
    if allowed is None:
        good = (numbers >= 0) & np.isfinite(numbers)
    else:
        good = np.isin(numbers, allowed) | np.asarray(lower == "") & ("" in words)
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


def group_codes(
    groups: Sequence[Any] | NDArray[Any], known: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """Return the names of all groups, and the index of each row's."""
    seen = [_group_text(group, row) for row, group in enumerate(groups)]
    if known is None and len(set(seen)) < 2:
        raise DataError(
            f"the log has only the group {seen[0]!r}",
            where="log",
            remedy="name all groups, at least two",
        )
    names = checked_groups(sorted(set(seen)) if known is None else known)
    index = {name: at for at, name in enumerate(names)}
    for row, name in enumerate(seen):
        if name not in index:
            remedy = f"the groups are {', '.join(names)}"
            raise _refused(row, f"the group {name!r} is unknown", remedy, group=name)
    return names, np.array([index[name] for name in seen], dtype=np.int64)


def _group_text(group: Any, row: int) -> str:
    # NaN is the only value that is not itself.
    text = "" if group is None or group != group else category_text(group).strip()
    if not text:
        raise _refused(row, "the group is missing", "name the group, or leave out the row")
    return text


def recommendation_codes(recommendations: ArrayLike, people: int) -> Codes:
    """Return the recommendations, none of which may be missing."""
    codes = _zeros_and_ones(recommendations, people, "recommendation")
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise _refused(row, "the recommendation is missing", "give 0 or 1")
    return codes


def cost_levels(costs: ArrayLike | None, people: int, most: int) -> tuple[tuple[float, ...], Codes]:
    """Return the costs to tell apart, at most so many, and the index of each row's."""
    if costs is None:
        return (1.0,), np.zeros(people, dtype=np.int64)
    numbers = _one_a_row(costs, people, "cost")
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < math.inf)))
    if len(bad):
        row = int(bad[0])
        raise _refused(row, f"the cost is {numbers[row]:g}", "give a number of at least 0")
    numbers = numbers + 0.0  # -0.0 is 0.0
    distinct = np.unique(numbers)
    if len(distinct) > most:
        # Observed values, the largest among them: each row's cost is counted as one not smaller.
        steps = np.arange(1, most + 1) / most
        distinct = np.unique(np.quantile(numbers, steps, method="inverted_cdf"))
    return tuple(distinct.tolist()), np.searchsorted(distinct, numbers).astype(np.int64)


def label_shares(
    labels: ArrayLike, codes: Codes, decided: Codes, groups: int, smoothing: float
) -> Floats:
    """Estimate the probability of label 1 by group and recommendation, shape (groups, 2)."""
    truth = _zeros_and_ones(labels, len(codes), "label")
    known = truth >= 0
    if not known.any():
        raise DataError(
            "no label is known", where="log", remedy="give labels, or none of them at all"
        )
    counts = np.zeros((groups, 2, 2))
    np.add.at(counts, (codes[known], decided[known], truth[known]), 1)
    people = counts.sum(axis=2)
    # Where nobody was seen and nothing is added, either label is as likely.
    added = np.where(people + smoothing > 0, smoothing, 1.0)
    return np.asarray((counts[:, :, 1] + added / 2) / (people + added))


def _zeros_and_ones(values: ArrayLike, people: int, name: str) -> Codes:
    """Return zeros and ones, and -1 where one is missing."""
    numbers = _one_a_row(values, people, name)
    missing = np.isnan(numbers)
    bad = np.flatnonzero(~missing & (numbers != 0) & (numbers != 1))
    if len(bad):
        row = int(bad[0])
        raise _refused(row, f"the {name} is {numbers[row]:g}", "give 0 or 1")
    return np.where(missing, -1, numbers).astype(np.int64)


def _one_a_row(values: ArrayLike, people: int, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a {name} is no number", where="log", remedy="give numbers only"
        ) from error
    if numbers.shape != (people,):
        what = f"there are {numbers.size} {name}s for {people} groups"
        raise DataError(what, where="log", remedy="give one a row")
    return numbers


def _refused(row: int, what: str, remedy: str, **details: Any) -> DataError:
    return DataError(what, where=f"log row {row}", remedy=remedy, **details, row=row)
