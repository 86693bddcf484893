"""Mitigation and comparison of models that name their own columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import testsgd

ROWS = 600
SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "jobs"},
    "label": {"column": "hired", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {
            "type": "categorical",
            "values": ["f", "m"],
            "sensitive": True,
            "input": False,
        },
        "score": {"type": "integer", "range": [0, 120]},
    },
}
COLUMNS = ["number", "score"]


def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    women = random.random(ROWS) < 0.5
    score = random.integers(0, 100, ROWS) + 20 * ~women
    rows = pd.DataFrame({"gender": np.where(women, "f", "m"), "score": score})
    rows["number"] = random.integers(0, 50, ROWS)
    rows["hired"] = (score + random.normal(0, 15, ROWS) > 60).astype(int)
    return rows


def fitted(rows: pd.DataFrame) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows[COLUMNS], rows["hired"])


@pytest.mark.skops
def test_a_model_is_mitigated_on_the_columns_that_it_takes(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    rows = people()
    labelled = rows.assign(hired=np.where(rows["hired"] == 1, "yes", "no"))
    result = testsgd.mitigate(
        fitted(rows),
        labelled,
        SPECIFICATION,
        runs=1,
        steps=1,
        compare="none",
        samples="counter",
        max_accuracy_drop=5,
    )
    summary = result.summary
    assert summary.original.not_given == ["gender"]
    assert summary.original.passed_through == ["number"]
    assert summary.original.read_as == {"0": "no", "1": "yes"}
    retrained = summary.retrained
    if retrained is not None:
        assert retrained.not_given == ["gender"]
        assert retrained.read_as == {"0": "no", "1": "yes"}


@pytest.mark.parametrize("method", ["themis", "individual", "gerryfair"])
def test_other_methods_give_a_model_whole_rows(method: str) -> None:
    rows = people()
    asked: list[pd.DataFrame] = []

    class Witness:
        feature_names_in_ = np.array(COLUMNS, dtype=object)

        def predict(self, frame: pd.DataFrame) -> Any:
            asked.append(frame.copy())
            return np.where(frame["score"] + frame["number"] > 70, "yes", "no")

    result = testsgd.compare(
        Witness(),
        rows.drop(columns="hired"),
        SPECIFICATION,
        methods=method,
        replicates=99,
        stability=0,
        time_limit=2,
    )
    assert [item.method for item in result.summary.methods] == ["testsgd", method]
    for frame in asked:
        assert list(frame) == COLUMNS
        assert frame["number"].isin(rows["number"]).all()
        assert frame["number"].dtype == rows["number"].dtype
