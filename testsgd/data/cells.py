"""Cells as texts and numbers, from files and data frames, and what the label column says."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from testsgd.data.categories import category_text, check_cells
from testsgd.data.cell_texts import parsed_numbers, renamed, with_declared_numbers
from testsgd.data.decimals import numbers_of_decimals, without_decimals
from testsgd.data.schema import CellParsing, Label
from testsgd.errors import DataError
from testsgd.io import (
    has_long_lines,
    line_pieces,
    plain_file,
    read_bytes,
    read_text_beginning,
)

# Each column is looked at by itself, so time and memory grow with their number.
MOST_COLUMNS = 10_000
# Separators in one line, counted also within quotation marks: a mark within a cell begins no
# quotation, so where one begins is a guess.
_MOST_SEPARATORS = 200_000


def read_cells(
    path: Path, parsing: CellParsing, *, blanks: bool = False, compressed: bool = False
) -> pd.DataFrame:
    """Read every cell of a file as text; an empty cell, and one that a row lacks, is empty.

    `blanks`: blanks before a cell are part of it; a quotation mark behind them is no quotation.
    `compressed`: the file may be compressed, as its name says.
    """
    with readable_file(path, compressed=compressed) as plain:
        return cells_of_plain_file(plain, parsing, blanks=blanks, where=str(path))


@contextmanager
def readable_file(path: Path, *, compressed: bool = False) -> Iterator[Path]:
    """Yield a regular file that holds what a file or a stream holds; an ``OSError`` is reported."""
    try:
        with plain_file(path, compressed=compressed) as plain:
            yield plain
    except FileNotFoundError as error:
        raise DataError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})", where=str(path), remedy="check the path"
        ) from error


def cells_of_plain_file(
    path: Path,
    parsing: CellParsing,
    *,
    where: str,
    blanks: bool = False,
    described: bool = True,
) -> pd.DataFrame:
    """Read every cell of a regular file that is not compressed; `where` names it in errors.

    As :func:`read_cells`, but that an ``OSError`` is not reported. `described`: a description says
    how the file is parsed, so an error names its keys.
    """
    whitespace = parsing.separator == "whitespace"
    try:
        with warnings.catch_warnings():
            # pandas only warns where it drops the cells that a row has too many of.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            check_lines(path, parsing, where)
            cells = pd.read_csv(
                path,
                sep=r"\s+" if whitespace else parsing.separator,
                header=0 if parsing.header else None,
                names=None if parsing.header else parsing.columns,
                skiprows=parsing.skip_rows,
                dtype=str,
                keep_default_na=False,
                na_values=[""],  # lets a separator at the end of every row pass
                skipinitialspace=not (blanks or whitespace),
                encoding=parsing.encoding,
                compression=None,
                skip_blank_lines=True,
                index_col=False,
                on_bad_lines="error",
            )
    except pd.errors.EmptyDataError as error:
        raise DataError("the file is empty", where=where, remedy="give a file with rows") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        if isinstance(error, UnicodeError) or _looks_binary(path, parsing):
            raise _not_text(path, parsing, where, described=described) from error
        reason = str(error).splitlines()[0]
        if isinstance(error, pd.errors.ParserWarning):
            reason = "there are more cells in a row than columns"
        remedy = "give every row as many cells as there are columns, and quote separators in cells"
        if described:
            remedy = "check [parse] in the description: separator, header, columns"
        raise DataError(
            f"the rows cannot be told apart: {reason}", where=where, remedy=remedy
        ) from error
    if _looks_binary(path, parsing):
        raise _not_text(path, parsing, where, described=described)
    if len(cells) == 0:
        raise DataError("the file has no rows", where=where, remedy="give a file with rows")
    return cells.fillna("")


def first_lines(path: Path, *, lines: int, skip: int = 0, encoding: str = "utf-8") -> list[str]:
    """Return the first lines of a file of text that are not blank, each as it is written.

    The file is regular, and not compressed.
    """
    # No cell has this character, so each line is one cell.
    read = pd.read_csv(
        path,
        sep="\x01",
        header=None,
        nrows=lines,
        skiprows=skip,
        dtype=str,
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        encoding=encoding,
        encoding_errors="replace",
        compression=None,
    )
    return [str(line) for line in read[0]]


def check_column_number(columns: int, where: str) -> None:
    """Raise an error if a file has more columns than are read.

    Parameters
    ----------
    columns : int
        How many columns the file has.
    where : str
        The file.

    Raises
    ------
    DataError
        If there are more than `MOST_COLUMNS`.
    """
    if columns > MOST_COLUMNS:
        raise DataError(
            f"the file has {columns:,} columns; at most {MOST_COLUMNS:,} are read",
            where=where,
            remedy="leave out columns that are not needed, or give a data frame in Python, where "
            "there is no limit",
            columns=columns,
        )


def check_lines(path: Path, parsing: CellParsing, where: str) -> None:
    """Raise an error if a line of a file has more cells than are read, before any is parsed.

    Parameters
    ----------
    path : pathlib.Path
        A regular file of text that is not compressed.
    parsing : CellParsing
        What separates its cells.
    where : str
        What the file is called in the error.

    Raises
    ------
    DataError
        If there are more than `MOST_COLUMNS` in one line.
    ValueError
        If its first line cannot be read.
    """
    _check_columns(path, parsing, where)
    _check_lines(path, parsing, where)


def _check_columns(path: Path, parsing: CellParsing, where: str) -> None:
    """Raise an error if the first line has too many cells, before memory is taken for all."""
    [line] = first_lines(
        path,
        lines=1,
        skip=parsing.skip_rows,
        encoding=parsing.encoding,
    )
    # A separator within quotation marks separates nothing.
    bare = re.sub(r'"[^"]*"', "", line)
    whitespace = parsing.separator == "whitespace"
    columns = len(bare.split()) if whitespace else bare.count(parsing.separator) + 1
    check_column_number(columns, where)


def _check_lines(path: Path, parsing: CellParsing, where: str) -> None:
    """Raise an error if any line has too many cells, before memory is taken for all.

    A line with that many separators is at least that long. Few files have such lines, and only
    these are looked at line by line.
    """
    if not has_long_lines(path, MOST_COLUMNS):
        return
    whitespace = parsing.separator == "whitespace"
    separators = [b" ", b"\t"] if whitespace else [parsing.separator.encode()]
    number = 1
    is_quoted = False
    cells = every = 0
    for piece in line_pieces(path):
        parts = piece.split(b'"')
        bare = parts[1::2] if is_quoted else parts[::2]
        if len(parts) % 2 == 0:
            is_quoted = not is_quoted
        if whitespace:
            cells += sum(len(part.split()) for part in bare)
        else:
            cells += sum(part.count(separators[0]) for part in bare)
        every += sum(piece.count(separator) for separator in separators)
        if cells > MOST_COLUMNS or every > _MOST_SEPARATORS:
            raise DataError(
                f"line {number:,} has more cells than are read, {MOST_COLUMNS:,}",
                where=where,
                remedy="correct the line, or `separator` under [parse] in the description",
                line=number,
            )
        if piece.endswith((b"\n", b"\r")):
            number += 1
            # Also within a quotation, which may have been seen where none is.
            cells = every = 0


def missing_column(
    column: str, present: Iterable[Any], where: str, *, for_model: bool = False
) -> DataError:
    """Return the error of a column that a table lacks; `for_model`: that only the model needs."""
    names = [str(name) for name in present]
    shown = shown_columns(names, 12) + (", ..." if len(names) > 12 else "")
    what = f"the column {column!r} is missing"
    if for_model:
        what = f"the model needs the column {column!r}, which neither the description nor the data "
        what += "have"
    return DataError(
        what,
        where=where,
        remedy=f"add it or correct its name; the columns are {shown}",
        column=column,
        present=names,
    )


def shown_columns(names: Iterable[Any], most: int = 20) -> str:
    """Return the names of columns for an error, as they are written on the command line.

    Examples
    --------
    >>> shown_columns(["sex", "age"]), shown_columns(["race, ethnic", "age"], 1)
    ('sex, age', '"race, ethnic" (with its comma a name stands in double quotes)')
    >>> shown_columns(["sex ", "age"])
    '"sex ", age (with blanks at its ends a name stands in double quotes)'
    """
    shown = [str(name) for name in islice(names, most)]
    reasons = []
    if any("," in name for name in shown):
        reasons.append("its comma")
    if any(name != name.strip() for name in shown):
        reasons.append("blanks at its ends")
    if not reasons:
        return ", ".join(shown)
    quoted = [
        '"' + name.replace('"', '""') + '"' if "," in name or name != name.strip() else name
        for name in shown
    ]
    return f"{', '.join(quoted)} (with {' or '.join(reasons)} a name stands in double quotes)"


def _looks_binary(path: Path, parsing: CellParsing) -> bool:
    try:
        return "\0" in read_text_beginning(path, 8192, encoding=parsing.encoding)
    except UnicodeError:  # UTF-16 without its mark
        return True


def _not_text(path: Path, parsing: CellParsing, where: str, *, described: bool) -> DataError:
    remedy = "give a text file, such as by iconv -f LATIN1 -t UTF-8, or set `encoding` under "
    remedy += "[parse] of a description"
    if not described:
        remedy = "say how it is encoded with --encoding, such as latin-1 (in Python encoding=), or "
        remedy += "give a text file"
    offset = _undecodable(path, parsing.encoding)
    position = "" if offset is None else f" (at offset {offset})"
    return DataError(
        f"the file is not {parsing.encoding} text{position}",
        where=where,
        remedy=remedy,
        offset=offset,
    )


def _undecodable(path: Path, encoding: str) -> int | None:
    """Return the offset of the first byte that is not of this encoding."""
    try:
        # It was read before, so its size is no matter here.
        read_bytes(path, at_most=path.stat().st_size).decode(encoding)
    except UnicodeDecodeError as error:
        return error.start
    except UnicodeError:  # UTF-16 without its mark
        return 0
    return None


def label_texts(column: pd.Series[Any], label: Label, *, location: str = "") -> pd.Series[Any]:
    """Return the labels that a column of a file stands for, as texts; missing cells stay missing.

    With ``label.above``, numbers become the first or the second of ``label.values``; a column that
    holds these values already stays. With ``label.map``, labels are renamed.
    """
    location = location or f"label column {label.column!r}"
    texts: pd.Series[Any] = column.astype(object).map(category_text, na_action="ignore")
    texts = with_declared_numbers(
        texts, {*(label.values or [label.favourable]), *(label.map or {})}
    )
    present = set(texts.dropna().unique())
    if label.above is not None and label.values is not None:
        if present <= set(label.values):
            return texts
        numbers = parsed_numbers(texts)
        check_cells(
            texts,
            numbers.isna() & texts.notna(),
            lambda row, text: f"the label in row {row} is {text!r}, not a number",
            where=location,
            remedy="correct the data, or give label.map instead of label.above",
        )
        above = np.where(numbers > label.above, label.values[0], label.values[1])
        return pd.Series(above, index=column.index, dtype=object).where(texts.notna())
    if label.map is not None:
        unknown = sorted(present - set(label.map) - set(label.map.values()))
        if unknown:
            raise DataError(
                f"the label {unknown[0]!r} is not in the description's label.map",
                where=location,
                remedy="add it to label.map",
                value=unknown[0],
            )
        texts = renamed(texts, label.map)
    return texts


def check_complete(column: pd.Series[Any], location: str) -> None:
    """Raise an error if a label is missing."""
    check_cells(
        column,
        column.isna(),
        lambda row, _: f"the label in row {row} is missing",
        where=location,
        remedy="leave out that row, or all labels",
    )


def check_labels(
    texts: pd.Series[Any], label: Label, location: str, *, listed: Collection[str] = ()
) -> None:
    """Check that the labels are those declared and that each declared label occurs.

    Those that the type of the data lists need not occur.
    """
    present = set(texts.dropna().unique())
    if label.values is not None and (unknown := sorted(present - set(label.values))):
        raise DataError(
            f"the label {unknown[0]!r} is not among the declared labels {label.values}",
            where=location,
            remedy="add it to label.values, or correct the data",
            value=unknown[0],
        )
    absent = sorted(set(label.values or [label.favourable]) - present - set(listed))
    if absent:
        first, kind, remedy = absent[0], "declared", "correct label.values or the data"
        if label.favourable in absent:
            first, kind = label.favourable, "favourable"
            remedy = "correct label.favourable or choose another with --favorable"
        raise DataError(
            f"the {kind} label {first!r} does not occur; labels seen: "
            f"{', '.join(sorted(present)[:8]) or 'none'}",
            where=location,
            remedy=remedy,
            value=first,
        )


def as_pandas(data: Any, *, where: str = "the data") -> pd.DataFrame | None:
    """Return a data frame of pandas, polars, Arrow, ... as one of pandas.

    Parameters
    ----------
    data : object
        A data frame of pandas or of any library that narwhals knows, held in memory.
    where : str
        What to call the data in errors.

    Returns
    -------
    pandas.DataFrame or None
        A data frame of pandas as it is, not copied, but that decimals of fixed point are integers
        or floats; None if `data` is no data frame.

    Raises
    ------
    DataError
        If two columns of another library's data frame have one name.

    Examples
    --------
    >>> as_pandas([1, 2]) is None
    True
    """
    if isinstance(data, pd.DataFrame):
        return without_decimals(data)
    try:
        frame = nw.from_native(_table_of_batch(data), eager_only=True)
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:
        check_distinct_names(getattr(data, "column_names", data.columns), where=where)
        raise
    # Column by column through numpy: pyarrow is not needed to leave polars.
    return pd.DataFrame({name: _column(frame[name]) for name in frame.columns})


def _table_of_batch(data: Any) -> Any:
    """Return a record batch of Arrow, which narwhals does not know, as a table; others as is."""
    if type(data).__module__.startswith("pyarrow") and type(data).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([data])
    return data


def check_one_level(frame: pd.DataFrame, *, where: str) -> None:
    """Raise a :class:`DataError` if the names of columns have several levels, as a pivot's have."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError(
            f"the names of the columns have {frame.columns.nlevels} levels, such as "
            f"{tuple(frame.columns[0])!r}",
            where=where,
            remedy="join them, as by frame.columns = ['_'.join(map(str, name)) for name in "
            "frame.columns]",
        )


def check_distinct_names(names: Iterable[Any], *, where: str) -> None:
    """Raise a :class:`DataError` if two columns have one name.

    Examples
    --------
    >>> check_distinct_names(["age", "income"], where="the data")
    """
    before: set[Any] = set()
    for name in names:
        if name in before:
            raise DataError(
                f"two columns are called {name!r}",
                where=where,
                remedy="give each a name of its own, or leave one of them out",
                column=name,
            )
        before.add(name)


def _column(column: Any) -> Any:
    """Return the cells of a column as pandas' readers would, of types that models know."""
    values = column.to_list()
    if not values:
        return pd.Series(values, dtype=object)
    cells = pd.Series(values)
    is_flag = column.dtype == nw.Boolean and cells.dtype != bool
    is_rounded = column.dtype.is_integer() and cells.dtype == np.float64
    if is_flag or (is_rounded and bool((cells.abs() >= 2**53).any())):
        # With missing ones among them no other types hold them exactly.
        return pd.array(values, dtype=None)
    return numbers_of_decimals(cells)
