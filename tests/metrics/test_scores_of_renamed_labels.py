"""Scores of 0 and 1 beside labels whose codes a description renames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.errors import TestSGDError
from testsgd.metrics.files import audit_described_predictions
from testsgd.metrics.result import MetricsResult

ROWS = 600
SOURCE = np.random.default_rng(4)
SEX = SOURCE.choice(["f", "m"], ROWS)
REPAID = SOURCE.integers(0, 2, ROWS)
SCORES = (0.7 * SOURCE.random(ROWS) + 0.3 * REPAID).round(2)
SOME = np.arange(ROWS) % 10
METRICS = ["selection_rate", "true_positive_rate"]


def audit(
    folder: Path | None, predictions: Any, *, values: bool = False, **options: Any
) -> MetricsResult:
    """Audit predictions in a file, or in a frame where no folder is given."""
    label: dict[str, Any] = {"column": "repaid", "favourable": "granted"}
    label["map"] = {"1": "granted", "0": "refused"}
    if values:
        label["values"] = ["granted", "refused"]
    description = {
        "dataset": {"name": "people"},
        "label": label,
        "features": {"sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True}},
    }
    rows = pd.DataFrame({"sex": SEX, "repaid": REPAID, "said": predictions})
    data: Any = rows
    if folder is not None:
        data = folder / "people.csv"
        rows.to_csv(data, index=False)
    result = audit_described_predictions(
        description, data, predictions="said", metrics=METRICS, replicates=99, **options
    )
    assert isinstance(result, MetricsResult)
    return result


def rates(result: MetricsResult) -> dict[str, float]:
    return {metric.name: metric.overall for metric in result.summary.metrics}


def expected(decided: Any) -> dict[str, float]:
    return {
        "selection_rate": float(np.mean(decided)),
        "true_positive_rate": float(np.mean(decided[REPAID == 1])),
    }


@pytest.fixture(params=["file", "frame"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """Return where the file of the rows is; None if they are a frame."""
    return tmp_path if request.param == "file" else None


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("threshold", [None, 0.4])
@pytest.mark.parametrize("exact", [[0.0], [1.0], [0.0, 1.0]])
def test_scores_of_exactly_0_and_1_stay_scores(
    place: Path | None, exact: list[float], threshold: float | None, values: bool
) -> None:
    scores = SCORES.copy()
    for index, score in enumerate(exact):
        scores[index == SOME] = score
    result = audit(place, scores, values=values, threshold=threshold)
    assert result.summary.predictions == "scores"
    limit = 0.5 if threshold is None else threshold
    assert rates(result) == pytest.approx(expected(scores > limit))


def test_points_of_which_some_are_0_and_1_are_numbers(place: Path | None) -> None:
    points = np.rint(100 * SCORES).astype(int)
    points[SOME < 3] = SOME[SOME < 3]
    with pytest.raises(TestSGDError) as caught:
        audit(place, points, threshold=60)
    # Beside numbers the true labels must be numbers, too.
    assert caught.value.where == "y_true"


@pytest.mark.parametrize("written", [int, float, str])
def test_codes_of_classes_are_renamed(place: Path | None, written: type) -> None:
    decided = np.where(SOME < 2, 1 - REPAID, REPAID)
    codes = decided.astype(written)
    result = audit(place, codes)
    assert result.summary.predictions == "decisions"
    assert rates(result) == pytest.approx(expected(decided == 1))


def test_scores_that_are_all_0_or_1_need_no_other_threshold(place: Path | None) -> None:
    decided = np.where(SOME < 2, 1 - REPAID, REPAID)
    result = audit(place, decided.astype(float), threshold=0.4)
    assert rates(result) == pytest.approx(expected(decided == 1))
    with pytest.raises(TestSGDError):
        audit(place, decided, threshold=0.4)


def test_a_missing_score_is_no_class(place: Path | None) -> None:
    scores = SCORES.copy()
    scores[SOME == 0] = np.nan
    scores[SOME == 1] = 1
    for threshold in (None, 0.4):
        with pytest.raises(TestSGDError) as caught:
            audit(place, scores, threshold=threshold)
        assert str((SOME == 0).sum()) in str(caught.value)


def test_a_class_that_is_not_declared_is_named(place: Path | None) -> None:
    codes = np.where(SOME == 0, 7, REPAID)
    with pytest.raises(TestSGDError) as caught:
        audit(place, codes)
    assert "'7'" in str(caught.value)
