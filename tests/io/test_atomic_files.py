"""Writing files: whole or not at all, as open as the user's umask says."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from testsgd.errors import ConfigurationError
from testsgd.io import (
    atomic_path,
    files_together,
    is_mixed,
    moved_together,
    remove_unfinished,
    sha256_of_file,
    write_stream,
    write_text,
)

# What pages of testsgd's are known by: HTML at its beginning, Markdown by both its ends.
SIGNATURE = '<meta name="generator" content="testsgd">'


def page(text: str) -> str:
    """Return a page that is signed as HTML and as Markdown."""
    return f"## {text} {SIGNATURE}\n\n*testsgd 0.1.0.*\n"


class PowerCutError(Exception):
    """Something that goes wrong while a file is written."""


@pytest.fixture(params=[0o000, 0o002, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_appears_with_its_folders(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "report.html"
    write_text(target, "naïve\n")
    assert target.read_bytes() == "naïve\n".encode()
    assert names(target.parent) == ["report.html"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text(f"a long text that was there before {SIGNATURE}")
    write_text(target, "short")
    assert target.read_text() == "short"


def test_nothing_is_to_be_seen_before_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    with atomic_path(target) as temporary:
        temporary.write_text("half")
        assert not target.exists()
        # On the same disk, so that the move is one step.
        assert temporary.is_relative_to(tmp_path)
        assert temporary.parent.stat().st_dev == tmp_path.stat().st_dev
        assert temporary.suffix == ".html"  # who looks at the ending sees the same
    assert target.read_text() == "half"


@pytest.mark.parametrize("error", [PowerCutError, KeyboardInterrupt, SystemExit])
def test_a_block_that_raises_leaves_the_target_as_it_was(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "report.html"
    target.write_text(f"before {SIGNATURE}")

    def write(stream: Any) -> NoReturn:
        stream.write("half")
        raise error

    with pytest.raises(error):
        write_stream(target, write)
    assert target.read_text() == f"before {SIGNATURE}"
    assert names(tmp_path) == ["report.html"]


def test_a_block_that_raises_leaves_no_new_file(tmp_path: Path) -> None:
    def write(stream: Any) -> NoReturn:
        stream.write("half")
        raise PowerCutError

    with pytest.raises(PowerCutError):
        write_stream(tmp_path / "report.html", write)
    assert names(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path: Path, umask: int) -> None:
    target = tmp_path / "report.html"
    write_text(target, "text")
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    after = os.umask(umask)
    assert after == umask, "looking at the umask must not change it"


def test_line_ends_are_those_of_the_text(tmp_path: Path) -> None:
    write_text(tmp_path / "lines.csv", "a\nb\r\n")
    assert (tmp_path / "lines.csv").read_bytes() == b"a\nb\r\n"


def test_a_folder_below_a_file_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    target = tmp_path / "file" / "report.html"
    with pytest.raises(ConfigurationError) as caught:
        write_text(target, "text")
    assert str(target) in str(caught.value)
    assert "choose a folder" in caught.value.remedy


def test_a_folder_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write everywhere, so the refusal is played.
    def refuse(**_: Any) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(ConfigurationError, match="Permission denied") as caught:
        write_text(tmp_path / "report.html", "text")
    assert caught.value.where == str(tmp_path / "report.html")
    assert names(tmp_path) == []


def test_a_folder_or_a_device_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    for target in (tmp_path / "report.html", Path(os.devnull)):
        with pytest.raises(ConfigurationError, match="it is no file"):
            write_text(target, "text")
    assert names(tmp_path) == ["report.html"]
    assert not Path(os.devnull).is_file()


def test_sha256_of_published_examples(tmp_path: Path) -> None:
    """FIPS 180-2: the digests of "abc" and of a million times "a"."""
    path = tmp_path / "message"
    path.write_bytes(b"abc")
    assert sha256_of_file(path) == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    path.write_bytes(b"a" * 1_000_000)
    assert sha256_of_file(path) == (
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    )


def end_at_move(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the process be interrupted before a move, the first one being 1."""
    replace = Path.replace
    left = iter(range(1, number))

    def moved(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", moved)


def write_pair(folder: Path, text: str) -> None:
    with files_together(folder) as staging:
        for name in ("report.html", "report.md"):
            (staging / name).write_text(page(text))


def contents(folder: Path) -> set[str]:
    return {path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_of_two_runs_are_known_and_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pair(tmp_path, "old")
    with monkeypatch.context() as patched:
        end_at_move(patched, 2)
        with pytest.raises(KeyboardInterrupt):
            write_pair(tmp_path, "new")
    assert contents(tmp_path) == {page("old"), page("new")}
    assert is_mixed(tmp_path)
    # One file alone does not make the others newer.
    write_text(tmp_path / "other.md", page("other"))
    assert is_mixed(tmp_path)
    (tmp_path / "other.md").unlink()
    # The next run writes only one of the two; the other one is not older than it was.
    with files_together(tmp_path) as staging:
        (staging / "report.html").write_text(page("newest"))
    assert contents(tmp_path) == {page("new"), page("newest")}
    assert not is_mixed(tmp_path)
    assert names(tmp_path) == ["report.html", "report.md"]


def test_files_of_others_are_not_replaced_by_what_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        end_at_move(patched, 2)
        with pytest.raises(KeyboardInterrupt):
            write_pair(tmp_path, "new")
    (tmp_path / "report.md").write_text("somebody's own")
    with files_together(tmp_path) as staging:
        (staging / "report.html").write_text(page("newest"))
    assert contents(tmp_path) == {"somebody's own", page("newest")}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of folders")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from testsgd.io import atomic_path\n"
        "with atomic_path(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    target = tmp_path / "report.html"
    subprocess.run([sys.executable, "-c", program, str(target)], check=False)
    assert len(names(tmp_path)) == 1
    assert not target.exists()
    with atomic_path(tmp_path / "other.html") as temporary:
        temporary.write_text("other")
        # What is still being written is not taken for abandoned.
        write_text(target, "whole")
        assert temporary.exists()
    assert names(tmp_path) == ["other.html", "report.html"]


def interrupted_after(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Let an interruption arrive whenever a function has returned."""
    called = getattr(owner, name)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        result = called(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(owner, name, interrupted)


def write_both(folder: Path, other: Path) -> None:
    with moved_together(folder, other):
        write_pair(folder, "new")
        write_text(other, page("new"))


def test_an_interruption_while_files_are_moved_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pair(tmp_path, "old")
    other = tmp_path / "other" / "other.html"
    with monkeypatch.context() as patched:
        interrupted_after(patched, Path, "replace")
        with pytest.raises(KeyboardInterrupt):
            write_both(tmp_path, other)
    assert contents(tmp_path) == contents(other.parent) == {page("new")}
    assert names(tmp_path) == ["other", "report.html", "report.md"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("owner", "name"), [(tempfile, "mkdtemp"), (os, "open"), (shutil, "rmtree")]
)
def test_a_process_can_remove_what_an_interruption_left(
    owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupted_after(patched, owner, name)
        with pytest.raises(KeyboardInterrupt):
            write_text(tmp_path / "report.html", "half")
    remove_unfinished()
    assert not list(tmp_path.glob(".*"))
