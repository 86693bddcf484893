"""Answers of a model that are kept in a file, so that a run that broke off asks nothing twice."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io import loads_json

# SQLite takes no more than 999 values in a question, in old versions.
_KEYS_AT_ONCE = 500

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"

# How long another process may have the file locked.
_LOCKED_SECONDS = 30


class KeptAnswers:
    """A file of answers, each under the key of its question.

    What is kept is on the disk when :meth:`keep` returns. Several processes may use one file.

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
            with contextlib.closing(
                sqlite3.connect(self._path, timeout=_LOCKED_SECONDS)
            ) as connection:
                connection.execute(_TABLE)
                yield connection
        except (OSError, sqlite3.Error, ValueError) as error:
            raise ConfigurationError(
                f"the kept answers cannot be read or written ({error})",
                where=str(self._path),
                remedy="name a new file, in a folder that can be written to",
            ) from error
