"""``testsgd compare``: what it asks for, what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pytest

from testsgd.baselines import BaselineFinding, BaselineResult, Figure, Subject

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]

SMALL = ("--limit", "2000")
NOTE = "divexplorer is not installed; run: pip install 'testsgd[divexplorer]'"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float | None]]:
    """The other methods are made up; what they are asked for is noted."""
    seen: list[tuple[str, float | None]] = []

    def run(name: str, subject: Subject, *, time_limit: float | None = None) -> BaselineResult:
        seen.append((name, time_limit))
        rows = np.arange(len(subject.table)) < 300
        installed = name != "divexplorer"
        return BaselineResult(
            method=name,
            title=name.capitalize(),
            measure="how far",
            findings=(BaselineFinding(text="the first 300", value=0.4, rows=rows),) * installed,
            figures=(Figure("rows", 300, "rows that were looked at"),) * installed,
            groups=7 if installed else None,
            queries=70,
            seconds=0.1,
            note="" if installed else NOTE,
            available=installed,
        )

    monkeypatch.setattr("testsgd.comparison.run.run_baseline", run)
    return seen


def test_all_methods_with_the_time_they_have(
    testsgd: Run, asked: list[tuple[str, float | None]], folder: Path
) -> None:
    finished = testsgd("compare", "demo", *SMALL, "--time-limit", "30", "--verbose")

    assert (finished.code, finished.err) == (0, "")
    names = ("themis", "gerryfair", "divexplorer", "sliceline", "bias-scan", "individual")
    assert asked == [(name, 30.0) for name in names]
    assert "the first 300" in finished.out
    assert NOTE in finished.out
    assert "side by side: " in finished.out
    written = folder / "reports" / "demo-comparison"
    assert sorted(path.name for path in written.iterdir()) == [
        "report.html",
        "report.md",
        "result.json",
    ]


def test_some_methods_formats_and_a_folder(
    testsgd: Run, asked: list[tuple[str, float | None]], folder: Path
) -> None:
    options = ("--methods", "themis,individual", "--format", "json", "--out", "here", "--quiet")
    finished = testsgd("compare", "demo", *SMALL, *options)

    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert asked == [("themis", 600.0), ("individual", 600.0)]
    assert [path.name for path in (folder / "here").iterdir()] == ["result.json"]
    document = json.loads((folder / "here" / "result.json").read_text(encoding="utf-8"))
    assert [method["method"] for method in document["methods"]] == [
        "testsgd",
        "themis",
        "individual",
    ]


def test_a_saved_comparison_is_rendered_again(testsgd: Run, asked: Any, folder: Path) -> None:
    testsgd("compare", "demo", *SMALL, "--out", "here", "--format", "json", "--quiet")
    finished = testsgd("report", folder / "here" / "result.json")

    assert finished.code == 0
    assert (folder / "here" / "report.html").is_file()
    assert (folder / "here" / "report.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo", "--methods", "thermos"), "the method 'thermos' is unknown"),
        (("demo", "--methods", ","), "no method is named"),
        (("demo", "--time-limit", "0"), "0.0 is not a positive number of seconds"),
        (("demo", "--format", "pdf"), "the format 'pdf' is unknown"),
        (("demo", "--theta", "2"), "theta: 2.0 is not between 0 and 1"),
        (("wiki",), "'wiki' is a data set of texts"),
        (("nothing-of-that-name",), "nothing-of-that-name"),
    ],
)
def test_mistakes_take_one_line(fails: Fails, arguments: tuple[str, ...], message: str) -> None:
    assert message in fails("compare", *arguments)
