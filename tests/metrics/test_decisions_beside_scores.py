"""Decisions of a model are what it predicts, whether its scores are compared beside them or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

import testsgd

ROWS = 1500
SOURCE = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "a": SOURCE.normal(size=ROWS),
        "b": SOURCE.normal(size=ROWS),
        "sex": SOURCE.choice(["f", "m"], ROWS),
    }
)
INPUTS = PEOPLE[["a", "b"]]
GRANTED = (PEOPLE["a"] + SOURCE.normal(size=ROWS) > 1).astype(int)
ANSWERS = pd.Series(
    np.select(
        [
            PEOPLE["a"] + SOURCE.normal(size=ROWS) > 0.7,
            PEOPLE["b"] + SOURCE.normal(size=ROWS) > 0.7,
        ],
        ["yes", "later"],
        "no",
    )
)
OF_TWO = FixedThresholdClassifier(LogisticRegression(), threshold=0.2).fit(INPUTS, GRANTED)
OF_THREE = LogisticRegression().fit(INPUTS, ANSWERS)
# A model, the true labels, and the favourable ones.
CASES = [
    (OF_TWO, GRANTED, [1]),
    (OF_TWO, GRANTED, [0]),
    (OF_THREE, ANSWERS, ["yes"]),
    (OF_THREE, ANSWERS, ["yes", "later"]),
]
DECIDED = ["selection_rate", "true_positive_rate", "false_positive_rate", "accuracy"]
SCORED = ["mean_score", "calibration_error"]


def expected(
    model: Any, labels: pd.Series[Any], favourable: list[Any], threshold: float | None
) -> pd.DataFrame:
    """Return each metric of each sex, computed from the model's own methods."""
    predicted = model.predict(INPUTS)
    scores = model.predict_proba(INPUTS)[:, np.isin(model.classes_, favourable)].sum(axis=1)
    decided = np.isin(predicted, favourable)
    true = labels.isin(favourable).to_numpy()
    right = predicted == labels.to_numpy()
    if threshold is not None:
        decided = scores > threshold
        right = decided == true
    rows = pd.DataFrame(
        {
            "selection_rate": decided,
            "true_positive_rate": np.where(true, decided, np.nan),
            "false_positive_rate": np.where(true, np.nan, decided),
            "accuracy": right,
            "mean_score": scores,
            "calibration_error": scores - true,
        }
    ).astype(float)
    return rows.groupby(PEOPLE["sex"]).mean()


def compared(result: testsgd.MetricsResult, metrics: list[str]) -> pd.DataFrame:
    groups = result.groups[result.groups["text"].isin(["sex = f", "sex = m"])]
    wide = groups.pivot(index="text", columns="metric", values="value")[metrics]
    return wide.set_axis(pd.Index(["f", "m"], name="sex")).rename_axis(columns=None)


@pytest.mark.parametrize("threshold", [None, 0.3])
@pytest.mark.parametrize("metrics", [DECIDED, [*DECIDED, *SCORED], SCORED])
@pytest.mark.parametrize(("model", "labels", "favourable"), CASES)
def test_metrics_beside_each_other_change_none(
    model: Any,
    labels: pd.Series[Any],
    favourable: list[Any],
    metrics: list[str],
    threshold: float | None,
) -> None:
    result = testsgd.audit_model_by_metrics(
        model,
        PEOPLE,
        labels,
        sensitive_features=["sex"],
        favourable=favourable[0] if len(favourable) == 1 else favourable,
        metrics=metrics,
        threshold=threshold,
    )
    oracle = expected(model, labels, favourable, threshold)[metrics]
    pd.testing.assert_frame_equal(compared(result, metrics), oracle, rtol=1e-9)


@pytest.mark.parametrize(("model", "labels", "favourable"), CASES)
def test_a_model_in_a_file_is_read_alike(
    model: Any, labels: pd.Series[Any], favourable: list[Any], tmp_path: Path
) -> None:
    joblib.dump(model, tmp_path / "model.joblib")
    result = testsgd.audit_model_by_metrics(
        tmp_path / "model.joblib",
        PEOPLE,
        labels,
        sensitive_features=["sex"],
        favourable=favourable,
        metrics=[*DECIDED, *SCORED],
        trust_pickle=True,
    )
    oracle = expected(model, labels, favourable, None)[[*DECIDED, *SCORED]]
    pd.testing.assert_frame_equal(compared(result, [*DECIDED, *SCORED]), oracle, rtol=1e-9)


class Counted(LogisticRegression):  # type: ignore[misc]
    """A classifier that counts the rows that it is asked about."""

    asked = 0

    def predict(self, rows: Any) -> Any:
        self.asked += len(rows)
        return super().predict(rows)

    def predict_proba(self, rows: Any) -> Any:
        self.asked += len(rows)
        return super().predict_proba(rows)


@pytest.mark.parametrize("metrics", [DECIDED, SCORED, ["selection_rate", "mean_score"]])
@pytest.mark.parametrize("labels", [GRANTED, ANSWERS])
def test_all_rows_that_a_model_was_asked_about_are_counted(
    labels: pd.Series[Any], metrics: list[str]
) -> None:
    model = Counted().fit(INPUTS, labels)
    model.asked = 0
    result = testsgd.audit_model_by_metrics(
        model,
        PEOPLE,
        labels,
        sensitive_features=["sex"],
        favourable=labels.iloc[0],
        metrics=metrics,
    )
    assert result.summary.model is not None
    assert result.summary.model.queries == model.asked


def test_a_function_of_scores_decides_by_the_threshold() -> None:
    def score(rows: pd.DataFrame) -> Any:
        return OF_TWO.predict_proba(rows)[:, 1]

    for threshold in (None, 0.3):
        result = testsgd.audit_model_by_metrics(
            score,
            INPUTS,
            GRANTED,
            sensitive_features=PEOPLE[["sex"]],
            favourable=1,
            metrics=["selection_rate", "mean_score"],
            threshold=threshold,
        )
        above = score(INPUTS) > (threshold or 0.5)
        assert result.summary.metrics[0].overall == pytest.approx(above.mean())


def test_a_metric_of_ones_own_is_given_what_decides() -> None:
    """A metric beside it must not change what it gets."""

    def granted(predicted: Any, _: Any) -> tuple[Any, Any]:
        return predicted == "yes", np.ones(len(predicted))

    oracle = (OF_THREE.predict(INPUTS) == "yes").mean()
    for metrics in ([granted], [granted, "mean_score"]):
        result = testsgd.audit_model_by_metrics(
            OF_THREE,
            PEOPLE,
            ANSWERS,
            sensitive_features=["sex"],
            favourable="yes",
            metrics=metrics,
        )
        assert result.summary.metrics[0].overall == pytest.approx(oracle)
