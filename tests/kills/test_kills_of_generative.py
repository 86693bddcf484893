"""What counts and asks for outputs is killed at any moment: none is lost, none counts twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

from child_programs import labels
from killing import Ended, Killer, spread

SPECIFICATION = """
prompts = ["A nurse said", "A pilot said", "A cook said"]
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 30
[upstream]
endpoint = "completions"
"""
OUTPUTS = 40
MOST = 12


def test_outputs_count_once(killer: Killer, tmp_path: Path) -> None:
    def enforce(state: Path, now: int, kill_at_bytes: int | None = None) -> Ended:
        return killer.run(
            state,
            str(OUTPUTS),
            str(now),
            program="child_programs:enforce",
            kill_at_bytes=kill_at_bytes,
        )

    whole = enforce(tmp_path / "whole.db", 0)
    assert (whole.code, whole.err) == (0, "")
    size = next(int(line.split()[1]) for line in whole.out.splitlines() if "bytes" in line)
    chance = random.Random(9)
    for number in range(12):
        state = tmp_path / f"state-{number}.db"
        killed = enforce(state, 0, chance.randrange(100, size))
        assert killed.killed
        said = [int(line) for line in killed.out.splitlines()]
        assert said == list(range(len(said)))
        again = enforce(state, 10_000)
        assert (again.code, again.err) == (0, "")
        assert "integrity ok" in again.out
        assert "bytes" in again.out
        first = int(again.out.split()[0])
        # What was said to be counted is; what is counted further was not said any more.
        assert first in (len(said), len(said) + 1)
        specification = tmp_path / "kind.toml"
        specification.write_text(
            '[groupings.kind]\nvalues = ["v1", "v2"]\n[[requirements]]\ngrouping = "kind"\n'
            "beta = 500\n[enforcement]\nticket_seconds = 500\n"
        )
        lines = killer.run("generative", "journal", "--spec", specification, "--state", state)
        counted = [json.loads(line)["kind"] for line in lines.out.splitlines()]
        found = [int(kind[1:]) for kind in counted if kind is not None]
        assert found == labels(OUTPUTS)


def test_outputs_are_asked_for_once(killer: Killer, tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(SPECIFICATION, encoding="utf-8")

    def ask(folder: str, *, kill_at: int | None = None) -> Ended:
        return killer.run(
            "generative", "ask", "--spec", "people.toml", "--upstream", "http://127.0.0.1:1/v1",
            "--number", str(OUTPUTS), "--out", folder, "--reproducible",
            kill_at=kill_at,
            prepared_by="child_programs:answer_without_model",
        )  # fmt: skip

    whole = ask("whole")
    assert (whole.code in {0, 1, 3}, whole.err) == (True, "")
    log = (tmp_path / "whole" / "outputs.jsonl").read_bytes()
    result = json.loads((tmp_path / "whole" / "result.json").read_text())
    for step in spread(whole.steps, MOST):
        folder = f"outputs-{step}"
        assert ask(folder, kill_at=step).killed
        outputs = tmp_path / folder / "outputs.jsonl"
        assert not outputs.exists() or log.startswith(outputs.read_bytes())
        again = ask(folder)
        assert (again.code, again.err) == (whole.code, "")
        assert (tmp_path / folder / "outputs.jsonl").read_bytes() == log
        again_result = json.loads((tmp_path / folder / "result.json").read_text())
        assert again_result == result
