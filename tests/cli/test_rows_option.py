"""``--rows``: what is audited or compared is the rows that an expression holds for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pytest

from testsgd.data import generate_demo

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]

METRICS = (
    "--predictions",
    "granted",
    "--sensitive",
    "gender,race",
    "--metrics",
    "selection_rate",
    "--format",
    "json",
)


def write_people(folder: Path) -> None:
    people = generate_demo(rows=1500, seed=4)[["gender", "race", "age", "income"]]
    people["granted"] = (people["income"] > 50).astype(int)
    people.to_csv(folder / "people.csv", index=False)
    people[(people["age"] >= 30) & (people["race"] != "Black")].to_csv(
        folder / "alone.csv", index=False
    )


def groups(folder: Path, name: str) -> Any:
    result = json.loads((folder / name / "result.json").read_text(encoding="utf-8"))
    return [metric["groups"] for metric in result["metrics"]]


def test_metrics_of_some_rows_are_those_of_the_rows_alone(testsgd: Run, folder: Path) -> None:
    write_people(folder)
    expression = "age >= 30 and race != Black"
    chosen = testsgd("audit", "people.csv", *METRICS, "--rows", expression, "--out", "chosen")
    alone = testsgd("audit", "alone.csv", *METRICS, "--out", "alone")
    assert (chosen.code, chosen.err, alone.code) == (0, "", 0)
    assert expression in chosen.out
    assert groups(folder, "chosen") == groups(folder, "alone")


def test_a_comparison_takes_the_rows(testsgd: Run) -> None:
    finished = testsgd("compare", "demo", "--methods", "gerryfair", "--rows", "gender = female")
    assert (finished.code, finished.err) == (0, "")
    assert "gender = female" in finished.out


@pytest.mark.parametrize("rows", ["agee > 30", "age > 1000", "age >"])
def test_what_holds_for_nobody_is_refused(testsgd: Run, folder: Path, rows: str) -> None:
    write_people(folder)
    for command in (("audit", "people.csv", *METRICS), ("compare", "demo")):
        finished = testsgd(*command, "--rows", rows)
        assert finished.code == 2
        assert len(finished.err.splitlines()) == 1


def test_counted_rows_are_not_chosen(testsgd: Run, folder: Path) -> None:
    (folder / "counts.csv").write_text("sex,granted,rows\nf,0,60\nf,1,40\nm,0,50\nm,1,50\n")
    finished = testsgd(
        "audit",
        "counts.csv",
        *("--cells", "--predictions", "granted", "--sensitive", "sex", "--rows", "sex = f"),
    )
    assert finished.code == 2
    assert len(finished.err.splitlines()) == 1
