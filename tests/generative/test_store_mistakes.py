"""What is no state is refused in one line, and left as it is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_changes import assert_consistent, count

from testsgd.errors import MissingExtraError, ParameterError, StateError, TestSGDError
from testsgd.generative.stores import MemoryStore, SQLiteStore, open_store
from testsgd.generative.stores import sqlite as sqlite_module


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def state_file(path: Path) -> None:
    store = SQLiteStore(path)
    store.update([count("a")])
    store.close()


def other_database(path: Path) -> None:
    changed(path, "CREATE TABLE state (key TEXT PRIMARY KEY, text TEXT)")


def other_database_with_log(path: Path) -> None:
    other_database(path)
    changed(path, "PRAGMA journal_mode = WAL")


def newer_state(path: Path) -> None:
    state_file(path)
    changed(path, f"PRAGMA user_version = {sqlite_module.VERSION + 1}")


def older_state(path: Path) -> None:
    state_file(path)
    changed(path, "PRAGMA user_version = 0")


def state_without_table(path: Path) -> None:
    state_file(path)
    changed(path, "DROP TABLE journal")


def state_whose_schema_is_no_text(path: Path) -> None:
    state_file(path)
    content = path.read_bytes()
    # The name of a table, and what makes it; SQLite quotes the name in its message.
    made = b"tablestatestate"
    assert made in content
    damaged = content.replace(made, b"table\xd5tatestate").replace(b"CREATE TABLE", b"CREATE FABLE")
    path.write_bytes(damaged)


def broken_state(path: Path) -> None:
    state_file(path)
    path.write_bytes(path.read_bytes()[:100] + b"\x55" * 5000)


FILES: list[Callable[[Path], object]] = [
    lambda path: path.write_text("some text"),
    lambda path: path.write_bytes(b"\0" * 8192),
    lambda path: path.write_bytes(b"SQLite format 3\0"),
    other_database,
    other_database_with_log,
    newer_state,
    older_state,
    state_without_table,
    broken_state,
    state_whose_schema_is_no_text,
]


def assert_one_line(error: TestSGDError, where: Path) -> None:
    assert str(where) in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize("make", FILES)
@pytest.mark.parametrize("recognised", [False, True])
def test_file_that_is_no_state(
    make: Callable[[Path], object],
    recognised: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "state.db"
    make(path)
    before = path.read_bytes()
    status = path.stat()
    # Where this process had such a file open before, SQLite alone looks at it.
    known = {(status.st_dev, status.st_ino)} if recognised else set()
    monkeypatch.setattr("testsgd.io.databases._recognised", known)
    with pytest.raises(StateError) as caught:
        open_store(path)
    assert_one_line(caught.value, path)
    assert path.read_bytes() == before
    # These are states, so SQLite makes the files that belong to them.
    if make not in (broken_state, state_whose_schema_is_no_text):
        assert [file.name for file in tmp_path.iterdir()] == ["state.db"]


def test_places_that_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for place in (tmp_path, tmp_path / "file" / "state.db", Path(os.devnull)):
        with pytest.raises(StateError) as caught:
            open_store(place)
        assert_one_line(caught.value, place)
    assert (tmp_path / "file").read_text() == "text"


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state_file(path)
    before = path.read_bytes()
    # Root may write everywhere; the child gives that up.
    child = """
import os, sys
from testsgd.errors import StateError
from testsgd.generative.stores import SQLiteStore
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    SQLiteStore(sys.argv[1])
except StateError as error:
    print(error)
"""
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    path.chmod(0o444)
    for place in (path, folder / "state.db", folder / "new" / "state.db"):
        command = [sys.executable, "-c", child, str(place)]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        assert said.stderr == ""
        assert said.stdout.count("\n") == 1
    assert path.read_bytes() == before


def test_empty_file_becomes_a_state(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    store = open_store(str(path))
    assert store.update([count("a")]) == [1]
    store.close()


def test_file_removed_or_replaced_while_open(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SQLiteStore(path)
    store.update([count("a")])
    path.rename(tmp_path / "moved.db")
    with pytest.raises(StateError):
        store.update([count("a")])
    state_file(path)
    with pytest.raises(StateError):
        store.update([count("a")])
    store.close()


def test_file_of_a_newer_version_while_open(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SQLiteStore(path)
    changed(path, f"PRAGMA user_version = {sqlite_module.VERSION + 1}")
    with pytest.raises(StateError):
        store.update([count("a")])
    changed(path, f"PRAGMA user_version = {sqlite_module.VERSION}")
    assert store.update([count("a")]) == [1]
    assert_consistent(store)
    store.close()


@pytest.mark.parametrize(
    "state", ["mysql://me:secret@host/db", "sqlite:///x", "redis:/host", "", 3]
)
def test_state_of_another_kind(state: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        open_store(state)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_stores_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory = open_store(None)
    assert isinstance(memory, MemoryStore)
    assert open_store(memory) is memory
    for state in ("state.db", "folder/state?x#y%20.db", tmp_path / "a:b"):
        store = open_store(state)
        assert isinstance(store, SQLiteStore)
        store.update([count("a")])
        store.close()
        assert Path(state).is_file()


ADDRESSES = [
    "redis://me:se%2Fcret@127.0.0.1:1/0",
    "redis://me:se/cret@127.0.0.1:1/0",
    "redis://:se?cret@127.0.0.1:1/0",
    "rediss://127.0.0.1:1/0?password=se%2Fcret",
    "postgresql://me:se%2Fcret@127.0.0.1:1/db",
    "postgresql://me:se/cret@127.0.0.1:1/db",
    "postgres://127.0.0.1:1/db?password=se%2Fcret",
    "postgresql://me:se cret@127.0.0.1:port/db",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_passwords_are_in_no_message(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from testsgd.generative.stores import PostgreSQLStore, RedisStore

    if address.startswith("redis"):
        pytest.importorskip("redis")
        kind: Any = RedisStore
    else:
        pytest.importorskip("psycopg")
        kind = PostgreSQLStore
    with pytest.raises(StateError) as caught:
        kind(address, patience=0)
    message = str(caught.value)
    assert "\n" not in message
    assert "cret" not in message
    assert "se/" not in message
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("address", "package"), [("redis://host", "redis"), ("postgresql://host/db", "psycopg")]
)
def test_missing_package_is_named(
    address: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        open_store(address)
    assert caught.value.details["package"] == package


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("redis", marks=pytest.mark.redis),
        pytest.param("postgresql", marks=pytest.mark.postgresql),
    ],
)
def test_server_that_was_emptied_is_not_begun_again(
    kind: str, servers: Callable[[str], Any]
) -> None:
    server = servers(kind)
    server.empty()
    store = open_store(server.url)
    assert store.update([count("a")]) == [1]
    server.empty()
    with pytest.raises(StateError):
        store.update([count("a")])
    # What says whether a server is ready only reads.
    with pytest.raises(StateError):
        store.read()
    store.close()


@pytest.mark.slow
@pytest.mark.redis
def test_names_of_another_program_in_redis(servers: Callable[[str], Any]) -> None:
    redis = pytest.importorskip("redis")
    server = servers("redis")
    server.empty()
    client = redis.Redis.from_url(server.url)
    client.set("testsgd:format", "another")
    with pytest.raises(StateError):
        open_store(server.url)
    assert client.keys() == [b"testsgd:format"]
    client.close()


@pytest.mark.slow
@pytest.mark.postgresql
def test_newer_version_in_postgresql(servers: Callable[[str], Any]) -> None:
    psycopg = pytest.importorskip("psycopg")
    server = servers("postgresql")
    server.empty()
    store = open_store(server.url)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("UPDATE testsgd_format SET version = version + 1")
    with pytest.raises(StateError):
        store.update([count("a")])
    store.close()
    with pytest.raises(StateError):
        open_store(server.url)
