"""Names of columns that are no texts: a model is asked with those that the rows have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people() -> pd.DataFrame:
    source = np.random.default_rng(0)
    columns = [source.integers(0, 2, 500), source.normal(50, 10, 500), source.integers(18, 80, 500)]
    return pd.DataFrame(dict(enumerate(columns)))


def grant(rows: pd.DataFrame) -> Any:
    return (rows[1] > 40 + 5 * rows[0]).astype(int)


@pytest.mark.parametrize("labelled", [False, True])
def test_numbers_as_names_are_numbers_for_a_model(labelled: bool) -> None:
    rows = people()
    labels = (rows[1] > 45).astype(int) if labelled else None
    result = testsgd.audit(grant, rows, labels, sensitive_features=[0], **QUICK)
    assert result.summary.overall_rate == grant(rows).mean()
    by_metrics = testsgd.audit_model_by_metrics(
        grant, rows, labels, sensitive_features=[0], metrics=["selection_rate"]
    )
    [metric] = by_metrics.summary.metrics
    assert metric.overall == grant(rows).mean()


def test_an_estimator_of_places_is_asked_for_scores() -> None:
    compose = pytest.importorskip("sklearn.compose")
    linear = pytest.importorskip("sklearn.linear_model")
    pipeline = pytest.importorskip("sklearn.pipeline")
    rows = people()
    labels = (rows[1] > 45).astype(int)
    chosen = compose.ColumnTransformer([("kept", "passthrough", [1, 2])])
    model = pipeline.make_pipeline(chosen, linear.LogisticRegression()).fit(rows, labels)
    result = testsgd.audit_model_by_metrics(
        model, rows, labels, sensitive_features=[0], metrics=["mean_score"]
    )
    [metric] = result.summary.metrics
    assert metric.overall == pytest.approx(model.predict_proba(rows)[:, 1].mean())


def test_numbers_are_compared_beside_names_of_both_kinds() -> None:
    rows = people().rename(columns={0: "woman"})
    result = testsgd.audit_model_by_metrics(
        lambda frame: 2 * frame[1] + frame["woman"],
        rows,
        sensitive_features=["woman"],
        metrics=["mean"],
    )
    [metric] = result.summary.metrics
    assert metric.overall == pytest.approx((2 * rows[1] + rows["woman"]).mean())
