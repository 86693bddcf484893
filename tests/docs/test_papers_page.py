"""The page on the papers: its counts are right, and what it names is there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from testsgd.cli.main import COMMANDS, load_command

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not installed")

HEADINGS = ["What", "Here", "Where, how to run it, or why not", "Test"]
STATES = ["present", "partly", "missing"]
# Why no test shows a row.
REASONS = {"present": {"measured", "a picture"}, "partly": {"measured"}, "missing": {"left out"}}
# By the first word of the heading of a table, what the table of counts calls the paper.
PAPERS = {
    "TestSGD": "TestSGD",
    "FairQuant": "FairQuant",
    "Monitoring": "Stream monitoring",
    "Fairness": "Fairness shields",
}
# The commands that a paper is about: an option without its command is one of theirs.
COMMANDS_OF_PAPER = {
    "TestSGD": ("audit", "mitigate", "compare", "train", "bench", "data"),
    "FairQuant": ("certify", "certify-ask"),
    "Stream monitoring": ("monitor",),
    "Fairness shields": ("shield",),
}

_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")
_LINK = re.compile(r"\]\(([\w./-]+)")
_NAMED_TEST = re.compile(r"`([\w/]+\.py)::(\w+(?:::\w+)?)`")


@dataclass(frozen=True)
class Row:
    """A row of a paper's table."""

    paper: str
    what: str
    state: str
    where: str
    test: str


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(line)[1:-1]]


def tables() -> dict[str, list[list[str]]]:
    """Return the lines of the tables by the first word of the heading above."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = re.findall(r"\w+", line)[0]
        elif line.startswith("|"):
            found.setdefault(heading, []).append(cells(line))
    return found


def read_rows() -> list[Row]:
    return [
        Row(paper, *line)
        for heading, paper in PAPERS.items()
        for line in tables()[heading][2:]
        if len(line) == len(HEADINGS)
    ]


ROWS = read_rows() if PAGE.is_file() else []
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what[:40])


def test_the_tables_are_whole() -> None:
    found = tables()
    assert set(found) == {"What", *PAPERS}
    for heading in PAPERS:
        head, rule, *lines = found[heading]
        assert head == HEADINGS
        assert {len(line) for line in [rule, *lines]} == {len(HEADINGS)}
        assert all(cell for line in lines for cell in line)


def test_the_counts_are_those_of_the_rows() -> None:
    _, _, *lines = tables()["What"]
    shown = {name: [int(number) for number in numbers] for name, *numbers in lines}
    expected = {}
    for paper in [*PAPERS.values(), "all"]:
        counted = Counter(row.state for row in ROWS if paper in (row.paper, "all"))
        expected[paper] = [*(counted[state] for state in STATES), counted.total()]
    assert shown == expected


@rows
def test_a_row_has_a_state_and_a_test_or_a_reason(row: Row) -> None:
    assert row.state in STATES
    if row.test not in REASONS[row.state]:
        assert row.state != "missing"
        assert all(_NAMED_TEST.fullmatch(part) for part in row.test.split("<br>"))


@rows
def test_what_a_row_links_is_there(row: Row) -> None:
    pages = _LINK.findall(row.where)
    assert all((PAGE.parent / page).is_file() for page in pages)
    # Who reads that something was measured wants to see the figures.
    assert pages or row.test not in REASONS["present"]


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """Return the names of the tests of a file, those of classes after the class's name."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
            found |= {f"{node.name}::{method.name}" for method in methods}
    return frozenset(name for name in found if name.split("::")[-1].startswith("test_"))


@rows
def test_the_tests_that_a_row_names_are_there(row: Row) -> None:
    for file, name in _NAMED_TEST.findall(row.test):
        path = ROOT / "tests" / file
        assert path.is_file(), file
        assert path.name.startswith("test_")
        assert name in names_of_tests(path), f"{file} has no {name}"


def commands_below(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from commands_below(inner)


def options_of(command: Any) -> set[str]:
    """Return the options of a command, or of all commands of a group."""
    return {
        option
        for each in commands_below(command)
        for parameter in each.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


def named_commands(words: list[str]) -> list[Any]:
    """Return the commands that the first words name; ``run/serve`` names two of a group."""
    # On the command line, `certify ask` is another way to write `certify-ask`.
    if words[:2] == ["certify", "ask"]:
        words = ["certify-ask", *words[2:]]
    command = load_command(words[0])
    if not hasattr(command, "commands") or len(words) == 1:
        return [command]
    return [command.commands[name] for name in words[1].split("/")]


@rows
def test_commands_and_options_that_a_row_names_exist(row: Row) -> None:
    for code in _CODE.findall(row.where):
        words = code.removeprefix("testsgd ").split()
        wanted = set(_OPTION.findall(code))
        if words[0] in COMMANDS:
            for command in named_commands(words):
                assert wanted <= options_of(command), code
        elif wanted:
            known = [options_of(load_command(name)) for name in COMMANDS_OF_PAPER[row.paper]]
            # Options that are named together are of one command.
            assert any(wanted <= options for options in known), code


def test_commands_are_found_in_the_page() -> None:
    """The rows do name commands and options, so that the test above looks at something."""
    codes = [code for row in ROWS for code in _CODE.findall(row.where)]
    assert sum(code.split()[0] in COMMANDS for code in codes) > 15
    assert sum(bool(_OPTION.search(code)) for code in codes) > 20
