"""``testsgd cells-sql``: what its query counts is what a description says of the rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd.metrics import Bins, audit_counts, counts_query

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
duckdb = pytest.importorskip("duckdb")

Run = Callable[..., Any]
ROWS = 1500
PEOPLE = """
[dataset]
name = "people"

[label]
column = "approved"
values = ["no", "yes"]
favourable = "yes"

[features.sex]
type = "categorical"
values = ["f", "m"]
sensitive = true

[features.age]
type = "integer"
range = [18, 89]
edges = [18, 30, 45, 60, 90]
sensitive = true

[features.income]
type = "decimal"
range = [0, 90]
"""


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    (folder / "people.toml").write_text(PEOPLE, encoding="utf-8")
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"sex": source.choice(["f", "m"], ROWS), "age": source.integers(18, 90, ROWS)}
    )
    is_young = (rows["sex"] == "m") & (rows["age"] < 30)
    rows["approved"] = np.where(source.random(ROWS) < 0.3 + 0.5 * is_young, "yes", "no")
    rows["income"] = source.uniform(0, 90, ROWS).round(1)
    return rows


def answer(query: str, rows: pd.DataFrame) -> pd.DataFrame:
    with duckdb.connect() as connection:
        connection.register("decisions", rows)
        return connection.sql(query).df()


def groups(folder: Path, name: str) -> list[tuple[str, int, float]]:
    path = folder / "reports" / name / "result.json"
    [metric] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    return [(group["text"], group["rows"], group["value"]) for group in metric["groups"]]


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_few_bins_are_intervals(
    testsgd: Run, folder: Path, people: pd.DataFrame, ending: str
) -> None:
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved").out
    counts = answer(query, people)
    if ending == ".csv":
        counts.to_csv(folder / "four.csv", index=False)
    else:
        counts.to_parquet(folder / "four.parquet")
    words = ("--predictions", "approved", "--metrics", "selection_rate")
    asked = ("audit", "--cells", f"four{ending}", "--sensitive", "sex,age", *words)
    assert testsgd(*asked).code == 0
    people.to_csv(folder / "people.csv", index=False)
    assert testsgd("audit", "people.toml", "--data", "people.csv", *words).code == 0
    assert groups(folder, "four") == groups(folder, "people")
    texts = [text for text, _, _ in groups(folder, "four")]
    assert any("age < 30" in text for text in texts)
    assert not any("age in" in text or "age =" in text for text in texts)


def test_bins_without_rows_leave_no_wrong_limits(folder: Path, people: pd.DataFrame) -> None:
    bins = [Bins(column="age", edges=(18, 30, 45, 60, 90))]
    query = counts_query(table="decisions", categories=["sex"], bins=bins, predictions="approved")
    young_or_old = people[(people["age"] < 30) | (people["age"] >= 60)]
    result = audit_counts(
        answer(query, young_or_old), predictions="approved", sensitive_features=["sex", "age"]
    )
    of_age = {text for text in result.groups["text"] if text.startswith("age")}
    assert of_age
    assert {int(text.split()[-1]) for text in of_age} <= {30, 60}


@pytest.mark.parametrize("beside", [[1, 2, 3, 4], [19, 20, 19, 20], ["a", "b", "a", "b"]])
def test_old_cells_without_upper_limits_are_read_as_before(beside: list[Any]) -> None:
    cells = pd.DataFrame(
        {"sex": ["f", "f", "m", "m"] * 2, "approved": ["no", "yes"] * 4, "rows": 500}
    )
    cells["code"] = [1] * 4 + [2] * 4
    old = audit_counts(cells, predictions="approved", sensitive_features=["sex", "code"])
    # A column of that name that says no upper limits.
    other = cells.assign(code_below=beside * 2)
    new = audit_counts(other, predictions="approved", sensitive_features=["sex", "code"])
    assert list(new.groups["text"]) == list(old.groups["text"])


def test_marked_cells_are_not_taken_for_people(
    testsgd: Run, fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved").out
    answer(query, people).to_csv(folder / "cells.csv", index=False)
    words = ("--predictions", "approved", "--sensitive", "sex,age")
    assert "--cells" in fails("audit", "cells.csv", *words)
