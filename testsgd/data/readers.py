"""Reading the rows of a data set's files into a table of clean columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import category_text, row_name
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
        the label column, if the files have it, with the labels used. The index counts the files'
        rows from 0, so that it has gaps where filters left rows out.

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
    texts: pd.Series[Any] = column.astype(object).map(category_text, na_action="ignore")
    present = set(texts.dropna().unique())
    if label.above is not None and label.values is not None:
        if present <= set(label.values):
            return texts
        numbers = _label_numbers(texts, label.column)
        above = np.where(numbers > label.above, label.values[0], label.values[1])
        return pd.Series(above, index=column.index, dtype=object).where(texts.notna())
    if label.map is not None:
        unknown = sorted(present - set(label.map) - set(label.map.values()))
        if unknown:
            raise DataError(
                f"the label {unknown[0]!r} is not in the description's label.map",
                where=f"label column {label.column!r}",
                remedy="add it to label.map",
                value=unknown[0],
            )
        texts = _renamed(texts, label.map)
    return texts


def _label_numbers(texts: pd.Series[Any], name: str) -> NDArray[np.float64]:
    numbers = np.asarray(_parsed(texts), dtype=np.float64)
    bad = np.flatnonzero(np.isnan(numbers) & texts.notna().to_numpy())
    if len(bad):
        row, text = row_name(texts, int(bad[0])), texts.iloc[int(bad[0])]
        raise DataError(
            f"the label in row {row} is {text!r}, not a number",
            where=f"label column {name!r}",
            remedy="correct the data, or give label.map instead of label.above",
            value=text,
            row=row,
        )
    return numbers


def _read_cells(path: Path, parsing: Parsing) -> pd.DataFrame:
    """Read every cell as text; only the texts that the description names are missing."""
    whitespace = parsing.separator == "whitespace"
    try:
        with warnings.catch_warnings():
            # pandas only warns where it drops the cells that a row has too many of.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            cells = pd.read_csv(
                path,
                sep=r"\s+" if whitespace else parsing.separator,
                header=0 if parsing.header else None,
                names=None if parsing.header else parsing.columns,
                skiprows=parsing.skip_rows,
                dtype=str,
                keep_default_na=False,
                na_values=[""],  # lets a separator at the end of every row pass
                skipinitialspace=not whitespace,
                encoding=parsing.encoding,
                compression=None,
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
    except UnicodeError as error:
        raise _not_text(path, parsing) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        if _looks_binary(path, parsing):
            raise _not_text(path, parsing) from error
        raise _not_a_table(path, error) from error
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})", where=str(path), remedy="check the path"
        ) from error
    if _looks_binary(path, parsing):
        raise _not_text(path, parsing)
    if len(cells) == 0:
        raise DataError("the file has no rows", where=str(path), remedy="give a file with rows")
    return pd.DataFrame({name: _bare(cells[name], parsing) for name in cells.columns})


def _bare(texts: pd.Series[Any], parsing: Parsing) -> pd.Series[Any]:
    """Take off the blanks around values, which are no part of them, and mark the missing ones."""
    texts = texts.fillna("").str.strip()
    return texts.mask(texts.isin([text.strip() for text in parsing.missing]))


def _not_a_table(path: Path, error: Exception) -> DataError:
    if isinstance(error, pd.errors.ParserWarning):
        reason = "there are more cells in a row than columns"
    else:
        reason = str(error).splitlines()[0]
    return DataError(
        f"the rows cannot be told apart: {reason}",
        where=str(path),
        remedy="check [parse] in the description: separator, header, columns",
    )


def _renamed(texts: pd.Series[Any], names: Mapping[str, str]) -> pd.Series[Any]:
    """Replace texts that a description renames; the others, and missing cells, stay."""
    return texts.map(names, na_action="ignore").where(texts.isin(names), texts)


def _looks_binary(path: Path, parsing: Parsing) -> bool:
    with path.open(encoding=parsing.encoding, errors="replace") as stream:
        return "\0" in stream.read(8192)


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
        numbers = _parsed(column)
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
    floats = _parsed(column)
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


def _parsed(texts: pd.Series[Any]) -> pd.Series[float]:
    """Read texts as numbers, NaN where there is none.

    Python rounds to the nearest number; some versions of pandas miss it by a digit in the last
    place, and 0.3 must lie in the bin that begins at 0.3.
    """
    codes, uniques = pd.factorize(texts)
    numbers = np.array([*(_number(text) for text in uniques), np.nan])
    return pd.Series(numbers[codes], index=texts.index)


def _number(text: Any) -> float:
    try:
        return np.nan if "_" in str(text) else float(text)
    except ValueError:
        return np.nan
