"""Cells of files as an encoder knows them, and what is said of those that none knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import testsgd
from testsgd.auditing import AuditResult, audit_file
from testsgd.metrics import MetricsResult, audit_file_of_model

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people(*jobs: str) -> pd.DataFrame:
    """Return rows in which women have the first job more often, and men the second."""
    source = np.random.default_rng(5)
    sex = source.choice(["F", "M"], 800)
    first = source.random(800) < np.where(sex == "F", 0.15, 0.85)
    ok = (source.random(800) < np.where(first, 0.8, 0.2)).astype(int)
    size = source.normal(size=800).round(2)
    return pd.DataFrame({"sex": sex, "job": np.where(first, *jobs), "x": size, "ok": ok})


def fitted(frame: pd.DataFrame) -> Any:
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job"]), ("passthrough", ["x"])
    )
    return make_pipeline(encoder, LogisticRegression()).fit(frame[["job", "x"]], frame["ok"])


@pytest.mark.parametrize("jobs", [("clerk", "nurse "), (" clerk", " nurse"), ("01", "02")])
def test_a_file_of_text_is_audited_as_the_frame_that_pandas_reads(
    jobs: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    people(*jobs).to_csv(path, index=False)
    read = pd.read_csv(path)
    model = fitted(read)
    joblib.dump(model, tmp_path / "model.joblib")
    truth = testsgd.audit(
        model, read.drop(columns="ok"), read["ok"], sensitive_features=["sex"], **QUICK
    )
    options: dict[str, Any] = {"sensitive_features": ["sex"], "label": "ok", **QUICK}
    results = [
        audit_file(path, model=model, **options),
        audit_file(path, model=str(tmp_path / "model.joblib"), trust_pickle=True, **options),
        audit_file_of_model(path, model=model, **options),
    ]
    for result in results:
        assert isinstance(result, AuditResult)
        first, expected = result.summary.groups[0], truth.summary.groups[0]
        assert (first.text, first.difference) == (expected.text, expected.difference)
    # It was opened to read the rows, and is called as ever.
    assert results[1].summary.model.name == str(tmp_path / "model.joblib")
    assert results[1].summary.model.file_sha256 is not None
    by_metrics = audit_file_of_model(
        path,
        model=tmp_path / "model.joblib",
        trust_pickle=True,
        metrics="selection_rate",
        sensitive_features=["sex"],
        label="ok",
    )
    assert isinstance(by_metrics, MetricsResult)
    [rate] = {abs(effect) for effect in by_metrics.groups["effect"].round(6)}
    assert rate == pytest.approx(abs(truth.summary.groups[0].difference), abs=1e-5)
