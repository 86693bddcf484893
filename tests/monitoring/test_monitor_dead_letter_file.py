"""The file of dead letters: added to if it has nothing else, and refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testsgd import monitor
from testsgd.cli.main import _run
from testsgd.errors import ConfigurationError
from testsgd.io import replacing_any_file

WATCHED = {
    "properties": [{"property": "equal_opportunity", "bound": 0.25, "rule": "estimate"}],
    "trials": {"deadline": "3 d"},
}
START = 1_700_000_000


def events(*seconds: int) -> list[dict[str, Any]]:
    """Return an event at each time; one that is before the others is late."""
    return [
        {"id": place, "group": "ab"[place % 2], "decision": 1, "label": 1, "time": START + second}
        for place, second in enumerate(seconds)
    ]


IN_TIME, LATE = events(0, 1, 2), events(0, 1, 2, -9)
FOREIGN = {
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "people.csv": b"sex,age\nf,31\nm,44\n",
    "notes.txt": b"my own notes\nof two lines",
    "notes": b"one line, no end",
    "others.json": b'{"id": 1}\n',
    "events.jsonl": b'{"id": 1, "group": "a"}\n{"id": 2, "group": "b"}',
    "letters.jsonl": b'["dead_letter", "said"]\n',
}


def run(letters: Path, given: list[dict[str, Any]], **more: Any) -> None:
    """Watch events, and add dead letters to a file."""
    monitor(WATCHED, given, dead_letters=letters, clock=lambda: START + 100, **more)


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("given", [IN_TIME, LATE], ids=["in time", "late"])
@pytest.mark.parametrize("has_state", [False, True])
def test_files_of_others_stay_as_they_are(
    name: str, given: list[dict[str, Any]], has_state: bool, tmp_path: Path
) -> None:
    letters, state = tmp_path / name, tmp_path / "state.json"
    if has_state:
        run(tmp_path / "before.jsonl", IN_TIME, state=state)
    before = state.read_bytes() if has_state else b""
    letters.write_bytes(FOREIGN[name])
    with pytest.raises(ConfigurationError) as refused:
        run(letters, given, **({"state": state} if has_state else {}))
    assert refused.value.where == str(letters)
    assert letters.read_bytes() == FOREIGN[name]
    assert not has_state or state.read_bytes() == before
    # By force it is replaced, but only once there is a letter.
    with replacing_any_file():
        run(letters, given)
    if given is IN_TIME:
        assert letters.read_bytes() == FOREIGN[name]
        return
    (line,) = letters.read_text().splitlines()
    assert json.loads(line)["dead_letter"] == "late"
    with replacing_any_file():
        run(letters, given)
    assert letters.read_text().splitlines() == [line, line]
    assert sorted(tmp_path.iterdir()) == sorted({*tmp_path.glob("*.json*"), letters})


def test_the_command_refuses_files_of_others_but_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.toml").write_text('[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\n')
    Path("events.jsonl").write_text('{"group": "a", "decision": 1}\n')
    Path("notes").write_text("mine")
    words = ["monitor", "run", "spec.toml", "--events", "events.jsonl", "--dead-letters", "notes"]
    assert _run(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "notes" in said.err
    assert _run([*words, "--force"]) == 3
    assert Path("notes").read_text() == "mine"


def late_letter(folder: Path) -> bytes:
    """Return the line of a dead letter."""
    run(folder / "one.jsonl", LATE)
    return (folder / "one.jsonl").read_bytes()


@pytest.mark.parametrize("cut", [1, 5, 20, -2, -1])
def test_a_letter_that_was_cut_is_mended(cut: int, tmp_path: Path) -> None:
    line = late_letter(tmp_path)
    letters, state = tmp_path / "letters", tmp_path / "state.json"
    run(tmp_path / "none.jsonl", IN_TIME, state=state)
    for whole in (b"", line):
        letters.write_bytes(whole + line[:cut])
        run(letters, [], state=state)
        assert letters.read_bytes() == whole + (line if cut == -1 else b"")


def test_dead_letters_are_added_behind_those_of_before(tmp_path: Path) -> None:

    path = tmp_path / "letters.json"
    for number in (1, 2, 3):
        run(path, LATE)
        assert [json.loads(line)["dead_letter"] for line in path.read_text().splitlines()] == [
            "late"
        ] * number
