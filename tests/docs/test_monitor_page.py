"""The page on monitors: its commands print what it shows, and it names every key and field."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from pydantic import BaseModel
from shown_commands import run_shown

from testsgd.monitoring import MonitorSpecification

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "monitoring.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not installed")

_CONSOLE_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TEXT_BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def shown_commands() -> list[tuple[str, str]]:
    found = []
    for block in _CONSOLE_BLOCK.findall(page()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = part.split("\n", 1)
            found.append((command, output))
    return found


@pytest.mark.slow
def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = shown_commands()
    assert len(commands) >= 6
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # long lines are broken on the page
    for command, expected in commands:
        printed = run_shown(command, tmp_path)
        assert checker.check_output(expected, printed, flags), printed


def keys(kind: type[BaseModel]) -> list[str]:
    """Give the keys of a specification, also those of its tables and lists of tables."""
    found = []
    for name, field in kind.model_fields.items():
        parts = [field.annotation, *typing.get_args(field.annotation)]
        tables = [one for one in parts if isinstance(one, type) and issubclass(one, BaseModel)]
        found += [f"{name}.{key}" for table in tables for key in keys(table)] or [name]
    return found


def rows() -> list[str]:
    return re.findall(r"^\| (`.*?) \|", page(), re.MULTILINE)


@pytest.mark.parametrize("key", keys(MonitorSpecification))
def test_the_page_says_what_every_key_does(key: str) -> None:
    assert any(f"`{key}`" in row for row in rows())


def test_the_page_says_what_every_field_of_an_alert_means() -> None:
    alert = re.search(r'^\{"alert": .*?\}$', page(), re.MULTILINE | re.DOTALL)
    assert alert is not None
    for field in re.findall(r'"(\w+)": ', alert[0]):
        assert any(f"`{field}`" in row for row in rows()), field


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "09_monitor.py")]
    finished = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert finished.stderr == ""
    assert finished.stdout in _TEXT_BLOCK.findall(page())
    assert (tmp_path / "emergency.json").is_file()
