"""The page on shields: its commands print what it shows, and it names every key."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest
from pydantic import BaseModel
from shown_commands import run_shown

from testsgd.shielding import ShieldSpecification

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "shields.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not installed")

_CONSOLE_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown_commands() -> list[tuple[str, str]]:
    """Commands with the output that the page shows of them; a server is not among them."""
    found = []
    for block in _CONSOLE_BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for part in block.split("$ ")[1:]:
            command, output = part.split("\n", 1)
            if command.startswith("testsgd ") and not command.endswith("&"):
                found.append((command, output))
    return found


@pytest.mark.slow
def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = shown_commands()
    assert len(commands) >= 4
    checker = doctest.OutputChecker()
    for command, expected in commands:
        printed = run_shown(command, tmp_path)
        assert checker.check_output(expected, printed, doctest.ELLIPSIS), printed


def keys(kind: type[BaseModel], path: str = "") -> list[str]:
    """Give the keys of a specification, down to those of its tables."""
    found = []
    for name, field in kind.model_fields.items():
        part = field.annotation
        if isinstance(part, type) and issubclass(part, BaseModel):
            found += keys(part, f"{name}.")
        else:
            found.append(f"{path}{name}")
    return found


@pytest.mark.parametrize("key", keys(ShieldSpecification))
def test_the_page_says_what_every_key_does(key: str) -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert any(f"`{key}`" in row for row in rows)
