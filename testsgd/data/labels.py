"""Labels: from what a file or a data frame has to the labels that the audit speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import category_text, row_name
from testsgd.data.cells import parsed_numbers, renamed
from testsgd.data.description import Label
from testsgd.errors import DataError


def label_texts(column: pd.Series[Any], label: Label, *, place: str = "") -> pd.Series[Any]:
    """Turn the label column as it stands in a file into the labels used.

    Parameters
    ----------
    column : pandas.Series
        The column.
    label : Label
        What its values mean.
    place : str
        What to call the column in error messages.

    Returns
    -------
    pandas.Series
        Texts; missing where the column is.

    Raises
    ------
    DataError
        If a label is unknown to the description or a number is expected and not found.
    """
    place = place or f"label column {label.column!r}"
    texts: pd.Series[Any] = column.astype(object).map(category_text, na_action="ignore")
    present = set(texts.dropna().unique())
    if label.above is not None and label.values is not None:
        if present <= set(label.values):
            return texts
        numbers = _label_numbers(texts, place)
        above = np.where(numbers > label.above, label.values[0], label.values[1])
        return pd.Series(above, index=column.index, dtype=object).where(texts.notna())
    if label.map is not None:
        unknown = sorted(present - set(label.map) - set(label.map.values()))
        if unknown:
            raise DataError(
                f"the label {unknown[0]!r} is not in the description's label.map",
                where=place,
                remedy="add it to label.map",
                value=unknown[0],
            )
        texts = renamed(texts, label.map)
    return texts


def check_complete(column: pd.Series[Any], place: str) -> None:
    """Raise an error if a label is missing."""
    missing = np.flatnonzero(column.isna())
    if len(missing):
        row = row_name(column, int(missing[0]))
        raise DataError(
            f"the label in row {row} is missing",
            where=place,
            remedy="leave out that row, or all labels",
            row=row,
        )


def check_labels(texts: pd.Series[Any], label: Label, place: str) -> None:
    """Check that the labels are those declared and that each declared label occurs.

    Parameters
    ----------
    texts : pandas.Series
        The labels used, of :func:`label_texts`.
    label : Label
        What was declared.
    place : str
        What to call the column in error messages.

    Raises
    ------
    DataError
        If a label is unknown, or one that was declared does not occur.
    """
    present = set(texts.dropna().unique())
    if label.values is not None and (unknown := sorted(present - set(label.values))):
        raise DataError(
            f"the label {unknown[0]!r} is not among the declared labels {label.values}",
            where=place,
            remedy="add it to label.values, or correct the data",
            value=unknown[0],
        )
    absent = sorted(set(label.values or [label.favourable]) - present)
    if label.favourable in absent:
        raise DataError(
            f"the favourable label {label.favourable!r} does not occur; labels seen: "
            f"{', '.join(sorted(present)[:8]) or 'none'}",
            where=place,
            remedy="correct label.favourable or choose another with --favorable",
            value=label.favourable,
        )
    if absent:
        raise DataError(
            f"the declared label {absent[0]!r} does not occur; labels seen: "
            f"{', '.join(sorted(present)[:8])}",
            where=place,
            remedy="correct label.values or the data",
            value=absent[0],
        )


def _label_numbers(texts: pd.Series[Any], place: str) -> NDArray[np.float64]:
    numbers = np.asarray(parsed_numbers(texts), dtype=np.float64)
    bad = np.flatnonzero(np.isnan(numbers) & texts.notna().to_numpy())
    if len(bad):
        row, text = row_name(texts, int(bad[0])), texts.iloc[int(bad[0])]
        raise DataError(
            f"the label in row {row} is {text!r}, not a number",
            where=place,
            remedy="correct the data, or give label.map instead of label.above",
            value=text,
            row=row,
        )
    return numbers
