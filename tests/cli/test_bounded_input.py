"""Small files, and streams, that would take much memory or time: one line, in little of both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"
MONITOR = EXAMPLES / "monitors" / "loans-demographic-parity.toml"

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from testsgd.cli.main import run
run(sys.argv[2:])
"""


def refused(*words: str | Path, folder: Path, stdin: str = "/dev/null", gib: float = 1.5) -> str:
    """Run a command that must fail by the book, with little memory; return its one line."""
    with open(stdin, "rb") as stream:
        finished = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(int(gib * 2**30)), *map(str, words)],
            stdin=stream,
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=60,
            check=False,
        )
    assert finished.returncode == 2, finished
    assert finished.stderr.count("\n") == 1, finished
    assert finished.stderr.startswith("testsgd: ")
    assert "internal error" not in finished.stderr
    return finished.stderr


@pytest.fixture(scope="module")
def shield(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a small shield."""
    from testsgd.shielding import synthesize_shield

    path = tmp_path_factory.mktemp("shields") / "shield.npz"
    synthesize_shield(SHIELD, length=20).save(path)
    return path


def test_a_line_without_an_end_for_a_shield(shield: Path, tmp_path: Path) -> None:
    assert "line" in refused("shield", "run", shield, folder=tmp_path, stdin="/dev/zero")


def test_a_line_without_an_end_for_a_monitor(tmp_path: Path) -> None:
    # The outcome of what was read before is another line.
    words = ("monitor", "run", MONITOR)
    assert "line" in refused(*words, folder=tmp_path, stdin="/dev/zero")


def test_a_line_without_an_end_in_a_file_of_events(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(bytes(2**25))
    assert "line" in refused("monitor", "run", MONITOR, "--events", path, folder=tmp_path)
