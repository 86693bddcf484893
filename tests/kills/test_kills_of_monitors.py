"""A monitor is killed at any moment: its state is old or new, and no event counts twice."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from killing import Ended, Killer, spread

SPECIFICATION = """
name = "loans"
[groups]
names = ["a", "b"]
[trials]
deadline = "9 d"
[[properties]]
property = "demographic_parity"
bound = 0.1
rule = "evidence"
"""
MOST = 15


def write_events(path: Path, first: int, last: int) -> None:
    chance = random.Random(first)
    lines = []
    for number in range(first, last):
        group = chance.choice("ab")
        likely = 0.9 if group == "a" else 0.2
        event: dict[str, Any] = {
            "id": number,
            "group": group,
            "decision": int(chance.random() < likely),
            "time": f"2020-01-{1 + number // 30:02}",
        }
        if number % 40 == 39:
            event["time"] = "2019-01-01"
        lines.append(json.dumps(event) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def test_events_count_once(killer: Killer, tmp_path: Path) -> None:
    (tmp_path / "loans.toml").write_text(SPECIFICATION, encoding="utf-8")
    write_events(tmp_path / "first.jsonl", 0, 120)
    write_events(tmp_path / "second.jsonl", 120, 240)
    state = tmp_path / "state.json"
    letters = tmp_path / "letters.jsonl"

    def run(events: str, kill_at: int | None = None) -> Ended:
        return killer.run(
            "monitor", "run", "loans.toml", "--events", events, "--state", state,
            "--dead-letters", letters, "--out", "reports",
            kill_at=kill_at,
        )  # fmt: skip

    assert run("first.jsonl").code in {0, 1}
    old, old_letters = state.read_bytes(), letters.read_bytes()
    whole = run("second.jsonl")
    assert whole.code == 1
    new, new_letters = state.read_bytes(), letters.read_bytes()
    assert len({old, new}) == 2
    for step in spread(whole.steps, MOST):
        state.write_bytes(old)
        letters.write_bytes(old_letters)
        assert run("second.jsonl", step).killed
        assert state.read_bytes() in (old, new)
        # Whoever sends the events does not know whether they were counted, and sends them again.
        again = run("second.jsonl")
        assert again.code == whole.code
        assert counted(state.read_bytes()) == counted(new)
        assert letters.read_bytes() == new_letters


def counted(state: bytes) -> Any:
    """Return what a state holds, but how often an event was sent again, and what is recent."""
    parts = json.loads(state)["state"]
    counters = {name: parts["book"]["counters"][name] for name in ("decided", "dropped")}
    timeline = {name: parts["timeline"][name] for name in ("time", "unit", "dead", "set")}
    return {**parts, "timeline": timeline, "book": {**parts["book"], "counters": counters}}
