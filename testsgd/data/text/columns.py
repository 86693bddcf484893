"""Reading texts from the columns of a file, and labels from the annotations beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.cells import missing_column, parsed_numbers, read_cells
from testsgd.data.labels import check_complete, label_texts
from testsgd.data.text.rows import TextRows, plain_keys
from testsgd.data.text.schema import TextFile, TextSpecification
from testsgd.errors import DataError

# What data sets call their parts, and what the parts are for.
_PARTS = {"train": "train", "dev": "train", "test": "test"}


def read_columns(
    path: Path,
    specification: TextSpecification,
    file: TextFile,
    *,
    annotations: tuple[Path, TextFile] | None = None,
) -> TextRows:
    """Read texts from a file with a row a text.

    Parameters
    ----------
    path : path-like
        The file.
    specification : TextSpecification
        The data set.
    file : TextFile
        What the description says of the file.
    annotations : path-like and TextFile, optional
        A file with a row for each label that somebody gave to a text. A text's label is then the
        mean of its annotations, cut at ``label.above``, so that a tie is not above 0.5.

    Returns
    -------
    TextRows
        The texts letter by letter, except for the description's escapes. No labels, if neither a
        column nor annotations have them.

    Raises
    ------
    DataError
        If a file cannot be read, is empty, lacks a column, or a label or part is unknown.
    """
    cells = read_cells(path, specification.parse, blanks=True)
    columns = file.columns
    texts = _column(cells, columns.text or specification.text.column, path)
    for written, meant in specification.text.escapes.items():
        texts = texts.str.replace(written, meant, regex=False)
    keys = None if columns.key is None else plain_keys(_column(cells, columns.key, path))
    labels = (
        _labels(cells, specification, file, path)
        if annotations is None or keys is None
        else _annotated(keys, *annotations, specification)
    )
    return TextRows(texts=texts.tolist(), labels=labels, keys=keys, parts=_parts(cells, file, path))


def _column(cells: pd.DataFrame, name: str, path: Path) -> pd.Series[Any]:
    if name not in cells:
        raise missing_column(name, cells.columns, str(path))
    return cells[name]


def _labels(
    cells: pd.DataFrame, specification: TextSpecification, file: TextFile, path: Path
) -> pd.Series[Any] | None:
    name = file.columns.label
    if name is None and specification.label.column not in cells:
        return None
    name = name or specification.label.column
    column = _column(cells, name, path).str.strip()
    column = column.mask(column == "")
    place = f"{path}, label column {name!r}"
    check_complete(column, place)
    return label_texts(column, specification.label, place=place)


def _parts(cells: pd.DataFrame, file: TextFile, path: Path) -> NDArray[np.object_] | None:
    if file.part is not None:
        return np.full(len(cells), file.part, dtype=object)
    if file.columns.part is None:
        return None
    column = _column(cells, file.columns.part, path)
    unknown = np.flatnonzero(~column.isin(_PARTS))
    if len(unknown):
        row = int(unknown[0])
        raise DataError(
            f"the part in row {row} is {column.iloc[row]!r}",
            where=f"{path}, column {file.columns.part!r}",
            remedy=f"the parts are {', '.join(_PARTS)}; correct the file or `columns.part`",
            row=row,
            value=column.iloc[row],
        )
    return column.map(_PARTS).to_numpy(dtype=object)


def _annotated(
    keys: pd.Series[Any], path: Path, file: TextFile, specification: TextSpecification
) -> pd.Series[Any]:
    """Give the labels of texts by the mean of their annotations."""
    cells = read_cells(path, specification.parse)
    name = file.columns.label or specification.label.column
    place = f"{path}, label column {name!r}"
    marks = parsed_numbers(_column(cells, name, path))
    if len(bad := np.flatnonzero(marks.isna())):
        row = int(bad[0])
        raise DataError(
            f"the annotation in row {row} is {cells[name].iloc[row]!r}, not a number",
            where=place,
            remedy="correct the file",
            row=row,
            value=cells[name].iloc[row],
        )
    annotated = plain_keys(_column(cells, file.columns.key or "", path))
    codes, uniques = pd.factorize(annotated)
    means = np.bincount(codes, weights=marks.to_numpy()) / np.bincount(codes)
    places = pd.Index(uniques).get_indexer(pd.Index(keys))
    if len(bare := np.flatnonzero(places < 0)):
        row = int(bare[0])
        raise DataError(
            f"nobody annotated the text {keys.iloc[row]!r} (row {row})",
            where=place,
            remedy="give all annotations, or leave out the texts that have none",
            row=row,
            key=keys.iloc[row],
        )
    return label_texts(pd.Series(means[places]), specification.label, place=place)
