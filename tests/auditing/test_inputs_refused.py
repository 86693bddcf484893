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
