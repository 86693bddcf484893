"""Columns of DECIMAL, as warehouses export them, are numbers at every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

folder, testsgd = command_line.folder, command_line.testsgd
duckdb = pytest.importorskip("duckdb")

Run = Callable[..., Any]
ROWS = 1200
TYPES = {
    "age": "decimal(5,0)",
    "income": "decimal(12,2)",
    "score": "decimal(6,4)",
    "approved": "decimal(1,0)",
    "repaid": "decimal(3,1)",
    "wage": "decimal(8,2)",
    "predicted": "decimal(8,2)",
}
CASES = {
    "classes": ("--predictions", "approved", "--label", "repaid", "--metrics", "selection_rate"),
    "scores": ("--predictions", "score", "--label", "repaid", "--metrics", "mean_score"),
    "numbers": ("--predictions", "predicted", "--label", "wage", "--metrics", "mean_error"),
}


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    """Write the same rows as a Parquet file and a table of DuckDB, with DECIMAL columns."""
    source = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "age": source.integers(18, 90, ROWS),
            "income": source.integers(1000, 9_000_000, ROWS) / 100,
            "score": source.integers(0, 10_000, ROWS) / 10_000,
            "approved": source.integers(0, 2, ROWS),
            "repaid": source.integers(0, 2, ROWS),
            "wage": source.integers(1000, 9000, ROWS) / 100,
        }
    )
    rows["predicted"] = rows["wage"] + (rows["sex"] == "f")
    columns = ", ".join(f"cast({name} as {kind}) {name}" for name, kind in TYPES.items())
    with duckdb.connect(str(folder / "table.db")) as connection:
        connection.register("people", rows)
        connection.execute(f"create table t as select sex, {columns} from people")
        connection.execute("copy t to 'file.parquet'")
    rows.to_csv(folder / "plain.csv", index=False)
    return rows


def groups(folder: Path, name: str) -> list[tuple[str, int, float]]:
    document = json.loads((folder / "reports" / name / "result.json").read_text(encoding="utf-8"))
    [metric] = document["metrics"]
    return [(group["text"], group["rows"], round(group["value"], 9)) for group in metric["groups"]]


@pytest.mark.parametrize("case", CASES)
def test_a_file_has_the_groups_of_the_table_and_of_plain_numbers(
    testsgd: Run, folder: Path, people: pd.DataFrame, case: str
) -> None:
    options = (*CASES[case], "--sensitive", "sex,age,income")
    for source in ("duckdb://table.db?table=t", "file.parquet", "plain.csv"):
        assert testsgd("audit", source, *options).code in (0, 1)
    assert groups(folder, "file") == groups(folder, "table") == groups(folder, "plain")


def test_a_description_says_that_they_are_numbers(
    testsgd: Run, folder: Path, people: pd.DataFrame
) -> None:
    texts = []
    for source in ("file.parquet", "plain.csv"):
        result = testsgd("init", source, "--sensitive", "sex,age", "--label", "repaid")
        assert result.code == 0
        texts.append(result.out[result.out.index("[features.sex]") :])
    assert texts[0] == texts[1]
