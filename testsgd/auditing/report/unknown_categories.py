"""How cells that no encoder of the model was fitted to are described, in data and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from testsgd.auditing.report.summary import UnknownCategories
from testsgd.models.blackbox import named_columns
from testsgd.models.known_categories import known_categories, most_alike, unknown_cells
from testsgd.report.formatting import number, percent, plural, series, shorten

# Values and columns that are named.
_MOST_VALUES = 3
_MOST_COLUMNS = 3
# Of a value: it may be a whole text.
_LONGEST = 60


def unknown_categories(
    model: Any, frame: pd.DataFrame, columns: Sequence[str] | None = None
) -> list[UnknownCategories]:
    """Return the cells of rows that a model's encoders were not fitted to, by their columns.

    Parameters
    ----------
    model : object
        A fitted estimator, or its method.
    frame : pandas.DataFrame, n rows
        The rows as they are.
    columns : sequence of str, optional
        The columns that the model is given, in its order; if not known, those that it names, or
        else all.

    Returns
    -------
    list of UnknownCategories
        Those of the most rows first; empty if there are none, or no encoder can be read.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> jobs = pd.DataFrame({"job": ["clerk", "nurse "]})
    >>> encoder = OneHotEncoder(handle_unknown="ignore")
    >>> model = make_pipeline(encoder, DecisionTreeClassifier()).fit(jobs, ["no", "yes"])
    >>> [unknown] = unknown_categories(model, pd.DataFrame({"job": ["clerk", "nurse"]}))
    >>> unknown.values, unknown.share, unknown.known
    (['nurse'], 0.5, ['nurse ', 'clerk'])
    """
    names = columns or named_columns(model, frame.columns) or tuple(map(str, frame.columns))
    known = known_categories(model, names)
    found = [
        UnknownCategories(
            column=cells.column,
            values=[_written(value) for value in cells.values[:_MOST_VALUES]],
            distinct=len(cells.values),
            rows=cells.rows,
            share=cells.rows / len(frame),
            known=[
                _written(value)
                for value in most_alike(cells.values[:_MOST_VALUES], known[cells.column])[
                    :_MOST_VALUES
                ]
            ],
        )
        for cells in unknown_cells(frame, known)
    ]
    return sorted(found, key=lambda item: -item.rows)


def unknown_category_sentences(found: Sequence[UnknownCategories]) -> list[str]:
    """Write which cells a model takes for unknown, and what it knows in their place.

    Examples
    --------
    >>> jobs = UnknownCategories(
    ...     column="job", values=["nurse"], distinct=1, rows=342, share=0.342, known=["nurse "])
    >>> for sentence in unknown_category_sentences([jobs]):
    ...     print(sentence)
    The model's encoder was not fitted to “nurse” of job (34.2% of the rows), which it takes for ...
    """
    if not found:
        return []
    parts = [_of_column(item) for item in found[:_MOST_COLUMNS]]
    more = len(found) - _MOST_COLUMNS
    if more > 0:
        parts.append(f"There are such values in {plural(more, 'more column')}.")
    parts.append(
        "If the cells are written otherwise than those that the model was fitted to, what it "
        "answers about these rows, and all that follows from it, is that of another model."
    )
    return parts


def _of_column(item: UnknownCategories) -> str:
    """Write which values of a column are unknown to its encoder."""
    named = [_quoted(value) for value in item.values]
    more = item.distinct - len(named)
    if more > 0:
        named.append(f"{plural(more, 'other value')}")
    knows = f"; it knows {series([_quoted(value) for value in item.known])}" if item.known else ""
    return (
        f"The model's encoder was not fitted to {series(named)} of {item.column} "
        f"({percent(item.share)} of the rows), which it takes for unknown{knows}."
    )


def _quoted(value: bool | int | float | str) -> str:
    """Write a value so that a number differs from its text."""
    if isinstance(value, str):
        return f"“{shorten(value, _LONGEST)}”"
    return str(value) if isinstance(value, bool) else number(value)


def _written(value: Any) -> bool | int | float | str:
    """Return a value as a document can have it."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, (bool, int)) or (isinstance(plain, float) and math.isfinite(plain)):
        return plain
    return str(plain)
