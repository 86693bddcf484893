"""The store that a user names: by an address, by a file, or none."""

from __future__ import annotations

import re
from pathlib import Path

from testsgd.errors import ParameterError, StateError
from testsgd.generative.stores.memory import MemoryStore
from testsgd.generative.stores.postgresql import PostgreSQLStore
from testsgd.generative.stores.protocol import Store
from testsgd.generative.stores.redis import RedisStore
from testsgd.generative.stores.sqlite import SQLiteStore

# Two letters at least: one is a drive of Windows.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def check_state_there(state: str | Path) -> None:
    """Check that there is a state to read, if it is one in a file; those of servers are let pass.

    Parameters
    ----------
    state : str or Path
        As of :func:`open_store`.

    Raises
    ------
    StateError
        If there is no such file, or nothing in it.

    Examples
    --------
    >>> check_state_there("redis://localhost")
    >>> check_state_there("no such file")
    Traceback (most recent call last):
    testsgd.errors.StateError: no such file: there is no such file; check the path
    """
    path = Path(state)
    if isinstance(state, str) and (not state.strip() or _SCHEME.match(state)):
        return
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise StateError(
            "there is no such file", where=str(state), remedy="check the path"
        ) from None
    except OSError:
        return  # What opens it says what is wrong.
    if size == 0:
        raise StateError(
            "the file is empty: no state was kept in it", where=str(state), remedy="check the path"
        )


def open_store(state: str | Path | Store | None, *, fsync: bool = False) -> Store:
    """Return the store that is named.

    Parameters
    ----------
    state : str, Path, Store or None
        None is memory; ``redis://`` and ``rediss://`` are Redis, ``postgresql://`` and
        ``postgres://`` are PostgreSQL; any other text, and a `Path`, is a file of SQLite. A store
        is returned as it is.
    fsync : bool
        Whether an update of a file returns only once it is on the disc. Servers have settings of
        their own for that.

    Returns
    -------
    Store

    Raises
    ------
    ParameterError
        If the address is of another kind.
    StateError
        If the store cannot be opened.
    MissingExtraError
        If the package for it is not installed.

    Examples
    --------
    >>> store = open_store(None)
    >>> store.read()
    {}
    >>> open_store(store) is store
    True
    """
    if state is None:
        return MemoryStore()
    if isinstance(state, Path):
        return SQLiteStore(state, fsync=fsync)
    if not isinstance(state, str):
        if isinstance(state, Store):
            return state
        raise ParameterError(
            f"the state is of type {type(state).__name__}", remedy="give a path or an address"
        )
    if not state.strip():
        raise ParameterError("the state is an empty text", remedy="give a path or an address")
    match = _SCHEME.match(state)
    if match is None:
        return SQLiteStore(state, fsync=fsync)
    scheme = match.group(1)
    if state.startswith(("redis://", "rediss://")):
        return RedisStore(state)
    if state.startswith(("postgresql://", "postgres://")):
        return PostgreSQLStore(state)
    # The rest of the address may have a password in it.
    raise ParameterError(
        f"the state is at an address that begins with {scheme}:/",
        remedy="give redis://, rediss://, postgresql://, postgres:// or the path of a file",
    )
