"""What every store does: changes together or not at all, and a journal of their lines."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_changes import assert_consistent, count

from testsgd.errors import ParameterError, StateError
from testsgd.generative import Enforcer
from testsgd.generative.stores import Change, MemoryStore, SQLiteStore, Store, Written

TENANT = "tenant\x1frequirement é 界"


def keep(text: str | None) -> Written:
    return Written(answer=text)


def fail(text: str | None) -> Written:
    raise LookupError(text)


def test_empty_store(store: Store) -> None:
    assert isinstance(store, Store)
    assert store.read() == {}
    assert list(store.journal()) == []
    assert store.update([]) == []
    assert store.update([Change("a", keep)]) == [None]
    assert store.read() == {}


def test_answers_in_the_order_of_the_changes(store: Store) -> None:
    assert store.update([count("b"), count("a", 5), count("b")]) == [1, 5, 2]
    assert store.update([Change("a", keep), Change(TENANT, keep)]) == ["5", None]
    assert store.read() == {"a": "5", "b": "2"}
    assert list(store.journal()) == ["b 1", "a 5", "b 2"]


def test_texts_are_kept_as_they_are(store: Store) -> None:
    text = '{"a": "\\u0000", "é": "界 🙂\n\t"}' + "x" * 5000
    store.update([Change(TENANT, lambda _: Written(text=text, line=text))])
    store.update([Change("empty", lambda _: Written(text="", line=""))])
    assert store.read() == {TENANT: text, "empty": ""}
    assert list(store.journal()) == [text, ""]
    assert store.update([Change("empty", keep)]) == [""]


def test_a_change_that_raises_undoes_its_update(store: Store) -> None:
    store.update([count("a")])
    with pytest.raises(LookupError, match="2"):
        store.update([count("b"), count("a"), Change("a", fail)])
    assert store.read() == {"a": "1"}
    assert list(store.journal()) == ["a 1"]
    assert store.update([count("a")]) == [2]


@pytest.mark.parametrize("wrong", ["a\0b", "\ud800"])
def test_what_no_store_can_keep_is_refused(store: Store, wrong: str) -> None:
    changes = [
        Change(wrong, keep),
        Change("a", lambda _: Written(text=wrong)),
        Change("a", lambda _: Written(line=wrong)),
    ]
    for change in changes:
        with pytest.raises(ParameterError):
            store.update([count("a"), change])
    assert store.read() == {}
    assert list(store.journal()) == []


def test_a_long_journal_is_whole(store: Store) -> None:
    for _ in range(5):
        store.update([count("a") for _ in range(501)])
    assert list(store.journal()) == [f"a {number}" for number in range(1, 2506)]


def test_state_is_there_after_reopening(reopen: Callable[[], Store]) -> None:
    first = reopen()
    if isinstance(first, MemoryStore):
        pytest.skip("memory ends with the store")
    first.update([count("a")])
    second = reopen()
    assert second.update([count("a")]) == [2]
    first.close()
    assert second.update([count("a")]) == [3]
    assert_consistent(reopen())


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for use in (lambda: store.update([count("a")]), store.read, lambda: list(store.journal())):
        with pytest.raises(StateError):
            use()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_store_of_before_a_fork_is_refused(store: Store) -> None:
    if isinstance(store, MemoryStore):
        pytest.skip("memory is copied by a fork")
    store.update([count("a")])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.update([count("a")])
        except StateError:
            status = 0
        finally:
            store.close()
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert store.update([count("a")]) == [2]


STEPS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["add", "keep", "fail"]))),
    max_size=8,
)


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS)
def test_same_as_a_dictionary_that_is_copied(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, str]]]
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("state") / "state.db")
    expected: dict[str, int] = {}
    lines: list[str] = []
    for step in steps:
        new, new_lines, failed = dict(expected), list(lines), False
        changes = []
        for key, what in step:
            changes.append(
                {"add": count(key), "keep": Change(key, keep)}.get(what, Change(key, fail))
            )
            failed = failed or what == "fail"
            if what == "add":
                new[key] = new.get(key, 0) + 1
                new_lines.append(f"{key} {new[key]}")
        if failed:
            with pytest.raises(LookupError):
                store.update(changes)
        else:
            store.update(changes)
            expected, lines = new, new_lines
        assert store.read() == {key: str(number) for key, number in expected.items()}
        assert list(store.journal()) == lines
    store.close()


def test_with_fsync_only_durable_changes_wait_for_the_disc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_of_commits: list[str] = []
    connect = sqlite3.connect

    def traced(*given: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*given, **named)
        latest = [""]

        def trace(statement: str) -> None:
            if statement.startswith("PRAGMA synchronous"):
                latest[0] = statement.rpartition(" ")[2]
            elif statement == "COMMIT":
                settings_of_commits.append(latest[0])

        connection.set_trace_callback(trace)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    store = SQLiteStore(tmp_path / "state.db", fsync=True)
    settings_of_commits.clear()
    begun = replace(count("a"), durable=False)
    for update in ([begun], [count("a")], [begun, count("a")], [begun]):
        store.update(update)
    store.close()
    assert settings_of_commits == ["NORMAL", "FULL", "FULL", "NORMAL"]


def test_what_an_enforcer_counts_is_durable(tmp_path: Path) -> None:
    updates: list[list[bool]] = []

    class Noting(SQLiteStore):
        def update(self, changes: Sequence[Change]) -> list[Any]:
            updates.append([change.durable for change in changes])
            return super().update(changes)

    groupings = {"g": {"values": ["female", "male"], "terms": {"female": ["she"]}}}
    requirements = [{"grouping": "g", "beta": 3}]
    specification = {"groupings": groupings, "requirements": requirements}
    enforcer = Enforcer(specification, state=Noting(tmp_path / "state.db", fsync=True))
    enforcer.finish(enforcer.begin("A nurse"), "She slept.")
    enforcer.close()
    assert updates == [[False], [True]]
