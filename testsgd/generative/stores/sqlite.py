"""A state in a file of SQLite, for all processes of one machine."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from testsgd.errors import StateError
from testsgd.generative.stores.combining import Combiner
from testsgd.generative.stores.protocol import Change, evaluate, sorted_keys
from testsgd.io import ForeignDatabaseError, may_replace_any_file, recognised_database

VERSION = 1
# In the header of the file: it says whose file it is ("tSGE").
APPLICATION_ID = 0x74534745
_SCHEMA = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE journal (id INTEGER PRIMARY KEY, line TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)
# How long another process may keep the file locked.
_PATIENCE_SECONDS = 30.0
_PAGE_LINES = 1000
# Seconds after which what the operating system has is on the disc, without fsync.
_SECONDS_TO_DISC = 1.0


class SQLiteStore:
    """Keeps the state in a file, for several threads and several processes of one machine.

    Updates of threads that come while a transaction is written are written together in the next.

    Parameters
    ----------
    path : str or Path
        Made, with its folder, if it is not there. It must be on a disc of the machine itself. Two
        more files are beside it while it is open, with ``-wal`` and ``-shm`` after the name; they
        belong to it.
    fsync : bool
        Whether an update with a durable change returns once it is on the disc, so that it survives
        a loss of power. Otherwise it returns once the operating system has it, and is on the disc
        about a second later: it survives a process that is killed, and with the power the updates
        of the last second can be lost. In both cases the file stays whole.

    Raises
    ------
    StateError
        If the file is another program's, of another version, broken, or cannot be written. It is
        left as it is; but within :func:`testsgd.io.replacing_any_file` another program's is
        replaced.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.generative.stores import Change, Written
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SQLiteStore(Path(folder.name) / "state.db")
    >>> store.update([Change("a", lambda text: Written(text="1", line="to 1", answer=text))])
    [None]
    >>> store.read(), list(store.journal())
    ({'a': '1'}, ['to 1'])
    >>> store.close()
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, fsync: bool = False) -> None:
        self.path = Path(path)
        self.waits = fsync
        self._combiner = Combiner(self._commit)
        # One connection writes, the other reads, so that a status page delays no update.
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._to_disc: _ToDisc | None = None
        try:
            with self._failing("opened"):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with recognised_database(
                    self.path,
                    APPLICATION_ID,
                    check_version=self._check_version,
                    replace=may_replace_any_file(),
                ):
                    self._writer = self._connect()
                    self._prepare(self._writer)
                self._reader = self._connect()
                if not fsync:
                    self._to_disc = _ToDisc(self._connect())
                    # Else the update that fills the file beside would wait for the disc.
                    self._writer.execute("PRAGMA wal_autocheckpoint = 0")
                status = self.path.stat()
        except BaseException:
            self.close()
            raise
        self._identity = (status.st_dev, status.st_ino)

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Make all changes or none; see :meth:`Store.update`."""
        return self._combiner.update(changes)

    def read(self) -> dict[str, str]:
        """Return the text of every key."""
        with self._failing("read"), self._reading:
            return dict(self._usable(self._reader).execute("SELECT key, text FROM state"))

    def journal(self) -> Iterator[str]:
        """Return the lines that updates added before, in order."""
        last = self._rows("SELECT coalesce(max(id), 0) FROM journal")[0][0]
        page = "SELECT id, line FROM journal WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"
        number = 0
        # Page by page: a transaction that stays open would let the file beside grow.
        while rows := self._rows(page, number, last, _PAGE_LINES):
            for number, line in rows:  # noqa: B007  (the last one is where the next page begins)
                yield line

    def close(self) -> None:
        """Close the file; an update that is being written is finished first."""
        if not self._combiner.is_own:
            return  # The locks are the other process's.
        if self._to_disc is not None:
            self._to_disc.end()
        with self._writing, self._reading:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    with contextlib.suppress(sqlite3.Error):
                        connection.close()
            self._reader = self._writer = None

    def _commit(self, updates: list[list[Change]]) -> list[list[Any] | Exception]:
        """Write updates in one transaction; one that raises is left out."""
        with self._failing("written"), self._writing:
            connection = self._usable(self._writer)
            self._check_in_place()
            if self.waits:
                durable = any(change.durable for update in updates for change in update)
                # A commit that waits writes what earlier ones have left to the disc, too.
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            with _transaction(connection):
                # Another process may have brought the file to a newer version meanwhile.
                self._check_version(_number(connection, "PRAGMA user_version"))
                texts: dict[str, str | None] = {}
                for key in sorted_keys(updates):
                    query = "SELECT text FROM state WHERE key = ?"
                    row = connection.execute(query, (key,)).fetchone()
                    texts[key] = None if row is None else row[0]
                evaluated = evaluate(updates, texts)
                connection.executemany(
                    "INSERT INTO state (key, text) VALUES (?, ?)"
                    " ON CONFLICT (key) DO UPDATE SET text = excluded.text",
                    evaluated.texts.items(),
                )
                connection.executemany(
                    "INSERT INTO journal (line) VALUES (?)", [(line,) for line in evaluated.lines]
                )
        if self._to_disc is not None:
            self._to_disc.note()
        return evaluated.outcomes

    def _connect(self) -> sqlite3.Connection:
        """Open a connection whose transactions begin where the code says so."""
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rwc",
            uri=True,
            timeout=_PATIENCE_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA synchronous = {'FULL' if self.waits else 'NORMAL'}")
        if self.waits:
            # On macOS fsync alone leaves data in the disc's own memory; elsewhere it is all.
            connection.execute("PRAGMA fullfsync = ON")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables in an empty file, or check those that are there."""
        # In SQLite's first journal mode, so that the header says at once whose file it is.
        with _transaction(connection):
            if _number(connection, "SELECT count(*) FROM sqlite_schema") == 0:
                for statement in _SCHEMA:
                    connection.execute(statement)
            if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
                raise self._error("is a database of another program")
            self._check_version(_number(connection, "PRAGMA user_version"))
            connection.execute("SELECT key, text FROM state LIMIT 1").fetchall()
            connection.execute("SELECT id, line FROM journal ORDER BY id DESC LIMIT 1").fetchall()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except sqlite3.OperationalError:
                # SQLite does not wait by itself here, if another process has the file just now.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise self._error("is on a disc where SQLite cannot keep a write-ahead log")

    def _rows(self, query: str, *values: int) -> list[Any]:
        with self._failing("read"), self._reading:
            return self._usable(self._reader).execute(query, values).fetchall()

    def _usable(self, connection: sqlite3.Connection | None) -> sqlite3.Connection:
        """Return the connection, if it is open and this process's own."""
        if not self._combiner.is_own:
            remedy = "open it in each process, after the fork"
            raise self._error("was opened by another process", remedy)
        if connection is None:
            raise self._error("is closed", "open it again")
        return connection

    def _check_in_place(self) -> None:
        """Refuse to write where the file was removed or replaced: it would be lost."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._identity:
            raise self._error("was removed or replaced while it was open", "open it again")

    def _check_version(self, version: int) -> None:
        if version > VERSION:
            what = f"has version {version}, and this testsgd knows {VERSION}"
            raise self._error(what, "install a newer testsgd")
        if version < VERSION:
            raise self._error(f"has version {version}, which never was", "choose another file")

    @contextlib.contextmanager
    def _failing(self, doing: str) -> Iterator[None]:
        """Raise a :class:`StateError` for what SQLite or the system refuses."""
        try:
            yield
        except ForeignDatabaseError as error:
            raise self._error(str(error)) from error
        except OSError as error:
            raise self._error(f"cannot be {doing} ({error.strerror})") from error
        # What SQLite says of a damaged schema may quote bytes that are no text.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._error(f"cannot be {doing} ({error})") from error

    def _error(self, what: str, remedy: str = "choose another file") -> StateError:
        return StateError(f"the state {what}", where=str(self.path), remedy=remedy)


class _ToDisc:
    """Writes what updates left with the operating system to the disc, about once a second.

    A checkpoint writes the file beside to the disc first, and updates need not wait for it.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._written = threading.Event()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="state to disc", daemon=True)
        self._thread.start()

    def note(self) -> None:
        """Note that there is something to write."""
        if not self._written.is_set():
            self._written.set()

    def end(self) -> None:
        """End the thread, and close its connection."""
        self._ends.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.is_set():
            self._written.wait()
            self._ends.wait(_SECONDS_TO_DISC)
            self._written.clear()
            # What fails now is tried again after the next update, which says what is wrong.
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Lock the file for writing; commit what the block does, or undo it if the block raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # A failed COMMIT can leave the transaction open; some failures have ended it already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
