"""A journal brings a shield back to where it stopped, wherever the file was cut off."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from shield_runs import specification

from testsgd.errors import JournalError, TestSGDError
from testsgd.shielding.running import Shield

CASES: dict[str, dict[str, Any]] = {
    "finite": {"length": 12, "unknown": "pass"},
    "labelled": {"property": "equal_opportunity", "length": 4, "after": "next", "unknown": "pass"},
    "static": {"length": 4, "shield": "static-fair"},
    "dynamic": {"length": 4, "shield": "dynamic", "bound": "1/2"},
    "labelled dynamic": {
        "property": "equal_opportunity",
        "length": 4,
        "shield": "dynamic",
        "bound": "1/2",
    },
}


class Caller:
    """Sends twelve events with ids; after a restart all of them again."""

    def __init__(self, wanted: Any, seed: int = 0) -> None:
        random_state = random.Random(seed)
        names = [*wanted.groups.names, "z"] if wanted.groups.unknown == "pass" else "ab"
        self.labelled = wanted.fairness_property.labelled
        self.events = [
            (random_state.choice(names), random_state.randrange(2), random_state.random())
            for _ in range(12)
        ]
        self.labels = [random_state.randrange(2) for _ in self.events]

    def send(self, shield: Shield, events: int = 12) -> list[int]:
        decisions = []
        for number, (group, recommendation, cost) in enumerate(self.events[:events]):
            name = f'"{number}" é'
            decisions.append(shield.decide(group, recommendation, cost, event=name))
            if self.labelled:
                shield.observe(self.labels[number], event=name)
        return decisions


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "decisions.jsonl"


def again(shield: Shield, journal: Path | None = None, **keys: Any) -> Shield:
    first = shield._policy.first_solution()
    return Shield(shield.specification, shield.inputs, first, journal=journal, **keys)


@pytest.mark.parametrize("case", CASES)
def test_cut_off_anywhere(case: str, journal: Path) -> None:
    wanted = specification(**CASES[case])
    caller = Caller(wanted)
    shield = Shield.synthesize(wanted)
    whole = again(shield)
    decisions, state = caller.send(whole), whole.to_dict()
    with again(shield, journal) as written:
        assert caller.send(written) == decisions
    text = journal.read_bytes()
    step = 1 if case == "finite" else 7
    for end in range(0, len(text) + 1, step):
        journal.write_bytes(text[:end])
        with again(shield, journal) as resumed:
            assert caller.send(resumed) == decisions
            assert resumed.to_dict() == state
        assert journal.read_bytes() == text


@pytest.mark.parametrize("case", CASES)
def test_a_restart_has_the_same_state(case: str, journal: Path) -> None:
    wanted = specification(**CASES[case])
    caller = Caller(wanted, seed=1)
    shield = Shield.synthesize(wanted)
    for events in (0, 3, 7, 11):
        with again(shield, journal, fsync=True) as running:
            caller.send(running, events)
            state = running.to_dict()
        with again(shield, journal) as resumed:
            assert resumed.to_dict() == state
            assert resumed.total_cost == running.total_cost
            assert resumed.period_reports == running.period_reports


def test_what_a_line_says(journal: Path) -> None:
    with Shield.synthesize(specification(bound="1"), journal=journal) as shield:
        shield.decide("a", 1, event="x")
        shield.decide("b", 0, 1.5)
    header, *lines = map(json.loads, journal.read_text().splitlines())
    assert header == {
        "format": "testsgd.shield-journal",
        "version": 1,
        "digest": shield.specification.digest(shield.inputs),
    }
    assert lines == [
        {"group": "a", "recommendation": 1, "cost": None, "decision": 1, "id": "x"},
        {"group": "b", "recommendation": 0, "cost": 1.5, "decision": 0},
    ]


def test_a_failure_before_the_first_decision_leaves_no_journal(journal: Path) -> None:
    wanted = specification(**CASES["finite"])
    with pytest.raises(ZeroDivisionError), Shield.synthesize(wanted, journal=journal):
        raise ZeroDivisionError
    assert not journal.exists()
    shield = Shield.synthesize(wanted, journal=journal)
    Caller(wanted).send(shield, 1)
    with pytest.raises(ZeroDivisionError), shield:
        raise ZeroDivisionError
    written = journal.read_bytes()
    assert len(written.splitlines()) == 2
    # One that was there already stays, whatever fails.
    journal.write_bytes(written.splitlines(keepends=True)[0])
    with pytest.raises(ZeroDivisionError), Shield.synthesize(wanted, journal=journal):
        raise ZeroDivisionError
    assert len(journal.read_bytes().splitlines()) == 1


def test_one_shield_at_a_time(journal: Path) -> None:
    shield = Shield.synthesize(specification(), journal=journal)
    with pytest.raises(JournalError, match="another shield writes to this journal"):
        again(shield, journal)
    shield.close()
    with pytest.raises(JournalError, match="the journal is closed"):
        shield.decide("a", 1)
    again(shield, journal).close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"group":"a","recommendation":1,"cost":null,"decision":0}', "decides 1"),
        ('{"group":"q","recommendation":1,"cost":null,"decision":1}', "unknown"),
        ('{"group":"a","recommendation":1,"decision":1}', "has no 'cost'"),
        ('{"label":1}', "labels play no part"),
        ('{"period":1,"active":true}', "begins where none can"),
        ("{}", "has no 'label'"),
        ("[1]", "no JSON object"),
        ('{"group":"a"', "no JSON object"),
    ],
)
def test_damaged_lines_are_named(line: str, words: str, journal: Path) -> None:
    with Shield.synthesize(specification(bound="1"), journal=journal) as shield:
        shield.decide("b", 1)
    with journal.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(JournalError, match=words) as caught:
        again(shield, journal)
    assert caught.value.where == f"{journal}, line 3"
    assert "\n" not in str(caught.value)


def test_only_a_dynamic_shield_notes_its_periods(journal: Path) -> None:
    with Shield.synthesize(specification(**CASES["static"]), journal=journal) as shield:
        for group in "abab":
            shield.decide(group, 1)
    with journal.open("a") as stream:
        stream.write('{"period":1,"active":true}\n')
    with pytest.raises(JournalError, match="begins where none can"):
        again(shield, journal)


def test_journals_of_others_are_refused(journal: Path) -> None:
    with Shield.synthesize(specification(), journal=journal):
        pass
    with pytest.raises(JournalError, match="of a shield with another specification"):
        Shield.synthesize(specification(bound="1/5"), journal=journal)
    journal.write_text(journal.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(JournalError, match="version 2, not 1"):
        Shield.synthesize(specification(), journal=journal)
    journal.write_text('{"group":"a"}\n')
    with pytest.raises(JournalError, match="no journal of a shield"):
        Shield.synthesize(specification(), journal=journal)
    with pytest.raises(JournalError, match="cannot be opened"):
        Shield.synthesize(specification(), journal=journal.parent)


@pytest.mark.parametrize("fits", [0, 1, 20])
def test_a_full_disc_decides_nothing(
    fits: int, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shield = Shield.synthesize(specification(bound="1"), journal=journal)
    shield.decide("a", 1, event="1")
    before, text, write = shield.to_dict(), journal.read_bytes(), os.write

    def part_of(file: int, line: bytes) -> int:
        return write(file, line[:fits])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", part_of)
        with pytest.raises(TestSGDError, match="cannot be written"):
            shield.decide("b", 0, event="2")
    assert (shield.to_dict(), journal.read_bytes()) == (before, text)
    assert shield.decide("b", 0, event="2") == 0
    state = shield.to_dict()
    shield.close()
    with again(shield, journal) as resumed:
        assert resumed.to_dict() == state


@pytest.mark.parametrize(
    "content",
    [
        b"notes without a line break",
        b"a first line\nand a last one that is not ended",
        b'{"format": "of something else"}\n{"whole": true}\n{"not who',
        b"PK\x03\x04" + bytes(range(256)) * 40,
        b"\n",
        b"[" * 100_000,
        b"[" * 3_000 + b"\n",
    ],
    ids=["text", "lines", "other records", "archive", "empty line", "brackets", "deep line"],
)
def test_what_is_no_journal_is_refused_and_stays_as_it_is(content: bytes, journal: Path) -> None:
    shield = Shield.synthesize(specification(**CASES["finite"]))
    journal.parent.mkdir()
    journal.write_bytes(content)
    with pytest.raises(JournalError):
        again(shield, journal)
    assert journal.read_bytes() == content


def test_a_damaged_journal_keeps_its_cut_end(journal: Path) -> None:
    wanted = specification(**CASES["finite"])
    shield = Shield.synthesize(wanted)
    with again(shield, journal) as running:
        Caller(wanted).send(running, 4)
    lines = journal.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:2], b"no JSON\n", *lines[3:], b'{"group":"a","recomm'])
    journal.write_bytes(damaged)
    with pytest.raises(JournalError, match="line 3"):
        again(shield, journal)
    assert journal.read_bytes() == damaged


def test_a_file_of_a_shield_is_no_journal_of_it(journal: Path, tmp_path: Path) -> None:
    shield = Shield.synthesize(specification(**CASES["finite"]))
    file = tmp_path / "shield.npz"
    shield.save(file)
    before = file.read_bytes()
    with pytest.raises(JournalError):
        again(shield, file)
    assert file.read_bytes() == before
