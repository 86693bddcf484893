"""Cells of a file as texts, whatever is made of them later."""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.data.description import CellParsing
from testsgd.errors import DataError

_PLAIN_NUMBER = r"\s*-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*"


def read_cells(path: Path, parsing: CellParsing, *, blanks: bool = False) -> pd.DataFrame:
    """Read every cell of a file as text; an empty cell, and one that a row lacks, is empty.

    Parameters
    ----------
    path : path-like
        The file.
    parsing : CellParsing
        How its cells are written.
    blanks : bool
        Are blanks before a cell part of it? A quotation mark behind them is then no quotation.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        If the file cannot be read, is no text, has no rows, or its rows cannot be told apart.
    """
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
                skipinitialspace=not (blanks or whitespace),
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
    return cells.fillna("")


def missing_column(
    column: str, present: Iterable[Any], where: str, *, what: str | None = None
) -> DataError:
    """Give the error of a column that a table lacks."""
    names = [str(name) for name in present]
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return DataError(
        what or f"the column {column!r} is missing",
        where=where,
        remedy=f"add it or correct its name; the columns are {shown}",
        column=column,
        present=names,
    )


def needed_column(column: str, present: Iterable[Any], where: str) -> DataError:
    """Return the error of a column that only the model needs, and that the data lack too."""
    what = f"the model needs the column {column!r}, which neither the description nor the data have"
    return missing_column(column, present, where, what=what)


def renamed(texts: pd.Series[Any], names: Mapping[str, str]) -> pd.Series[Any]:
    """Replace texts that a description renames; the others, and missing cells, stay."""
    return texts.map(names, na_action="ignore").where(texts.isin(names), texts)


def parsed_numbers(texts: pd.Series[Any]) -> pd.Series[float]:
    """Read texts as numbers, NaN where there is none.

    Python rounds to the nearest number; some versions of pandas miss it by a digit in the last
    place, and 0.3 must lie in the bin that begins at 0.3.
    """
    codes, uniques = pd.factorize(texts)
    numbers = np.array([*(_number(text) for text in uniques), np.nan])
    return pd.Series(numbers[codes], index=texts.index)


def plain_cells(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers if all of its cells are plain numbers, as it is if not.

    Nothing that a number would lose is taken for one: ``007`` stays a text.

    Examples
    --------
    >>> plain_cells(pd.Series(["1", "-20"])).tolist(), plain_cells(pd.Series(["007"])).tolist()
    ([1, -20], ['007'])
    """
    known = [str(text) for text in texts.dropna().unique()]
    if not known or not all(re.fullmatch(_PLAIN_NUMBER, text) for text in known):
        return texts
    numbers = parsed_numbers(texts)
    # Beyond 2**53 floats skip whole numbers, and identifiers are often that long.
    if (numbers.abs() >= 2**53).any():
        return texts
    whole = all(text.strip().lstrip("-").isdecimal() for text in known)
    return numbers.astype(np.int64) if whole and numbers.notna().all() else numbers


def _number(text: Any) -> float:
    try:
        return np.nan if "_" in str(text) else float(text)
    except ValueError:
        return np.nan


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


def _looks_binary(path: Path, parsing: CellParsing) -> bool:
    with path.open(encoding=parsing.encoding, errors="replace") as stream:
        return "\0" in stream.read(8192)


def _not_text(path: Path, parsing: CellParsing) -> DataError:
    offset = _undecodable(path, parsing.encoding)
    place = "" if offset is None else f" (at offset {offset})"
    return DataError(
        f"the file is not {parsing.encoding} text{place}",
        where=str(path),
        remedy="give a text file, or set `encoding` under [parse]",
        offset=offset,
    )


def _undecodable(path: Path, encoding: str) -> int | None:
    """Give the place of the first byte that is not of this encoding, counted from 0."""
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    with path.open("rb") as stream:
        while True:
            block = stream.read(1 << 20)
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                return done - kept + error.start
            if not block:
                return None
            done += len(block)
