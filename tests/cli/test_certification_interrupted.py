"""Ctrl-C during a certification gives what was proved until then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import certifiable_networks
import numpy as np
import pytest

# A file appears as soon as the search has something to show.
PROGRAM = """
import sys
from pathlib import Path
from testsgd.certification import run as computing
from testsgd.cli.main import run

search = computing.certify_network

def watched(*arguments, progress=None, **options):
    def show(moment):
        Path("started").touch()
        if progress is not None:
            progress(moment)
    return search(*arguments, progress=show, **options)

computing.certify_network = watched
run(sys.argv[1:])
"""

RANGES = "\n".join(f"[inputs.x{place}]\ninteger = [0, 1000]" for place in range(8))


def interrupted(
    folder: Path, *options: str, by: signal.Signals = signal.SIGINT
) -> subprocess.CompletedProcess[str]:
    network = certifiable_networks.nnet_text(
        certifiable_networks.wide(scale=1e-3), [0.0] * 8, [1000.0] * 8
    )
    (folder / "wide.nnet").write_text(network, encoding="utf-8")
    (folder / "ranges.toml").write_text(RANGES, encoding="utf-8")
    arguments = ["certify", "wide.nnet", "--domain", "ranges.toml", "--protected", "x7"]
    arguments += ["--compare", "0,1000", "--time", "300", "--format", "json", *options]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(3000):
            if (folder / "started").exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        os.kill(process.pid, by)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def proved(folder: Path) -> dict[str, Any]:
    path = folder / "reports" / "wide-certified" / "result.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert found["stopped"] == "interrupted"
    shares = [found["proved"][name] for name in ("certified", "falsified", "undecided")]
    assert np.isclose(sum(shares), 1)
    assert shares[2] > 0
    return found


def mistakes(finished: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines on the standard error but those that say how far the search is."""
    return [line for line in finished.stderr.splitlines() if not line.endswith("so far")]


def test_the_result_so_far_is_written(tmp_path: Path) -> None:
    finished = interrupted(tmp_path)

    assert (finished.returncode, mistakes(finished)) == (0, [])
    found = proved(tmp_path)
    assert found["seconds"] < 200
    assert found["verdict"]["headline"] in finished.stdout
    assert "interrupted" in finished.stdout


def test_the_exit_code_is_that_of_the_policy(tmp_path: Path) -> None:
    finished = interrupted(tmp_path, "--fail-below", "1")
    found = proved(tmp_path)
    # Whether anything is proved unfair by then, so that all cannot be fair, is a matter of time.
    code = 1 if found["proved"]["falsified"] > 0 else 3
    assert (finished.returncode, mistakes(finished)) == (code, [])
    assert found["verdict"]["exit_code"] == code


def test_a_policy_that_is_kept(tmp_path: Path) -> None:
    finished = interrupted(tmp_path, "--fail-above", "1")
    assert (finished.returncode, mistakes(finished)) == (0, [])
    assert proved(tmp_path)["verdict"]["exit_code"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no requests to terminate")
def test_a_request_to_terminate_leaves_no_unfinished_file(tmp_path: Path) -> None:
    options = ("--export-regions", "parts/regions.csv", "--out", "mine")
    finished = interrupted(tmp_path, *options, by=signal.SIGTERM)
    assert finished.returncode == 128 + signal.SIGTERM
    assert len(mistakes(finished)) == 1
    assert [*(tmp_path / "parts").iterdir()] == []
    assert [*tmp_path.rglob(".*")] == []
    assert not (tmp_path / "mine" / "result.json").exists()
