"""Where a command writes to if it is not told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from testsgd.cli.default_folders import default_folder


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


def test_a_new_folder_stands_where_one_expects_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder("reports", "people") == Path("reports/people")
    Path("reports/people").mkdir(parents=True)
    assert default_folder("reports", "people") == Path("reports/people")


def test_published_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("people", "mine"):
        Path("reports", name).mkdir(parents=True)
        Path("reports", name, "result.json").write_text("{}")
    git("init", "--quiet")
    git("add", "reports/people")
    assert default_folder("reports", "people") == Path("output/reports/people")
    assert default_folder("reports", "mine") == Path("reports/mine")


def test_without_git_nothing_is_tracked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    Path("models/people").mkdir(parents=True)
    assert default_folder("models", "people") == Path("models/people")
