"""Reading the rows of a data set's files into a table of clean columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.data.categories import row_name
from testsgd.data.cells import (
    missing_column,
    needed_column,
    parsed_numbers,
    plain_cells,
    read_cells,
    renamed,
)
from testsgd.data.labels import label_texts
from testsgd.data.schema import DatasetSpecification, Feature, Parsing, RowFilter
from testsgd.errors import DataError


def read_rows(
    paths: Sequence[Path], specification: DatasetSpecification, *, passed: Sequence[str] = ()
) -> pd.DataFrame:
    """Read files as their description says.

    Parameters
    ----------
    paths : sequence of path-like
        The files, read one after another.
    specification : DatasetSpecification
        The data set.
    passed : sequence of str
        Further columns to read, under their names in the file.

    Returns
    -------
    pandas.DataFrame
        One column a feature under its own name, categorical columns as text with missing cells
        left missing, integer columns as whole numbers (as decimals where cells are missing), and
        the label column, if the files have it, with the labels used. The index counts the files'
        rows from 0, so that it has gaps where filters left rows out.

    Raises
    ------
    DataError
        If a file cannot be read, is empty, lacks a column or holds a cell of the wrong type.
    """
    frames = [_bare_cells(Path(path), specification.parse, passed) for path in paths]
    cells = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    where = ", ".join(str(path) for path in paths)
    for row_filter in specification.filters:
        cells = cells[_passes(cells, row_filter, where)]
    if len(cells) == 0:
        raise DataError(
            "no rows are left", where=where, remedy="check the file and the filters on rows"
        )
    columns: dict[str, pd.Series[Any]] = {}
    for name, feature in specification.features.items():
        column = specification.column_of(name)
        if column not in cells:
            raise missing_column(column, cells.columns, where)
        columns[name] = _clean(cells[column], name, feature, where)
    for name in passed:
        if name not in cells:
            raise needed_column(name, cells.columns, where)
        columns[name] = plain_cells(cells[name])
    if specification.label.column in cells:
        columns[specification.label.column] = label_texts(
            cells[specification.label.column], specification.label
        )
    return pd.DataFrame(columns)


def _bare_cells(path: Path, parsing: Parsing, passed: Sequence[str]) -> pd.DataFrame:
    """Read cells without the blanks around them; only texts that are named are missing values."""
    cells = read_cells(path, parsing)
    return pd.DataFrame(
        {name: _bare(cells[name], parsing, keep=name in passed) for name in cells.columns}
    )


def _bare(texts: pd.Series[Any], parsing: Parsing, *, keep: bool) -> pd.Series[Any]:
    """Take off the blanks around values, which are no part of them, and mark the missing ones.

    Of a column that only the model needs nothing is known, so its blanks are kept.
    """
    bare = texts.str.strip()
    missing = bare.isin([text.strip() for text in parsing.missing])
    return (texts if keep else bare).mask(missing)


def _passes(cells: pd.DataFrame, row_filter: RowFilter, where: str) -> pd.Series[bool]:
    if row_filter.column not in cells:
        raise missing_column(row_filter.column, cells.columns, where)
    column = cells[row_filter.column]
    keep = column.notna() & ~column.isin(row_filter.none_of)
    if row_filter.minimum is not None or row_filter.maximum is not None:
        numbers = parsed_numbers(column)
        low = -np.inf if row_filter.minimum is None else row_filter.minimum
        high = np.inf if row_filter.maximum is None else row_filter.maximum
        keep &= numbers.between(low, high)
    return keep


def _clean(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    if feature.continuous:
        return _numbers(column, name, feature, where)
    texts = column
    if feature.map is not None:
        texts = renamed(texts, feature.map)
    values = feature.values or []
    unknown = texts.notna() & ~texts.isin(values)
    if unknown.any():
        position = int(np.flatnonzero(unknown)[0])
        row, text = row_name(texts, position), texts.iloc[position]
        raise DataError(
            f"the value {text!r} (row {row}) is not among the declared values of {name!r}",
            where=where,
            remedy="add it to `values` or correct the data",
            feature=name,
            value=text,
            row=row,
        )
    return pd.Series(pd.Categorical(texts, categories=values), index=column.index)


def _numbers(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    floats = parsed_numbers(column)
    bad = floats.isna() & column.notna()
    if bad.any():
        position = int(np.flatnonzero(bad)[0])
        row, text = row_name(column, position), column.iloc[position]
        raise DataError(
            f"{name!r} is {feature.type}, but row {row} holds {text!r}",
            where=where,
            remedy=f"correct the data, list that text under `missing` in [parse], or change the "
            f"type of {name!r}",
            feature=name,
            value=text,
            row=row,
        )
    # Beyond 2**53 floats skip whole numbers; infinity and such are left to the check of the range.
    whole = (floats % 1 == 0) & (floats.abs() < 2**53)
    return floats.astype(np.int64) if feature.type == "integer" and whole.all() else floats
