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


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_counted_rows_of_a_description_are_audited_as_it_says(
    testsgd: Run, folder: Path, people: pd.DataFrame, limits: bool, beside: bool
) -> None:
    people["approved"] = people["approved"].map({"no": "granted", "yes": "refused"})
    people["repaid"] = np.where(people["income"] > 40, "refused", "granted")
    text = PEOPLE.replace('"no", "yes"', '"granted", "refused"').replace('"approved"', '"repaid"')
    text = text.replace('favourable = "yes"', 'favourable = "refused"\noutcome = "harm"')
    (folder / "people.toml").write_text(text, encoding="utf-8")
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved", "--label", "repaid")
    counts = answer(query.out, people)
    if not limits:
        # The edges are those of the description.
        counts = counts.drop(columns="age_below")
    counts.to_parquet(folder / "cells.parquet")
    people.to_csv(folder / "people.csv", index=False)
    words = ("--predictions", "approved", "--metrics", "true_positive_rate")
    files = ("cells.parquet",) if beside else ("--data", "cells.parquet")
    out = ("--out", "reports/cells")
    assert testsgd("audit", "people.toml", *files, "--cells", *words, *out).code == 0
    assert testsgd("audit", "people.toml", "--data", "people.csv", *words).code == 0
    assert groups(folder, "cells") == groups(folder, "people")
    results = [
        json.loads((folder / "reports" / name / "result.json").read_text(encoding="utf-8"))
        for name in ("cells", "people")
    ]
    assert results[0]["data"]["label"] == results[1]["data"]["label"]
    assert results[0]["data"]["label"]["outcome"] == "harm"


def test_wrong_files_beside_a_description_are_refused(
    testsgd: Run, fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved").out
    counts = answer(query, people)
    counts.to_csv(folder / "cells.csv", index=False)
    words = ("--predictions", "approved")
    assert "counts" in fails("audit", "people.toml", "--cells", *words)
    assert "--cells" in fails("audit", "people.toml", "cells.csv", *words)
    people.to_csv(folder / "people.csv", index=False)
    assert "rows" in fails("audit", "people.toml", "people.csv", "--cells", *words)
    counts = counts.drop(columns="age_below").assign(age=counts["age"] + 1)
    counts.to_csv(folder / "other.csv", index=False)
    assert "age" in fails("audit", "people.toml", "other.csv", "--cells", *words)


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


LOANS = Path(__file__).parents[2] / "examples" / "loans.toml"
DIALECTS = ("duckdb", "postgres", "spark")


@pytest.fixture
def loans(folder: Path) -> pd.DataFrame:
    """Rows with the columns of the examples' loans.csv, some of them test cases or missing."""
    source = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "status": source.choice(["closed", "test", "n/a"], ROWS, p=[0.95, 0.03, 0.02]),
            "sex": source.choice(["F", "M", "n/a"], ROWS, p=[0.5, 0.45, 0.05]),
            "age": source.integers(18, 90, ROWS),
            "income": 30000,
            "debt_ratio": source.beta(2, 5, ROWS).round(2),
            "job": source.choice(["none", "part time", "full time"], ROWS),
            "score": source.random(ROWS).round(3),
        }
    )
    rows["decision"] = (source.random(ROWS) < 0.4 + 0.3 * (rows["sex"] == "M")).astype(int)
    rows.to_csv(folder / "loans.csv", sep=";", index=False)
    return rows


def transpiled(query: str, dialect: str) -> str:
    """Return a query as DuckDB takes it: names and texts of Spark are written otherwise."""
    if dialect != "spark":
        return query
    return query.replace("`", '"').replace("AS STRING", "AS VARCHAR").replace("\\'", "''")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("texts", [False, True])
def test_columns_names_of_values_and_filters_are_those_of_the_description(
    testsgd: Run, folder: Path, loans: pd.DataFrame, dialect: str, texts: bool
) -> None:
    finished = testsgd("cells-sql", LOANS, "--predictions", "decision", "--dialect", dialect)
    rows = loans.astype({"decision": str}) if texts else loans
    counts = answer(transpiled(finished.out, dialect), rows)
    counts.to_parquet(folder / "cells.parquet")
    words = ("--predictions", "decision", "--metrics", "selection_rate", "--favorable", "granted")
    cells = ("audit", "--cells", "cells.parquet", "--sensitive", "gender,age", *words)
    assert testsgd(*cells, "--out", "reports/cells").code == 0
    assert testsgd("audit", LOANS, "--data", "loans.csv", *words).code == 0
    assert groups(folder, "cells") == groups(folder, "loans")
    assert counts["rows"].sum() == loans["status"].eq("closed").sum()


@pytest.mark.parametrize("column", [[0, 1], [0.0, 1.0], ["0", "1"]])
def test_codes_of_any_type_are_renamed(
    testsgd: Run, loans: pd.DataFrame, column: list[Any]
) -> None:
    query = testsgd("cells-sql", LOANS, "--predictions", "decision").out
    rows = loans.assign(decision=[column[value] for value in loans["decision"]])
    assert set(answer(query, rows)["decision"]) == {"granted", "refused"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_are_quoted(testsgd: Run, folder: Path, dialect: str) -> None:
    description = PEOPLE.replace(
        'values = ["f", "m"]', 'values = ["it\'s", \'back\\slash\', "other"]'
    )
    description = description.replace(
        "[label]", "[[filters]]\ncolumn = 'kind'\nnone_of = [\"'\"]\n[label]"
    )
    (folder / "people.toml").write_text(description, encoding="utf-8")
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved", "--dialect", dialect)
    assert query.code == 0
    rows = pd.DataFrame(
        {"sex": ["it's", "other"], "age": [20, 40], "approved": ["no", "yes"], "kind": ["'", "a"]}
    )
    assert answer(transpiled(query.out, dialect), rows)["sex"].tolist() == ["other"]


def test_numbers_filter_rows_and_make_labels(testsgd: Run, folder: Path) -> None:
    description = PEOPLE.replace(
        'column = "approved"\nvalues = ["no", "yes"]',
        'column = "pay"\nvalues = ["yes", "no"]\nabove = 50',
    )
    description += '\n[[filters]]\ncolumn = "hours"\nminimum = 1\nmaximum = 99.5\nnone_of = [7]\n'
    (folder / "people.toml").write_text(description, encoding="utf-8")
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved", "--label", "pay").out
    rows = pd.DataFrame(
        {
            "sex": ["f", "m", "f", "m", "f"],
            "age": [20, 40, 50, 60, 70],
            "approved": ["no", "yes", "no", "yes", "no"],
            "pay": [50.0, 51.0, 70.0, 10.0, 20.0],
            "hours": [1.0, 99.5, 0.5, 7.0, None],
        }
    )
    counts = answer(query, rows).sort_values("age")
    assert counts["age"].tolist() == [18, 30]
    assert counts["pay"].tolist() == ["no", "yes"]


def test_scores_are_cut_at_a_threshold(
    testsgd: Run, fails: Run, folder: Path, loans: pd.DataFrame
) -> None:
    # Of a number that the description has it is known.
    assert "--threshold" in fails("cells-sql", LOANS, "--predictions", "debt_ratio")
    query = testsgd("cells-sql", LOANS, "--predictions", "score", "--threshold", "0.7").out
    counts = answer(query, loans)
    kept = loans[loans["status"] == "closed"]
    assert counts.groupby("score")["rows"].sum().to_dict() == {
        "granted": (kept["score"] > 0.7).sum(),
        "refused": (kept["score"] <= 0.7).sum(),
    }
    counts.to_parquet(folder / "cells.parquet")
    words = ("--predictions", "score", "--metrics", "selection_rate")
    cells = ("audit", "--cells", "cells.parquet", "--sensitive", "gender,age", *words)
    assert testsgd(*cells, "--favorable", "granted").code == 0
    # Of other columns only their values show it.
    raw = testsgd("cells-sql", LOANS, "--predictions", "score").out
    answer(raw, loans).to_parquet(folder / "raw.parquet")
    refused = fails("audit", "--cells", "raw.parquet", "--sensitive", "gender,age", *words)
    assert "cells-sql --threshold" in refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--predictions", "gender"), "'gender'"),
        (("--predictions", "sex"), "'sex'"),
        (("--predictions", "decision", "--label", "age"), "'age'"),
        (("--predictions", "rows"), "'rows'"),
        (("--predictions", "decision", "--label", "decision"), "'decision'"),
        (("--predictions", "decision", "--threshold", "0.5"), "'decision'"),
    ],
)
def test_columns_that_cannot_be_counted_by_are_refused(
    fails: Run, options: tuple[str, ...], words: str
) -> None:
    assert words in fails("cells-sql", LOANS, *options)


def test_what_no_query_can_say_is_refused(fails: Run, folder: Path) -> None:
    (folder / "people.toml").write_text(PEOPLE + '\n[data]\ncluster = "person"\n', encoding="utf-8")
    message = fails("cells-sql", "people.toml", "--predictions", "approved")
    assert "'person'" in message
    assert "cluster" in message
