"""Files, and answers, of one class only: what the error advises can be done, and works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
ROWS = 800
MODULE = """
import numpy as np

def answer(frame):
    return np.where(frame["points"] > 1.5, "low", "high")

def alike(frame):
    return np.full(len(frame), "low")
"""
MODEL = ["--model", "model.joblib", "--trust-pickle"]
PREDICTIONS = ["--predictions", "risk", "--sensitive", "sex", "--favorable", "low"]
LABEL = ["--label", "risk", "--favorable", "low"]


@pytest.fixture(autouse=True)
def people(folder: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Return rows of both classes, which are written; `one.csv` has those of one class."""
    source = np.random.default_rng(4)
    sex = source.integers(0, 2, ROWS)
    points = source.normal(size=ROWS)
    merit = sex + points + source.logistic(0, 0.5, ROWS)
    rows = pd.DataFrame({"sex": sex, "points": points, "same": "low"})
    rows["risk"] = np.where(merit > 0.5, "low", "high")
    rows.to_csv(folder / "both.csv", index=False)
    rows[rows["risk"] == "low"].to_csv(folder / "one.csv", index=False)
    model = LogisticRegression().fit(rows[["sex", "points"]], rows["risk"])
    joblib.dump(model, folder / "model.joblib")
    (folder / "answering.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    return rows


@pytest.mark.parametrize(
    "command",
    [
        ["mitigate", "{}", *MODEL, "--sensitive", "sex", *LABEL, "--method", "thresholds"],
        ["audit", "{}", *MODEL, "--sensitive", "sex", *LABEL],
        ["audit", "{}", *MODEL, "--sensitive", "sex", *LABEL, "--metrics", "selection_rate"],
        ["audit", "{}", *PREDICTIONS],
        ["audit", "{}", *PREDICTIONS, "--metrics", "selection_rate"],
        ["init", "{}", "--sensitive", "sex", "--label", "risk"],
    ],
)
def test_a_file_of_one_class_needs_rows_of_another(
    command: list[str], testsgd: Run, fails: Run
) -> None:
    if "mitigate" in command:
        pytest.importorskip("skops")
    message = fails(*[part.format("one.csv") for part in command])
    assert "Categorical" not in message
    assert "one.csv" in message
    assert "'risk'" in message
    done = testsgd(*[part.format("both.csv") for part in command])
    assert done.code in (0, 1, 3), done.err


def test_without_the_label_a_model_says_which_classes_there_are(testsgd: Run, fails: Run) -> None:
    given = ["audit", "one.csv", *MODEL, "--sensitive", "sex"]
    assert "leave --label out" in fails(*given, *LABEL)
    done = testsgd(*given, "--favorable", "low")
    assert done.code in (0, 1, 3), done.err


def test_true_labels_say_which_classes_predictions_have(testsgd: Run, fails: Run) -> None:
    given = ["audit", "both.csv", "--predictions", "same", "--sensitive", "sex"]
    assert "--label" in fails(*given)
    done = testsgd(*given, *LABEL)
    assert done.code in (0, 1, 3), done.err


def test_a_budget_that_is_too_small_to_see_two_classes_is_the_cause(
    testsgd: Run, fails: Run
) -> None:
    given = ["audit", "both.csv", "--model", "answering:answer", "--sensitive", "sex"]
    message = fails(*given, "--max-queries", "8")
    assert "2 of the 800 rows" in message
    enough = message.partition("allow ")[2].partition(" queries")[0].replace(",", "")
    done = testsgd(*given, "--favorable", "low", "--max-queries", enough)
    assert done.code in (0, 1, 3), done.err
    done = testsgd(*given, *LABEL, "--max-queries", "8")
    assert done.code in (0, 1, 3), done.err


def test_a_model_that_answers_alike_is_the_cause(testsgd: Run, fails: Run) -> None:
    given = ["audit", "both.csv", "--model", "answering:alike", "--sensitive", "sex"]
    assert "all 800 rows" in fails(*given)
    done = testsgd(*given, *LABEL)
    assert done.code in (0, 1, 3), done.err
