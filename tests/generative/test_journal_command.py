"""``testsgd generative journal``: outputs behind lost tickets, and files that are not there."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testsgd.cli.main import _run
from testsgd.errors import StateError
from testsgd.generative import Enforcer
from testsgd.generative.stores import check_state_there

SPECIFICATION = """
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
[enforcement]
ticket_seconds = 100
"""
PROMPT = "The nurse was tired, so"
BEGUN = 1_000_000_000.0
Run = Callable[..., tuple[int, list[str], list[str]]]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = BEGUN

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPECIFICATION, encoding="utf-8")
    return tmp_path


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command; return its exit code and the lines of both outputs."""

    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        code = _run(["generative", "journal", "--spec", "spec.toml", *arguments])
        captured = capsys.readouterr()
        return code, captured.out.splitlines(), captured.err.splitlines()

    return run


def with_lost_ticket(
    state: Path, *, begun: float, answers: int, tenant: str = "", lost: int = 1
) -> None:
    """Begin requests that are never finished, and then some that are."""
    enforcer = Enforcer("spec.toml", state=state, clock=lambda: begun)
    for _ in range(lost):
        enforcer.begin(PROMPT, tenant=tenant)
    for _ in range(answers):
        ticket = enforcer.begin(PROMPT, tenant=tenant)
        asked = ticket.wanted[0].value if ticket.wanted else "female"
        enforcer.finish(ticket, "he slept." if asked == "male" else "she slept.")
    enforcer.close()


def test_outputs_behind_an_expired_ticket_are_printed(folder: Path, command: Run) -> None:
    with_lost_ticket(folder / "state.sqlite", begun=time.time() - 101, answers=20)
    code, printed, notes = command("--state", "state.sqlite")
    assert (code, len(printed), notes) == (0, 20, [])
    assert command("--state", "state.sqlite") == (0, printed, [])


def test_what_waits_behind_an_unfinished_ticket_is_said(folder: Path, command: Run) -> None:
    with_lost_ticket(folder / "state.sqlite", begun=time.time() - 40, answers=20, lost=3)
    code, printed, notes = command("--state", "state.sqlite", "--quiet")
    assert (code, printed, len(notes)) == (0, [], 1)
    outputs, tickets, seconds = map(int, re.findall(r"\d+", notes[0]))
    assert (outputs, tickets) == (20, 3)
    assert 0 < seconds <= 60


def test_only_what_was_asked_for_waits(folder: Path, command: Run) -> None:
    with_lost_ticket(folder / "state.sqlite", begun=time.time(), answers=5, tenant="a")
    with_lost_ticket(folder / "state.sqlite", begun=time.time(), answers=4, tenant="b", lost=0)
    code, printed, notes = command("--state", "state.sqlite", "--tenant", "b")
    assert (code, len(printed), notes) == (0, 4, [])
    _, printed, notes = command("--state", "state.sqlite")
    assert (len(printed), len(notes)) == (4, 1)


def test_the_journal_releases_as_the_next_request_does(folder: Path) -> None:
    lines = []
    for name in ("read", "asked"):
        clock = Clock()
        enforcer = Enforcer("spec.toml", state=folder / name, clock=clock, random_state=1)
        late = enforcer.begin(PROMPT, ticket="late")
        for number in range(6):
            ticket = enforcer.begin(PROMPT, ticket=f"{number}")
            enforcer.finish(ticket, "he slept." if number % 2 else "she slept.")
        clock.now = BEGUN + 100
        assert list(enforcer.journal()) == []
        clock.now = BEGUN + 101
        if name == "asked":
            enforcer.give_back(enforcer.begin(PROMPT, ticket="next"))
        assert len(list(enforcer.journal())) == 6
        assert enforcer.waiting() is None
        # An output that comes all the same is the last.
        enforcer.finish(late, "she slept.")
        lines.append([json.loads(line) for line in enforcer.journal()])
        assert [status.state.expired for status in enforcer.status()] == [1]
        enforcer.close()
    assert lines[0] == lines[1]
    assert [line["ticket"] for line in lines[0]] == [*map(str, range(6)), "late"]


def test_another_reader_and_the_enforcer_release_once(folder: Path) -> None:
    clock = Clock()
    enforcers = [Enforcer("spec.toml", state=folder / "state", clock=clock) for _ in range(2)]
    enforcers[0].begin(PROMPT)
    enforcers[0].finish(enforcers[0].begin(PROMPT), "she slept.")
    clock.now = BEGUN + 101
    first, second = (list(enforcer.journal()) for enforcer in enforcers)
    assert first == second
    assert len(first) == 1
    for enforcer in enforcers:
        enforcer.close()


def test_a_journal_without_expired_tickets_writes_nothing(folder: Path) -> None:
    enforcer = Enforcer("spec.toml", clock=Clock())
    enforcer.begin(PROMPT)
    enforcer.finish(enforcer.begin(PROMPT), "she slept.")
    before = enforcer.store.read()
    assert list(enforcer.journal()) == []
    assert enforcer.store.read() == before


def test_a_state_of_other_betas_is_read_and_left(folder: Path, command: Run) -> None:
    with_lost_ticket(folder / "state.sqlite", begun=time.time() - 101, answers=2)
    other = SPECIFICATION.replace("beta = 3", "beta = 5")
    (folder / "spec.toml").write_text(other, encoding="utf-8")
    code, printed, notes = command("--state", "state.sqlite")
    assert (code, printed, len(notes)) == (0, [], 1)


@pytest.mark.parametrize("name", ["typo.sqlite", "nodir/typo.sqlite"])
def test_a_state_that_is_not_there_is_refused_and_not_made(
    folder: Path, command: Run, name: str
) -> None:
    before = sorted(os.listdir(folder))
    code, printed, errors = command("--state", name)
    assert (code, printed, len(errors)) == (2, [], 1)
    assert name in errors[0]
    assert sorted(os.listdir(folder)) == before


def test_an_empty_file_is_no_state(folder: Path, command: Run) -> None:
    (folder / "empty").touch()
    code, printed, errors = command("--state", "empty")
    assert (code, printed, len(errors)) == (2, [], 1)
    assert (folder / "empty").stat().st_size == 0
    with pytest.raises(StateError):
        check_state_there(folder / "empty")
