"""A process that decides is killed again and again: nothing is lost, nothing counts twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from shield_runs import specification

from testsgd.shielding.running import Shield

EVENTS = 6000

# Decides the events from a number on, and says each decision after it was made.
CHILD = """
import random, sys
from pathlib import Path
from testsgd.shielding.running import Shield

path, journal, start, events = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
shield = Shield.load(Path(path), journal=Path(journal))
labelled = shield.specification.fairness_property.labelled
for number in range(start, events):
    chance = random.Random(number)
    group, recommendation, cost = chance.choice("ab"), chance.randrange(2), chance.random()
    decision = shield.decide(group, recommendation, cost, event=str(number))
    if labelled:
        shield.observe(chance.randrange(2), event=str(number))
    print(number, decision, flush=True)
"""


def run(arguments: list[str], said: Path, *, kill_after: int | None) -> tuple[bool, dict[int, int]]:
    """Let the child run, and kill it once it has said so many bytes, a moment later.

    Whether it was killed, and what it said in whole lines.
    """
    with (
        said.open("wb") as out,
        subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stdout=out) as child,
    ):
        if kill_after is not None:
            while child.poll() is None and said.stat().st_size < kill_after:
                time.sleep(0.0001)
            child.kill()
    killed = child.returncode == -signal.SIGKILL
    assert killed or child.returncode == 0
    answers = {}
    for line in said.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            number, decision = line.split()
            answers[int(number)] = int(decision)
    return killed, answers


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity"])
def test_killed_at_any_moment(name: str, tmp_path: Path) -> None:
    keys: dict[str, Any] = {"property": name, "length": 30, "after": "next"}
    shield = Shield.synthesize(specification(**keys, inputs={"costs": [0.2, 0.5, 1.0]}))
    path, journal = tmp_path / "shield.npz", tmp_path / "journal.jsonl"
    shield.save(path)
    chance = random.Random(7)
    answers: dict[int, int] = {}
    said = tmp_path / "said"
    start = kills = 0
    for last in (False, False, False, False, True):
        # The caller sends some again that were answered, and all that were not.
        killed, heard = run(
            [str(path), str(journal), str(start), str(EVENTS)],
            said,
            kill_after=None if last else chance.randrange(1, EVENTS),
        )
        kills += killed
        for number, decision in heard.items():
            assert answers.setdefault(number, decision) == decision
        start = max(0, max(answers, default=0) - 5)
    assert kills >= 2
    assert sorted(answers) == list(range(EVENTS))

    path_of_whole = tmp_path / "uninterrupted.jsonl"
    with Shield.load(path, journal=path_of_whole) as whole:
        for number in range(EVENTS):
            event = random.Random(number)
            decision = whole.decide(
                event.choice("ab"), event.randrange(2), event.random(), event=str(number)
            )
            assert decision == answers[number]
            if name == "equal_opportunity":
                whole.observe(event.randrange(2), event=str(number))
    assert journal.read_bytes() == path_of_whole.read_bytes()
    with Shield.load(path, journal=journal) as killed_often:
        assert killed_often.to_dict() == whole.to_dict()
        assert killed_often.to_dict()["events_with_id"] == EVENTS
    ids = [
        record["id"]
        for record in map(json.loads, journal.read_text().splitlines()[1:])
        if "decision" in record
    ]
    assert ids == [str(number) for number in range(EVENTS)]
