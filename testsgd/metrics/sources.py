"""Addresses of rows that are not read here: a table of a database, or many files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from testsgd.errors import DataError, MissingExtraError

_DUCKDB = "duckdb"
_WILDCARDS = frozenset("*?[")
# Rows of a file that are read; they take a minute, and two GB of memory.
MOST_READ = 20_000_000
# As many tables are listed in an error.
_MOST_LISTED = 20


def is_elsewhere(address: str) -> bool:
    """Return whether a text is the address of a table, or names files with wildcards.

    Examples
    --------
    >>> is_elsewhere("duckdb:///decisions.db?table=decisions"), is_elsewhere("parts/*.parquet")
    (True, True)
    >>> is_elsewhere("people.csv")
    False
    """
    return address.startswith(f"{_DUCKDB}://") or not _WILDCARDS.isdisjoint(address)


def has_many_rows(path: Path | str) -> bool:
    """Return whether a file has more rows than are read, so that they are counted where they are.

    That is a Parquet file with more than 20 million rows, where DuckDB is installed to count them.
    A file that cannot be read has none.

    Examples
    --------
    >>> has_many_rows("people.csv")
    False
    """
    if not str(path).lower().endswith(".parquet") or find_spec("duckdb") is None:
        return False
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return False
    try:
        # Of a pipe nothing may be read twice, and it may never end.
        if not Path(path).is_file():
            return False
        rows: int = pyarrow.parquet.read_metadata(path).num_rows
    except (OSError, pyarrow.ArrowException):
        return False
    return rows > MOST_READ


def open_elsewhere(address: str | Sequence[str], *, columns: Collection[str] | None = None) -> Any:
    """Return the rows at an address as a relation of DuckDB, which reads them when it counts.

    Parameters
    ----------
    address : str or sequence of str
        ``duckdb:///folder/file.db?table=NAME``, where the path is absolute, or relative if there is
        no such absolute one; behind four slashes it is absolute, behind two relative. Or Parquet or
        CSV files with wildcards, such as ``parts/*.parquet``, or the names of such files.
    columns : collection of str, optional
        The columns that are needed: the others of CSV files stay texts. All if not given.

    Returns
    -------
    duckdb.DuckDBPyRelation

    Raises
    ------
    DataError
        If there is no such table or file, it cannot be read, or CSV files have other columns than
        the first of them.
    MissingExtraError
        If DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError(
            "duckdb", extra="duckdb", purpose="counting rows in a database or in many files"
        ) from error
    try:
        if not isinstance(address, str):
            return _files(duckdb, list(address), columns)
        if not address.startswith(f"{_DUCKDB}://"):
            return _files(duckdb, [address], columns)
        path, table = _table(address)
        database = duckdb.connect(_database_file(path), read_only=True)
        try:
            return database.table(table)
        except duckdb.CatalogException as error:
            raise DataError(
                f"there is no table {table!r}",
                where=address,
                remedy=f"name one of the database: {', '.join(_tables(database)[:_MOST_LISTED])}",
                table=table,
            ) from error
    except duckdb.Error as error:
        raise DataError(
            f"the rows cannot be read ({str(error).splitlines()[0]})",
            where=address if isinstance(address, str) else ", ".join(address[:3]),
            remedy="check the address, or that each file is whole",
        ) from error


def _tables(database: Any) -> list[str]:
    """Return the names of the tables and views of a database, with their schema if not ``main``."""
    found = database.sql(
        "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"
    ).fetchall()
    return [table if schema == "main" else f"{schema}.{table}" for schema, table in found]


def _table(address: str) -> tuple[str, str]:
    """Return the path of a database and the name of a table in it."""
    parts = urlsplit(address)
    tables = parse_qs(parts.query).get("table", [])
    if len(tables) != 1:
        raise DataError(
            "no table is named",
            where=address,
            remedy="write duckdb:///folder/file.db?table=NAME",
        )
    return f"{parts.netloc}{parts.path}", tables[0]


def _database_file(path: str) -> str:
    """Return the path of a database, which behind three slashes may be a relative one.

    So SQLAlchemy writes it; four slashes are before an absolute path.
    """
    if path.startswith("//"):
        possible = [path[1:]]
    elif path.startswith("/"):
        possible = [path, path[1:]]
    else:
        possible = [path]
    for candidate in possible:
        if Path(candidate).is_file():
            return candidate
    raise DataError(
        "there is no such file",
        where=" or ".join(str(Path(candidate).absolute()) for candidate in possible),
        remedy="check the path",
    )


def _files(duckdb: Any, files: list[str], columns: Collection[str] | None) -> Any:
    """Return the rows of files, or of those that patterns name, as one table."""
    names = [file.lower() for file in files]
    if all(name.endswith(".parquet") for name in names):
        return duckdb.read_parquet(files, union_by_name=True)
    if all(name.endswith((".csv", ".csv.gz", ".tsv")) for name in names):
        # Most audits ask only whether the rows are elsewhere.
        from testsgd.metrics.texts_of_files import read_texts

        return read_texts(duckdb, files, columns)
    raise DataError(
        "the kind of the files is not known by their names",
        where=files[0],
        remedy="give .parquet, .csv or .tsv files",
    )
