"""Fixtures: the command line run in this process, in an empty working folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from testsgd.cli import console
from testsgd.cli.main import _run


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the commands."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    # Where the catalogue's files would be looked for: nowhere.
    monkeypatch.setenv("TESTSGD_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return work


@pytest.fixture
def testsgd(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Finished]:
    """Run a command; give its exit code and what it printed."""

    # On a slow machine a command may be silent for long.
    if console._SILENCE > 1:
        monkeypatch.setattr(console, "_SILENCE", 3600.0)

    def run(*arguments: str | Path) -> Finished:
        capsys.readouterr()
        code = _run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    return run


@pytest.fixture
def fails(folder: Path, testsgd: Callable[..., Finished]) -> Callable[..., str]:
    """Run a command that must fail by the book; give its one line.

    By the book: one line on the standard error, exit code 2, no traceback, nothing else printed,
    no file written.
    """

    def run(*arguments: str | Path) -> str:
        before = _files(folder)
        finished = testsgd(*arguments)
        assert finished.code == 2, finished
        assert finished.out == ""
        assert finished.err.count("\n") == 1
        assert finished.err.startswith("testsgd: ")
        assert "Traceback" not in finished.err
        assert "internal error" not in finished.err
        assert _files(folder) == before
        return finished.err

    return run


def _files(folder: Path) -> list[Path]:
    """List what is in a folder, but for what Python keeps of modules that it imported."""
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


def beside(given: Sequence[str | Path], *defaults: str | Path) -> tuple[str | Path, ...]:
    """Return the options with values, by default, that are not given themselves."""
    pairs = zip(defaults[::2], defaults[1::2], strict=True)
    return tuple(word for pair in pairs if pair[0] not in given for word in pair)
