"""Scores and numbers that stay in an engine: the audit of their sums is one of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import TestSGDError
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
    """Return people with predictions, true labels and weights, some labels and weights nothing."""
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
