"""Lines are added whole, by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testsgd.errors import ConfigurationError
from testsgd.io import FileInUseError, LineFile, adding_lines

REMEDY = "choose another file"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "log.jsonl"


def test_lines_are_there_at_once_and_behind_what_was_there(path: Path) -> None:
    for text in ("first", "schön"):
        with adding_lines(path, remedy=REMEDY) as add:
            add(text)
            assert path.read_text(encoding="utf-8").endswith(f"{text}\n")
    assert path.read_text(encoding="utf-8") == "first\nschön\n"


def test_a_second_writer_is_refused_until_the_first_has_closed(path: Path) -> None:
    with adding_lines(path, remedy=REMEDY) as add:
        with pytest.raises(FileInUseError):
            LineFile(path)
        with (
            pytest.raises(ConfigurationError) as caught,
            adding_lines(path, remedy=REMEDY) as second,
        ):
            second("never")
        assert caught.value.remedy == REMEDY
        program = f"from testsgd.io import LineFile; LineFile({str(path)!r})"
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
        assert b"FileInUseError" in other.stderr
        add("mine")
    LineFile(path).close()
    assert path.read_bytes() == b"mine\n"


def test_a_last_line_that_was_cut_short(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"first\ncut")
    with adding_lines(path, remedy=REMEDY) as add:
        add("next")
    assert path.read_bytes() == b"first\ncut\nnext\n"
    path.write_bytes(b"first\n" + b"c" * 200_000)
    with LineFile(path) as file:
        assert file.size == len(b"first\n")
        file.drop_cut_line()
        file.add(b"next\n")
    assert path.read_bytes() == b"first\nnext\n"


@pytest.mark.parametrize("fits", [0, 3])
def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(
    path: Path, fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with LineFile(path, fsync=True) as file:
        file.add(b"first\n")
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", lambda to, line: write(to, line[:fits]))
            with pytest.raises(OSError, match="part"):
                file.add(b"second\n")
        assert path.read_bytes() == b"first\n"
        file.add(b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


def test_a_closed_file_takes_nothing(path: Path) -> None:
    file = LineFile(path)
    file.close()
    assert not file.is_open
    with pytest.raises(OSError, match="closed"):
        file.add(b"line\n")


def test_what_cannot_be_locked_is_written_to_by_several() -> None:
    with (
        adding_lines("/dev/null", remedy=REMEDY) as first,
        adding_lines("/dev/null", remedy=REMEDY) as second,
    ):
        first("a")
        second("b")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError), adding_lines(tmp_path, remedy=REMEDY):
        pass
