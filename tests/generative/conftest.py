"""The stores that the contract is tested for, and their servers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store_servers import SERVERS

from testsgd.generative.stores import MemoryStore, SQLiteStore, Store, open_store

STORES = [
    "memory",
    "sqlite-fsync",
    "sqlite",
    pytest.param("redis", marks=[pytest.mark.redis, pytest.mark.slow]),
    pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.slow]),
]


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[str], Any]]:
    """Start a server when it is first asked for, and stop all at the end."""
    running: dict[str, Any] = {}
    # Not pytest's own folder: that one is closed to other users.
    with tempfile.TemporaryDirectory(prefix="testsgd-servers-") as folder:
        Path(folder).chmod(0o755)

        def server(kind: str) -> Any:
            if kind not in running:
                data = Path(folder) / kind
                data.mkdir()
                running[kind] = SERVERS[kind](data)
            return running[kind]

        yield server
        for started in running.values():
            started.stop()


@pytest.fixture
def new_store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], Callable[[], Store]]]:
    """Return what opens an empty store of a kind, again and again on the same state."""
    opened: list[Store] = []

    def prepare(kind: str) -> Callable[[], Store]:
        if kind in SERVERS:
            server = request.getfixturevalue("servers")(kind)
            server.empty()

        def open_again() -> Store:
            if kind == "memory":
                store: Store = MemoryStore()
            elif kind == "sqlite-fsync":
                store = SQLiteStore(tmp_path / "state.db", fsync=True)
            elif kind == "sqlite":
                store = SQLiteStore(tmp_path / "state.db")
            else:
                store = open_store(server.url)
            opened.append(store)
            return store

        return open_again

    yield prepare
    for store in opened:
        store.close()


@pytest.fixture(params=STORES)
def reopen(
    request: pytest.FixtureRequest, new_store: Callable[[str], Callable[[], Store]]
) -> Callable[[], Store]:
    """Return what opens the store, of every kind."""
    return new_store(request.param)


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    """Return an empty store of every kind."""
    return reopen()
