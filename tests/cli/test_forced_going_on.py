"""--force begins anew what work goes on from, where the file is none of testsgd's own."""

from __future__ import annotations

import io
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import command_line
import pytest

import testsgd as package
from testsgd.io import replacing_any_file
from testsgd.mitigation.journal import Journal
from testsgd.models.kept_answers import KeptAnswers

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"
MONITOR = EXAMPLES / "monitors" / "loans-demographic-parity.toml"
PEOPLE = EXAMPLES / "generative" / "people.toml"
EVENTS = '{"group": "female", "decision": 1}\n{"group": "male", "decision": 0}\n'
NETWORK = ("demo", "--domain", "demo", "--protected", "gender")
# Files of others: a text, lines, a document, and what only begins as testsgd's do.
OF_OTHERS = [
    "notes without a line break",
    "a first line\nand a last one that is not ended",
    '{"mine": [1, 2]}\n',
    '{"format": "testsgd.notes"}\n{"mine": 1}\n',
]


@pytest.fixture
def shield(folder: Path) -> Path:
    path = folder / "loans.npz"
    package.synthesize_shield(SHIELD).save(path)
    return path


def journal_of_one(shield: Path, journal: Path) -> None:
    """Make a journal of a shield with one decision."""
    with package.load_shield(shield, journal=journal) as running:
        running.decide("female", 1)


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_journal_of_a_shield(
    content: str,
    shield: Path,
    folder: Path,
    testsgd: Runs,
    fails: Fails,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = folder / "decisions"
    theirs.write_text(content)
    request = b'{"group": "female", "recommendation": 1}\n'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(request)))
    words = ("shield", "run", shield, "--journal", theirs)
    assert "--force" in fails(*words)
    assert theirs.read_text() == content
    assert testsgd(*words, "--force").code == 0
    with package.load_shield(shield, journal=theirs) as resumed:
        assert resumed.step == 1
    # From now on it is one of testsgd's, which force does not begin anew.
    with replacing_any_file(), package.load_shield(shield, journal=theirs) as resumed:
        assert resumed.step == 1


def test_a_journal_of_another_shield_is_never_begun_anew(shield: Path, folder: Path) -> None:
    journal = folder / "decisions"
    journal_of_one(shield, journal)
    before = journal.read_bytes()
    other = folder / "other.toml"
    text = SHIELD.read_text(encoding="utf-8")
    other.write_text(text.replace("bound = ", "bound = 0.9 # "), encoding="utf-8")
    with replacing_any_file():
        with pytest.raises(package.errors.JournalError):
            package.synthesize_shield(other, journal=journal)
        assert journal.read_bytes() == before
        journal.write_bytes(before + b"no JSON\n")
        with pytest.raises(package.errors.JournalError):
            package.load_shield(shield, journal=journal)
    assert journal.read_bytes() == before + b"no JSON\n"


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_state_of_a_monitor(content: str, folder: Path, testsgd: Runs, fails: Fails) -> None:
    (folder / "events.jsonl").write_text(EVENTS)
    theirs = folder / "state"
    theirs.write_text(content)
    words = ("monitor", "run", MONITOR, "--events", "events.jsonl", "--state", "state")
    assert "state" in fails(*words)
    assert theirs.read_text() == content
    assert testsgd(*words, "--force").code == 3
    before = theirs.read_bytes()
    assert testsgd(*words, "--force").code == 3
    # It was gone on with: twice as many decisions.
    assert theirs.read_bytes() != before
    theirs.write_bytes(before[:-20])
    assert testsgd(*words, "--force").code == 2
    assert theirs.read_bytes() == before[:-20]


def test_an_input_is_no_state(folder: Path, fails: Fails) -> None:
    events = folder / "events.jsonl"
    events.write_text(EVENTS)
    fails("monitor", "run", MONITOR, "--events", events, "--state", events, "--force")
    assert events.read_text() == EVENTS


@pytest.mark.parametrize(
    ("content", "resume"), list(zip(OF_OTHERS, [[], ["--resume"]] * 2, strict=True))
)
def test_a_checkpoint(
    content: str, resume: list[str], folder: Path, testsgd: Runs, fails: Fails
) -> None:
    theirs = folder / "search.npz"
    theirs.write_text(content)
    words = ("certify", *NETWORK, "--time-limit", "0.5", "--checkpoint", "search.npz", *resume)
    assert "search.npz" in fails(*words, "--out", "mine")
    assert theirs.read_text() == content
    assert testsgd(*words, "--out", "mine", "--force").code == 0
    own = theirs.read_bytes()
    # From now on it is one of testsgd's: it is gone on with, or stays as it is.
    assert testsgd(*words, "--out", "mine", "--force").code == (0 if resume else 2)
    assert resume or theirs.read_bytes() == own


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_journal_of_a_mitigation(content: str, folder: Path) -> None:
    theirs = folder / "journal.json"
    theirs.write_text(content)
    with pytest.raises(package.errors.ConfigurationError):
        Journal(theirs, {"work": 1}, resume=True)
    assert theirs.read_text() == content
    with replacing_any_file():
        Journal(theirs, {"work": 1}, resume=True).keep("one", [1])
        assert Journal(theirs, {"work": 1}, resume=True).get("one") == [1]
        # One of testsgd's is never begun anew where the work is to go on from it.
        own = theirs.read_text()
        with pytest.raises(package.errors.ConfigurationError):
            Journal(theirs, {"work": 2}, resume=True)
        theirs.write_text(own[:-9])
        with pytest.raises(package.errors.ConfigurationError):
            Journal(theirs, {"work": 1}, resume=True)
    assert theirs.read_text() == own[:-9]


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_state_of_an_enforcer(content: str, folder: Path) -> None:
    theirs = folder / "state.db"
    theirs.write_text(content * 20)
    with pytest.raises(package.errors.StateError):
        package.Enforcer(PEOPLE, state=theirs)
    assert theirs.read_text() == content * 20
    with replacing_any_file():
        enforcer = package.Enforcer(PEOPLE, state=theirs)
    enforcer.finish(enforcer.begin("a portrait of a nurse"), "a woman")
    enforcer.close()
    with replacing_any_file(), closing(package.Enforcer(PEOPLE, state=theirs)) as again:
        assert len(list(again.journal())) > 0


def test_a_database_of_others_and_what_is_beside_it(folder: Path) -> None:
    theirs = folder / "state.db"
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()
        logs = [theirs.with_name(f"state.db{ending}") for ending in ("-wal", "-shm")]
        log = logs[0].read_bytes()
    logs[0].write_bytes(log)
    with pytest.raises(package.errors.StateError):
        package.Enforcer(PEOPLE, state=theirs)
    assert logs[0].read_bytes() == log
    with replacing_any_file():
        package.Enforcer(PEOPLE, state=theirs).close()
    with closing(sqlite3.connect(theirs)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "notes" not in tables
    assert "state" in tables


@pytest.mark.parametrize("content", OF_OTHERS)
def test_answers_of_a_model(content: str, folder: Path) -> None:
    theirs = folder / "answers"
    theirs.write_text(content)
    with pytest.raises(package.errors.ConfigurationError, match="--force"):
        KeptAnswers(theirs).keep({"one": 1})
    assert theirs.read_text() == content
    with replacing_any_file():
        answers = KeptAnswers(theirs)
    answers.keep({"one": 1})
    with replacing_any_file():
        assert KeptAnswers(theirs).find(["one"]) == {"one": 1}
