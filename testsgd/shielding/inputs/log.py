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

from testsgd.data.categories import category_text
from testsgd.data.cell_texts import parsed_numbers
from testsgd.data.cells import missing_column
from testsgd.data.log_cells import read_log_cells
from testsgd.errors import DataError, ExpressionError
from testsgd.fairness.conditioned_groups import NO_GROUP, ConditionedGroup, fields_of_groups
from testsgd.fairness.property import checked_groups

_KEYS = ("group", "recommendation", "cost", "label")
_NEEDED = _KEYS[:2]
# By column: the words that pandas and people write for numbers, the numbers that are allowed (None:
# all that are at least 0), and what an error asks for. A label may be unknown.
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

Unknown = Literal["refuse", "pass"]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class InputLog:
    """The columns of a log, a row a decision."""

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
    unknown: Unknown = "refuse",
    by: Sequence[ConditionedGroup] | None = None,
) -> InputLog:
    """Return the log of a CSV file with a header, which says what stands between the cells.

    Parameters
    ----------
    path : path-like
    groups : sequence of str, optional
        The groups that there are; by default those of the file.
    columns : mapping of str to str, optional
        The file's names for ``group``, ``recommendation``, ``cost`` and ``label``; the last two are
        needed if they are named here.
    unknown : {"refuse", "pass"}
        Rows of a group that is not in `groups` are an error, or are left out.
    by : sequence of ConditionedGroup, optional
        Who is in which group, in place of the column ``group``: a row is in the first that holds.

    Returns
    -------
    InputLog

    Raises
    ------
    DataError
        If the file cannot be read, a column is missing, or a value is wrong; names the row, counted
        from 1 below the header. Or if
        no person is in a group by an expression.
    """
    path = Path(path)
    where = str(path)
    names = {key: key for key in _KEYS} | dict(columns or {})
    cells = read_log_cells(path)
    needed = [names[key] for key in (*_NEEDED, *(columns or {})) if by is None or key != "group"]
    for column in (*needed, *fields_of_groups(by or ())):
        if column not in cells:
            raise missing_column(column, cells.columns, where)
    of_row = cells[names["group"]] if by is None else _by_expressions(cells, by, where)
    known = _known(of_row, groups, unknown, where)
    cells = cells[known]
    if len(cells) == 0:
        remedy = "correct groups.names or the data"
        raise DataError("no row is of a known group", where=where, remedy=remedy)
    numbers = {
        key: _numbers(cells[names[key]], key, where) for key in _READINGS if names[key] in cells
    }
    return InputLog(
        where=where,
        groups=tuple(of_row[known]),
        recommendations=numbers["recommendation"].astype(np.int64),
        costs=numbers.get("cost"),
        labels=numbers.get("label"),
        unknown=int((~known).sum()),
    )


def _by_expressions(
    cells: pd.DataFrame, by: Sequence[ConditionedGroup], where: str
) -> pd.Series[Any]:
    """Return the name of the first group that holds for each row, shape (n,)."""
    of_row: pd.Series[Any] = pd.Series(NO_GROUP, index=cells.index, dtype=object, name="group")
    free = np.ones(len(cells), dtype=bool)
    for group in by:
        try:
            members = group.condition.mask(cells) & free
        except ExpressionError as error:
            raise DataError(
                error.what, where=where, remedy=error.remedy, **error.details
            ) from error
        if not members.any():
            raise DataError(
                f"no row is in the group {group.name!r}",
                where=where,
                remedy=f"correct its expression, {group.when!r}, or the data",
                group=group.name,
            )
        of_row[members] = group.name
        free &= ~members
    return of_row


def _known(
    column: pd.Series[Any], groups: Sequence[str] | None, unknown: Unknown, where: str
) -> NDArray[np.bool_]:
    """Return a mask of the rows of a known group, (n,); an error if there must be no others."""
    named = (column != "").to_numpy()
    known = named if groups is None else column.isin(list(groups)).to_numpy()
    bad = np.flatnonzero(~(named if unknown == "pass" else known))
    if len(bad):
        row = _row_number(column, int(bad[0]))
        text = column.iloc[int(bad[0])]
        what = f"the group {text!r} (row {row}) is unknown" if text else f"row {row} has no group"
        if text == NO_GROUP:
            what = f"row {row} is in none of the groups"
        remedy = f"the groups are {', '.join(groups)}" if groups and text else "name it"
        raise DataError(what, where=where, remedy=remedy, group=text, row=row)
    return known


def _row_number(column: pd.Series[Any], position: int) -> int:
    """Return the number of a row of the file, the first below the header being 1.

    Rows may have been left out before, so it is not the position.
    """
    return int(column.index[position]) + 1


def _numbers(texts: pd.Series[Any], key: str, where: str) -> Floats:
    """Return cells as numbers, shape (n,); an empty cell is NaN if the key's words have it."""
    words, _, wanted = _READINGS[key]
    lower = texts.str.lower()
    numbers: Floats = np.asarray(parsed_numbers(texts), dtype=np.float64)
    for word, value in words.items():
        numbers = np.where(lower == word, value, numbers)
    bad = np.flatnonzero(~(_is_allowed(numbers, key) | np.asarray(lower == "") & ("" in words)))
    if len(bad):
        row = _row_number(texts, int(bad[0]))
        text = texts.iloc[int(bad[0])]
        raise DataError(
            f"{texts.name!r} is {text!r} in row {row}",
            where=where,
            remedy=f"give {wanted}",
            value=text,
            row=row,
        )
    return numbers.astype(np.float64)


def _is_allowed(numbers: Floats, key: str) -> NDArray[np.bool_]:
    """Return a mask of the numbers that a column may have, shape (n,)."""
    _, allowed, _ = _READINGS[key]
    if allowed is None:
        return (numbers >= 0) & np.isfinite(numbers)
    return np.isin(numbers, allowed)


def group_codes(
    groups: Sequence[Any] | NDArray[Any], known: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """Return the names of all groups, and the place of each row's group in them, shape (n,)."""
    # NaN is the only value that is not itself.
    row_groups = [
        "" if group is None or group != group else category_text(group).strip() for group in groups
    ]
    if "" in row_groups:
        remedy = "name the group, or leave out the row"
        raise _refused(row_groups.index(""), "the group is missing", remedy)
    if known is None and len(set(row_groups)) < 2:
        raise DataError(
            f"the log has only the group {row_groups[0]!r}",
            where="log",
            remedy="name all groups, at least two",
        )
    names = checked_groups(sorted(set(row_groups)) if known is None else known)
    places = {name: place for place, name in enumerate(names)}
    for row, name in enumerate(row_groups):
        if name not in places:
            remedy = f"the groups are {', '.join(names)}"
            raise _refused(row, f"the group {name!r} is unknown", remedy, group=name)
    return names, np.array([places[name] for name in row_groups], dtype=np.int64)


def numbers_of(values: ArrayLike, people: int, key: str) -> Floats:
    """Return recommendations, costs or labels as numbers, (n,); only a label may be NaN."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        what = f"a {key} is no number"
        raise DataError(what, where="log", remedy="give numbers only") from error
    if numbers.shape != (people,):
        what = f"there are {numbers.size} {key}s for {people} groups"
        raise DataError(what, where="log", remedy="give one a row")
    bad = np.flatnonzero(~(_is_allowed(numbers, key) | np.isnan(numbers) & (key == "label")))
    if len(bad):
        what = f"the {key} is {numbers[bad[0]]:g}"
        raise _refused(int(bad[0]), what, f"give {_READINGS[key][2]}")
    return numbers


def cost_levels(costs: ArrayLike | None, people: int, most: int) -> tuple[tuple[float, ...], Codes]:
    """Return at most `most` different costs, ascending, and each row's place in them, (n,)."""
    if costs is None:
        return (1.0,), np.zeros(people, dtype=np.int64)
    numbers = numbers_of(costs, people, "cost") + 0.0  # -0.0 is 0.0
    distinct = np.unique(numbers)
    if len(distinct) > most:
        # Quantiles that were observed, the largest cost among them: each row's cost counts as the
        # next quantile that is not smaller.
        steps = np.arange(1, most + 1) / most
        distinct = np.unique(np.quantile(numbers, steps, method="inverted_cdf"))
    return tuple(distinct.tolist()), np.searchsorted(distinct, numbers).astype(np.int64)


def label_shares(
    labels: ArrayLike, codes: Codes, decided: Codes, groups: int, smoothing: float
) -> Floats:
    """Return the estimated probability of label 1, shape (groups, 2).

    By group and recommendation ``(ones + smoothing / 2) / (known labels + smoothing)``.
    """
    truth = numbers_of(labels, len(codes), "label")
    known = ~np.isnan(truth)
    if not known.any():
        remedy = "give labels, or none of them at all"
        raise DataError("no label is known", where="log", remedy=remedy)
    counts = np.zeros((groups, 2, 2))
    np.add.at(counts, (codes[known], decided[known], truth[known].astype(int)), 1)
    people = counts.sum(axis=2)
    # Without any label and without smoothing, both labels are equally likely.
    added = np.where(people + smoothing > 0, smoothing, 1.0)
    return np.asarray((counts[:, :, 1] + added / 2) / (people + added))


def _refused(position: int, what: str, remedy: str, **details: Any) -> DataError:
    """Return the error about a row of a log, the first being row 1."""
    row = position + 1
    return DataError(what, where=f"log row {row}", remedy=remedy, **details, row=row)
