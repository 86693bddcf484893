"""Options of several values: with commas or given again, all of them the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd.cli.main import COMMANDS, load_command
from testsgd.cli.options import listed

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
# Options of one value, in whose help commas stand between other things.
OF_ONE_VALUE = {"model"}
COLUMNS = ("--predictions", "decided", "--sensitive", "sex")


@pytest.fixture
def people(folder: Path) -> Path:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], 600),
            "race": source.choice(["a", "b"], 600),
            "town": source.choice(["x", "y"], 600),
            "job": source.choice(["p", "q"], 600),
            "grade": source.choice(["high", "fair, or so", "low", "none"], 600),
        }
    )
    rows["decided"] = np.where(rows["job"] == "p", rows["grade"], "none")
    path = folder / "people.csv"
    rows.to_csv(path, index=False)
    return path


def commands() -> Iterator[tuple[str, Any]]:
    def of(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        parts = getattr(command, "commands", {})
        if not parts:
            yield name, command
        for part, inner in parts.items():
            yield from of(f"{name} {part}", inner)

    for name in COMMANDS:
        yield from of(name, load_command(name))


def test_whatever_is_listed_with_commas_can_be_given_again() -> None:
    kept_last = [
        f"{name} {option.opts[0]}"
        for name, command in commands()
        for option in command.params
        if re.search(r"\bcommas?\b", getattr(option, "help", None) or "")
        and option.name not in OF_ONE_VALUE
        and not option.multiple
    ]
    assert kept_last == []
    formats = [
        option for _, command in commands() for option in command.params if option.name == "formats"
    ]
    assert formats
    assert all(option.multiple for option in formats)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b ,", ["a", "b"]),
        ('" a ",b', [" a ", "b"]),
        ('"a, b" , "say ""no"" "', ["a, b", 'say "no" ']),
        ('"a" b ,c', ["a b", "c"]),
        ('"a, b', ["a, b"]),
        ('"", ,', []),
    ],
)
def test_quotes_keep_commas_and_blanks(text: str, items: list[str]) -> None:
    assert listed(text) == items


def result_of(folder: Path) -> dict[str, Any]:
    written = folder / "reports" / "people" / "result.json"
    result: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    # Times differ.
    return {name: value for name, value in result.items() if name in ("groups", "metrics", "data")}


ONCE_AND_AGAIN = [
    (("--sensitive", "sex,race"), ("--sensitive", "sex", "--sensitive", "race")),
    (
        ("--sensitive", "sex", "--metrics", "selection_rate,precision"),
        ("--sensitive", "sex", "--metrics", "selection_rate", "--metrics", "precision"),
    ),
    (
        ("--sensitive", "sex", "--condition-on", "town,job"),
        ("--sensitive", "sex", "--condition-on", "town", "--condition-on", "job"),
    ),
    (
        ("--sensitive", "sex", "--within", "town,job"),
        ("--sensitive", "sex", "--within", "town", "--within", "job"),
    ),
]


@pytest.mark.parametrize(("once", "again"), ONCE_AND_AGAIN)
def test_options_given_again_add_up(
    testsgd: Run, folder: Path, people: Path, once: tuple[str, ...], again: tuple[str, ...]
) -> None:
    results = []
    for given in (once, again):
        columns = ("--predictions", "decided", "--label", "grade", "--favorable", "high")
        finished = testsgd("audit", people.name, *columns, *given, "--stability", "0")
        assert finished.code in (0, 3), finished.err
        results.append(result_of(folder))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["high,low"], {"high", "low"}),
        (["high", "low"], {"high", "low"}),
        (["high,low", "none"], {"high", "low", "none"}),
        (["fair, or so"], {"fair, or so"}),
        (["fair, or so", "high"], {"fair, or so", "high"}),
    ],
)
def test_favourable_labels_given_again_add_up(
    testsgd: Run, folder: Path, people: Path, given: list[str], expected: set[str]
) -> None:
    flags = [word for label in given for word in ("--favorable", label)]
    arguments = ("audit", people.name, "--predictions", "grade", "--sensitive", "sex", *flags)
    assert testsgd(*arguments, "--stability", "0").code in (0, 3)
    result = json.loads((folder / "reports/people/result.json").read_text(encoding="utf-8"))
    grades = pd.read_csv(people)
    first = result["groups"][0]
    of_group = grades[grades["sex"] == first["text"].removeprefix("sex = ")]["grade"]
    assert first["rate_in"] == pytest.approx(of_group.isin(expected).mean())


def test_formats_given_again_add_up(testsgd: Run, folder: Path, people: Path) -> None:
    arguments = ("audit", people.name, "--predictions", "grade", "--sensitive", "race")
    arguments = (*arguments, "--favorable", "high")
    finished = testsgd(*arguments, "--format", "json", "--format", "csv", "--stability", "0")
    assert finished.code in (0, 3)
    written = {path.suffix for path in (folder / "reports" / "people").iterdir()}
    assert written == {".json", ".csv"}


@pytest.mark.parametrize("option", ["--metrics", "--condition-on", "--format", "--sensitive"])
def test_lists_of_nothing_are_refused(fails: Run, people: Path, option: str) -> None:
    fails("audit", people.name, "--predictions", "grade", option, ",")


@pytest.mark.parametrize(
    "again",
    [
        ("--predictions", "grade"),
        ("--predictions=decided",),
        ("--limit", "500", "--limit=500"),
    ],
)
def test_an_option_of_one_value_is_given_once(
    fails: Callable[..., str], people: Path, again: tuple[str, ...]
) -> None:
    assert again[0].partition("=")[0] in fails("audit", people.name, *COLUMNS, *again)


def test_a_value_may_look_like_an_option(testsgd: Run, people: Path) -> None:
    rows = pd.read_csv(people).rename(columns={"decided": "--limit"})
    rows.to_csv(people, index=False)
    named = (
        "--predictions",
        "--limit",
        "--sensitive",
        "sex",
        "--limit",
        "500",
        "--favorable",
        "none",
    )
    assert testsgd("audit", people.name, *named, "--quiet").code == 0
    assert testsgd("audit", people.name, *named, "--quiet", "--quiet").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "people.csv", "--predictions", "decided"),
        ("audit", "people.csv", "--predictions", "decided", "--metrics", "selection_rate"),
        ("audit", "people.csv", "--model", "somewhere:decide"),
        ("init", "people.csv", "--label", "decided"),
        ("audit", "people.csv", "more.csv", "--predictions", "decided"),
    ],
)
@pytest.mark.parametrize("column", ["race, ethnic", "race "])
def test_an_error_shows_how_a_column_is_named_that_needs_quotes(
    fails: Callable[..., str],
    testsgd: Run,
    folder: Path,
    people: Path,
    command: tuple[str, ...],
    column: str,
) -> None:
    if "more.csv" in command:
        pytest.importorskip("duckdb")
        if column != column.strip():
            pytest.skip("DuckDB reads names without the blanks at their ends")
    rows = pd.read_csv(people).rename(columns={"race": column})
    rows.to_csv(people, index=False)
    rows.to_csv(folder / "more.csv", index=False)
    (folder / "somewhere.py").write_text(
        "def decide(rows):\n    return (rows['sex'] == 'f').astype(int)\n", encoding="utf-8"
    )
    message = fails(*command, "--sensitive", column)
    quoted = f'"{column}"'
    assert quoted in message
    finished = testsgd(*command, "--sensitive", f"{quoted},sex", "--favorable", "none", "--quiet")
    assert "no column" not in finished.err
