"""Files of kept answers: databases of other programs are left as they are."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from testsgd.errors import ConfigurationError
from testsgd.models.kept_answers import KeptAnswers

OF_OTHERS = {
    "another table": ["CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('mine')"],
    "the same name": ["CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT)"],
    "one more table": [
        "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)",
        "CREATE TABLE notes (text TEXT)",
    ],
    "another mark": [
        "PRAGMA application_id = 7",
        "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)",
    ],
    "a log": ["PRAGMA journal_mode = WAL", "CREATE TABLE notes (text TEXT)"],
    "no table": ["PRAGMA user_version = 3"],
}


def made(path: Path, statements: list[str]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize("whose", OF_OTHERS)
def test_databases_of_others_are_left_alone(whose: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    made(path, OF_OTHERS[whose])
    before = path.read_bytes()
    for use in (lambda kept: kept.find(["a"]), lambda kept: kept.keep({"a": 1})):
        with pytest.raises(ConfigurationError) as caught:
            use(KeptAnswers(path))
        assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_answers_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    table = "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
    made(path, [table, "INSERT INTO answers VALUES ('a', '[1]')"])
    kept = KeptAnswers(path)
    kept.keep({"b": 2})
    assert kept.find(["a", "b", "c"]) == {"a": [1], "b": 2}


def test_a_new_file_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "answers"
    KeptAnswers(path).keep({"a": 1})
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] > 0
        connection.execute("PRAGMA user_version = 99")
    # What was recognised is not looked at again; a copy is.
    later = tmp_path / "later"
    later.write_bytes(path.read_bytes())
    with pytest.raises(ConfigurationError):
        KeptAnswers(later).find(["a"])


def test_threads_share_a_file(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path / "answers")

    def use(number: int) -> None:
        for step in range(20):
            kept.keep({f"{number} {step}": step})

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [f"{number} {step}" for number in range(4) for step in range(20)]
    assert len(kept.find(keys)) == 80


def test_a_file_that_was_replaced_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    KeptAnswers(path).keep({"a": 1})
    # The same file by its number, with other contents.
    foreign = tmp_path / "theirs"
    made(foreign, OF_OTHERS["another table"])
    path.write_bytes(foreign.read_bytes())
    with pytest.raises(ConfigurationError):
        KeptAnswers(path).keep({"b": 1})
    assert path.read_bytes() == foreign.read_bytes()
