"""What is refused of a model, of predictions and of a threshold, and what the message says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.models.command import command_of

ROWS = 100


def people() -> pd.DataFrame:
    return pd.DataFrame({"sex": ["f", "m"] * (ROWS // 2), "income": np.arange(ROWS)})


@pytest.mark.parametrize("call", [testsgd.audit, testsgd.audit_model_by_metrics])
@pytest.mark.parametrize("y", [None, [0, 1] * (ROWS // 2)])
def test_no_model_is_answered_in_the_words_of_python(call: Any, y: Any) -> None:
    with pytest.raises(testsgd.TestSGDError) as raised:
        call(None, people(), y, sensitive_features="sex")
    assert raised.value.where == "model"
    assert "--" not in str(raised.value)
    assert "testsgd train" not in str(raised.value)
    assert "function" in str(raised.value)


@pytest.mark.parametrize("other", ["yes", "no"])
@pytest.mark.parametrize("options", [{}, {"metrics": "selection_rate"}])
def test_missing_predictions_are_counted(other: str, options: dict[str, Any]) -> None:
    predictions = ["yes", other, None, None] * (ROWS // 4)
    with pytest.raises(testsgd.TestSGDError, match="50 predictions are missing") as raised:
        testsgd.audit_predictions(predictions, sensitive_features=people()[["sex"]], **options)
    assert raised.value.where == "y_pred"


@pytest.mark.parametrize("text", ["cmd:", "cmd: ", "cmd:''"])
def test_a_command_without_words_is_answered_in_the_words_of_a_shell(text: str) -> None:
    with pytest.raises(testsgd.TestSGDError, match="cmd:python") as raised:
        command_of(text)
    assert "[" not in str(raised.value)


@pytest.mark.parametrize("threshold", [3, -0.1, 1.5])
def test_a_threshold_outside_of_the_scores_is_refused(threshold: float) -> None:
    scores = np.linspace(0.01, 0.99, ROWS)
    with pytest.raises(testsgd.TestSGDError) as raised:
        testsgd.audit_predictions(scores, sensitive_features=people()[["sex"]], threshold=threshold)
    assert raised.value.where == "threshold"


def test_a_threshold_of_other_numbers_may_be_any() -> None:
    found = testsgd.audit_predictions(
        np.linspace(0.5, 90, ROWS), sensitive_features=people()[["sex"]], threshold=30
    )
    assert found.summary.parameters is not None


@pytest.mark.parametrize("call", [testsgd.audit, testsgd.audit_model_by_metrics])
@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pd.Categorical])
def test_answers_in_place_of_a_model_are_said_to_be_predictions(call: Any, kind: Any) -> None:
    answers = kind(["yes", "no"] * (ROWS // 2))
    with pytest.raises(testsgd.TestSGDError) as raised:
        call(answers, people(), sensitive_features="sex")
    assert raised.value.where == "model"
    assert "audit_predictions(" in raised.value.remedy
    # What is advised can be done.
    testsgd.audit_predictions(answers, sensitive_features=people()[["sex"]])


@pytest.mark.parametrize("call", [testsgd.audit, testsgd.audit_model_by_metrics])
@pytest.mark.parametrize("y", [None, ["no", "yes"] * (ROWS // 2)])
def test_a_function_without_a_return_is_said_to_return_none(call: Any, y: Any) -> None:
    with pytest.raises(testsgd.errors.ModelError) as raised:
        call(lambda rows: None, people(), y, sensitive_features="sex")
    assert "None" in raised.value.what
    assert "return" in raised.value.remedy


@pytest.mark.parametrize("call", [testsgd.audit, testsgd.audit_model_by_metrics])
@pytest.mark.parametrize("y", [None, [0, 1] * (ROWS // 2)])
def test_of_several_columns_one_is_advised(call: Any, y: Any) -> None:
    def probabilities(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
        return np.column_stack([1 - rows["income"] / ROWS, rows["income"] / ROWS])

    with pytest.raises(testsgd.errors.ModelError) as raised:
        call(probabilities, people(), y, sensitive_features="sex")
    assert str(2 * ROWS) not in raised.value.what
    assert "[:, 1]" in raised.value.remedy
    call(lambda rows: probabilities(rows)[:, 1], people(), y, sensitive_features="sex")


@pytest.mark.parametrize("limit", [0, -3])
@pytest.mark.parametrize("options", [{}, {"metrics": "selection_rate"}])
def test_a_limit_is_called_by_its_own_name(limit: int, options: dict[str, Any]) -> None:
    rows = people()
    decisions = ["yes", "no"] * (ROWS // 2)
    sensitive = rows[["sex"]]
    asked = testsgd.audit_model_by_metrics if options else testsgd.audit
    calls = [
        lambda: testsgd.audit_predictions(
            decisions, sensitive_features=sensitive, limit=limit, **options
        ),
        lambda: asked(
            lambda given: decisions, rows, sensitive_features="sex", limit=limit, **options
        ),
    ]
    for call in calls:
        with pytest.raises(testsgd.errors.ParameterError) as raised:
            call()
        assert raised.value.where == "limit"


@pytest.mark.parametrize("kind", ["constant", "empty", "identifier"])
def test_a_column_without_groups_is_not_advised_to_be_brought_into_categories(kind: str) -> None:
    rows = people()
    columns: dict[str, list[Any]] = {
        "constant": ["a"] * ROWS,
        "empty": [None] * ROWS,
        "identifier": [f"P{place}" for place in range(ROWS)],
    }
    rows["given"] = columns[kind]
    with pytest.raises(testsgd.errors.ParameterError) as raised:
        testsgd.audit(lambda asked: asked["income"] / ROWS, rows, sensitive_features="given")
    assert kind in raised.value.what
    assert "categories" not in raised.value.remedy


@pytest.mark.parametrize("name", [None, "points"])
def test_impact_ratios_of_scores_ask_for_decisions(name: str | None) -> None:
    source = np.random.default_rng(0)
    sex, race = source.choice(["f", "m"], ROWS), source.choice(["a", "b"], ROWS)
    for scores in (source.normal(14, 3, ROWS), np.arange(1000, 1000 + ROWS)):
        given = pd.Series(scores, name=name)
        with pytest.raises(testsgd.errors.ParameterError) as raised:
            testsgd.impact_ratios(given, sex=sex, race=race)
        assert str(scores[0]) not in raised.value.remedy
        assert name is None or name in raised.value.what
        testsgd.impact_ratios(given > float(np.median(scores)), sex=sex, race=race)


@pytest.mark.parametrize("codes", [[0, 1], [1, 2, 3]])
def test_codes_of_decisions_are_no_scores(codes: list[int]) -> None:
    source = np.random.default_rng(0)
    sex, race = source.choice(["f", "m"], ROWS), source.choice(["a", "b"], ROWS)
    testsgd.impact_ratios(source.choice(codes, ROWS), sex=sex, race=race, favourable=codes[1])
