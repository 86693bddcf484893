"""States in a SQLite file, which several processes may share.

Threads that arrive while others are being written wait for one transaction that has all of them, so
the disc is waited for once for many (group commit).
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, TypeAlias

from testsgd.errors import StateError
from testsgd.generative.stores.protocol import Change

Durability: TypeAlias = Literal["full", "normal"]

# "tsgd" in ASCII: told from the files of other programs by it.
_APPLICATION = 0x74736764
_VERSION = 1
# So long another process may write before it is given up, in seconds.
_PATIENCE = 30.0
_SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}
_TABLES = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE journal (number INTEGER PRIMARY KEY, line TEXT NOT NULL)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)

_Waiting = tuple[Sequence[Change], "Future[list[Any]]"]


class SQLiteStore:
    """Keep states in a SQLite file; several threads and several processes may use it.

    Parameters
    ----------
    path : path-like
        The file; it is made if it is not there.
    durable : {"full", "normal"}
        With ``"full"`` what an update returned is on the disc, and survives a power failure. With
        ``"normal"`` it survives a process that is killed; after a power failure the last updates
        may be gone, all of them after some moment.

    Raises
    ------
    StateError
        If the file is of another program, cannot be opened, or has another version. It is then left
        as it is.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.generative.stores import Written
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SQLiteStore(Path(folder.name) / "fair.sqlite")
    >>> store.update([Change("a", lambda text: Written(text="1", line="one", answer=7))])
    [7]
    >>> store.read(), list(store.journal())
    ({'a': '1'}, ['one'])
    >>> store.close()
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, durable: Durability = "full") -> None:
        self.path = Path(path)
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        self._queue: list[_Waiting] = []
        self._connection = self._open(durable)

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Apply changes, all or none, and return the answer of each."""
        future: Future[list[Any]] = Future()
        with self._guard:
            self._queue.append((changes, future))
        with self._turn:
            # Whoever has the turn writes for all that wait; later there may be nothing left.
            if not future.done():
                with self._guard:
                    waiting, self._queue = self._queue, []
                self._write(waiting)
        return future.result()

    def read(self) -> dict[str, str]:
        """Return every key with its text."""
        with self._turn, self._as_state_error("read"):
            return dict(self._connection.execute("SELECT key, text FROM state ORDER BY key"))

    def journal(self) -> Iterator[str]:
        """Return the lines of the journal in their order."""
        number = 0
        while True:
            with self._turn, self._as_state_error("read"):
                rows = self._connection.execute(
                    "SELECT number, line FROM journal WHERE number > ? ORDER BY number LIMIT 1000",
                    (number,),
                ).fetchall()
            if not rows:
                return
            for number, line in rows:  # noqa: B007 - the last number is where to go on
                yield line

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    def _write(self, waiting: Sequence[_Waiting]) -> None:
        """Write the changes of all that wait in one transaction."""
        outcomes: list[tuple[Future[list[Any]], list[Any] | BaseException]] = []
        try:
            with self._as_state_error("written"):
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    for changes, future in waiting:
                        outcomes.append((future, self._apply(changes)))
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
        except BaseException as error:
            for _, future in waiting:
                future.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for future, outcome in outcomes:
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _apply(self, changes: Sequence[Change]) -> list[Any] | BaseException:
        """Apply the changes of one caller; an exception of a change undoes these alone."""
        self._connection.execute("SAVEPOINT one")
        try:
            answers = [self._apply_one(change) for change in changes]
        except sqlite3.Error:
            raise
        except Exception as error:
            self._connection.execute("ROLLBACK TO one")
            return error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("RELEASE one")
        return answers

    def _apply_one(self, change: Change) -> Any:
        row = self._connection.execute(
            "SELECT text FROM state WHERE key = ?", (change.key,)
        ).fetchone()
        written = change.apply(None if row is None else row[0])
        if written.text is not None:
            self._connection.execute(
                "INSERT INTO state (key, text) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET text = excluded.text",
                (change.key, written.text),
            )
        if written.line is not None:
            self._connection.executemany(
                "INSERT INTO journal (line) VALUES (?)",
                [(line,) for line in written.line.splitlines()],
            )
        return written.answer

    def _open(self, durable: Durability) -> sqlite3.Connection:
        """Open the file, or make it; a file of another program is not touched."""
        self._check_content()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError) as error:
            raise self._error(f"the state cannot be opened ({error})") from error
        try:
            with self._as_state_error("opened"):
                connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durable]}")
                connection.execute("BEGIN IMMEDIATE")
                self._prepare(connection)
                connection.execute("COMMIT")
                # Only now: what is written to the log of WAL is not in the head of the file, by
                # which the next process knows it, until the log is copied.
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_content(self) -> None:
        """Refuse a file that is no SQLite file, before anything could be written to it."""
        try:
            if not self.path.exists():
                return
            if not self.path.is_file():
                raise self._error("this is no file")
            with self.path.open("rb") as stream:
                head = stream.read(72)
        except OSError as error:
            raise self._error(f"the state cannot be opened ({error.strerror})") from error
        if not head:
            return
        application = int.from_bytes(head[68:72], "big")
        if not head.startswith(b"SQLite format 3\x00") or application != _APPLICATION:
            raise self._error("this is no state of an enforcer")

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and tables == 0:
            for statement in _TABLES:
                connection.execute(statement)
            return
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise self._error("this is no state of an enforcer")
        if version != _VERSION:
            raise self._error(f"the state has version {version}, not {_VERSION}")

    @contextlib.contextmanager
    def _as_state_error(self, done: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._error(f"the state cannot be {done} ({error})") from error

    def _error(self, what: str) -> StateError:
        return StateError(what, where=str(self.path), remedy="choose another file with --state")
