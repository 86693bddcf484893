"""Which store a user means: a file, the URL of a server, or memory."""

from __future__ import annotations

import re
from pathlib import Path

from testsgd.errors import ParameterError
from testsgd.generative.stores.memory import MemoryStore
from testsgd.generative.stores.protocol import Store
from testsgd.generative.stores.sqlite import SQLiteStore

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.ASCII | re.IGNORECASE)


def open_store(state: str | Path | Store | None) -> Store:
    """Return the store that a user names.

    Parameters
    ----------
    state : path-like, URL, Store or None
        A SQLite file; the URL of a Redis or PostgreSQL server; a store; None for memory.

    Returns
    -------
    Store

    Raises
    ------
    ParameterError
        If the URL is of an unknown kind.
    StateError
        If the store cannot be opened.

    Examples
    --------
    >>> type(open_store(None)).__name__
    'MemoryStore'
    """
    if state is None:
        return MemoryStore()
    if not isinstance(state, str | Path):
        return state
    found = _URL.match(str(state))
    if found is None:
        return SQLiteStore(state)
    raise ParameterError(
        f"a state of the kind {found[1]!r} is not known",
        where="state",
        remedy="give a file",
    )
