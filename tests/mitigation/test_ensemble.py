"""Thresholds of several learners' mean score, recomputed from the written files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ModelError
from testsgd.mitigation import FrontierResult
from testsgd.mitigation.cross_fitted_play import Judge
from testsgd.mitigation.frontier import point_of
from testsgd.mitigation.frontiers import ensemble

skops_io = pytest.importorskip("skops.io")

ROWS = 3_000
SETTINGS: dict[str, Any] = {
    "sensitive_features": ["sex", "town"],
    "method": "ensemble",
    "max_accuracy_drop": 3.0,
}


def world(rows: int = ROWS) -> tuple[pd.DataFrame, pd.Series[str]]:
    """People whose labels are harder on women of one town, with missing values and flags."""
    source = np.random.default_rng(3)
    people = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "town": source.choice(["a", "b", "c"], rows),
            "points": source.normal(0, 1, rows).round(2),
            "owner": source.choice([True, False], rows),
        }
    )
    harder = (people["sex"] == "f") & (people["town"] == "a")
    granted = people["points"] - 1.2 * harder + source.logistic(0, 0.4, rows) > 0
    people.loc[::50, "points"] = np.nan
    people["town"] = people["town"].where(people.index % 40 != 0, None)
    return people, pd.Series(np.where(granted, "yes", "no"), name="granted")


PEOPLE, GRANTED = world()


def by_points(frame: pd.DataFrame) -> Any:
    """Grant by points, and less to women of one town: a model that gives labels only."""
    harder = (frame["sex"] == "f") & (frame["town"] == "a")
    return np.where(frame["points"].fillna(0) - 1.2 * harder > 0, "yes", "no")


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ensemble, "_TREES", 20)
        patch.setattr(ensemble, "_FOLDS", 5)
        yield


@pytest.fixture(scope="module")
def result() -> FrontierResult:
    return testsgd.fair_frontier(by_points, PEOPLE, GRANTED, **SETTINGS)


def decided_by_files(folder: Path, rows: pd.DataFrame) -> Any:
    """Return who gets the label, by what is written, read by scikit-learn's own programs."""
    file = folder / "model.skops"
    vote = skops_io.load(file, trusted=skops_io.get_untrusted_types(file=file))
    scores = vote.predict_proba(rows)[:, list(vote.classes_).index("yes")]
    written = json.loads((folder / "thresholds.json").read_text())
    limits = {
        (cell["values"]["sex"], cell["values"]["town"]): cell["threshold"]
        for cell in written["thresholds"]
    }
    missing = next(town for _, town in limits if town not in {"a", "b", "c"})
    pairs = zip(rows["sex"], rows["town"].fillna(missing), strict=True)
    needed = [limits.get(pair, written["otherwise"]) for pair in pairs]
    return scores >= np.array([np.inf if each is None else each for each in needed])


def test_the_files_have_the_figures_that_are_printed(
    result: FrontierResult, tmp_path: Path
) -> None:
    summary = result.summary
    assert summary.point is not None
    assert abs(summary.point.worst.difference) < abs(summary.worst_before.difference)
    result.write_model(tmp_path)
    assert result.outcome is not None
    held_out = result.outcome.problem.held_out
    rows, favourable = PEOPLE.iloc[held_out], (GRANTED.iloc[held_out] == "yes").to_numpy()
    decided = decided_by_files(tmp_path, rows)
    assert (decided == favourable).mean() == pytest.approx(summary.point.accuracy.accuracy)
    before = by_points(rows) == "yes"
    assert (before == favourable).mean() == pytest.approx(summary.before.accuracy)
    women_of_a = ((rows["sex"] == "f") & (rows["town"] == "a")).to_numpy()
    difference = decided[women_of_a].mean() - decided[~women_of_a].mean()
    assert abs(difference) <= abs(summary.point.worst.difference) + 1e-9
    again = FrontierResult.from_json(result.to_json())
    assert again.verdict == result.verdict


def test_any_number_of_processors_gives_the_same(result: FrontierResult) -> None:
    again = testsgd.fair_frontier(by_points, PEOPLE, GRANTED, **SETTINGS, jobs=1)
    assert again.summary.points == result.summary.points


def test_an_estimator_is_compared_as_it_is_when_fitted_again() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    # It knows the labels of its rows by heart.
    codes = OrdinalEncoder(encoded_missing_value=-1)
    encode = make_column_transformer((codes, ["sex", "town"]), remainder="passthrough")
    tree = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(PEOPLE, GRANTED)
    assert (tree.predict(PEOPLE) == GRANTED).mean() > 0.9
    summary = testsgd.fair_frontier(tree, PEOPLE, GRANTED, **SETTINGS).summary
    assert summary.point is not None
    assert summary.point.accuracy.accuracy > summary.before.accuracy


def test_labels_known_by_heart_count_as_expected() -> None:
    favourable = np.array([True, False, True, False])
    chances = np.array([0.9, 0.4, 0.6, 0.2])
    shares = np.full(4, 0.25)

    class NoRates:
        def differences(self, decisions: Any) -> Any:
            return np.zeros((len(decisions), 1))

        def described(self, index: int) -> tuple[str, str]:
            return "selection_rate", "everybody"

    rates: Any = NoRates()
    judge = Judge(rates, favourable, shares, chances)
    always = np.ones(4, dtype=bool)
    point = point_of(1.0, favourable, always[None], judge)
    assert point.accuracy == pytest.approx(np.mean(chances))
    by_heart = np.mean([0.9, 0.6, 0.6, 0.8])
    assert point.accuracy_drop == pytest.approx(by_heart - np.mean(chances))
    # Of the rows with a label, as many as are expected to have it.
    chosen = [0.5 * (1 + 0), 0.5 * (1.5 / 2.1 + 1.4 / 1.9)]
    assert point.balanced_drop == pytest.approx(chosen[1] - chosen[0])


def test_too_few_rows_of_a_label_are_refused() -> None:
    labels = GRANTED.copy()
    labels[:] = "no"
    labels[:4] = "yes"
    with pytest.raises(ModelError):
        testsgd.fair_frontier(by_points, PEOPLE, labels, **SETTINGS)
