"""Queries of counts take for missing what an audit of the rows does: also what is no number."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from store_servers import PostgreSQLServer

from testsgd.data import DatasetSpecification
from testsgd.errors import DataError
from testsgd.metrics import (
    Bins,
    audit_counts,
    audit_described_counts,
    counts_query,
    described_counts_query,
)

duckdb = pytest.importorskip("duckdb")

Ask = Callable[..., list[tuple[Any, ...]]]
NO_NUMBER = "NaN"
FLOATS = ["real", "double precision"]
AGES: dict[str, Any] = {
    "type": "integer",
    "range": [18, 79],
    "edges": [18, 40, 68, 79],
    "sensitive": True,
}
SEX: dict[str, Any] = {"type": "categorical", "values": ["f", "m"], "sensitive": True}
REPAID: dict[str, Any] = {"column": "repaid", "values": ["yes", "no"], "favourable": "yes"}


def described(
    label: dict[str, Any] = REPAID,
    missing: tuple[str, ...] = ("",),
    filters: tuple[dict[str, Any], ...] = (),
    **features: dict[str, Any],
) -> DatasetSpecification:
    return DatasetSpecification.model_validate(
        {
            "dataset": {"name": "people"},
            "parse": {"missing": list(missing)},
            "filters": list(filters),
            "label": label,
            "features": features or {"sex": SEX},
        }
    )


def table(values: list[Any], kind: str, column: str) -> str:
    """Return a table of three columns; the values are of one type in SQL."""
    cells = ["NULL" if value is None else f"'{value}'" for value in values]
    rows = [
        f"('{'fm'[place % 2]}', CAST({cell} AS {kind}), 'no')" for place, cell in enumerate(cells)
    ]
    return f"(VALUES {', '.join(rows)}) AS people(sex, {column}, said)"


def transpiled(query: str) -> str:
    return query.replace("`", '"').replace("AS STRING", "AS VARCHAR").replace("\\'", "''")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQLServer]:
    # Not pytest's own folder: that one is closed to other users.
    with tempfile.TemporaryDirectory(prefix="testsgd-queries-") as folder:
        Path(folder).chmod(0o755)
        started = PostgreSQLServer(Path(folder))
        yield started
        started.stop()


@pytest.fixture(scope="module")
def started_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Spark in this process; it needs PySpark and a Java runtime."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")
    started = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
        .getOrCreate()
    )
    yield started
    started.stop()


def in_spark(query: str) -> str:
    """Return a query whose made-up table has Spark's types; the rest stays as it was written."""
    text = query.replace("AS varchar)", "AS string)")
    return text.replace("AS double precision)", "AS double)")


@pytest.fixture(
    params=[
        "duckdb",
        "postgres",
        "spark",
        pytest.param("server", marks=[pytest.mark.postgresql, pytest.mark.slow]),
        pytest.param("started_spark", marks=pytest.mark.slow),
    ]
)
def ask(request: pytest.FixtureRequest) -> Ask:
    """Return what writes a query in a dialect and gives its answer, None where it has no value."""

    def answer(write: Callable[..., str], *arguments: Any, **options: Any) -> Any:
        if request.param == "server":
            import psycopg

            query = write(*arguments, dialect="postgres", **options)
            server = request.getfixturevalue("server")
            with psycopg.connect(server.url) as connection:
                found = connection.execute(query)
                names = [column.name for column in found.description or ()]
                frame = pd.DataFrame(found.fetchall(), columns=names)
        elif request.param == "started_spark":
            query = write(*arguments, dialect="spark", **options)
            found = request.getfixturevalue("started_spark").sql(in_spark(query))
            frame = pd.DataFrame([tuple(row) for row in found.collect()], columns=found.columns)
        else:
            query = write(*arguments, dialect=request.param, **options)
            with duckdb.connect() as connection:
                frame = connection.sql(transpiled(query)).df()
        return frame.astype(object).where(frame.notna(), None)

    return answer


def cells(frame: pd.DataFrame, *columns: str) -> set[tuple[Any, ...]]:
    """Return the different values of some columns, each with the number of rows."""
    counted = frame.groupby(list(columns), dropna=False)["rows"].sum().reset_index()
    values = counted.astype(object).where(counted.notna(), None)
    return set(values.itertuples(index=False, name=None))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("with_description", [True, False])
def test_what_is_no_number_is_in_no_bin(ask: Ask, kind: str, with_description: bool) -> None:
    rows = table([25, NO_NUMBER, 70, None, "Infinity", "-Infinity"], kind, "age")
    if with_description:
        frame = ask(
            described_counts_query, described(sex=SEX, age=AGES), table=rows, predictions="said"
        )
    else:
        bins = [Bins(column="age", edges=(18, 40, 68, 79))]
        frame = ask(counts_query, table=rows, categories=["sex"], bins=bins, predictions="said")
    assert cells(frame, "age", "age_below") == {(None, None, 2), (18, 40, 2), (68, 79, 2)}


@pytest.mark.parametrize("kind", ["smallint", "integer", "bigint", "numeric(12, 3)"])
def test_numbers_of_every_type_have_bins(ask: Ask, kind: str) -> None:
    rows = table([25, 39, 40, 70, None], kind, "age")
    limit = {"column": "age", "minimum": 30}
    for filters, expected in (
        ((), {(18, 2), (40, 1), (68, 1), (None, 1)}),
        ((limit,), {(18, 1), (40, 1), (68, 1)}),
    ):
        frame = ask(
            described_counts_query,
            described(filters=filters, age=AGES),
            table=rows,
            predictions="said",
        )
        assert cells(frame, "age") == expected


@pytest.mark.parametrize("kind", FLOATS)
def test_a_score_that_is_no_number_is_a_missing_prediction(ask: Ask, kind: str) -> None:
    rows = table([0.2, 0.8, NO_NUMBER, None, "Infinity"], kind, "score")
    description = described()
    frame = ask(described_counts_query, description, table=rows, predictions="score", threshold=0.5)
    assert cells(frame, "score") == {("no", 1), ("yes", 2), (None, 2)}
    with pytest.raises(DataError):
        audit_described_counts(description, frame, predictions="score")


@pytest.mark.parametrize("kind", FLOATS)
def test_a_label_that_is_no_number_is_missing(ask: Ask, kind: str) -> None:
    rows = table([20, 80, NO_NUMBER, None], kind, "pay")
    label = {"column": "pay", "values": ["high", "low"], "favourable": "high", "above": 50}
    frame = ask(
        described_counts_query, described(label), table=rows, predictions="said", label="pay"
    )
    assert cells(frame, "pay") == {("low", 1), ("high", 1), (None, 2)}


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("passes", "kept"),
    [
        ({"minimum": 1}, 3),
        ({"maximum": 10}, 3),
        ({"minimum": 1, "maximum": 10}, 2),
        ({"none_of": [7]}, 3),
        ({}, 4),
    ],
    ids=str,
)
def test_a_filter_drops_what_is_no_number(
    ask: Ask, kind: str, passes: dict[str, Any], kept: int
) -> None:
    rows = table([0, 3, 7, NO_NUMBER, None, "Infinity"], kind, "hours")
    filters = ({"column": "hours", **passes},)
    frame = ask(described_counts_query, described(filters=filters), table=rows, predictions="said")
    assert frame["rows"].sum() == kept


@pytest.mark.parametrize("missing", [(), ("",), ("", "NaN")])
@pytest.mark.parametrize("kind", FLOATS)
def test_a_code_that_is_no_number_is_missing(ask: Ask, kind: str, missing: tuple[str, ...]) -> None:
    code = {"type": "categorical", "values": ["1", "2"], "sensitive": True}
    named = {**code, "values": ["one", "two"], "map": {"1": "one", "2": "two"}}
    rows = table([1, 2, NO_NUMBER, None], kind, "code")
    for feature, expected in ((code, ("1", "2")), (named, ("one", "two"))):
        description = described(missing=missing, code=feature)
        frame = ask(described_counts_query, description, table=rows, predictions="said")
        assert cells(frame, "code") == {(expected[0], 1), (expected[1], 1), (None, 2)}
    label = {"column": "code", "map": {"1": "yes", "2": "no"}, "favourable": "yes"}
    description = described(label, missing=missing)
    frame = ask(described_counts_query, description, table=rows, predictions="code")
    assert cells(frame, "code") == {("yes", 1), ("no", 1), (None, 2)}
    label = {"column": "code", "values": ["1", "2"], "favourable": "1"}
    description = described(label, missing=missing)
    frame = ask(described_counts_query, description, table=rows, predictions="code")
    assert cells(frame, "code") == {(1, 1), (2, 1), (None, 2)}


def test_a_text_called_so_stays_if_it_is_declared(ask: Ask) -> None:
    names = {"type": "categorical", "values": ["NaN", "1"], "sensitive": True}
    rows = table([1, NO_NUMBER, None], "varchar", "name")
    frame = ask(described_counts_query, described(name=names), table=rows, predictions="said")
    assert cells(frame, "name") == {("1", 1), ("NaN", 1), (None, 1)}
    filters = ({"column": "name", "none_of": ["test"]},)
    description = described(filters=filters, name=names)
    frame = ask(described_counts_query, description, table=rows, predictions="said")
    assert cells(frame, "name") == {("1", 1), ("NaN", 1)}


@pytest.mark.parametrize("kind", ["integer", "double precision"])
def test_numbers_that_stand_for_missing_values_are_in_no_bin(ask: Ask, kind: str) -> None:
    rows = table([25, -999, 70, None], kind, "age")
    missing = ("", "-999", "unknown", "inf", "1e400", "NaN")
    description = described(missing=missing, age=AGES)
    frame = ask(described_counts_query, description, table=rows, predictions="said")
    assert cells(frame, "age") == {(18, 1), (68, 1), (None, 2)}
    frame = ask(
        described_counts_query,
        described(missing=missing),
        table=rows,
        predictions="age",
        threshold=30,
    )
    assert cells(frame, "age") == {("no", 1), ("yes", 1), (None, 2)}
    filters = ({"column": "age", "maximum": 60},)
    description = described(missing=missing, filters=filters, age=AGES)
    frame = ask(described_counts_query, description, table=rows, predictions="said")
    assert cells(frame, "age") == {(18, 1)}


@pytest.mark.parametrize("kind", FLOATS)
def test_a_weight_that_is_no_number_is_refused(ask: Ask, kind: str) -> None:
    rows = table([1, 2, 1, NO_NUMBER], kind, "weight")
    frame = ask(
        described_counts_query, described(), table=rows, predictions="said", weights="weight"
    )
    with pytest.raises(DataError):
        audit_counts(frame, predictions="said", sensitive_features=["sex"], favourable="no")
