"""Rows of files, read as a description of a data set says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import (
    MISSING,
    category_text,
    check_cells,
)
from testsgd.data.cell_texts import (
    are_booleans,
    are_decimal_commas,
    are_whole_numbers,
    boolean_cells,
    formatted_numbers,
    numbers_with_decimal_commas,
    parsed_numbers,
    plain_cells,
    renamed,
    with_declared_numbers,
)
from testsgd.data.cells import (
    label_texts,
    missing_column,
    read_cells,
)
from testsgd.data.frames import is_compressed, is_typed_file, read_frame
from testsgd.data.schema import DatasetSpecification, Feature, Parsing, RowFilter
from testsgd.errors import DataError


def read_rows(
    paths: Sequence[Path],
    specification: DatasetSpecification,
    *,
    passed: Sequence[str] = (),
    typed: bool = True,
) -> pd.DataFrame:
    """Read files as their description says: a column a feature, and the label if there is one.

    `passed`: further columns to read, under their names in the file. Missing cells stay missing.
    The index counts the files' rows from 0, with gaps where filters left rows out. `typed`:
    categories that are True and False, or whole numbers, are booleans or numbers, as they are
    without a description, and not texts.
    """
    files = [_bare_cells(Path(path), specification.parse, passed) for path in paths]
    cells = pd.concat([file.texts for file in files], ignore_index=True)
    where = ", ".join(str(path) for path in paths)
    for row_filter in specification.filters:
        cells = cells[_passes(cells, row_filter, where)]
    if len(cells) == 0:
        raise DataError(
            "no rows are left", where=where, remedy="check the file and the filters on rows"
        )
    columns: dict[str, pd.Series[Any]] = {}
    decimal = are_decimal_commas(cells, specification.parse.separator)
    for name, feature in specification.features.items():
        column = specification.column_of(name)
        if column not in cells:
            raise missing_column(column, cells.columns, where)
        codes = _typed_categories(files, column, feature, cells.index) if typed else None
        if codes is not None:
            columns[name] = codes
        elif feature.continuous:
            columns[name] = _numbers(cells[column], name, feature, where, decimal=decimal)
        else:
            columns[name] = _categories(cells[column], name, feature, where)
    for name in passed:
        if name not in cells:
            raise missing_column(name, cells.columns, where, for_model=True)
        flags = _typed([file.booleans(name) for file in files], cells.index) if typed else None
        columns[name] = plain_cells(cells[name]) if flags is None else flags
    if specification.label.column in cells:
        columns[specification.label.column] = label_texts(
            cells[specification.label.column], specification.label
        )
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _File:
    """The cells of one file."""

    texts: pd.DataFrame  # Missing where the description says so.
    typed: pd.DataFrame | None = None  # The same with the types of the file, if it has any.

    def booleans(self, column: str) -> pd.Series[Any] | None:
        """Return a column without other cells than booleans and missing ones; None of others."""
        texts = self.texts[column]
        if texts.isna().all():
            return texts.astype(object)
        if self.typed is None:
            return boolean_cells(texts.str.strip())
        # A text "True" of such a file is a text without a description, too.
        cells = self._without_marked(self.typed[column], texts)
        present = cells.dropna()
        return cells if all(isinstance(cell, (bool, np.bool_)) for cell in present) else None

    def numbers(self, column: str) -> pd.Series[Any] | None:
        """Return a column without other cells than numbers and missing ones; None of others."""
        texts = self.texts[column]
        cells = plain_cells(texts) if self.typed is None else self.typed[column]
        if not _are_numbers(cells):
            # Where all cells are missing nothing is known.
            return texts if texts.isna().all() else None
        return self._without_marked(cells, texts)

    @staticmethod
    def _without_marked(cells: pd.Series[Any], texts: pd.Series[Any]) -> pd.Series[Any]:
        """Return cells without those that the description takes for missing."""
        marked = texts.isna() & cells.notna()
        if not marked.any():
            return cells
        return (
            cells.mask(marked) if _are_numbers(cells) else cells.astype(object).mask(marked, None)
        )


def _are_numbers(cells: pd.Series[Any]) -> bool:
    """Return whether a column has a type of numbers, which booleans are not."""
    dtype = cells.dtype
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def _typed_categories(
    files: Sequence[_File], column: str, feature: Feature, rows: pd.Index[Any]
) -> pd.Series[Any] | None:
    """Return some rows of a categorical column of booleans or whole numbers; None of others.

    A model takes the text of False for true, and no text is equal to a number, so it is given what
    it is without a description.
    """
    values = feature.values or []
    if feature.map is not None:
        return None
    if are_booleans(values):
        return _typed([file.booleans(column) for file in files], rows)
    if are_whole_numbers(values):
        return _typed([file.numbers(column) for file in files], rows)
    return None


def _typed(parts: Sequence[pd.Series[Any] | None], rows: pd.Index[Any]) -> pd.Series[Any] | None:
    """Return some rows of a column that all files have typed; None if one has not, or no cell."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or all(part.isna().all() for part in known):
        return None
    return pd.concat(known, ignore_index=True).loc[rows]


def _bare_cells(path: Path, parsing: Parsing, passed: Sequence[str]) -> _File:
    """Read cells without the blanks around them, and mark the texts that stand for missing values.

    Of a column that only the model needs nothing is known, so its blanks are kept.
    """
    if is_typed_file(path):
        # As a file of text would have them: what they mean is said by the description.
        typed = read_frame(path)
        cells = typed.map(category_text, na_action="ignore")
        # No declared value is called so.
        return _File(cells.mask(cells == MISSING) if MISSING in parsing.missing else cells, typed)
    cells = read_cells(path, parsing, compressed=is_compressed(path))
    missing = [text.strip() for text in parsing.missing]
    for name in cells.columns:
        bare = cells[name].str.strip()
        cells[name] = (cells[name] if name in passed else bare).mask(bare.isin(missing))
    return _File(cells)


def _passes(cells: pd.DataFrame, row_filter: RowFilter, where: str) -> pd.Series[bool]:
    """Return a mask of the rows that a filter keeps; shape (n,)."""
    if row_filter.column not in cells:
        raise missing_column(row_filter.column, cells.columns, where)
    column = cells[row_filter.column]
    keep = column.notna() & ~column.isin(row_filter.none_of)
    if row_filter.minimum is not None or row_filter.maximum is not None:
        numbers = parsed_numbers(column)
        low, high = row_filter.minimum, row_filter.maximum
        keep &= numbers.between(-np.inf if low is None else low, np.inf if high is None else high)
    return keep


def _categories(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    """Return texts of a file as a categorical column with the declared values."""
    values = feature.values or []
    texts = with_declared_numbers(column, {*values, *(feature.map or {})})
    if feature.map is not None:
        texts = renamed(texts, feature.map)
    check_cells(
        texts,
        texts.notna() & ~texts.isin(values),
        lambda row, text: (
            f"the value {text!r} (row {row}) is not among the declared values of {name!r}"
        ),
        where=where,
        remedy="add it to `values` or correct the data",
        feature=name,
    )
    return pd.Series(pd.Categorical(texts, categories=values), index=column.index)


def _numbers(
    column: pd.Series[Any], name: str, feature: Feature, where: str, *, decimal: bool
) -> pd.Series[Any]:
    """Return texts of a file as numbers, of type int64 for an integer feature if possible.

    `decimal`: a comma in them is known to be one of decimals.
    """
    floats = parsed_numbers(column)
    if (floats.isna() & column.notna()).any():
        numbers = _with_commas(column, feature, decimal=decimal)
        floats = floats if numbers is None else numbers.astype(np.float64)
    check_cells(
        column,
        floats.isna() & column.notna(),
        lambda row, text: f"{name!r} is {feature.type}, but row {row} holds {text!r}",
        where=where,
        remedy=f"correct the data, list that text under `missing` in [parse], or change the type "
        f"of {name!r}",
        feature=name,
    )
    # Beyond 2**53 floats skip whole numbers; infinity and such are left to the check of the range.
    whole = (floats % 1 == 0) & (floats.abs() < 2**53)
    return floats.astype(np.int64) if feature.type == "integer" and whole.all() else floats


def _with_commas(column: pd.Series[Any], feature: Feature, *, decimal: bool) -> Any:
    """Return texts such as ``1,304`` or ``57,5`` as numbers; None if one is not written so."""
    if decimal:
        numbers = numbers_with_decimal_commas(column, certain=True)
        # A description that was written for thousands has whole numbers, or another range.
        if numbers is not None and _fits(numbers.to_numpy(dtype=np.float64), feature):
            return numbers
    numbers = formatted_numbers(column)
    return numbers_with_decimal_commas(column) if numbers is None else numbers


def _fits(numbers: NDArray[np.float64], feature: Feature) -> bool:
    """Return whether all numbers that are known can be those of a feature."""
    known = numbers[~np.isnan(numbers)]
    low, high = feature.range or (-np.inf, np.inf)
    is_whole = feature.type != "integer" or bool((known % 1 == 0).all())
    return is_whole and bool(((known >= low) & (known <= high)).all())
