"""A shield is killed at any moment: what it answered stays, and nobody is counted twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

from killing import Ended, Killer, spread

SHIELDS = Path(__file__).resolve().parents[2] / "examples" / "shields"
EVENTS = 20
MOST = 30


def answers(ended: Ended) -> list[dict[str, object]]:
    """Return what was answered in whole lines."""
    lines = ended.out.splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def test_decisions_stay(killer: Killer, tmp_path: Path) -> None:
    specification = SHIELDS / "loans-demographic-parity.toml"
    made = killer.run(
        "shield", "synthesize", specification, "--shield", "loans.npz", "--length", "30"
    )
    assert made.code == 0
    chance = random.Random(5)
    events = tmp_path / "events.jsonl"
    events.write_text(
        "".join(
            json.dumps(
                {
                    "group": chance.choice(["female", "male"]),
                    "recommendation": chance.randrange(2),
                    "id": f"a{number}",
                }
            )
            + "\n"
            for number in range(EVENTS)
        ),
        encoding="utf-8",
    )

    def run(journal: Path, kill_at: int | None = None) -> Ended:
        return killer.run(
            "shield", "run", "loans.npz", "--journal", journal, stdin=events, kill_at=kill_at
        )

    whole = run(tmp_path / "whole.jsonl")
    assert (whole.code, whole.err) == (0, "")
    assert len(answers(whole)) == EVENTS
    for step in spread(whole.steps, MOST):
        journal = tmp_path / f"journal-{step}.jsonl"
        killed = run(journal, step)
        assert killed.killed
        said = answers(killed)
        assert said == answers(whole)[: len(said)]
        # Whoever asks does not know which of the events were decided, and sends all again.
        again = run(journal)
        assert again.code == 0
        assert [one["decision"] for one in answers(again)] == [
            one["decision"] for one in answers(whole)
        ]
        assert journal.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_shield_is_replaced_whole(killer: Killer, tmp_path: Path) -> None:
    specification = SHIELDS / "loans-demographic-parity.toml"
    target = tmp_path / "loans.npz"

    def synthesize(length: int, kill_at: int | None = None) -> Ended:
        words = ["shield", "synthesize", specification, "--shield", target, "--length", str(length)]
        return killer.run(*words, "--reproducible", kill_at=kill_at)

    assert synthesize(10).code == 0
    old = target.read_bytes()
    whole = synthesize(20)
    new = target.read_bytes()
    assert old != new
    for step in spread(whole.steps, MOST // 5):
        target.write_bytes(old)
        assert synthesize(20, step).killed
        # The last step is to remove what is empty.
        assert target.read_bytes() in (old, new)
        assert synthesize(20).code == 0
        assert target.read_bytes() == new
        assert not list(tmp_path.glob(".testsgd-*"))
