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
from testsgd.errors import DataError, ParameterError
from testsgd.fairness import checked_groups

_KEYS = ("group", "recommendation", "cost", "label")
_NEEDED = _KEYS[:2]
# What pandas and people write for 0 and 1; a label may be unknown.
_DECISIONS = {"accept": 1.0, "reject": 0.0, "true": 1.0, "false": 0.0}
_LABELS = {"true": 1.0, "false": 0.0, "": math.nan}

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Estimated = tuple[tuple[str, ...], tuple[float, ...], Floats, Floats | None]


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


def estimate(
    groups: Sequence[Any] | NDArray[Any],
    recommendations: ArrayLike,
    *,
    costs: ArrayLike | None,
    labels: ArrayLike | None,
    known_groups: Sequence[str] | None,
    smoothing: float,
    most_costs: int,
) -> Estimated:
    """Estimate probabilities by smoothed shares.

    Takes what :meth:`InputDistribution.from_log` takes; returns groups, costs, probabilities, shape
    (groups, 2, costs), and the probabilities of label 1, shape (groups, 2), or None.
    """
    if not 0 <= smoothing < math.inf:
        raise ParameterError(
            f"the smoothing is {smoothing!r}",
            where="smoothing",
            remedy="give a number of at least 0",
        )
    if most_costs < 1:
        raise ParameterError(
            f"there is room for {most_costs} costs", where="most_costs", remedy="give at least 1"
        )
    people = len(groups)
    if not people:
        raise DataError("the log is empty", where="log", remedy="give a log with rows")
    names, codes = _group_codes(groups, known_groups)
    decided = _whole(recommendations, people, "recommendation")
    if (decided < 0).any():
        row = int(np.flatnonzero(decided < 0)[0])
        raise DataError(
            "the recommendation is missing", where=f"log row {row}", remedy="give 0 or 1", row=row
        )
    values, places = _cost_places(costs, people, most_costs)
    counts = np.zeros((len(names), 2, len(values)))
    np.add.at(counts, (codes, decided, places), 1)
    # As many more people as the smoothing says in each group and recommendation, with costs as
    # they are overall.
    overall = counts.sum(axis=(0, 1)) / people
    probabilities = (counts + smoothing * overall) / (people + 2 * len(names) * smoothing)
    shares = None if labels is None else _label_shares(labels, codes, decided, names, smoothing)
    return names, values, probabilities, shares


def _group_codes(
    groups: Sequence[Any] | NDArray[Any], known: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """Return all names, and the place of each row's."""
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
            raise DataError(
                f"the group {name!r} is unknown",
                where=f"log row {row}",
                remedy=f"the groups are {', '.join(names)}",
                group=name,
                row=row,
            )
    return names, np.array([index[name] for name in seen], dtype=np.int64)


def _group_text(group: Any, row: int) -> str:
    # NaN is the only value that is not itself.
    text = "" if group is None or group != group else category_text(group).strip()
    if not text:
        raise DataError(
            "the group is missing",
            where=f"log row {row}",
            remedy="name the group, or leave out the row",
            row=row,
        )
    return text


def _checked_numbers(values: ArrayLike, people: int, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a {name} is no number", where="log", remedy="give numbers only"
        ) from error
    if numbers.shape != (people,):
        raise DataError(
            f"there are {numbers.size} {name}s for {people} groups",
            where="log",
            remedy="give one a row",
        )
    return numbers


def _whole(values: ArrayLike, people: int, name: str) -> Codes:
    """Return zeros and ones, and -1 where one is missing."""
    numbers = _checked_numbers(values, people, name)
    missing = np.isnan(numbers)
    bad = np.flatnonzero(~missing & (numbers != 0) & (numbers != 1))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the {name} is {numbers[row]:g}", where=f"log row {row}", remedy="give 0 or 1", row=row
        )
    return np.where(missing, -1, numbers).astype(np.int64)


def _cost_places(
    costs: ArrayLike | None, people: int, most: int
) -> tuple[tuple[float, ...], Codes]:
    """Return the costs to tell apart, and the place of each row's."""
    if costs is None:
        return (1.0,), np.zeros(people, dtype=np.int64)
    given = _checked_numbers(costs, people, "cost")
    bad = np.flatnonzero(~((given >= 0) & (given < math.inf)))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the cost is {given[row]:g}",
            where=f"log row {row}",
            remedy="give a number of at least 0",
            row=row,
        )
    given = given + 0.0  # -0.0 is 0.0
    distinct = np.unique(given)
    if len(distinct) > most:
        # Observed values, the largest among them: each row's cost is counted as one not smaller.
        steps = np.arange(1, most + 1) / most
        distinct = np.unique(np.quantile(given, steps, method="inverted_cdf"))
    return tuple(distinct.tolist()), np.searchsorted(distinct, given).astype(np.int64)


def _label_shares(
    labels: ArrayLike,
    codes: Codes,
    decided: Codes,
    names: tuple[str, ...],
    smoothing: float,
) -> Floats:
    truth = _whole(labels, len(codes), "label")
    known = truth >= 0
    if not known.any():
        raise DataError(
            "no label is known", where="log", remedy="give labels, or none of them at all"
        )
    counts = np.zeros((len(names), 2, 2))
    np.add.at(counts, (codes[known], decided[known], truth[known]), 1)
    people = counts.sum(axis=2)
    # Where nobody was seen and nothing is added, either label is as likely.
    added = np.where(people + smoothing > 0, smoothing, 1.0)
    return np.asarray((counts[:, :, 1] + added / 2) / (people + added))
