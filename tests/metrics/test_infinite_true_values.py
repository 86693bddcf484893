"""True values that are infinite, or no numbers: refused in one line, as predictions are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.cli.main import _run
from testsgd.errors import DataError

ROWS = 600
SOURCE = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"sex": SOURCE.choice(["f", "m"], ROWS)})
WAGE = SOURCE.normal(40, 9, ROWS).round(1)
PAY = WAGE + SOURCE.normal(0, 1, ROWS).round(1)
SCORES = SOURCE.random(ROWS) * 0.9 + 0.05
CLASSES = (SCORES > 0.5).astype(int)
BAD = np.arange(ROWS) % 50 == 7


def with_infinite(values: Any, value: float = np.inf) -> Any:
    return np.where(BAD, value, values)


AUDITS: dict[str, Callable[[], Any]] = {
    "numbers": lambda: testsgd.audit_metrics(
        PAY, with_infinite(WAGE), sensitive_features=PEOPLE, metrics="mean_error"
    ),
    "the least number": lambda: testsgd.audit_metrics(
        PAY, with_infinite(WAGE, -np.inf), sensitive_features=PEOPLE, metrics="mean"
    ),
    "texts": lambda: testsgd.audit_metrics(
        PAY, with_infinite(WAGE).astype(str), sensitive_features=PEOPLE, metrics="mean_error"
    ),
    "labels of scores": lambda: testsgd.audit_metrics(
        SCORES, with_infinite(CLASSES), sensitive_features=PEOPLE
    ),
    "labels of classes": lambda: testsgd.audit_predictions(
        CLASSES, with_infinite(CLASSES), sensitive_features=PEOPLE
    ),
    "a model": lambda: testsgd.audit_model_by_metrics(
        lambda rows: rows["pay"],
        PEOPLE.assign(pay=PAY),
        with_infinite(WAGE),
        sensitive_features=["sex"],
        metrics="mean_error",
    ),
}


@pytest.mark.parametrize("audited", AUDITS)
def test_infinite_true_values_are_refused(audited: str) -> None:
    with pytest.raises(DataError) as caught:
        AUDITS[audited]()
    assert caught.value.details["infinite"] == BAD.sum()
    assert "\n" not in str(caught.value)


def test_a_file_with_infinite_true_values_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.assign(pay=PAY, wage=with_infinite(WAGE)).to_csv(file, index=False)
    given = ["--predictions", "pay", "--label", "wage", "--sensitive", "sex"]
    code = _run(["audit", str(file), *given, "--metrics", "mean_error", "--quiet"])
    assert code == 2
    said = capsys.readouterr().err
    assert f"{BAD.sum()} true values" in said
    assert said.count("\n") <= 1


def test_missing_true_values_do_not_count() -> None:
    result = testsgd.audit_metrics(
        PAY, with_infinite(WAGE, np.nan), sensitive_features=PEOPLE, metrics="mean_error"
    )
    kept = PEOPLE.assign(error=PAY - WAGE)[~BAD].groupby("sex")["error"].mean()
    row = result.groups.set_index("text").loc["sex = f"]
    assert row["effect"] == pytest.approx(kept["f"] - kept["m"])


@pytest.mark.parametrize(("text", "known"), [("high", None), ("?", False), (" 31.5 ", True)])
def test_a_true_value_that_is_no_number_is_refused_and_a_missing_one_not(
    text: str, known: bool | None
) -> None:
    true = WAGE.astype(object)
    true[BAD] = text
    if known is None:
        with pytest.raises(DataError, match="high"):
            testsgd.audit_metrics(PAY, true, sensitive_features=PEOPLE, metrics="mean_error")
        return
    result = testsgd.audit_metrics(PAY, true, sensitive_features=PEOPLE, metrics="mean_error")
    assert result.summary.metrics[0].counted == (ROWS if known else ROWS - BAD.sum())
