"""Processes and servers are killed in the middle: nothing is lost, nothing counts twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_changes import assert_consistent, count
from store_servers import RedisServer

from testsgd.generative.stores import PostgreSQLStore, RedisStore, SQLiteStore, Store, open_store

SERVER_KINDS = [
    pytest.param("redis", marks=[pytest.mark.redis, pytest.mark.slow]),
    pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.slow]),
]

# Says each number after the update has returned.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from store_changes import count
from testsgd.generative.stores import SQLiteStore, open_store

address, fsync = sys.argv[2], sys.argv[3] == "fsync"
store = open_store(address, fsync=fsync)
while True:
    print(store.update([count("a"), count("b")])[0], flush=True)
"""


def run_and_kill(address: str, durable: str, said: Path, lines: int) -> int:
    """Kill the child once it has said so many lines; return the last number in a whole line."""
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), address, durable]
    with said.open("wb") as out, subprocess.Popen(command, stdout=out) as child:
        while child.poll() is None and said.read_bytes().count(b"\n") < lines:
            time.sleep(0.0005)
        child.kill()
    assert child.returncode == -signal.SIGKILL
    whole = [line for line in said.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return int(whole[-1])


def assert_killed_children_lose_nothing(
    open_again: Callable[[], Store], address: str, durable: str, said: Path
) -> None:
    chance = random.Random(5)
    for _ in range(4):
        acknowledged = run_and_kill(address, durable, said, chance.randrange(1, 60))
        store = open_again()
        texts = store.read()
        assert texts["a"] == texts["b"]
        assert acknowledged <= int(texts["a"]) <= acknowledged + 1
        assert_consistent(store)
        store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("durable", ["", "fsync"])
def test_killed_process_on_a_file(durable: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    assert_killed_children_lose_nothing(
        lambda: SQLiteStore(path), str(path), durable, tmp_path / "said"
    )


@pytest.mark.parametrize("kind", SERVER_KINDS)
def test_killed_process_on_a_server(
    kind: str,
    new_store: Callable[[str], Callable[[], Store]],
    servers: Callable[[str], Any],
    tmp_path: Path,
) -> None:
    open_again = new_store(kind)
    assert_killed_children_lose_nothing(open_again, servers(kind).url, "", tmp_path / "said")


@pytest.fixture
def server(request: pytest.FixtureRequest, servers: Callable[[str], Any]) -> Any:
    """Return a server that is killed; it runs again afterwards, for the other tests."""
    server = servers(request.param)
    server.empty()
    yield server
    if not server.answers():
        server.kill()
        server.start()


@pytest.mark.parametrize("server", SERVER_KINDS, indirect=True)
@pytest.mark.parametrize("ended", ["kill", "stop"])
def test_server_restarted_between_calls(server: Any, ended: str) -> None:
    store = open_store(server.url)
    assert store.update([count("a")]) == [1]
    for number in (2, 3):
        getattr(server, ended)()
        server.start()
        assert store.update([count("a")]) == [number]
        assert_consistent(store)
    store.close()


@pytest.mark.parametrize("server", SERVER_KINDS, indirect=True)
def test_server_killed_under_load(server: Any) -> None:
    # As long as a slow machine may need to start the server again.
    kind = RedisStore if isinstance(server, RedisServer) else PostgreSQLStore
    store = kind(server.url, patience=60)
    ended = threading.Event()
    answers: list[int] = []
    failures: list[BaseException] = []

    def work() -> None:
        while not ended.is_set():
            try:
                answers.extend(store.update([count("a")]))
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    chance = random.Random(3)
    for _ in range(3):
        time.sleep(0.1 + 0.2 * chance.random())
        server.kill()
        server.start()
    time.sleep(0.2)
    ended.set()
    for thread in threads:
        thread.join(60)
    assert failures == []
    # Every update was acknowledged, each number once: none was lost, none was made twice.
    assert sorted(answers) == list(range(1, len(answers) + 1))
    assert store.read() == {"a": str(len(answers))}
    assert_consistent(store)
    store.close()


class CutRedis:
    """Lets a transaction of Redis through, and cuts the connection before its answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import redis.client
        import redis.exceptions

        execute = redis.client.Pipeline.execute
        self.cuts = 0

        def cut(pipeline: Any, *arguments: Any, **keywords: Any) -> Any:
            result = execute(pipeline, *arguments, **keywords)
            if self.cuts:
                self.cuts -= 1
                raise redis.exceptions.ConnectionError("cut off")
            return result

        monkeypatch.setattr(redis.client.Pipeline, "execute", cut)


class CutPostgreSQL:
    """Lets a commit through, and cuts the connection before its answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import psycopg

        leave = psycopg.Transaction.__exit__
        self.cuts = 0

        def cut(transaction: Any, *arguments: Any) -> Any:
            result = leave(transaction, *arguments)
            if self.cuts:
                self.cuts -= 1
                raise psycopg.OperationalError("cut off")
            return result

        monkeypatch.setattr(psycopg.Transaction, "__exit__", cut)


@pytest.mark.parametrize("server", SERVER_KINDS, indirect=True)
def test_commit_whose_answer_was_lost_is_not_repeated(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(server.url)
    redis = isinstance(server, RedisServer)
    line = CutRedis(monkeypatch) if redis else CutPostgreSQL(monkeypatch)
    assert store.update([count("a")]) == [1]
    # In PostgreSQL the second cut is in the transaction that finds the first one kept.
    for number, cuts in ((2, 1), (3, 2)):
        line.cuts = cuts if not redis else 1
        assert store.update([count("a"), count("b")]) == [number, number - 1]
        assert line.cuts == 0
    assert store.read() == {"a": "3", "b": "2"}
    assert_consistent(store)
    store.close()
