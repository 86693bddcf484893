"""Options that need the rows themselves, of audits whose rows are counted where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd.errors import ParameterError
from testsgd.metrics import audit_counts, audit_rows_elsewhere

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
duckdb = pytest.importorskip("duckdb")

Run = Callable[..., Any]
COLUMNS = ("--predictions", "approved", "--sensitive", "sex")
ROWS = 600
ADDRESSES = {
    "database": ("duckdb://bank.db?table=decisions",),
    "files": ("parts/*.parquet",),
    "several files": ("parts/first.parquet", "parts/second.parquet"),
    "cells": ("cells.csv", "--cells"),
}


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "approved": source.choice(["no", "yes"], ROWS),
            "income": source.integers(0, 50, ROWS),
        }
    )
    with duckdb.connect(str(folder / "bank.db")) as connection:
        connection.register("people", rows)
        connection.execute("CREATE TABLE decisions AS SELECT * FROM people")
    (folder / "parts").mkdir()
    rows.iloc[:300].to_parquet(folder / "parts" / "first.parquet")
    rows.iloc[300:].to_parquet(folder / "parts" / "second.parquet")
    rows.groupby(["sex", "approved"]).size().reset_index(name="rows").to_csv(
        folder / "cells.csv", index=False
    )
    rows.to_csv(folder / "people.csv", index=False)
    return rows


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())
@pytest.mark.parametrize(
    ("option", "value"), [("--limit", "100"), ("--model", "model.joblib"), ("--data", "people.csv")]
)
def test_no_option_is_passed_over(
    fails: Run, address: tuple[str, ...], option: str, value: str
) -> None:
    assert option in fails("audit", *address, *COLUMNS, option, value)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())
def test_people_alike_are_found_among_rows_only(fails: Run, address: tuple[str, ...]) -> None:
    message = fails("audit", *address, *COLUMNS, "--condition-on", "income")
    assert "'income'" in message
    assert "all features are sensitive" not in message
    assert "file" in message


def test_people_alike_are_found_among_rows_only_in_python(people: pd.DataFrame) -> None:
    words: Any = {
        "predictions": "approved",
        "sensitive_features": ["sex"],
        "condition_on": ["income"],
    }
    with pytest.raises(ParameterError, match="audit_metrics"):
        audit_rows_elsewhere(people, **words)
    counts = people.groupby(["sex", "approved"]).size().reset_index(name="rows")
    with pytest.raises(ParameterError, match="audit_metrics"):
        audit_counts(counts, **words)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "address", [*ADDRESSES.values(), ("people.csv", "--metrics", "selection_rate")]
)
def test_formats_of_other_audits_are_said_to_be_theirs(
    fails: Run, address: tuple[str, ...], form: str
) -> None:
    message = fails("audit", *address, *COLUMNS, "--format", form)
    assert form in message
    assert "unknown" not in message
    assert "metrics" in message


@pytest.mark.usefixtures("people")
def test_a_format_that_no_audit_has_is_unknown(fails: Run) -> None:
    assert "unknown" in fails("audit", *ADDRESSES["database"], *COLUMNS, "--format", "docx")


@pytest.mark.usefixtures("people")
def test_an_audit_of_one_rate_has_tables(testsgd: Run, folder: Path) -> None:
    assert testsgd("audit", "people.csv", *COLUMNS, "--format", "csv").code == 0
    assert list(folder.rglob("*.csv"))
