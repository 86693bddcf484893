"""Reading a file of rows without a description: CSV, TSV, Parquet, Feather, JSON Lines."""

from __future__ import annotations

import csv
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from testsgd.data.categories import MISSING, row_name
from testsgd.data.cell_texts import (
    are_decimal_commas,
    boolean_cells,
    numbers_with_decimal_commas,
    plain_cells,
)
from testsgd.data.cells import cells_of_plain_file, check_column_number, first_lines
from testsgd.data.decimals import without_decimals
from testsgd.data.schema import CellParsing
from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.io import COMPRESSIONS, check_regular, plain_file, read_lines

# Texts that stand for a missing value without a description.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")
# Where it is in the attributes of a frame which columns had numbers such as 57,5, with an example.
DECIMAL_COMMAS = "testsgd_decimal_commas"
# Between cells that may have decimal commas.
WITH_DECIMAL_COMMAS = ";\t"


def is_rows_file(path: Path) -> bool:
    """Return whether a path looks like a file of rows, by its name.

    Parameters
    ----------
    path : pathlib.Path
        A path; the file need not exist.

    Returns
    -------
    bool
        True for the endings that :func:`read_frame` knows.

    Examples
    --------
    >>> is_rows_file(Path("people.csv.gz")), is_rows_file(Path("people.toml"))
    (True, False)
    """
    return _kind(path) in _READERS


def rows_endings() -> str:
    """Return how the names of files of rows end, in words."""
    return ", ".join(sorted(_READERS))


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix.lower() in COMPRESSIONS


def is_typed_file(path: Path) -> bool:
    """Return whether the columns of a file have types of their own: it is no text of cells."""
    return _READERS.get(_kind(path), _separated) is not _separated


def parsing_of(path: Path, encoding: str | None = None) -> CellParsing | None:
    """Return how the cells of a file of text are written, by its first lines; None of other files.

    A :class:`ParameterError` is raised if the encoding is not known.
    """
    if is_typed_file(path):
        return None
    with plain_file(path, compressed=True) as plain:
        return _parsing(plain, _kind(path), encoding)


def read_frame(
    path: Path,
    *,
    encoding: str | None = None,
    known: Mapping[str, Collection[Any]] | None = None,
) -> pd.DataFrame:
    r"""Read a file of rows, each column with the type that its cells show.

    Parameters
    ----------
    path : path-like
        A file whose name ends in .csv, .tsv, .txt, .parquet, .feather, .arrow, .jsonl or .ndjson;
        those of text may be compressed (.gz, .bz2, .xz, .zst, .zip).
    encoding : str, optional
        That of a file of cells (.csv, .tsv, .txt), such as ``"latin-1"``; by default UTF-8.
    known : mapping of str to collection, optional
        The categories of columns that a model's encoders know. Cells of a file of text that they
        know as they are written, or as numbers, are given so.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DataError
        If the file cannot be read, is of another kind, or has no rows.
    ParameterError
        If the encoding is not known, or the file is of another kind and has none.
    MissingExtraError
        If a Parquet or Feather file is read without pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("sex;age;zip\nf;31;00123\nm;NA;04109\n")
    ...     frame = read_frame(file)
    >>> frame["age"].tolist(), frame["zip"].tolist()
    ([31.0, nan], ['00123', '04109'])
    """
    path = Path(path)
    reader = _READERS.get(_kind(path))
    if reader is None:
        raise DataError(
            f"the kind of the file is not known by its name, {path.name!r}",
            where=str(path),
            remedy=f"give a file that ends in one of {rows_endings()}, text also compressed",
        )
    if encoding is not None and reader is not _separated:
        raise _one_encoding(path)
    if not path.exists():
        raise DataError("there is no such file", where=str(path), remedy="check the path")
    try:
        check_regular(path)
        frame = reader(path) if reader is not _separated else _separated(path, encoding, known)
    except (DataError, ParameterError):
        raise
    except (OSError, ValueError, EOFError, pd.errors.ParserError) as error:
        if isinstance(error, UnicodeError) and encoding is not None:
            raise _other_encoding(path, encoding) from error
        what = getattr(error, "strerror", None) or str(error)
        reason = what.splitlines()[0] if what else type(error).__name__
        raise DataError(
            f"the file cannot be read ({reason})", where=str(path), remedy="check that it is whole"
        ) from error
    if len(frame) == 0:
        raise DataError("the file has no rows", where=str(path), remedy="give a file with rows")
    check_column_number(frame.shape[1], str(path))
    return without_decimals(frame).rename(columns=str)


def _kind(path: Path) -> str:
    """Return the ending that says what a file is, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _separated(
    path: Path,
    encoding: str | None = None,
    known_to_model: Mapping[str, Collection[Any]] | None = None,
) -> pd.DataFrame:
    with plain_file(path, compressed=True) as plain:
        parsing = _parsing(plain, _kind(path), encoding)
        _check_header(plain, parsing, where=str(path))
        cells = cells_of_plain_file(plain, parsing, where=str(path), described=False)
        written = cells
        if known_to_model and _begin_with_blanks(known_to_model):
            written = _with_blanks(plain, parsing, cells, where=str(path))
    known = pd.DataFrame({name: _known(cells[name]) for name in cells.columns})
    # Elsewhere a comma in a cell may be one of thousands.
    commas = parsing.separator in WITH_DECIMAL_COMMAS
    certain = commas and are_decimal_commas(known.mask(known == MISSING), parsing.separator)
    read = {name: _typed(known[name], commas=commas, certain=certain) for name in known.columns}
    if known_to_model:
        # Imported here: most models have no encoder that can be read.
        from testsgd.data.known_cells import as_known

        read |= {
            name: as_known(written[name], read[name], categories)
            for name, categories in known_to_model.items()
            if name in read
        }
    frame = pd.DataFrame(read)
    examples = {
        str(name): example
        for name, column in read.items()
        if (example := _comma_example(cells[name], column)) is not None
    }
    if examples:
        frame.attrs[DECIMAL_COMMAS] = examples
    return frame


def _begin_with_blanks(known: Mapping[str, Collection[Any]]) -> bool:
    """Return whether a category that an encoder knows is a text that begins with a blank."""
    texts = (item for items in known.values() for item in items if isinstance(item, str))
    return any(text != text.lstrip() for text in texts)


def _with_blanks(
    plain: Path, parsing: CellParsing, cells: pd.DataFrame, *, where: str
) -> pd.DataFrame:
    """Return the cells of a file with the blanks before them; as they are, if it has others so.

    A quotation mark behind a blank is no quotation then.
    """
    try:
        written = cells_of_plain_file(plain, parsing, where=where, blanks=True, described=False)
    except DataError:
        return cells
    if written.shape != cells.shape:
        return cells
    return written.set_axis(cells.columns, axis=1)


def _comma_example(texts: pd.Series[Any], read: pd.Series[Any]) -> str | None:
    """Return the first text of a column of numbers with decimal commas, None of other columns."""
    if not pd.api.types.is_float_dtype(read.dtype):
        return None
    with_comma = texts[read.notna() & texts.str.contains(",", regex=False)]
    return None if with_comma.empty else str(with_comma.iloc[0]).strip()


def _check_header(plain: Path, parsing: CellParsing, *, where: str) -> None:
    """Refuse a file in which two columns have one name: a reader would call one otherwise."""
    [header] = first_lines(plain, lines=1, skip=parsing.skip_rows, encoding=parsing.encoding) or [
        ""
    ]
    reader = csv.reader([header], delimiter=parsing.separator, skipinitialspace=True)
    try:
        names = next(reader, [])
    except csv.Error:
        # A name is longer than this reader takes: no two are compared.
        return
    before: set[str] = set()
    for name in names:
        if name and name in before:
            raise DataError(
                f"two columns are called {name!r}",
                where=where,
                remedy="give each a name of its own",
                column=name,
            )
        before.add(name)


def _parsing(plain: Path, kind: str, encoding: str | None) -> CellParsing:
    """Return how the cells of a file are written, by its first lines and its encoding."""
    try:
        parsing = CellParsing() if encoding is None else CellParsing(encoding=encoding)
    except ValidationError as error:
        raise ParameterError(
            f"{encoding!r} is not an encoding that Python knows",
            where="encoding",
            remedy="name one such as latin-1, cp1252 or utf-16",
            encoding=encoding,
        ) from error
    # Imported here: only files of text need it.
    from testsgd.data.separators import separator_and_skipped

    separator, skipped = separator_and_skipped(
        plain, encoding=parsing.encoding, separator="\t" if kind == ".tsv" else None
    )
    return parsing.model_copy(update={"separator": separator, "skip_rows": skipped})


def _other_encoding(path: Path, encoding: str) -> DataError:
    return DataError(
        f"the file is not {encoding} text",
        where=str(path),
        remedy="correct --encoding (in Python encoding=), or leave it out if the file is UTF-8",
        encoding=encoding,
    )


def _one_encoding(path: Path) -> ParameterError:
    return ParameterError(
        f"{path.name!r} is no file of cells as text, and is read without an encoding",
        where="encoding",
        remedy="leave it out; JSON lines are in UTF-8",
    )


def _known(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return texts without the blanks around them, and without those of missing values."""
    bare = texts.str.strip()
    return bare.mask(bare.isin(MISSING_TEXTS))


def _typed(known: pd.Series[Any], *, commas: bool, certain: bool) -> pd.Series[Any]:
    """Return a column of texts as numbers or booleans, if that is what all of them are."""
    typed = _numbers_or_booleans(known, commas=commas, certain=certain)
    if typed is None and (known == MISSING).any():
        # Beside other texts it stays: they may be labels.
        bare = known.mask(known == MISSING)
        typed = _numbers_or_booleans(bare, commas=commas, certain=certain)
    return known if typed is None else typed


def _numbers_or_booleans(
    known: pd.Series[Any], *, commas: bool, certain: bool
) -> pd.Series[Any] | None:
    """Return texts as numbers or booleans; None if one of them is neither."""
    booleans = boolean_cells(known)
    if booleans is not None:
        return booleans
    numbers = plain_cells(known)
    if numbers is not known:
        return numbers
    return (
        numbers_with_decimal_commas(known, certain=certain)
        if commas and known.notna().any()
        else None
    )


def _parquet(path: Path) -> pd.DataFrame:
    _need_pyarrow("reading a Parquet file")
    return _undamaged(lambda: pd.read_parquet(path, engine="pyarrow"))


def _feather(path: Path) -> pd.DataFrame:
    _need_pyarrow("reading a Feather file")

    def read() -> pd.DataFrame:
        from pyarrow import feather

        # Its numbers and offsets stand in the file as they are in memory. Damaged ones lead out of
        # it, and end the process where they are followed.
        feather.read_table(path, memory_map=False).validate(full=True)
        return pd.read_feather(path)

    return _undamaged(read)


def _undamaged(read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return what pyarrow reads; of damaged files it raises errors of any kind, here a ValueError.

    Lengths in them may be of petabytes, and what pandas noted of its columns may lack a part.
    """
    try:
        return read()
    except (OSError, ValueError):
        raise
    except KeyError as error:
        raise ValueError(f"what pandas noted in it has no {error}") from error
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _json_lines(path: Path) -> pd.DataFrame:
    with plain_file(path, compressed=True) as plain:
        return _rows_of_json(plain, str(path))


def _rows_of_json(path: Path, where: str) -> pd.DataFrame:
    """Return the rows of a file of JSON lines, not compressed; `where` names it in errors."""
    _check_no_key_twice(path, where)
    try:
        with warnings.catch_warnings():
            # Of arrays of several lengths, which are refused below.
            warnings.simplefilter("ignore", DeprecationWarning)
            frame: pd.DataFrame = _read_json(path)
    except (TypeError, AttributeError, RecursionError) as error:
        raise _no_object_a_line(where, "") from error
    if isinstance(frame.columns, pd.RangeIndex) and len(frame.columns):
        raise _no_object_a_line(where, "")
    # An empty array is read as an object without a key.
    empty = frame.isna().all(axis=1).to_numpy()
    if empty.any():
        values = _read_json(path, typ="series")
        for row, value in values[empty].items():
            if not isinstance(value, dict):
                raise _no_object_a_line(where, f", row {row}")
    for name, column in frame.items():
        _check_no_parts(column, f"{where}, column {str(name)!r}")
    return frame


def _read_json(path: Path, **options: Any) -> Any:
    """Return the rows of a file of JSON lines, each value as it is written."""
    read: Any = pd.read_json
    # Before 3.1 pandas makes dates of what is in columns of some names, such as "date".
    dates = inspect.signature(read).parameters.get("convert_dates")
    as_written = {"convert_dates": False} if dates is not None and dates.default is True else {}
    return read(path, lines=True, dtype=False, compression=None, **as_written, **options)


def _check_no_key_twice(path: Path, where: str) -> None:
    """Refuse a line with a key that stands twice: pandas takes the last value."""
    from testsgd.data.json_objects import key_twice

    for number, line in enumerate(read_lines(path), start=1):
        if (key := key_twice(line)) is not None:
            what = f"the key {key!r} stands twice"
            place = f"{where}, line {number}"
            raise DataError(what, where=place, remedy="name each column once")


def _check_no_parts(column: pd.Series[Any], where: str) -> None:
    """Raise an error if a cell is a list or an object, which has parts of its own."""
    if column.dtype != object:
        return
    has_parts = np.array([isinstance(cell, (list, dict)) for cell in column], dtype=bool)
    if not has_parts.any():
        return
    row = int(np.argmax(has_parts))
    raise DataError(
        f"a cell is {'a list' if isinstance(column.iloc[row], list) else 'an object'}, not a text, "
        f"a number or a truth value (row {row_name(column, row)})",
        where=where,
        remedy="give each of its parts a column, or leave the column out",
    )


def _no_object_a_line(file: str, place: str) -> DataError:
    return DataError(
        "a line is no JSON object",
        where=f"{file}{place}",
        remedy='give an object a line, such as {"age": 40, "sex": "female"}',
    )


def _need_pyarrow(purpose: str) -> None:
    try:
        import pyarrow  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise MissingExtraError("pyarrow", extra="parquet", purpose=purpose) from error


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _separated,
    ".tsv": _separated,
    ".txt": _separated,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
