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
from testsgd.auditing.report.summary import UnknownCategories
from testsgd.auditing.report.unknown_categories import unknown_category_sentences
from testsgd.metrics import MetricsResult, audit_described_by_metrics, audit_file_of_model

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


def described(frame: pd.DataFrame) -> dict[str, Any]:
    jobs = sorted(frame["job"].unique())
    return {
        "dataset": {"name": "people"},
        "label": {"column": "ok", "favourable": "1", "values": ["0", "1"]},
        "features": {
            "sex": {"type": "categorical", "values": ["F", "M"], "sensitive": True},
            "job": {"type": "categorical", "values": jobs},
            "x": {"type": "decimal", "range": [-9, 9]},
        },
    }


@pytest.mark.parametrize("by", ["frame", "description", "metrics", "described metrics", "rate"])
def test_what_an_encoder_does_not_know_is_said(by: str) -> None:
    model = fitted(people("clerk", "nurse "))
    frame = people("clerk", "nurse")
    rows, label = frame.drop(columns="ok"), frame["ok"]
    sex: dict[str, Any] = {"sensitive_features": ["sex"]}
    result: Any
    if by == "frame":
        result = testsgd.audit(model, rows, label, **sex, **QUICK)
    elif by == "rate":
        result = testsgd.audit(model, rows, label, metric="true_positive_rate", **sex, **QUICK)
    elif by == "description":
        result = testsgd.audit(model, frame, described(frame), **QUICK)
    elif by == "metrics":
        result = testsgd.audit_model_by_metrics(model, rows, label, **sex)
    else:
        result = audit_described_by_metrics(model, frame, described(frame))
    [unknown] = result.summary.model.unknown_categories
    assert (unknown.column, unknown.values, unknown.known[0]) == ("job", ["nurse"], "nurse ")
    audited = label == 1 if by == "rate" else label >= 0
    assert unknown.share == pytest.approx((frame["job"] == "nurse")[audited].mean())
    about = [item for item in result.summary.verdict.sentences if "“nurse”" in item]
    certain = [item for item in result.summary.verdict.sentences if "95%" in item]
    sentences = result.summary.verdict.sentences
    assert len(about) == 1
    assert not certain or sentences.index(about[0]) < sentences.index(certain[0])


def test_nothing_is_said_of_cells_that_are_known_or_missing() -> None:
    frame = people("clerk", "nurse ")
    model = fitted(frame)
    rows = frame.drop(columns="ok").copy()
    rows.loc[:20, "job"] = None
    result = testsgd.audit(model, rows, frame["ok"], sensitive_features=["sex"], **QUICK)
    assert result.summary.model.unknown_categories == []


def test_a_function_has_no_encoders() -> None:
    model = fitted(people("clerk", "nurse "))
    frame = people("clerk", "nurse")

    def answers(rows: pd.DataFrame) -> Any:
        return model.predict(rows[["job", "x"]])

    result = testsgd.audit(
        answers, frame.drop(columns="ok"), frame["ok"], sensitive_features=["sex"], **QUICK
    )
    assert result.summary.model.unknown_categories == []


def test_few_values_and_columns_are_named() -> None:
    found = [
        UnknownCategories(
            column=f"c{place}", values=[1, "1", True], distinct=9, rows=5, share=0.1, known=[2.5]
        )
        for place in range(5)
    ]
    sentences = unknown_category_sentences(found)
    assert sum("“1”" in sentence for sentence in sentences) == 3
    assert sum("6 other" in sentence for sentence in sentences) == 3
    assert not any("c4" in sentence for sentence in sentences)
    assert unknown_category_sentences([]) == []
