"""Threads and processes that update the same keys lose nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from store_changes import assert_consistent, count

from testsgd.generative.stores import Change, MemoryStore, Store, Written
from testsgd.generative.stores.combining import Combiner
from testsgd.generative.stores.protocol import evaluate

THREADS = 8
UPDATES = 25

# Counts a key of its own and one that all count, in one update.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from store_changes import count
from testsgd.generative.stores import open_store

store = open_store(sys.argv[2])
for _ in range(int(sys.argv[4])):
    store.update([count(sys.argv[3]), count("shared")])
store.close()
"""


def test_threads_lose_nothing(reopen: Callable[[], Store]) -> None:
    store = reopen()
    # Two stores, as two processes have them.
    stores = [store, store if isinstance(store, MemoryStore) else reopen()]

    def work(thread: int) -> list[int]:
        own = f"thread {thread}"
        used = stores[thread % 2]
        # In an order that differs, which must not lead to a deadlock.
        keys = ["shared", "other", own] if thread % 3 else [own, "other", "shared"]
        place = keys.index("shared")
        return [used.update([count(key) for key in keys])[place] for _ in range(UPDATES)]

    with ThreadPoolExecutor(THREADS) as pool:
        answers = [number for numbers in pool.map(work, range(THREADS)) for number in numbers]
    assert sorted(answers) == list(range(1, THREADS * UPDATES + 1))
    assert store.read()["other"] == str(THREADS * UPDATES)
    assert_consistent(store)


def test_one_thread_that_fails_does_not_undo_the_others(store: Store) -> None:
    def fail(text: str | None) -> Written:
        raise LookupError(text)

    def work(thread: int) -> None:
        for _ in range(UPDATES):
            if thread % 2:
                store.update([count("shared")])
            else:
                with pytest.raises(LookupError):
                    store.update([count("shared"), Change("shared", fail)])

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert store.read() == {"shared": str(THREADS // 2 * UPDATES)}
    assert_consistent(store)


def run_children(address: str, processes: int, updates: int) -> None:
    here = str(Path(__file__).parent)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, here, address, f"child {child}", str(updates)]
        )
        for child in range(processes)
    ]
    assert [child.wait(120) for child in children] == [0] * processes


def test_processes_on_one_file_lose_nothing(
    new_store: Callable[[str], Callable[[], Store]], tmp_path: Path
) -> None:
    # The children also make the file, at the same time.
    run_children(str(tmp_path / "state.db"), 3, 60)
    store = new_store("sqlite-fsync")()
    expected = {f"child {child}": "60" for child in range(3)}
    assert store.read() == {"shared": "180", **expected}
    assert_consistent(store)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("redis", marks=pytest.mark.redis),
        pytest.param("postgresql", marks=pytest.mark.postgresql),
    ],
)
def test_processes_on_one_server_lose_nothing(
    kind: str,
    new_store: Callable[[str], Callable[[], Store]],
    servers: Callable[[str], object],
) -> None:
    open_again = new_store(kind)
    run_children(servers(kind).url, 3, 60)  # type: ignore[attr-defined]
    store = open_again()
    assert store.read()["shared"] == "180"
    assert_consistent(store)


def test_updates_that_wait_are_committed_together() -> None:
    started, go_on = threading.Event(), threading.Event()
    sizes: list[int] = []

    def commit(updates: list[list[Change]]) -> list[object]:
        sizes.append(len(updates))
        started.set()
        assert go_on.wait(30)
        return list(evaluate(updates, {}).outcomes)

    combiner = Combiner(commit)  # type: ignore[arg-type]
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(combiner.update, [count("a")])
        assert started.wait(30)
        others = [pool.submit(combiner.update, [count("a")]) for _ in range(5)]
        while len(combiner._queue) < 5:
            threading.Event().wait(0.001)
        go_on.set()
        assert first.result() == [1]
        assert sorted(other.result()[0] for other in others) == [1, 2, 3, 4, 5]
    assert sizes == [1, 5]


def test_a_failed_commit_is_raised_in_every_thread() -> None:
    started, go_on = threading.Event(), threading.Event()

    def commit(updates: list[list[Change]]) -> list[object]:
        started.set()
        assert go_on.wait(30)
        raise OSError(len(updates))

    combiner = Combiner(commit)  # type: ignore[arg-type]
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(combiner.update, [count("a")])]
        assert started.wait(30)
        waiting += [pool.submit(combiner.update, [count("a")]) for _ in range(3)]
        while len(combiner._queue) < 3:
            threading.Event().wait(0.001)
        go_on.set()
        assert [future.exception(30).args for future in waiting] == [(1,), (3,), (3,), (3,)]
