"""A certification is killed at any moment after its first checkpoint, and goes on from there."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from killing import Ended, Killer, spread

INPUTS = 4
MOST = 8


def write_network(folder: Path) -> None:
    """Write a small random network, and the ranges of its inputs; its search takes a moment."""
    generator = np.random.default_rng(1)
    sizes = [INPUTS, 6, 6, 1]
    lines = [f"3,{INPUTS},1,6,", ",".join(map(str, sizes)) + ",", "0,"]
    lines += ["0," * INPUTS, "100," * INPUTS, "0.0," * (INPUTS + 1), "1.0," * (INPUTS + 1)]
    for before, after in itertools.pairwise(sizes):
        scale = 2 / np.sqrt(before) * (0.02 if before == INPUTS else 1)
        weights = generator.normal(0, scale, (before, after))
        lines += [",".join(map(repr, column.tolist())) + "," for column in weights.T]
        lines += [f"{value!r}," for value in generator.normal(0, 0.1, after).tolist()]
    (folder / "small.nnet").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ranges = "\n".join(f"[inputs.x{place}]\ninteger = [0, 100]" for place in range(INPUTS))
    (folder / "ranges.toml").write_text(ranges, encoding="utf-8")


def proved(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "reports" / "result.json").read_text())
    return {"stopped": found["stopped"], **found["proved"]}


def assert_same_end(found: dict[str, Any], end: dict[str, Any]) -> None:
    """Compare the shares; what is summed in another order differs in the last digits."""
    assert found["stopped"] == end["stopped"] == "done"
    for name in ("certified", "falsified", "undecided"):
        assert np.isclose(found[name], end[name], rtol=0, atol=1e-9)


def test_it_goes_on_to_the_same_end(killer: Killer, tmp_path: Path) -> None:
    write_network(tmp_path)
    checkpoint = tmp_path / "search.npz"

    def certify(*options: str, kill_at: int | None = None) -> Ended:
        return killer.run(
            "certify", "small.nnet", "--domain", "ranges.toml", "--protected", f"x{INPUTS - 1}",
            "--compare", "0,100", "--time", "60", "--jobs", "1", "--quiet",
            "--checkpoint", checkpoint, "--out", "reports", *options,
            kill_at=kill_at, prepared_by="child_programs:write_checkpoints_often",
        )  # fmt: skip

    whole = certify()
    assert (whole.code, whole.err) == (0, "")
    end = proved(tmp_path)
    resumed = 0
    for step in spread(whole.steps, MOST):
        checkpoint.unlink(missing_ok=True)
        shutil.rmtree(tmp_path / "reports")
        (tmp_path / "reports").mkdir()
        killed = certify(kill_at=step)
        # How many checkpoints there are is a matter of time.
        assert killed.killed or killed.code == 0
        resumed += checkpoint.exists()
        again = certify("--resume")
        assert (again.code, again.err) == (0, "")
        assert_same_end(proved(tmp_path), end)
    assert resumed >= MOST // 2
