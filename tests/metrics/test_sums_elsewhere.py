"""Scores and numbers that stay in an engine: the audit of their sums is one of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ParameterError, TestSGDError
from testsgd.metrics import METRICS, audit_rows_elsewhere

ROWS = 4000
SENSITIVE = ["sex", "race", "age"]
QUICK: dict[str, Any] = {
    "replicates": 99,
    "features": {"age": {"edges": [18, 30, 50, 70, 90]}},
    "threshold": 0.6,
}
DECISIONS = [name for name, metric in METRICS.items() if metric.kind == "decisions"]


def people(kind: str) -> pd.DataFrame:
    """Return people, some of them without a label or a sensitive value, or of weight 0."""
    source = np.random.default_rng(31)
    rows = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "race": source.choice(["A", "B", "C"], ROWS),
            "age": source.integers(18, 90, ROWS),
            "weight": source.exponential(size=ROWS) * (source.random(ROWS) < 0.9),
        }
    )
    lift = 0.2 * (rows["sex"] == "f") * (rows["race"] == "B")
    if kind == "scores":
        rows["said"] = 0.8 * source.random(ROWS) + lift
        rows["true"] = np.where(source.random(ROWS) < rows["said"], "yes", "no")
    else:
        rows["said"] = source.normal(0.5, 1, ROWS) + lift
        rows["true"] = rows["said"] + source.normal(0, 0.5, ROWS)
    rows["true"] = rows["true"].mask(np.arange(ROWS) % 11 == 0)
    rows["race"] = rows["race"].mask(np.arange(ROWS) % 13 == 0)
    rows["age"] = rows["age"].mask(np.arange(ROWS) % 17 == 0)
    return rows


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
    "pandas": lambda rows: rows,
}


def elsewhere(rows: Any, **options: Any) -> testsgd.MetricsResult:
    chosen = {"predictions": "said", "sensitive_features": SENSITIVE, **QUICK, **options}
    return audit_rows_elsewhere(rows, **chosen)


def here(
    rows: pd.DataFrame, *, label: str | None = None, weights: str | None = None, **options: Any
) -> testsgd.MetricsResult:
    return testsgd.audit_metrics(
        rows["said"],
        None if label is None else rows[label],
        sensitive_features=rows[SENSITIVE],
        sample_weight=None if weights is None else rows[weights],
        **{**QUICK, **options},
    )


def check_equal(found: testsgd.MetricsResult, expected: testsgd.MetricsResult) -> None:
    for name in ("predictions", "threshold", "weighted", "unjudged", "groups_compared"):
        assert getattr(found.summary, name) == getattr(expected.summary, name)
    assert found.summary.data.rows == expected.summary.data.rows
    assert found.summary.data.label.favourable == expected.summary.data.label.favourable
    for metric, other in zip(found.summary.metrics, expected.summary.metrics, strict=True):
        assert (metric.name, metric.counted) == (other.name, other.counted)
        assert metric.overall == pytest.approx(other.overall, rel=1e-9)
    first, second = (
        result.groups.set_index(["metric", "text"]).sort_index().drop(columns="rank")
        for result in (found, expected)
    )
    pd.testing.assert_frame_equal(first, second, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("kind", ["scores", "numbers"])
def test_sums_give_the_audit_of_the_rows(kind: str, weights: str | None, engine: str) -> None:
    rows = people(kind)
    metrics = [*DECISIONS, *(name for name, metric in METRICS.items() if metric.kind == kind)]
    options: dict[str, Any] = {"metrics": metrics, "label": "true", "weights": weights}
    check_equal(elsewhere(ENGINES[engine](rows), **options), here(rows, **options))


@pytest.mark.parametrize("kind", ["scores", "numbers"])
@pytest.mark.parametrize("label", [None, "true"])
@pytest.mark.parametrize("threshold", [None, 0.4])
def test_what_is_not_asked_for_is_as_for_rows(
    kind: str, label: str | None, threshold: float | None
) -> None:
    rows = people(kind)
    options: dict[str, Any] = {"label": label, "threshold": threshold}
    check_equal(elsewhere(in_polars(rows), **options), here(rows, **options))


def whole_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(said=np.rint(50 * rows["said"]).astype(int))


def few_whole_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(said=np.where(rows["said"] > 0.5, 100_000, 0))


def scores_beside_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(said=rows["said"].rank() / (ROWS + 1))


def scores_of_booleans(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(said=rows["said"].rank() / (ROWS + 1), true=rows["said"] > 0.5)


def scores_of_zeros_and_ones(rows: pd.DataFrame) -> pd.DataFrame:
    true = (rows["said"] > 0.5).astype(float).mask(rows["true"].isna())
    return rows.assign(said=rows["said"].rank() / (ROWS + 1), true=true)


PREPARED: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "whole numbers": (whole_numbers, "numbers"),
    "few whole numbers": (few_whole_numbers, "decisions"),
    "scores beside numbers": (scores_beside_numbers, "numbers"),
    "scores of booleans": (scores_of_booleans, "scores"),
    "scores of zeros and ones": (scores_of_zeros_and_ones, "scores"),
}


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas"])
@pytest.mark.parametrize("case", PREPARED)
def test_an_engine_sees_what_predictions_are(case: str, engine: str) -> None:
    prepare, kind = PREPARED[case]
    rows = prepare(people("numbers"))
    label = None if kind == "decisions" else "true"
    favourable = 100_000 if kind == "decisions" else None
    options: dict[str, Any] = {"label": label, "favourable": favourable}
    if kind == "decisions":
        with pytest.raises(ParameterError) as caught:
            elsewhere(ENGINES[engine](rows), **options)
        assert caught.value.where == "threshold"
        options["threshold"] = None
    found = elsewhere(ENGINES[engine](rows), **options)
    assert found.summary.predictions == kind
    check_equal(found, here(rows, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"reference": "overall"},
        {"reference": "best"},
        {"reference": "sex = f"},
        {"measure": "ratio"},
        {"rule": "four-fifths", "metrics": "selection_rate"},
        {"guarantee": "per-group", "stability": 20},
    ],
    ids=str,
)
def test_every_comparison_is_that_of_the_rows(options: dict[str, Any]) -> None:
    rows = people("scores")
    asked = {"metrics": ["selection_rate", "mean_score"], "weights": "weight", **options}
    check_equal(elsewhere(in_duckdb(rows), **asked), here(rows, **asked))


@pytest.mark.parametrize("name", ["Rows", "Weight", "WEIGHT_SQUARED"])
@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas"])
def test_columns_may_be_called_nearly_like_sums(engine: str, name: str) -> None:
    rows = people("scores").rename(columns={"weight": "times"}).rename(columns={"race": name})
    options = {**QUICK, "features": None}
    found = audit_rows_elsewhere(
        ENGINES[engine](rows),
        predictions="said",
        sensitive_features=["sex", name],
        weights="times",
        **options,
    )
    expected = testsgd.audit_metrics(
        rows["said"],
        sensitive_features=rows[["sex", name]],
        sample_weight=rows["times"],
        **options,
    )
    check_equal(found, expected)


@pytest.mark.parametrize("name", ["rows", "weight", "weight_squared"])
@pytest.mark.parametrize("said", ["scores", "classes"])
def test_a_column_called_like_a_sum_is_named_in_the_error(said: str, name: str) -> None:
    rows = people("scores").rename(columns={"weight": "times"}).rename(columns={"race": name})
    if said == "classes":
        rows["said"] = np.where(rows["said"] > 0.5, "yes", "no")
    options: dict[str, Any] = {"sensitive_features": ["sex", name], "features": None}
    if said == "classes":
        options["threshold"] = None
    with pytest.raises(ParameterError) as caught:
        elsewhere(in_duckdb(rows), weights="times", **options)
    assert repr(name) in str(caught.value)


def test_summed_rows_cannot_be_held_out() -> None:
    with pytest.raises(ParameterError):
        elsewhere(in_polars(people("scores")), holdout=0.5)


def test_several_labels_may_be_favourable() -> None:
    rows = people("scores")
    rows["true"] = np.random.default_rng(5).choice(["bad", "fair", "good"], ROWS)
    options: dict[str, Any] = {"label": "true", "favourable": ["fair", "good"]}
    check_equal(elsewhere(in_duckdb(rows), **options), here(rows, **options))


def test_decimals_of_a_database_are_numbers() -> None:
    query = """
        SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex,
            (i / 1000)::DECIMAL(8, 3) AS said, (i % 2)::DECIMAL(4, 1) AS true
        FROM range(1000) AS numbers(i)
    """
    relation = pytest.importorskip("duckdb").sql(query)
    result = audit_rows_elsewhere(
        relation, predictions="said", label="true", sensitive_features=["sex"]
    )
    assert result.summary.predictions == "scores"
    assert result.summary.data.label.favourable == "1"


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas"])
def test_the_error_says_how_many_predictions_are_missing(engine: str) -> None:
    rows = people("scores")
    rows["said"] = rows["said"].mask(np.arange(ROWS) % 100 == 0)
    with pytest.raises(TestSGDError) as caught:
        elsewhere(ENGINES[engine](rows))
    assert " 40 " in str(caught.value)


def own_metric(predicted: Any, true: Any) -> Any:
    return predicted, true


WRONG: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a function": ("scores", {}, {"metrics": own_metric}),
    "infinite": ("numbers", {"said": np.inf}, {}),
    "an infinite true number": (
        "numbers",
        {"true": np.where(np.arange(ROWS) % 100 == 0, -np.inf, 1.0)},
        {"label": "true"},
    ),
    "a text for a number": ("numbers", {"true": "high"}, {"label": "true"}),
    "no true number": ("numbers", {"true": np.nan}, {"label": "true"}),
    "no true label": ("scores", {"true": None}, {"label": "true"}),
    "one label": ("scores", {"true": "yes"}, {"label": "true"}),
    "no such label": ("scores", {}, {"label": "true", "favourable": "granted"}),
    "no such column": ("scores", {}, {"label": "truth"}),
    "no labels": ("scores", {}, {"metrics": "calibration_error"}),
    "no threshold": ("numbers", {}, {"metrics": "selection_rate", "threshold": None}),
    "another metric": ("numbers", {}, {"metrics": "mean_score"}),
    "a negative weight": ("numbers", {"weight": -1.0}, {"weights": "weight"}),
    "no weight": ("numbers", {"weight": np.nan}, {"weights": "weight"}),
    "a text for a weight": ("numbers", {"weight": "heavy"}, {"weights": "weight"}),
}


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "arrow"])
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_summed_is_one_line(case: str, engine: str) -> None:
    kind, columns, options = WRONG[case]
    rows = people(kind).assign(**columns)
    with pytest.raises(TestSGDError) as caught:
        elsewhere(ENGINES[engine](rows), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("metric", ["mean_error", "mean_absolute_error"])
def test_errors_of_rounding_are_none(metric: str, engine: str) -> None:
    rows = pd.DataFrame({"sex": ["f", "m"] * 200, "said": [0.1 + 0.2, 0.5] * 200})
    rows["true"] = [0.3, 0.5] * 200
    found = audit_rows_elsewhere(
        ENGINES[engine](rows),
        predictions="said",
        label="true",
        sensitive_features=["sex"],
        metrics=metric,
        fail_above=0.0,
        threshold=0.4,
    )
    assert (found.groups["effect"] == 0).all()
    assert found.verdict.exit_code == 0
