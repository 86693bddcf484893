"""``testsgd audit`` of rows in a database, in many files, or counted before; ``cells-sql``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
duckdb = pytest.importorskip("duckdb")

Run = Callable[..., Any]
COLUMNS = ("--predictions", "approved", "--sensitive", "sex,age")
QUICK = ("--replicates", "99", "--stability", "0")
CUT = ("--threshold", "0.7")
ROWS = 1500


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"sex": source.choice(["f", "m"], ROWS), "age": source.integers(18, 80, ROWS)}
    )
    rows["approved"] = np.where(source.random(ROWS) < 0.4 + 0.3 * (rows["sex"] == "m"), "yes", "no")
    rows["repaid"] = source.choice(["no", "yes"], ROWS)
    return rows


def first_groups(folder: Path, name: str) -> list[tuple[str, int, float]]:
    path = folder / "reports" / name / "result.json"
    [metric] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    return [(group["text"], group["rows"], group["value"]) for group in metric["groups"]]


def test_a_database_many_files_and_counts_give_one_result(
    testsgd: Run, folder: Path, people: pd.DataFrame
) -> None:
    with duckdb.connect(str(folder / "bank.db")) as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE decisions AS SELECT * FROM people")
    (folder / "parts").mkdir()
    people.iloc[:700].to_parquet(folder / "parts" / "first.parquet")
    people.iloc[700:].to_parquet(folder / "parts" / "second.parquet")
    people.to_csv(folder / "people.csv", index=False)
    assert testsgd("audit", "duckdb://bank.db?table=decisions", *COLUMNS).code == 0
    assert testsgd("audit", "parts/*.parquet", *COLUMNS).code == 0
    assert testsgd("audit", "people.csv", *COLUMNS, "--metrics", "selection_rate").code == 0
    expected = first_groups(folder, "people")
    assert first_groups(folder, "bank") == expected
    [other] = {path.parent.name for path in folder.glob("reports/*/result.json")} - {
        "people",
        "bank",
    }
    assert first_groups(folder, other) == expected
    # As a shell lists them.
    listed = ("parts/first.parquet", "parts/second.parquet")
    assert testsgd("audit", *listed, *COLUMNS, "--out", "listed", "--quiet").code == 0
    listed_result = folder / "reports" / "listed"
    listed_result.parent.mkdir(exist_ok=True)
    (folder / "listed").rename(listed_result)
    assert first_groups(folder, "listed") == expected


def test_a_parquet_file_of_very_many_rows_is_counted_where_it_is(
    testsgd: Run, folder: Path, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.to_parquet(folder / "people.parquet")
    assert testsgd("audit", "people.parquet", *COLUMNS, "--metrics", "selection_rate").code == 0
    expected = first_groups(folder, "people")

    def audited(*options: str) -> Any:
        assert testsgd("audit", "people.parquet", *COLUMNS, "--force", *options).code == 0
        path = folder / "reports" / "people" / "result.json"
        return json.loads(path.read_text(encoding="utf-8"))

    read = audited()["schema"]
    monkeypatch.setattr("testsgd.metrics.sources.MOST_READ", ROWS - 1)
    assert audited()["schema"] != read
    assert first_groups(folder, "people") == expected
    # What needs the rows themselves reads them.
    assert audited("--metrics", "selection_rate", "--holdout", "0.3")["holdout"]
    assert audited("--within", "repaid")["schema"] == read


def test_several_csv_files_are_read_as_one(testsgd: Run, folder: Path) -> None:
    source = np.random.default_rng(5)
    rows = pd.DataFrame(
        {
            "race": source.choice(["NA", "?", "White", " Black "], ROWS),
            "member": source.choice(["yes", "no", ""], ROWS),
            "zip": source.choice(["007", "12"], ROWS),
            "known": source.choice(["True", "false", "missing"], ROWS),
            "age": source.choice([*map(str, range(18, 70)), "missing", "n/a"], ROWS),
            "of, all": source.choice(["0.5", "1e3"], ROWS),
            "id": source.choice(["90071992547409931", "90071992547409932"], ROWS),
            "approved": source.integers(0, 2, ROWS),
        }
    )
    rows.loc[rows["race"].isin(["NA", "?"]), "approved"] = 1
    rows.loc[rows["zip"] == "12", "approved"] = 0
    rows.to_csv(folder / "whole.csv", index=False)
    rows[:700].to_csv(folder / "first.csv", index=False)
    # By name, so that the order of the columns is the first file's.
    rows[700:][rows.columns[::-1]].to_csv(folder / "second.csv", index=False)
    texts: list[str] = []
    for sensitive in ("race,zip", 'known,"of, all"', "member,id", "age"):
        asked = ["--predictions", "approved", "--sensitive", sensitive, *QUICK]
        assert testsgd("audit", "whole.csv", *asked, "--metrics", "selection_rate").code == 0
        assert testsgd("audit", "first.csv", "second.csv", *asked).code == 0
        found = first_groups(folder, "data")
        assert found == first_groups(folder, "whole")
        texts += [text for text, *_ in found]
    assert any("race = missing" in text for text in texts)
    assert any("zip = 007" in text for text in texts)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_several_csv_files_of_another_separator(
    testsgd: Run, folder: Path, people: pd.DataFrame, separator: str
) -> None:
    people.to_csv(folder / "whole.csv", index=False, sep=separator)
    people[:700].to_csv(folder / "part1.csv", index=False, sep=separator)
    people[700:].to_csv(folder / "part2.csv", index=False, sep=separator)
    assert testsgd("audit", "whole.csv", *COLUMNS, "--metrics", "selection_rate").code == 0
    assert testsgd("audit", "part*.csv", *COLUMNS).code == 0
    assert first_groups(folder, "part") == first_groups(folder, "whole")


def test_several_csv_files_whose_first_line_names_the_separator(
    testsgd: Run, folder: Path, people: pd.DataFrame
) -> None:
    people.to_csv(folder / "whole.csv", index=False)
    for name, part in (("part1.csv", people[:700]), ("part2.csv", people[700:])):
        rows = part.to_csv(index=False, sep=";")
        (folder / name).write_text(f"sep=;\n{rows}", encoding="utf-8-sig")
    assert testsgd("audit", "whole.csv", *COLUMNS, "--metrics", "selection_rate").code == 0
    assert testsgd("audit", "part*.csv", *COLUMNS).code == 0
    assert first_groups(folder, "part") == first_groups(folder, "whole")


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("sensitive", ["age,pay", "pay", "pay,some,codes"])
def test_decimal_commas_of_several_csv_files_are_those_of_one(
    testsgd: Run, folder: Path, separator: str, sensitive: str
) -> None:
    source = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "age": source.choice(["25,5", "37,5", "44,25", "61,0", "missing"], ROWS),
            "pay": source.choice(["1,200", "3,400", "5,125"], ROWS),
            "other": source.choice(["1,5", "12,25"], ROWS),
            "some": source.choice(["58", "57,5", "1.204,5", "1.300", "missing"], ROWS),
            "codes": source.choice(["1", "1,2", "2"], ROWS),
            "ok": source.integers(0, 2, ROWS),
        }
    )
    rows.to_csv(folder / "whole.csv", index=False, sep=separator)
    rows[:700].to_csv(folder / "part1.csv", index=False, sep=separator)
    rows[700:].to_csv(folder / "part2.csv", index=False, sep=separator)
    asked = ("--predictions", "ok", "--sensitive", sensitive, *QUICK)
    assert testsgd("audit", "whole.csv", *asked, "--metrics", "selection_rate").code == 0
    assert testsgd("audit", "part*.csv", *asked).code == 0
    found = first_groups(folder, "part")
    assert found == first_groups(folder, "whole")
    assert any("pay <" in text or "pay >=" in text for text, *_ in found)
    assert not any("pay =" in text or "pay in" in text for text, *_ in found)
    assert not any("some =" in text or "some in" in text for text, *_ in found)


def test_csv_files_of_other_columns_are_named(
    fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    people.to_csv(folder / "one.csv", index=False)
    people.drop(columns="repaid").to_csv(folder / "less.csv", index=False)
    people.assign(more=1).to_csv(folder / "more.csv", index=False)
    for other, column in (("less.csv", "repaid"), ("more.csv", "more")):
        message = fails("audit", "one.csv", other, *COLUMNS)
        assert other in message
        assert f"{column!r}" in message


@pytest.mark.parametrize(
    "given",
    [
        ("one.csv", "two.parquet"),
        ("one.csv", "census"),
        ("census", "demo"),
        ("one.csv", "one.csv", "--cells"),
        ("one.jsonl", "two.jsonl"),
    ],
)
def test_several_data_sets_are_no_table(fails: Run, folder: Path, given: tuple[str, ...]) -> None:
    for name in ("one.csv", "two.parquet", "one.jsonl", "two.jsonl"):
        (folder / name).write_text("a,p\n1,0\n")
    message = fails("audit", *given, "--predictions", "p", "--sensitive", "a")
    assert given[0] in message


def test_scores_in_a_database_and_in_many_files_have_their_threshold(
    testsgd: Run, folder: Path, people: pd.DataFrame
) -> None:
    lift = 0.3 * (people["sex"] == "m")
    people["score"] = 0.7 * np.random.default_rng(3).random(ROWS) + lift
    with duckdb.connect(str(folder / "bank.db")) as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE decisions AS SELECT * FROM people")
    (folder / "parts").mkdir()
    people.iloc[:700].to_parquet(folder / "parts" / "first.parquet")
    people.iloc[700:].to_parquet(folder / "parts" / "second.parquet")
    people.to_csv(folder / "people.csv", index=False)
    asked = ["--predictions", "score", "--sensitive", "sex", "--label", "repaid"]
    asked += ["--metrics", "true_positive_rate", "--threshold", "0.7"]
    first = {}
    for name, address in {
        "bank": "duckdb://bank.db?table=decisions",
        "parts": "parts/*.parquet",
        "people": "people.csv",
    }.items():
        assert testsgd("audit", address, *asked, "--out", f"reports/{name}").code == 0
        first[name] = first_groups(folder, name)
    assert first["bank"] == first["people"] == first["parts"]


def cells(**columns: list[Any]) -> pd.DataFrame:
    """Give a table of counted rows with weights, as the query of cells-sql does."""
    table = {
        "sex": ["f", "f", "m", "m"],
        "approved": ["no", "yes", "no", "yes"],
        "rows": [700, 300, 500, 500],
        "weight": [70.0, 30.0, 50.0, 50.0],
        "weight_squared": [7.0, 3.0, 5.0, 5.0],
    }
    return pd.DataFrame({**table, **columns})


OF_CELLS = ("audit", "cells.csv", "--cells", "--predictions", "approved", "--sensitive", "sex")


def test_missing_predictions_of_cells_are_counted_by_rows(
    folder: Path, testsgd: Run, fails: Any
) -> None:
    cells(approved=[None, "yes", None, "yes"]).to_csv(folder / "cells.csv", index=False)
    line = fails(*OF_CELLS)
    assert "1,200" in line
    assert "'approved'" in line
    # A line that stands for no rows has nothing to say.
    cells(approved=[None, "yes", "no", "yes"], rows=[0, 300, 500, 500]).to_csv(
        folder / "cells.csv", index=False
    )
    assert testsgd(*OF_CELLS).code == 0


@pytest.mark.parametrize("column", ["rows", "weight", "weight_squared"])
def test_missing_amounts_of_cells_are_said_to_be_of_lines(
    column: str, folder: Path, fails: Any
) -> None:
    cells(**{column: [70, None, 50, -3]}).to_csv(folder / "cells.csv", index=False)
    line = fails(*OF_CELLS)
    assert "2 lines" in line
    assert f"{column!r}, row 1" in line


@pytest.mark.parametrize("weighted", [True, False])
def test_weights_that_cells_lack_are_refused_with_what_they_have(
    weighted: bool, folder: Path, testsgd: Run, fails: Any
) -> None:
    table = cells() if weighted else cells().drop(columns=["weight", "weight_squared"])
    table.to_csv(folder / "cells.csv", index=False)
    line = fails(*OF_CELLS, "--weights", "w")
    assert "'w'" in line
    assert ("leave --weights out" in line) == weighted
    assert testsgd(*OF_CELLS).code == 0


@pytest.mark.parametrize("counted", [("--counts", "rows"), ("--cells",)])
def test_the_printed_query_gives_counts_to_audit(
    testsgd: Run, folder: Path, people: pd.DataFrame, counted: tuple[str, ...]
) -> None:
    people.to_csv(folder / "people.csv", index=False)
    described = testsgd("init", "people.csv", "--sensitive", "sex,age", "--label", "repaid")
    (folder / "people.toml").write_text(described.out, encoding="utf-8")
    query = testsgd("cells-sql", "people.toml", "--predictions", "approved", "--table", "people")
    assert query.code == 0
    connection = duckdb.connect()
    connection.register("people", people)
    connection.sql(query.out).df().to_parquet(folder / "counts.parquet")
    assert testsgd("audit", "counts.parquet", *counted, *COLUMNS).code == 0
    assert testsgd("audit", "people.csv", *COLUMNS, "--metrics", "selection_rate").code == 0
    assert first_groups(folder, "counts") == first_groups(folder, "people")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_a_query_says_which_column_it_reads_if_none_is_named(
    testsgd: Run, folder: Path, people: pd.DataFrame, dialect: str
) -> None:
    people.to_csv(folder / "people.csv", index=False)
    described = testsgd("init", "people.csv", "--sensitive", "sex,age", "--label", "repaid")
    (folder / "people.toml").write_text(described.out, encoding="utf-8")
    query = testsgd("cells-sql", "people.toml", "--dialect", dialect).out
    named = testsgd("cells-sql", "people.toml", "--dialect", dialect, "--predictions", "prediction")
    first, rest = query.split("\n", maxsplit=1)
    assert first.startswith("-- ")
    assert "--predictions" in first
    assert rest == named.out
    connection = duckdb.connect()
    connection.register("decisions", people.rename(columns={"approved": "prediction"}))
    if dialect != "spark":
        assert connection.sql(query).df()["rows"].sum() == ROWS
    else:
        assert connection.sql(f"{first}\nSELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "duckdb://nothing.db?table=decisions", *COLUMNS),
        ("audit", "duckdb://people.csv", *COLUMNS),
        ("audit", "parts/*.parquet", *COLUMNS),
        ("audit", "parts/*.txt", *COLUMNS),
        ("audit", "people.csv", "--counts", "number", *COLUMNS),
        ("audit", "people.csv", "--counts", "age", "--predictions", "approved"),
        ("audit", "people.csv", "--counts", "repaid", *COLUMNS),
        ("audit", "demo", "--counts", "rows"),
        ("audit", "people.csv", "--counts", "age", *COLUMNS[:2], "--sensitive", "sex", *CUT),
        ("audit", "peop*.csv", *COLUMNS, *CUT),
        ("audit", "peop*.csv", *COLUMNS, "--label", "approved"),
        ("cells-sql", "demo", "--dialect", "basic"),
        ("cells-sql", "imdb"),
    ],
)
def test_mistakes_are_one_line(
    fails: Run, folder: Path, people: pd.DataFrame, arguments: tuple[str, ...]
) -> None:
    people.to_csv(folder / "people.csv", index=False)
    assert fails(*arguments)


@pytest.mark.parametrize("file", ["people.csv", "peop*.csv"])
@pytest.mark.parametrize("further", ["--label", "--weights"])
def test_one_column_is_not_named_for_two_uses(
    fails: Run, folder: Path, people: pd.DataFrame, file: str, further: str
) -> None:
    people.to_csv(folder / "people.csv", index=False)
    line = fails("audit", file, *COLUMNS, further, "approved")
    assert "'approved'" in line
    assert "both" in line


@pytest.mark.parametrize("slashes", ["//", "///", "////{folder}/", "///{folder}/"])
def test_the_file_of_a_database_may_be_relative(
    testsgd: Run, folder: Path, people: pd.DataFrame, slashes: str
) -> None:
    with duckdb.connect(str(folder / "bank.db")) as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE decisions AS SELECT * FROM people")
    place = slashes.format(folder=str(folder).lstrip("/"))
    assert testsgd("audit", f"duckdb:{place}bank.db?table=decisions", *COLUMNS).code == 0


def test_a_database_that_is_missing_names_both_places(fails: Run, folder: Path) -> None:
    message = fails("audit", "duckdb:///nothing.db?table=decisions", *COLUMNS)
    assert str(Path("/nothing.db")) in message
    assert str(folder / "nothing.db") in message


def test_a_table_that_is_missing_is_answered_by_those_that_are_there(
    fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    with duckdb.connect(str(folder / "bank.db")) as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE decisions AS SELECT * FROM people")
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.loans AS SELECT * FROM people")
    message = fails("audit", "duckdb://bank.db?table=decision", *COLUMNS)
    assert "decisions" in message
    assert "old.loans" in message


def counted(people: pd.DataFrame, *columns: str) -> pd.DataFrame:
    by_decade = people.assign(age=people["age"] // 10 * 10)
    return by_decade.groupby([*columns, "approved"]).size().reset_index(name="rows")


@pytest.mark.parametrize("columns", [("sex",), ("sex", "age"), ("sex", "age", "repaid")])
def test_counted_rows_are_not_taken_for_people(
    testsgd: Run, fails: Run, folder: Path, people: pd.DataFrame, columns: tuple[str, ...]
) -> None:
    counted(people, *columns).to_csv(folder / "cells.csv", index=False)
    asked = ("audit", "cells.csv", "--predictions", "approved", "--sensitive", "sex")
    assert "--cells" in fails(*asked)
    assert testsgd(*asked, "--cells").code == 0
    counted(people, *columns).rename(columns={"rows": "Count"}).to_csv(
        folder / "cells.csv", index=False
    )
    assert "--counts Count" in fails(*asked)


@pytest.mark.parametrize("others", [[], ["income"], ["id"]])
def test_people_may_have_a_column_called_rows(
    testsgd: Run, folder: Path, people: pd.DataFrame, others: list[str]
) -> None:
    source = np.random.default_rng(4)
    own = people.assign(
        rows=source.integers(1, 9, ROWS),
        income=source.normal(50, 9, ROWS).round(2),
        id=[f"P{row}" for row in range(ROWS)],
    )[["sex", "age", "approved", "rows", *others]]
    own.to_csv(folder / "own.csv", index=False)
    assert testsgd("audit", "own.csv", *COLUMNS, "--replicates", "99").code == 0


@pytest.mark.parametrize("count", ["1e20", "9223372036854775807", "9007199254740992"])
def test_more_rows_than_can_be_counted(count: str, folder: Path, fails: Callable[..., str]) -> None:
    (folder / "cells.csv").write_text(f"sex,approved,rows\nf,yes,5000\nf,no,{count}\nm,yes,700\n")
    words = ("--predictions", "approved", "--sensitive", "sex")
    assert "'rows'" in fails("audit", "--cells", "cells.csv", *words)
