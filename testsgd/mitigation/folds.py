"""Folds of rows, and the rows that an estimator fitted to the other folds cannot answer about.

An encoder that was fitted to the other folds does not know a value that only this one has. Some
raise, some take it for a missing one, and many estimators never look at the column: it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from testsgd.mitigation.play import Bools
from testsgd.report.formatting import count, first_of, series

# Columns that a reason names.
_NAMED = 3


def folds_of(favourable: Bools, *, folds: int, seed: int) -> NDArray[np.intp] | None:
    """Return the fold of each row; None if a label has fewer rows than there are folds."""
    if np.bincount(favourable, minlength=2).min() < folds:
        return None
    fold = np.zeros(len(favourable), dtype=np.intp)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for index, (_, rows) in enumerate(splitter.split(favourable, favourable)):
        fold[rows] = index
    return fold


def values_of_one_fold(frame: pd.DataFrame, fold: NDArray[np.intp]) -> dict[str, Bools]:
    """Return for each column which rows have a value that no other fold has.

    Columns without such rows, and columns of numbers, are left out. A missing value is none.
    """
    found = {}
    for name in frame:
        column = frame[name]
        if pd.api.types.is_any_real_numeric_dtype(column):
            continue
        alone = np.zeros(len(frame), dtype=bool)
        for index in np.unique(fold):
            inside = fold == index
            known = column.isin(column[~inside]) | column.isna()
            alone |= inside & ~np.asarray(known, dtype=bool)
        if alone.any():
            found[str(name)] = alone
    return found


def rows_of(X: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of an array or a data frame."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


@dataclass(frozen=True)
class Unanswered:
    """Rows that an estimator cannot answer about, and the columns that are why."""

    rows: Bools  # Shape (rows,).
    columns: tuple[str, ...] = ()


def unanswered_rows(
    decide: Callable[[Any], Any], X: Any, alone: Mapping[str, Bools], *, known: Any
) -> Unanswered:
    """Return the rows that an estimator cannot answer about, once it raised for some.

    Rows are asked about together that are alone in the same columns, those of few columns first. A
    column is not asked about again once it is known to be fine, or to be why.

    Parameters
    ----------
    decide : callable
        From rows to decisions; raises for a value that it does not know.
    X : array or data frame of shape (rows, features)
        Rows of one fold.
    alone : mapping of str to numpy.ndarray of bool, shape (rows,)
        For each column the rows with a value that no other fold has.
    known : array or data frame of shape (1, features)
        A row that the estimator was fitted to.

    Raises
    ------
    Exception
        The estimator's own, if it raises for rows whose values it knows.
    """
    decide(known)
    names = list(alone)
    table = np.column_stack([alone[name] for name in names])
    patterns, inverse = np.unique(table, axis=0, return_inverse=True)
    of_row = inverse.reshape(-1)
    unanswered = np.zeros(len(table), dtype=bool)
    fine: set[str] = set()
    raising: set[str] = set()
    blamed: set[str] = set()
    for index in np.argsort(patterns.sum(axis=1), kind="stable"):
        columns = {names[place] for place in np.flatnonzero(patterns[index])}
        rows = of_row == index
        if columns & raising:
            unanswered |= rows
        elif not columns:
            decide(rows_of(X, rows))
        elif not columns <= fine:
            if answers(decide, rows_of(X, rows)):
                fine |= columns
                continue
            unanswered |= rows
            suspects = columns - fine
            row = rows_of(X, np.flatnonzero(rows)[:1])
            found = _raising_columns(decide, row, suspects, known)
            raising |= found
            blamed |= found or suspects
    if not unanswered.all() and not answers(decide, rows_of(X, ~unanswered)):
        # Columns that are fine by themselves are not so together.
        unanswered = np.asarray(table.any(axis=1))
        blamed, fine = set(names), set()
    why = (blamed - fine) or blamed
    return Unanswered(unanswered, tuple(name for name in names if name in why))


def _raising_columns(
    decide: Callable[[Any], Any], row: Any, suspects: set[str], known: Any
) -> set[str]:
    """Return the columns that an estimator raises for where all other suspects have known values.

    None if it raises for no single one, or if the columns of an array have no names.
    """
    if len(suspects) == 1:
        return suspects
    if not isinstance(row, pd.DataFrame):
        return set()
    return {
        name for name in suspects if not answers(decide, _with_known(row, known, suspects - {name}))
    }


def _with_known(row: pd.DataFrame, known: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """Return one row with known values in some columns."""
    changed = row.copy()
    for label in row.columns:
        if str(label) in names:
            changed[label] = known[label].array
    return changed


def answers(decide: Callable[[Any], Any], X: Any) -> bool:
    """Return whether an estimator answers about rows without raising."""
    try:
        decide(X)
    except Exception:
        return False
    return True


def few_rows_left(columns: Sequence[str], left: int, rows: int) -> str:
    """Write why so few rows can be judged by.

    Examples
    --------
    >>> few_rows_left(["customer"], 12, 4_200)[:53]
    "the column 'customer' has values that no other part o"
    """
    named = series(first_of([repr(name) for name in columns], _NAMED))
    have = "the column {} has" if len(columns) == 1 else "the columns {} have"
    return (
        f"{have.format(named)} values that no other part of the rows has, and the estimator "
        f"raises an error for values that it was not fitted to: it can be judged by {count(left)} "
        f"of {count(rows)} rows"
    )
