"""Scores of 32 bits are above a threshold where they are so in 32 bits, as numpy compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.metrics import audit_rows_elsewhere

SOURCE = np.random.default_rng(5)
PEOPLE = pd.DataFrame({"sex": SOURCE.choice(["f", "m"], 400), "pay": SOURCE.normal(size=400)})
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def scores(frame: pd.DataFrame) -> np.ndarray:
    of_sex = np.where(frame["sex"] == "f", np.float32(0.3), np.float32(0.7))
    return np.where(frame["pay"] > 0.5, np.float32(0.9), of_sex).astype(np.float32)


def expected() -> float:
    """Return the selection rate of women: 0.3 is not above 0.3."""
    of_women = scores(PEOPLE)[PEOPLE["sex"] == "f"]
    rate = float((of_women > np.float32(0.3)).mean())
    assert 0 < rate < 1
    assert (of_women.astype(np.float64) > 0.3).all()
    return rate


def arrow(values: np.ndarray) -> Any:
    pytest.importorskip("pyarrow")
    return pd.Series(values, dtype="float[pyarrow]")


@pytest.mark.parametrize(
    "kind",
    [np.asarray, pd.Series, lambda values: pd.Series(values).astype("Float32"), arrow],
    ids=["array", "series", "nullable", "arrow"],
)
def test_of_given_scores(kind: Callable[[np.ndarray], Any]) -> None:
    found = testsgd.audit_predictions(
        kind(scores(PEOPLE)),
        sensitive_features=PEOPLE[["sex"]],
        metrics=["selection_rate"],
        threshold=0.3,
        **QUICK,
    )
    assert women(found) == expected()


def test_of_a_model() -> None:
    audited = testsgd.audit(scores, PEOPLE, sensitive_features=["sex"], threshold=0.3, **QUICK)
    [rate] = audited.groups.loc[audited.groups["text"] == "sex = f", "rate_in"]
    assert rate == expected()
    found = testsgd.audit_model_by_metrics(
        scores,
        PEOPLE,
        sensitive_features=["sex"],
        metrics=["selection_rate"],
        threshold=0.3,
        **QUICK,
    )
    assert women(found) == expected()


def test_of_rows_elsewhere() -> None:
    polars = pytest.importorskip("polars")
    found = audit_rows_elsewhere(
        polars.from_pandas(PEOPLE.assign(score=scores(PEOPLE))).lazy(),
        predictions="score",
        sensitive_features=["sex"],
        metrics=["selection_rate"],
        threshold=0.3,
        **QUICK,
    )
    assert women(found) == expected()


def women(found: Any) -> float:
    values = {group.text: group.value for group in found.summary.metrics[0].groups}
    return float(values["sex = f"])
