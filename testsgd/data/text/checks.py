"""Checking texts, from wherever they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import row_name
from testsgd.data.cells import missing_column
from testsgd.data.frames import as_pandas
from testsgd.data.labels import check_complete, check_labels, label_texts
from testsgd.data.text.schema import TextSpecification
from testsgd.data.text.texts import Texts
from testsgd.errors import DataError


def check_texts(data: Any, specification: TextSpecification, *, source: str = "") -> Texts:
    """Check that texts fit their description.

    Parameters
    ----------
    data : sequence of str, series, array or data frame
        The texts; or a data frame (pandas, polars, Arrow, ...) with a column of texts and perhaps
        one of labels, called as in the description. Never changed.
    specification : TextSpecification
        What the texts are.
    source : str
        What to call the texts in messages and reports.

    Returns
    -------
    Texts
        With a note on how many texts are empty.

    Raises
    ------
    DataError
        If there are no texts, one is missing or is no text, or a label is missing or unknown.

    Examples
    --------
    >>> specification = TextSpecification.model_validate({
    ...     "dataset": {"name": "comments"},
    ...     "text": {"column": "comment"},
    ...     "label": {"column": "toxic", "favourable": "yes"},
    ... })
    >>> check_texts(["a comment", ""], specification).notes
    ('1 text is empty or blank',)
    """
    if isinstance(data, Texts):
        return data
    where = source or "the data"
    frame = as_pandas(data)
    if frame is None:
        return checked(_sequence(data, where), None, specification, where=where, source=source)
    names = specification.text.column, specification.label.column
    if names[0] not in frame:
        raise missing_column(names[0], frame.columns, where)
    for name in names:
        if list(frame.columns).count(name) > 1:
            raise DataError(f"two columns are called {name!r}", where=where, remedy="rename one")
    labels = None
    if names[1] in frame:
        place = f"{where}, label column {names[1]!r}"
        check_complete(frame[names[1]], place)
        labels = label_texts(frame[names[1]], specification.label, place=place)
    return checked(frame[names[0]], labels, specification, where=where, source=source)


def checked(
    texts: pd.Series[Any],
    labels: pd.Series[Any] | None,
    specification: TextSpecification,
    *,
    where: str,
    source: str,
    parts: NDArray[np.object_] | None = None,
) -> Texts:
    """Make texts of a series, after checking every one of them and the labels."""
    if len(texts) == 0:
        raise DataError("there are no texts", where=where, remedy="give at least one text")
    strings = tuple(_string(value, position, texts, where) for position, value in enumerate(texts))
    blank = sum(not text or text.isspace() for text in strings)
    if labels is not None:
        check_labels(
            labels, specification.label, f"{where}, label column {specification.label.column!r}"
        )
    return Texts(
        specification=specification,
        texts=strings,
        labels=None if labels is None else labels.to_numpy(dtype=object),
        parts=parts,
        source=source,
        notes=(_blank_note(blank),) if blank else (),
    )


def _sequence(data: Any, where: str) -> pd.Series[Any]:
    """Give one-dimensional data as a series, with the rows' names if there are some."""
    if isinstance(data, pd.Series):
        return data
    if isinstance(data, (str, bytes)):
        raise DataError(
            "the data are one text", where=where, remedy="give a list of texts, even of one"
        )
    values = data
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, polars and numpy
        if hasattr(data, method):
            values = getattr(data, method)()
            break
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes, Mapping, Set)):
        raise DataError(
            f"the data are a {type(data).__name__}, not texts",
            where=where,
            remedy="give a list of texts, a series, or a data frame with a column of texts",
        )
    series: pd.Series[Any] = pd.Series(np.empty(len(values), dtype=object))
    # Value by value: a list of lists would become a table.
    for position, value in enumerate(values):
        series.array[position] = value
    return series


def _string(value: Any, position: int, texts: pd.Series[Any], where: str) -> str:
    if isinstance(value, str):
        return value if type(value) is str else str(value)
    row = row_name(texts, position)
    if value is None or value is pd.NA or value is pd.NaT or _is_nan(value):
        raise DataError(
            f"the text in row {row} is missing",
            where=where,
            remedy="leave the row out, or give an empty text",
            row=row,
        )
    remedy = "decode it" if isinstance(value, bytes) else "give texts only"
    raise DataError(
        f"row {row} holds {_short(value)}, which is a {type(value).__name__} and no text",
        where=where,
        remedy=remedy,
        row=row,
    )


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _short(value: Any, limit: int = 40) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


def _blank_note(count: int) -> str:
    return "1 text is empty or blank" if count == 1 else f"{count:,} texts are empty or blank"
