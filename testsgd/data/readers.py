"""Reading the rows of a data set's files into a table of clean columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.data.categories import category_text
from testsgd.data.schema import DatasetSpecification, Feature, Parsing, RowFilter
from testsgd.errors import DataError


def read_rows(paths: Sequence[Path], specification: DatasetSpecification) -> pd.DataFrame:
    """Read files as their description says.

    Parameters
    ----------
    paths : sequence of path-like
        The files, read one after another.
    specification : DatasetSpecification
        The data set.

    Returns
    -------
    pandas.DataFrame
        One column a feature under its own name, categorical columns as text with missing cells
        left missing, integer columns as whole numbers (as decimals where cells are missing), and
        the label column, if the files have it, with the labels used.

    Raises
    ------
    DataError
        If a file cannot be read, is empty, lacks a column or holds a cell of the wrong type.
    """
    frames = [_read_cells(Path(path), specification.parse) for path in paths]
    cells = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    where = ", ".join(str(path) for path in paths)
    for row_filter in specification.filters:
        cells = cells[_passes(cells, row_filter, where)]
    if len(cells) == 0:
        raise DataError(
            "no rows are left", where=where, remedy="check the file and the filters on rows"
        )
    cells = cells.reset_index(drop=True)
    columns: dict[str, pd.Series[Any]] = {}
    for name, feature in specification.features.items():
        column = specification.column_of(name)
        if column not in cells:
            raise missing_column(column, cells.columns, where)
        columns[name] = _clean(cells[column], name, feature, where)
    if specification.label.column in cells:
        columns[specification.label.column] = label_texts(
            cells[specification.label.column], specification
        )
    return pd.DataFrame(columns)


def missing_column(column: str, present: Iterable[Any], where: str) -> DataError:
    """Give the error of a column that a table lacks."""
    names = [str(name) for name in present]
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return DataError(
        f"the column {column!r} is missing",
        where=where,
        remedy=f"add it or correct its name; the columns are {shown}",
        column=column,
        present=names,
    )


def label_texts(column: pd.Series[Any], specification: DatasetSpecification) -> pd.Series[Any]:
    """Turn the label column as it stands in a file into the labels used.

    Raises
    ------
    DataError
        If a label is unknown to the description or a number is expected and not found.
    """
    label = specification.label
    if label.above is not None and label.values is not None:
        numbers = pd.to_numeric(column, errors="coerce")
        above: pd.Series[Any] = pd.Series(
            np.where(numbers > label.above, label.values[0], label.values[1]), index=column.index
        )
        return above.where(numbers.notna())
    texts: pd.Series[Any] = column.astype(object).map(category_text, na_action="ignore")
    if label.map is not None:
        unknown = sorted(set(texts.dropna().unique()) - set(label.map) - set(label.map.values()))
        if unknown:
            raise DataError(
                f"the label {unknown[0]!r} is not in the description's label.map",
                where=f"label column {label.column!r}",
                remedy="add it to label.map",
                value=unknown[0],
            )
        texts = _renamed(texts, label.map)
    return texts


def _read_cells(path: Path, parsing: Parsing) -> pd.DataFrame:
    """Read every cell as text; only the texts that the description names are missing."""
    whitespace = parsing.separator == "whitespace"
    try:
        cells = pd.read_csv(
            path,
            sep=r"\s+" if whitespace else parsing.separator,
            header=0 if parsing.header else None,
            names=None if parsing.header else parsing.columns,
            skiprows=parsing.skip_rows,
            dtype=str,
            keep_default_na=False,
            na_values=parsing.missing,
            skipinitialspace=not whitespace,
            encoding=parsing.encoding,
            skip_blank_lines=True,
            index_col=False,
            on_bad_lines="error",
        )
    except FileNotFoundError as error:
        raise DataError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except pd.errors.EmptyDataError as error:
        raise DataError(
            "the file is empty", where=str(path), remedy="give a file with rows"
        ) from error
    except UnicodeDecodeError as error:
        raise _not_text(path, parsing) from error
    except (pd.errors.ParserError, ValueError) as error:
        if _looks_binary(path):
            raise _not_text(path, parsing) from error
        raise DataError(
            f"the rows cannot be told apart: {str(error).splitlines()[0]}",
            where=str(path),
            remedy="check [parse] in the description: separator, header, columns",
        ) from error
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})", where=str(path), remedy="check the path"
        ) from error
    if _looks_binary(path):
        raise _not_text(path, parsing)
    if len(cells) == 0:
        raise DataError("the file has no rows", where=str(path), remedy="give a file with rows")
    # A trailing blank is no part of a value.
    return pd.DataFrame({name: cells[name].str.strip() for name in cells.columns})


def _renamed(texts: pd.Series[Any], names: Mapping[str, str]) -> pd.Series[Any]:
    """Replace texts that a description renames; the others, and missing cells, stay."""
    return texts.map(names, na_action="ignore").where(texts.isin(names), texts)


def _looks_binary(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"\0" in stream.read(8192)


def _not_text(path: Path, parsing: Parsing) -> DataError:
    return DataError(
        f"the file is not {parsing.encoding} text",
        where=str(path),
        remedy="give a text file, or set `encoding` under [parse]",
    )


def _passes(cells: pd.DataFrame, row_filter: RowFilter, where: str) -> pd.Series[bool]:
    if row_filter.column not in cells:
        raise missing_column(row_filter.column, cells.columns, where)
    column = cells[row_filter.column]
    keep = column.notna() & ~column.isin(row_filter.none_of)
    if row_filter.minimum is not None or row_filter.maximum is not None:
        numbers = pd.to_numeric(column, errors="coerce")
        low = -np.inf if row_filter.minimum is None else row_filter.minimum
        high = np.inf if row_filter.maximum is None else row_filter.maximum
        keep &= numbers.between(low, high)
    return keep


def _clean(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    if feature.continuous:
        return _numbers(column, name, feature, where)
    texts = column
    if feature.map is not None:
        texts = _renamed(texts, feature.map)
    values = feature.values or []
    unknown = texts.notna() & ~texts.isin(values)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise DataError(
            f"the value {texts.iloc[row]!r} (row {row}) is not among the declared values of "
            f"{name!r}",
            where=where,
            remedy="add it to `values` or correct the data",
            feature=name,
            value=texts.iloc[row],
            row=row,
        )
    return pd.Series(pd.Categorical(texts, categories=values), index=column.index)


def _numbers(column: pd.Series[Any], name: str, feature: Feature, where: str) -> pd.Series[Any]:
    numbers = pd.to_numeric(column, errors="coerce")
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{name!r} is {feature.type}, but row {row} holds {column.iloc[row]!r}",
            where=where,
            remedy=f"correct the data, list that text under `missing` in [parse], or change the "
            f"type of {name!r}",
            feature=name,
            value=column.iloc[row],
            row=row,
        )
    if feature.type == "integer" and not numbers.isna().any():
        whole = numbers.to_numpy(dtype=float)
        if np.array_equal(whole, np.round(whole)):
            return numbers.astype(np.int64)
    return numbers.astype(np.float64)
