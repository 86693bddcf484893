"""Whose database a file of SQLite is, known before SQLite touches it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from testsgd.io.identity import check_no_input, is_of_others
from testsgd.io.reading import read_beginning

_HEADER_BYTES = 100
_SIGNATURE = b"SQLite format 3\0"
# In the header: the versions that write and read the file, 2 with a write-ahead log.
_WITH_LOG = 2
# How the names end of the files that SQLite has beside a database.
_BESIDE = ("-wal", "-shm", "-journal")
# The path, device and inode of the files that were recognised. They are not opened again by hand:
# closing such a file would drop the locks that SQLite holds on it in this process. The path is
# among them because the inode of a file that is removed may be given to another one.
_recognised: set[tuple[str, int, int]] = set()
_recognising = threading.RLock()


class ForeignDatabaseError(ValueError):
    """The error of a file that is no database, or another program's.

    The message says which of these it is, without the file's name: the caller adds that.

    Notes
    -----
    :func:`testsgd.io.recognised_database` raises it before SQLite has touched the file, which is
    left as it is. It is raised later, too, if the file turns out to have been replaced in between.
    """


@contextlib.contextmanager
def recognised_database(
    path: Path,
    application_id: int,
    *,
    check_version: Callable[[int], None] | None = None,
    replace: bool = False,
) -> Iterator[None]:
    """Check that a file is free, or a database of one application; make it within the block.

    If the block raises while one that it made is empty, as on a full disk, that is removed. Within
    the block no other thread looks at a database, as one that is made must not be looked at.

    Parameters
    ----------
    path : pathlib.Path
        A file that is missing or empty passes.
    application_id : int
        What ``PRAGMA application_id`` says of the application's databases.
    check_version : callable, optional
        Called with what ``PRAGMA user_version`` says of a database of the application's that is not
        known yet; raises if that is not suitable.
    replace : bool, default=False
        Whether a file of others, by :func:`testsgd.io.is_of_others`, is removed, with the files
        that SQLite has beside it.

    Raises
    ------
    ForeignDatabaseError
        If it is something else, and not to be replaced. It is left as it is.
    ConfigurationError
        If it is to be replaced, and is one that is kept by :func:`testsgd.io.keeping_inputs`.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import recognised_database
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("a text")
    ...     file.flush()
    ...     with recognised_database(Path(file.name), 0x74534745):
    ...         pass
    Traceback (most recent call last):
    testsgd.io.databases.ForeignDatabaseError: is no database of SQLite
    """
    with _recognising:
        if path.exists():
            try:
                _recognise(path, application_id, check_version)
            except ForeignDatabaseError:
                if not (replace and path.is_file() and is_of_others(path)):
                    raise
                check_no_input(path)
                _remove(path)
        # A link to nowhere is another's.
        is_new = not os.path.lexists(path)
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                if is_new and path.stat().st_size == 0:
                    path.unlink()
            raise
        with contextlib.suppress(OSError):
            _recognised.add(_identity(path))


def _recognise(
    path: Path, application_id: int, check_version: Callable[[int], None] | None
) -> None:
    if not path.is_file():
        raise ForeignDatabaseError("is no file")
    if path.stat().st_size == 0 or _identity(path) in _recognised:
        return
    header = read_beginning(path, _HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_SIGNATURE):
        raise ForeignDatabaseError("is no database of SQLite")
    # https://www.sqlite.org/fileformat2.html#the_database_header
    version, application = struct.unpack(">60xI4xI28x", header)
    if application != application_id:
        raise ForeignDatabaseError("is a database of another program")
    if check_version is not None:
        check_version(version)


def _remove(path: Path) -> None:
    """Remove a file, and what SQLite would take for the log of the database that comes there."""
    path.unlink()
    for ending in _BESIDE:
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def database_schema(path: Path) -> tuple[str, ...] | None:
    """Return the statements that a database's tables were made by; no file beside it is made.

    Parameters
    ----------
    path : pathlib.Path
        A file of SQLite.

    Returns
    -------
    tuple of str or None
        None if it is missing, is no database, has a mark of an application's, or has a write-ahead
        log, in which further tables may be.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from testsgd.io import database_schema
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.db"
    ...     connection = sqlite3.connect(path)
    ...     _ = connection.execute("CREATE TABLE numbers (one INTEGER)")
    ...     connection.close()
    ...     database_schema(path)
    ('CREATE TABLE numbers (one INTEGER)',)
    """
    with _recognising:
        try:
            if not path.is_file() or _identity(path) in _recognised:
                return None
            header = read_beginning(path, _HEADER_BYTES)
            if len(header) < _HEADER_BYTES or not header.startswith(_SIGNATURE):
                return None
            if any(header[60:64]) or any(header[68:72]) or _WITH_LOG in header[18:20]:
                return None
            address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
                rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
                return tuple(str(sql) for (sql,) in rows)
        except (OSError, sqlite3.Error):
            return None


def _identity(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return os.path.realpath(path), status.st_dev, status.st_ino
