"""Audits of models by metrics: the same as of what the models predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.errors import DataError, ModelError, ParameterError
from testsgd.metrics import MetricsResult

ROWS = 600
INPUTS = ["years", "skill"]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    generator = np.random.default_rng(1)
    sex = generator.choice(["f", "m"], ROWS)
    years = generator.integers(0, 40, ROWS) + 5 * (sex == "m")
    return pd.DataFrame({"sex": sex, "years": years, "skill": generator.normal(size=ROWS)})


@pytest.fixture(scope="module")
def salary(people: pd.DataFrame) -> pd.Series[Any]:
    noise = np.random.default_rng(2).normal(size=ROWS)
    return pd.Series(30 + people["years"] + 3 * people["skill"] + noise, name="salary")


def numbers(result: MetricsResult) -> pd.DataFrame:
    return result.groups[["metric", "text", "value", "reference_value", "ci_low", "ci_high"]]


def test_a_regression_is_compared_by_its_numbers(
    people: pd.DataFrame, salary: pd.Series[Any]
) -> None:
    model = LinearRegression().fit(people[INPUTS], salary)
    result = testsgd.audit_model_by_metrics(
        model, people, salary, sensitive_features=["sex"], threshold=50
    )
    expected = testsgd.audit_metrics(
        model.predict(people[INPUTS]),
        salary,
        sensitive_features=people[["sex"]],
        threshold=50,
    )
    pd.testing.assert_frame_equal(numbers(result), numbers(expected))
    assert result.summary.predictions == "numbers"
    assert result.summary.model.queries == ROWS
    assert not result.summary.data.predictions_given
    inside = people["sex"] == "f"
    predicted = model.predict(people[INPUTS])
    women = result.groups.query("metric == 'mean' and text == 'sex = f'")
    assert women["value"].item() == pytest.approx(predicted[inside].mean(), rel=1e-12)


def test_a_function_of_columns_without_labels(people: pd.DataFrame) -> None:
    def predict(years: Any, skill: Any) -> Any:
        return 30.5 + years + 3 * skill

    result = testsgd.audit_model_by_metrics(
        predict, people[INPUTS], sensitive_features=people[["sex"]], metrics="mean"
    )
    gap = predict(people["years"], people["skill"]).groupby(people["sex"]).mean()
    first = result.groups.query("text == 'sex = f'")
    assert first["effect"].item() == pytest.approx(gap["f"] - gap["m"], rel=1e-9)


def test_scores_and_decisions_of_a_classifier(people: pd.DataFrame, salary: pd.Series[Any]) -> None:
    granted = np.where(salary > 50, "yes", "no")
    model = LogisticRegression().fit(people[INPUTS], granted)
    weights = np.arange(ROWS) % 3 + 1.0
    asked: dict[str, Any] = {
        "metrics": ["mean_score", "true_positive_rate"],
        "sample_weight": weights,
        "reference": "overall",
        "measure": "ratio",
    }
    result = testsgd.audit_model_by_metrics(
        model, people, granted, sensitive_features=["sex"], **asked
    )
    expected = testsgd.audit_metrics(
        model.predict_proba(people[INPUTS])[:, 1],
        granted,
        sensitive_features=people[["sex"]],
        **asked,
    )
    pd.testing.assert_frame_equal(numbers(result), numbers(expected))


def test_a_sample_of_rows_is_all_that_is_asked_about(
    people: pd.DataFrame, salary: pd.Series[Any]
) -> None:
    asked: list[int] = []

    def predict(rows: pd.DataFrame) -> Any:
        asked.append(len(rows))
        return rows["years"] + 0.5

    options: dict[str, Any] = {"sensitive_features": ["sex"], "limit": 200, "seed": 4}
    result = testsgd.audit_model_by_metrics(
        predict, people, salary, rows="years >= 10", metrics="mean_error", **options
    )
    assert sum(asked) == result.summary.data.rows == 200
    again = testsgd.audit_model_by_metrics(
        predict, people, salary, rows="years >= 10", metrics="mean_error", **options
    )
    pd.testing.assert_frame_equal(numbers(result), numbers(again))


@pytest.mark.parametrize("keyword", ["metrics", "sample_weight", "reference", "rule"])
def test_an_audit_of_selection_rates_says_where_metrics_are(
    people: pd.DataFrame, keyword: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(
            lambda rows: rows["years"] > 10, people, sensitive_features=["sex"], **{keyword: "any"}
        )
    assert "audit_model_by_metrics" in caught.value.remedy


def test_numbers_are_no_selection_rates(people: pd.DataFrame, salary: pd.Series[Any]) -> None:
    model = LinearRegression().fit(people[INPUTS], salary)
    with pytest.raises(ParameterError):
        testsgd.audit(model, people, salary, sensitive_features=["sex"])
    with pytest.raises(ModelError):
        testsgd.audit(model, people, sensitive_features=["sex"])


def test_a_threshold_is_of_scores(people: pd.DataFrame, salary: pd.Series[Any]) -> None:
    """A classifier's probabilities are compared with it; labels are not, and say so."""
    granted = np.where(salary > 50, "yes", "no")
    model = LogisticRegression().fit(people[INPUTS], granted)
    result = testsgd.audit_model_by_metrics(
        model, people, granted, sensitive_features=["sex"], metrics="selection_rate", threshold=0.9
    )
    above = pd.Series(model.predict_proba(people[INPUTS])[:, 1] > 0.9)
    women = result.groups.query("text == 'sex = f'")
    assert women["value"].item() == above[people["sex"] == "f"].mean()

    def labels(rows: pd.DataFrame) -> Any:
        return np.where(rows["years"] > 20, "yes", "no")

    for audit in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(ParameterError) as caught:
            audit(labels, people, granted, sensitive_features=["sex"], threshold=0.9)
        assert caught.value.where == "threshold"


@pytest.mark.parametrize("metrics", [None, "selection_rate"])
@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1), (False, True)])
def test_a_threshold_for_predictions_that_are_labels_is_refused(
    people: pd.DataFrame, classes: tuple[Any, Any], metrics: str | None
) -> None:
    said = np.where(people["years"] > 20, classes[1], classes[0])
    asked: dict[str, Any] = {} if metrics is None else {"metrics": metrics}
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(said, sensitive_features=people[["sex"]], threshold=0.7, **asked)
    assert caught.value.where == "threshold"
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(
            said, said, sensitive_features=people[["sex"]], threshold=0.7, metric="accuracy"
        )
    assert caught.value.where == "threshold"


def test_certain_scores_have_a_threshold(people: pd.DataFrame) -> None:
    said = (people["years"] > 20).astype(float)
    given: dict[str, Any] = {"sensitive_features": people[["sex"]], "metrics": "selection_rate"}
    cut = testsgd.audit_predictions(said, threshold=0.7, **given)
    pd.testing.assert_frame_equal(cut.groups, testsgd.audit_predictions(said, **given).groups)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_is_a_number(people: pd.DataFrame, threshold: float) -> None:
    with pytest.raises(ParameterError):
        testsgd.audit_metrics(
            people["skill"], sensitive_features=people[["sex"]], threshold=threshold
        )


def test_of_numbers_above_a_threshold_the_share_is_compared(people: pd.DataFrame) -> None:
    result = testsgd.audit_metrics(
        people["skill"], sensitive_features=people[["sex"]], threshold=0.5
    )
    assert [metric.name for metric in result.summary.metrics] == ["mean", "selection_rate"]


def test_the_headline_says_that_it_is_of_a_sample(people: pd.DataFrame) -> None:
    result = testsgd.audit_model_by_metrics(
        lambda rows: rows["years"] + 0.5, people, sensitive_features=["sex"], limit=200
    )
    assert f"200 of {ROWS:,}" in result.verdict.headline
    with pytest.raises(DataError, match="gender"):
        testsgd.audit_model_by_metrics(
            lambda rows: rows["years"] + 0.5, people, sensitive_features=["gender"]
        )


@pytest.mark.parametrize("model", [None, 3])
def test_what_is_no_model(people: pd.DataFrame, model: Any) -> None:
    with pytest.raises(ModelError):
        testsgd.audit_model_by_metrics(model, people, sensitive_features=["sex"])


@pytest.mark.parametrize("words", [None, {0: "no", 1: "yes"}])
def test_scores_of_a_tree_are_scores_though_all_are_0_or_1(words: Any) -> None:
    source = np.random.default_rng(0)
    rows = pd.DataFrame({"sex": source.choice([0, 1], 400), "income": source.integers(10, 90, 400)})
    labels = (rows["income"] > 40).astype(int)
    known = labels if words is None else labels.map(words)
    tree = DecisionTreeClassifier().fit(rows, known)
    result = testsgd.audit_model_by_metrics(
        tree, rows, known, sensitive_features=["sex"], metrics=["mean_score"]
    )
    for group in result.summary.metrics[0].groups:
        inside = rows["sex"] == int(group.text[-1])
        assert group.value == pytest.approx(labels[inside].mean())
