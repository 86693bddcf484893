"""Without a terminal a command says now and then that it is at work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import command_line
import pytest

from testsgd import _machine_code
from testsgd.certification import Moment, Shares
from testsgd.cli import console
from testsgd.cli.certify import live_shares

folder, testsgd = command_line.folder, command_line.testsgd

Runs = Callable[..., command_line.Finished]


@pytest.fixture(autouse=True)
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_SILENCE", 0.02)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def heard(
    capsys: pytest.CaptureFixture[str], *, least: int = 1, part: str = "", within: float = 30.0
) -> list[str]:
    """Wait for some lines, the last with a part in it, on a machine that may be busy."""
    found: list[str] = []
    ends = time.monotonic() + within
    while len(found) < least or part not in found[-1]:
        assert time.monotonic() < ends, found
        time.sleep(0.02)
        found += lines(capsys)
    return found


def test_what_is_silent_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress_bar(quiet=False) as progress:
        heard(capsys, least=2)
        assert progress is not None
        progress("asking", 30, 120)
        said = heard(capsys, part="asking")
    assert "25%" in said[-1]
    lines(capsys)
    time.sleep(0.1)
    assert lines(capsys) == []


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress_bar(quiet=True) as progress, live_shares(True, None) as shares:
        time.sleep(0.1)
    assert (progress, shares) == (None, None)
    assert lines(capsys) == []


def test_shares_are_in_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    with live_shares(False, None) as show:
        assert show is not None
        show(Moment(1.0, 10, Shares(certified=0.5, falsified=0.25, undecided=0.25)))
        heard(capsys, part="50")


def test_the_lines_end_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), console.progress_bar(quiet=False):
        raise KeyError
    lines(capsys)
    time.sleep(0.1)
    assert lines(capsys) == []


def test_a_synthesis_and_a_simulation_are_heard(folder: Path, testsgd: Runs) -> None:
    shields = Path(__file__).resolve().parents[2] / "examples" / "shields"
    specification = shields / "loans-demographic-parity.toml"
    finished = testsgd("shield", "synthesize", specification, "--shield", "loans.npz")
    assert finished.code == 0
    finished = testsgd("shield", "simulate", "loans.npz", "--runs", "3000", "--out", "simulated")
    assert finished.code == 0
    assert finished.err.startswith("testsgd: ")
    assert testsgd("shield", "simulate", "loans.npz", "--quiet", "--out", "simulated").err == ""


def test_the_first_use_says_that_it_compiles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def last() -> str:
        with console.progress_bar(quiet=False):
            return heard(capsys)[-1]

    monkeypatch.setattr(_machine_code, "_compiled_anew", {"rules"})
    assert "compiles" in last()
    lines(capsys)
    monkeypatch.setattr(_machine_code, "_compiled_anew", set())
    assert "compiles" not in last()


def test_a_module_that_is_being_loaded_does_not_silence_the_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As another thread sees it in the middle of its import.
    monkeypatch.setitem(sys.modules, "testsgd._machine_code", ModuleType("testsgd._machine_code"))
    with console.progress_bar(quiet=False):
        heard(capsys, least=2)
