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


def test_what_is_silent_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress_bar(quiet=False) as progress:
        time.sleep(0.1)
        assert len(lines(capsys)) >= 2
        assert progress is not None
        progress("asking", 30, 120)
        time.sleep(0.1)
        said = lines(capsys)
    assert "asking" in said[-1]
    assert "25%" in said[-1]
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
        time.sleep(0.1)
        assert "50" in lines(capsys)[-1]


def test_the_lines_end_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), console.progress_bar(quiet=False):
        raise KeyError
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
    def heard() -> str:
        with console.progress_bar(quiet=False):
            time.sleep(0.1)
        return lines(capsys)[-1]

    monkeypatch.setattr(_machine_code, "_compiled_anew", {"rules"})
    assert "compiles" in heard()
    monkeypatch.setattr(_machine_code, "_compiled_anew", set())
    assert "compiles" not in heard()


def test_a_module_that_is_being_loaded_does_not_silence_the_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As another thread sees it in the middle of its import.
    monkeypatch.setitem(sys.modules, "testsgd._machine_code", ModuleType("testsgd._machine_code"))
    with console.progress_bar(quiet=False):
        time.sleep(0.1)
    assert len(lines(capsys)) >= 2
