"""Rows counted by another engine: the same counts and the same audit as of the rows themselves."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import DataError, ParameterError, TestSGDError
from testsgd.metrics import (
    Bins,
    audit_counts,
    audit_rows_elsewhere,
    count_rows,
    counts_query,
)

ROWS = 5000
SOURCE = np.random.default_rng(21)
PEOPLE = pd.DataFrame(
    {
        "sex": SOURCE.choice(["f", "m"], ROWS),
        "kind": SOURCE.integers(1, 4, ROWS),
        "age": SOURCE.integers(18, 90, ROWS),
        "income": SOURCE.normal(50, 20, ROWS),
        "repaid": SOURCE.choice(["no", "yes"], ROWS),
        "weight": SOURCE.integers(1, 5, ROWS),
    }
)
PEOPLE["approved"] = np.where(SOURCE.random(ROWS) < 0.3, "no", PEOPLE["repaid"])
SENSITIVE = ["sex", "kind", "age", "income"]
NAMED: dict[str, Any] = {"predictions": "approved", "label": "repaid"}
QUICK: dict[str, Any] = {"replicates": 99}


def in_polars(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").from_pandas(rows).lazy()


def in_duckdb(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb").from_df(rows)


def in_dask(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(rows, npartitions=3)


def in_arrow(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pandas(rows)


ENGINES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": in_polars,
    "duckdb": in_duckdb,
    "dask": in_dask,
    "arrow": in_arrow,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("weights", [None, "weight"])
def test_counts_equal_those_of_pandas(engine: str, weights: str | None) -> None:
    expected, bins = count_rows(PEOPLE, sensitive_features=SENSITIVE, weights=weights, **NAMED)
    counts, found = count_rows(
        ENGINES[engine](PEOPLE), sensitive_features=SENSITIVE, weights=weights, **NAMED
    )
    assert found == bins
    pd.testing.assert_frame_equal(counts, expected, check_dtype=False)
    assert counts["rows"].sum() == ROWS


def test_counts_are_those_by_hand() -> None:
    counts, bins = count_rows(PEOPLE, sensitive_features=["sex", "age"], **NAMED)
    edges = bins["age"]["edges"]
    lower = np.array(edges[:-1])[np.searchsorted(edges[1:-1], PEOPLE["age"], side="right")]
    expected = (
        PEOPLE.assign(age=lower).groupby(["sex", "age", "approved", "repaid"]).size().to_dict()
    )
    found = counts.set_index(["sex", "age", "approved", "repaid"])["rows"].to_dict()
    assert found == expected


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_missing_values_stay_missing(engine: str) -> None:
    some = np.arange(ROWS) % 7 == 0
    rows = PEOPLE.assign(sex=PEOPLE["sex"].mask(some), income=PEOPLE["income"].mask(some))
    features = ["sex", "income"]
    expected, _ = count_rows(rows, sensitive_features=features, **NAMED)
    counts, _ = count_rows(ENGINES[engine](rows), sensitive_features=features, **NAMED)
    assert counts.loc[counts["income"].isna(), "rows"].sum() == some.sum()
    assert counts["rows"].tolist() == expected["rows"].tolist()


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
@pytest.mark.parametrize("metrics", [["selection_rate"], ["mean"]])
def test_codes_beside_missing_values_are_categories(engine: str, metrics: list[str]) -> None:
    some = np.arange(ROWS) % 17 == 0
    rows = PEOPLE.assign(kind=PEOPLE["kind"].astype("Int64").mask(some))
    column = "approved" if metrics == ["selection_rate"] else "income"
    expected = testsgd.audit_metrics(
        rows[column], sensitive_features=rows[["kind", "sex"]], metrics=metrics, **QUICK
    )
    found = audit_rows_elsewhere(
        ENGINES[engine](rows),
        sensitive_features=["kind", "sex"],
        predictions=column,
        metrics=metrics,
        **QUICK,
    )
    texts = [[group.text for group in one.summary.metrics[0].groups] for one in (expected, found)]
    assert texts[0] == texts[1]
    assert found.summary.groups_compared == expected.summary.groups_compared


@pytest.mark.parametrize("weights", [None, "weight"])
def test_an_audit_of_counts_is_one_of_the_rows(weights: str | None) -> None:
    metrics = ["selection_rate", "equalized_odds", "accuracy"]
    features = {"age": {"edges": [18, 30, 50, 70, 90]}}
    elsewhere = audit_rows_elsewhere(
        in_polars(PEOPLE),
        sensitive_features=["sex", "kind", "age"],
        weights=weights,
        features=features,
        metrics=metrics,
        **NAMED,
        **QUICK,
    )
    here = testsgd.audit_metrics(
        PEOPLE["approved"],
        PEOPLE["repaid"],
        sensitive_features=PEOPLE[["sex", "kind", "age"]],
        sample_weight=None if weights is None else PEOPLE[weights],
        features=features,
        metrics=metrics,
        **QUICK,
    )
    assert elsewhere.summary.data.rows == ROWS
    assert elsewhere.summary.unjudged == here.summary.unjudged
    found, expected = (
        result.groups.set_index(["metric", "text"]).sort_index() for result in (elsewhere, here)
    )
    pd.testing.assert_frame_equal(
        found.drop(columns="rank"), expected.drop(columns="rank"), atol=1e-9
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_identifiers_are_no_groups(engine: str) -> None:
    people = PEOPLE[["sex", "approved"]].assign(
        person_id=np.random.default_rng(1).permutation(ROWS)
    )
    with pytest.raises(ParameterError) as caught:
        audit_rows_elsewhere(
            ENGINES[engine](people),
            predictions="approved",
            sensitive_features=["sex", "person_id"],
        )
    assert caught.value.details["column"] == "person_id"


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_the_query_counts_as_the_engines_do(dialect: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    counts, bins = count_rows(PEOPLE, sensitive_features=["sex", "age"], weights="weight", **NAMED)
    query = counts_query(
        table="people",
        categories=["sex"],
        bins=[Bins(column="age", edges=tuple(bins["age"]["edges"]))],
        weights="weight",
        dialect=dialect,
        **NAMED,
    )
    connection = duckdb.connect()
    connection.register("people", PEOPLE)
    keys = ["sex", "age", "approved", "repaid"]
    found = connection.sql(query).df().sort_values(keys).reset_index(drop=True)
    # The query alone says the upper limits of bins, too.
    upper_limits = found.columns.difference(counts.columns)
    assert all(name.removesuffix("_below") in counts for name in upper_limits)
    pd.testing.assert_frame_equal(found.drop(columns=upper_limits), counts, check_dtype=False)


def test_counts_without_a_description_keep_their_bins() -> None:
    counts, bins = count_rows(PEOPLE, sensitive_features=["sex", "kind", "age"], **NAMED)
    result = audit_counts(counts, sensitive_features=["sex", "kind", "age"], **NAMED, **QUICK)
    known = audit_counts(
        counts, sensitive_features=["sex", "kind", "age"], features=bins, **NAMED, **QUICK
    )
    assert len(result.groups) == len(known.groups)
    features = {feature.name: feature.type for feature in result.summary.data.features}
    assert features == {"sex": "categorical", "kind": "categorical", "age": "integer"}


def test_names_are_quoted() -> None:
    query = counts_query(table="t", categories=['a"b'], bins=[], predictions="p", dialect="duckdb")
    assert '"a""b"' in query
    assert "`a`" in counts_query(
        table="t", categories=["a"], bins=[], predictions="p", dialect="spark"
    )


def test_a_billion_rows_are_judged_from_their_counts() -> None:
    counts = pd.DataFrame(
        {
            "sex": ["f", "f", "m", "m"],
            "granted": [0, 1, 0, 1],
            "rows": [300_000_100, 200_000_000, 300_000_000, 200_000_000],
        }
    )
    result = audit_counts(counts, predictions="granted", sensitive_features=["sex"])
    assert result.summary.metrics[0].counted == 1_000_000_100
    assert abs(result.groups["effect"].iloc[0]) < 1e-6


COUNTS = pd.DataFrame({"sex": ["f", "m"], "granted": ["no", "yes"], "rows": [5, 6]})
WRONG: dict[str, Callable[[], Any]] = {
    "no frame": lambda: count_rows([1], sensitive_features=["sex"], predictions="p"),
    "no column": lambda: count_rows(PEOPLE, sensitive_features=["sex"], predictions="aproved"),
    "no sensitive column": lambda: count_rows(PEOPLE, sensitive_features=["sx"], **NAMED),
    "dialect": lambda: counts_query(
        table="t", categories=[], bins=[], predictions="p", dialect="basic"
    ),
    "broken counts": lambda: audit_counts(
        COUNTS.assign(rows=1.5), predictions="granted", sensitive_features=["sex"]
    ),
    "negative counts": lambda: audit_counts(
        COUNTS.assign(rows=[-1, 2]), predictions="granted", sensitive_features=["sex"]
    ),
    "no column of counts": lambda: audit_counts(
        COUNTS, predictions="granted", sensitive_features=["sex"], rows="n"
    ),
    "half of the weights": lambda: audit_counts(
        COUNTS, predictions="granted", sensitive_features=["sex"], weight="rows"
    ),
    "scores": lambda: audit_counts(
        COUNTS.assign(granted=[0.3, 0.7]), predictions="granted", sensitive_features=["sex"]
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_counted_is_one_line(case: str) -> None:
    with pytest.raises(TestSGDError) as caught:
        WRONG[case]()
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")
def test_counts_of_spark_equal_those_of_pandas(tmp_path: Path) -> None:
    """It needs PySpark and a Java runtime, such as Debian's default-jre-headless."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")
    path = tmp_path / "people.parquet"
    PEOPLE.to_parquet(path)
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(tmp_path))
        .getOrCreate()
    )
    expected, bins = count_rows(PEOPLE, sensitive_features=SENSITIVE, **NAMED)
    try:
        counts, found = count_rows(
            session.read.parquet(str(path)), sensitive_features=SENSITIVE, **NAMED
        )
    finally:
        session.stop()
    assert found == bins
    pd.testing.assert_frame_equal(counts, expected, check_dtype=False)


def dies_once(part: pd.DataFrame, marker: str) -> pd.DataFrame:
    """Kill the process that is the first to read a part, and return the part ever after."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_of_dask_that_dies_changes_no_count(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    frame = in_dask(PEOPLE)
    marker = str(tmp_path / "dead")
    expected, bins = count_rows(PEOPLE, sensitive_features=SENSITIVE, **NAMED)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster),
    ):
        dying = frame.map_partitions(dies_once, marker, meta=PEOPLE.iloc[:0])
        counts, found = count_rows(dying, sensitive_features=SENSITIVE, **NAMED)
    assert Path(marker).exists()
    assert found == bins
    pd.testing.assert_frame_equal(counts, expected, check_dtype=False)


def test_rows_of_weight_zero_do_not_count() -> None:
    """As in memory, where each row is seen by itself."""
    source = np.random.default_rng(21)
    rows = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], 900),
            "said": source.choice(["no", "yes"], 900),
            "weight": source.exponential(size=900) * (source.random(900) < 0.6),
        }
    )
    found = audit_rows_elsewhere(
        rows, predictions="said", sensitive_features=["sex"], weights="weight"
    )
    expected = testsgd.audit_metrics(
        rows["said"],
        sensitive_features=rows[["sex"]],
        metrics="selection_rate",
        sample_weight=rows["weight"],
    )
    columns = ["text", "counted", "value", "effect", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(found.groups[columns], expected.groups[columns])


@pytest.mark.parametrize(
    ("column", "value", "number"),
    [("weight", -1.0, "2"), ("weight", None, "2"), ("said", None, "2")],
)
def test_what_sums_would_hide_is_refused(column: str, value: Any, number: str) -> None:
    rows = pd.DataFrame({"sex": ["f", "m"] * 300, "said": ["no", "yes"] * 300, "weight": 1.0})
    rows.loc[[3, 5], column] = value
    with pytest.raises(DataError, match=number):
        audit_rows_elsewhere(rows, predictions="said", sensitive_features=["sex"], weights="weight")
