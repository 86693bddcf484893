"""What a blind model is expected to lose is counted against the model that sees all columns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.mitigation import FairClassifier, FrontierPoint

ROWS = 3_000


def people(rows: int, seed: int) -> pd.DataFrame:
    """Return rows whose labels follow sex as much as points, of which both sexes have as many."""
    source = np.random.default_rng(seed)
    sex = source.integers(0, 2, rows)
    points, other = source.normal(size=(2, rows))
    merit = 1.2 * (2 * sex - 1) + 1.5 * points + source.logistic(0, 0.5, rows)
    return pd.DataFrame(
        {"sex": sex, "points": points, "other": other, "granted": (merit > 0).astype(int)}
    )


SEEN, FRESH = people(ROWS, 0), people(100_000, 1)
X, Y = SEEN.drop(columns="granted"), SEEN["granted"]
FRESH_X, FRESH_Y = FRESH.drop(columns="granted"), FRESH["granted"].to_numpy()


def difference(decisions: Any) -> float:
    """Return the difference in selection rate between the sexes on fresh rows."""
    women = FRESH["sex"].to_numpy() == 0
    return float(abs(decisions[women].mean() - decisions[~women].mean()))


def blind(budget: float) -> FairClassifier:
    return FairClassifier(
        LogisticRegression(),
        sensitive_features=["sex"],
        budget=budget,
        rounds=3,
        blind=True,
        random_state=0,
    )


ORIGINAL = LogisticRegression().fit(X, Y)
BEFORE = ORIGINAL.predict(FRESH_X)
LOST_BY_BLINDING = ORIGINAL.score(FRESH_X, FRESH_Y) - LogisticRegression().fit(
    X.drop(columns="sex"), Y
).score(FRESH_X.drop(columns="sex"), FRESH_Y)


def check(point: FrontierPoint, lost: float) -> None:
    # Four standard errors of 3,000 rows, and of the model's fits.
    assert point.accuracy_drop == pytest.approx(lost, abs=0.03)
    assert abs(point.worst_before) == pytest.approx(difference(BEFORE), abs=0.07)


def test_blinding_costs_much_here() -> None:
    assert LOST_BY_BLINDING > 0.05
    assert difference(BEFORE) > 0.3


def test_losses_and_differences_before_are_of_the_estimator_that_sees_all_columns() -> None:
    classifier = blind(budget=0.3).fit(X, Y)
    assert classifier.chosen_ is not None
    after = classifier.predict(FRESH_X)
    check(classifier.chosen_, float((BEFORE == FRESH_Y).mean() - (after == FRESH_Y).mean()))
    assert difference(after) < 0.05


def test_nothing_is_chosen_where_blinding_alone_costs_more_than_the_budget() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        classifier = blind(budget=0.01).fit(X, Y)
    assert said
    assert classifier.chosen_ is None
    assert classifier.frontier_
    # It is blind all the same.
    turned = FRESH_X.assign(sex=1 - FRESH_X["sex"])
    assert (classifier.predict(turned) == classifier.predict(FRESH_X)).all()


def frontier(tmp_path: Path, *, resume: bool = False, **settings: Any) -> testsgd.FrontierResult:
    return testsgd.fair_frontier(
        ORIGINAL,
        X,
        Y,
        sensitive_features=["sex"],
        method="play",
        blind=True,
        jobs=1,
        journal=tmp_path / "journal.json",
        resume=resume,
        **settings,
    )


def test_a_frontier_counts_losses_likewise(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"max_accuracy_drop": 30, "max_balanced_drop": 30}
    result = frontier(tmp_path, **settings)
    outcome = result.outcome
    assert outcome is not None
    assert outcome.chosen is not None
    for point in outcome.points:
        model = point.model.black_box
        assert model is not None
        after = model.decisions(FRESH_X)
        check(point.expected, float((BEFORE == FRESH_Y).mean() - (after == FRESH_Y).mean()))
    again = frontier(tmp_path, resume=True, **settings).outcome
    assert again is not None
    assert [each.expected for each in again.points] == [each.expected for each in outcome.points]


def test_a_frontier_keeps_the_budget_or_chooses_nothing(tmp_path: Path) -> None:
    outcome = frontier(tmp_path, max_accuracy_drop=1).outcome
    assert outcome is not None
    assert outcome.chosen is None
    assert outcome.reason
