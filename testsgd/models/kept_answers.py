"""Answers of a model that are kept in a file, so that a run that broke off asks nothing twice."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io import (
    OTHER_FILE_REMEDY,
    ForeignDatabaseError,
    database_schema,
    loads_json,
    may_replace_any_file,
    recognised_database,
)

# SQLite takes no more than 999 values in a question, in old versions.
_KEYS_AT_ONCE = 500

# In the header of the file: it says whose file it is ("tSGA").
APPLICATION_ID = 0x74534741
VERSION = 1
_TABLE = "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
_SCHEMA = (
    _TABLE,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)
# What an earlier testsgd made has no mark, and this table alone.
_EARLIER_SCHEMA = (_TABLE,)

# How long another process may have the file locked.
_LOCKED_SECONDS = 30


class KeptAnswers:
    """A file of answers, each under the key of its question.

    What is kept is on the disk when :meth:`keep` returns. Several processes may use one file. A
    file that is something else is refused; one that is made within
    :func:`testsgd.io.replacing_any_file` replaces it.

    Parameters
    ----------
    path : path-like
        An SQLite file; made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> answers = KeptAnswers(Path(tempfile.mkdtemp()) / "answers.sqlite")
    >>> answers.keep({"first": "yes"})
    >>> answers.find(["first", "second"])
    {'first': 'yes'}
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path)
        # Asked here, as the file may be opened in another thread.
        self._replaces = may_replace_any_file()

    def find(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the answers that are kept, by their keys.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, or is no file of answers.
        """
        answers: dict[str, Any] = {}
        with self._opened() as connection:
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                batch = keys[start : start + _KEYS_AT_ONCE]
                marks = ", ".join("?" * len(batch))
                question = f"SELECT key, answer FROM answers WHERE key IN ({marks})"
                for key, answer in connection.execute(question, batch):
                    answers[key] = loads_json(answer)
        return answers

    def keep(self, answers: Mapping[str, Any]) -> None:
        """Write answers down, each under its key.

        Raises
        ------
        ConfigurationError
            If the file cannot be written.
        """
        written = [(key, json.dumps(answer)) for key, answer in answers.items()]
        with self._opened() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", written)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        # Opened anew each time: a connection belongs to one thread, and cannot be pickled.
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            is_earlier = database_schema(self._path) == _EARLIER_SCHEMA
            known_by = 0 if is_earlier else APPLICATION_ID
            with recognised_database(
                self._path, known_by, check_version=self._check_version, replace=self._replaces
            ):
                connection = sqlite3.connect(self._path, timeout=_LOCKED_SECONDS)
                with _closed_if_raised(connection):
                    _prepare(connection)
            with contextlib.closing(connection):
                yield connection
        except ForeignDatabaseError as error:
            raise ConfigurationError(
                f"the file {error}, and holds no kept answers",
                where=str(self._path),
                remedy=OTHER_FILE_REMEDY,
            ) from error
        except (OSError, sqlite3.Error, ValueError) as error:
            raise ConfigurationError(
                f"the kept answers cannot be read or written ({error})",
                where=str(self._path),
                remedy="name a new file, in a folder that can be written to",
            ) from error

    def _check_version(self, version: int) -> None:
        """Refuse a file of a later testsgd."""
        if version > VERSION:
            raise ConfigurationError(
                f"the kept answers are of version {version}, and this testsgd knows {VERSION}",
                where=str(self._path),
                remedy="install a newer testsgd, or name a new file",
            )


@contextlib.contextmanager
def _closed_if_raised(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table and the marks in an empty file, at once; check those that are there."""
    if not _schema(connection):
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have made it meanwhile.
        if not _schema(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.commit()
    # A file that was recognised before may have been replaced since.
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    is_earlier = application == 0 and _schema(connection) == _EARLIER_SCHEMA
    if application != APPLICATION_ID and not is_earlier:
        raise ForeignDatabaseError("is a database of another program")


def _schema(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the statements that the tables were made by."""
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return tuple(str(sql) for (sql,) in rows)
