"""A state in PostgreSQL, for processes of several machines."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from testsgd.errors import MissingExtraError, StateError
from testsgd.generative.stores.addresses import is_clear, shown, without_secrets
from testsgd.generative.stores.combining import Combiner
from testsgd.generative.stores.protocol import Change, evaluate, sorted_keys

T = TypeVar("T")

VERSION = 1
_CONNECT_SECONDS = 5
# For one process that makes the tables at a time ("tSGE").
_ADVISORY_LOCK = 0x74534745
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS testsgd_format (version integer NOT NULL)",
    # A key without a text is only there to be locked.
    "CREATE TABLE IF NOT EXISTS testsgd_state (key text PRIMARY KEY, text text)",
    "CREATE TABLE IF NOT EXISTS testsgd_journal"
    " (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS testsgd_writer"
    " (writer text PRIMARY KEY, attempt text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
)
_SESSION = (
    "SET lock_timeout = '30s'",
    # A connection that was cut off unseen must not keep its locks.
    "SET idle_in_transaction_session_timeout = '30s'",
)
_LOCK_KEYS = "SELECT key, text FROM testsgd_state WHERE key = ANY(%s) ORDER BY key FOR UPDATE"
_MAKE_KEYS = (
    "INSERT INTO testsgd_state (key) SELECT key FROM unnest(%s::text[]) WITH ORDINALITY"
    " AS new (key, number) ORDER BY number ON CONFLICT DO NOTHING"
)
_WRITE_TEXTS = (
    "UPDATE testsgd_state SET text = new.text FROM unnest(%s::text[], %s::text[])"
    " AS new (key, text) WHERE testsgd_state.key = new.key"
)
_WRITE_LINES = (
    "INSERT INTO testsgd_journal (line) SELECT line FROM unnest(%s::text[]) WITH ORDINALITY"
    " AS new (line, number) ORDER BY number"
)
_WRITE_ATTEMPT = (
    "INSERT INTO testsgd_writer (writer, attempt) VALUES (%s, %s)"
    " ON CONFLICT (writer) DO UPDATE SET attempt = excluded.attempt, at = now()"
)
_READ_ATTEMPT = "SELECT attempt FROM testsgd_writer WHERE writer = %s"
_READ_VERSION = "SELECT version FROM testsgd_format"
_READ_TEXTS = "SELECT key, text FROM testsgd_state WHERE text IS NOT NULL"
_READ_LINES = "SELECT line FROM testsgd_journal ORDER BY id"


class PostgreSQLStore:
    """Keeps the state in PostgreSQL, for several processes on several machines.

    It has four tables whose names begin with ``testsgd_``, in the first schema of the user's search
    path. An update returns once the server has committed it, on its disc unless the server is
    configured otherwise (``fsync``); ``synchronous_commit`` is switched on where it is off.

    Each attempt to commit writes an id of its own in the transaction; so where the connection is
    lost, the next attempt finds out whether the last one was kept.

    Parameters
    ----------
    url : str
        Such as "postgresql://user@localhost/database".
    patience : float
        Seconds for which a lost connection is tried again.

    Raises
    ------
    StateError
        If the server cannot be reached, or its tables are of another version.
    MissingExtraError
        If the package psycopg is not installed.

    Examples
    --------
    >>> store = PostgreSQLStore("postgresql://me@localhost/fair")  # doctest: +SKIP
    >>> store.read()  # doctest: +SKIP
    {}
    """

    waits = True

    def __init__(self, url: str, *, patience: float = 5.0) -> None:
        self._psycopg = _package()
        self._url = url
        self._patience = patience
        self._combiner = Combiner(self._commit)
        self._lock = threading.Lock()
        self._closed = False
        self._writer = uuid.uuid4().hex
        self._connection: Any = None
        try:
            self._repeating(self._prepare)
        except BaseException:
            self.close()
            raise

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Make all changes or none; see :meth:`Store.update`."""
        return self._combiner.update(changes)

    def read(self) -> dict[str, str]:
        """Return the text of every key, all as of one moment."""

        def texts() -> dict[str, str]:
            # On a connection of its own, so that a status page delays no update.
            with contextlib.closing(self._connect()) as connection:
                return dict(connection.execute(_READ_TEXTS).fetchall())

        return self._repeating(texts)

    def journal(self) -> Iterator[str]:
        """Return the lines that updates added before, in order."""
        connection = self._repeating(self._connect)
        with contextlib.closing(connection):
            try:
                # A cursor on the server: all lines are as of one moment, and few in memory.
                with connection.transaction(), connection.cursor(name="lines") as cursor:
                    for (line,) in cursor.execute(_READ_LINES):
                        yield line
            except self._psycopg.Error as error:
                raise self._error(error, unknown=False) from None

    def close(self) -> None:
        """Close the connection; an update that is being written is finished first."""
        if not self._combiner.is_own:
            return  # The connection is the other process's.
        with self._lock:
            self._closed = True
            self._disconnect()

    def _connect(self) -> Any:
        """Open a connection whose transactions begin where the code says so."""
        connection = self._psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            # So that it works behind a pool of connections too.
            prepare_threshold=None,
        )
        try:
            connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
            for statement in _SESSION:
                connection.execute(statement)
            if connection.execute("SHOW synchronous_commit").fetchone()[0] == "off":
                connection.execute("SET synchronous_commit = on")
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(self._psycopg.Error):
                self._connection.close()
            self._connection = None

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _prepare(self) -> None:
        """Make the tables, or check those that are there."""
        with contextlib.closing(self._connect()) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ADVISORY_LOCK,))
            if connection.execute("SELECT to_regclass('testsgd_format')").fetchone()[0] is None:
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO testsgd_format VALUES (%s)", (VERSION,))
            self._check_version(connection)
            # Writers of processes that ended long ago.
            connection.execute("DELETE FROM testsgd_writer WHERE at < now() - interval '30 days'")

    def _check_version(self, connection: Any) -> None:
        rows = connection.execute(_READ_VERSION).fetchall()
        if rows != [(VERSION,)]:
            found = ", ".join(str(version) for (version,) in rows) or "no version"
            what = f"the state has version {found}, and this testsgd knows {VERSION}"
            remedy = "install a newer testsgd, or choose another database"
            raise StateError(what, where=shown(self._url), remedy=remedy)

    def _commit(self, updates: list[list[Change]]) -> list[list[Any] | Exception]:
        """Write updates in one transaction; one that raises is left out."""
        # What each attempt would answer, by its id.
        attempts: dict[str, list[list[Any] | Exception]] = {}

        def attempt() -> list[list[Any] | Exception]:
            try:
                return self._attempt(updates, attempts)
            except BaseException:
                # Whatever the connection still has under way ends with it.
                self._disconnect()
                raise

        with self._lock:
            return self._repeating(attempt, attempts)

    def _attempt(
        self, updates: list[list[Change]], attempts: dict[str, list[list[Any] | Exception]]
    ) -> list[list[Any] | Exception]:
        """Try a transaction once; find out first whether an earlier attempt was kept."""
        connection = self._connected()
        with connection.transaction():
            self._check_version(connection)
            texts = _lock_keys(connection, sorted_keys(updates))
            # Only now, with the keys locked: an attempt that the server still has under way keeps
            # them locked until it is known what became of it.
            if attempts:
                row = connection.execute(_READ_ATTEMPT, (self._writer,)).fetchone()
                if row is not None and row[0] in attempts:
                    return attempts[row[0]]
            evaluated = evaluate(updates, texts)
            if evaluated.texts:
                values = (list(evaluated.texts), list(evaluated.texts.values()))
                connection.execute(_WRITE_TEXTS, values)
            if evaluated.lines:
                connection.execute(_WRITE_LINES, (evaluated.lines,))
            attempt = uuid.uuid4().hex
            connection.execute(_WRITE_ATTEMPT, (self._writer, attempt))
            attempts[attempt] = evaluated.outcomes
        return evaluated.outcomes

    def _repeating(self, action: Callable[[], T], attempts: Any = ()) -> T:
        """Repeat what the connection was lost in, and what gave way in a deadlock."""
        errors = self._psycopg.errors
        start = time.monotonic()
        while True:
            if self._closed:
                raise StateError("the state is closed", where=shown(self._url))
            try:
                return action()
            except (errors.DeadlockDetected, errors.SerializationFailure) as error:
                # The server has undone it.
                if time.monotonic() - start > self._patience:
                    raise self._error(error, unknown=False) from None
            except self._psycopg.OperationalError as error:
                if not _is_lost(error) or time.monotonic() - start > self._patience:
                    raise self._error(error, unknown=bool(attempts)) from None
                time.sleep(0.05)
            except (self._psycopg.Error, ValueError, UnicodeError) as error:
                raise self._error(error, unknown=False) from None

    def _error(self, error: Exception, *, unknown: bool) -> StateError:
        """Return the error for what the driver raised, without secrets of the address."""
        reason = without_secrets(str(error), self._url)
        what = f"the state in PostgreSQL cannot be used ({reason})"
        if unknown:
            what = f"{what}; the last update may have been kept or not"
        remedy = "look after the server and its address"
        if not is_clear(self._url):
            remedy = "quote the characters of the password, such as %2F for a slash"
        return StateError(what, where=shown(self._url), remedy=remedy, unknown=unknown)


def _lock_keys(connection: Any, keys: list[str]) -> dict[str, str | None]:
    """Lock the rows of the keys, made first where they are missing, and return their texts."""
    texts = dict(connection.execute(_LOCK_KEYS, (keys,)).fetchall())
    missing = [key for key in keys if key not in texts]
    if missing:
        connection.execute(_MAKE_KEYS, (missing,))
        texts = dict(connection.execute(_LOCK_KEYS, (keys,)).fetchall())
    return texts


def _is_lost(error: Any) -> bool:
    """Return whether the connection was lost or refused for the moment."""
    # https://www.postgresql.org/docs/current/errcodes-appendix.html: connection exceptions, and
    # a server that stops, starts or has no place. Without a code there was no answer.
    code: str | None = error.sqlstate
    if code is None:
        return not _is_refused(str(error))
    return code.startswith(("08", "57P0", "53300", "25P03"))


def _is_refused(message: str) -> bool:
    """Return whether the server refused the user or the database, which trying again cannot mend.

    psycopg gives no code for what fails while it connects.
    """
    refusals = (
        "password authentication failed",
        "no password supplied",
        "no pg_hba.conf entry",
        "does not exist",
    )
    return any(refusal in message for refusal in refusals)


def _package() -> Any:
    """Import psycopg, which takes long."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError(
            "psycopg", extra="postgresql", purpose="keeping the state in PostgreSQL"
        ) from error
    return psycopg
