"""Weights of the rows: in each fit, for samples too, and in the accuracy on validation rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from recording_classifiers import RecordingTree
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from testsgd.data import generate_demo
from testsgd.errors import ParameterError
from testsgd.mitigation import CounterSampleClassifier

pytestmark = pytest.mark.filterwarnings("ignore:the estimator was fitted without samples, for no n")

SENSITIVE = ["gender", "age"]


def rows() -> tuple[pd.DataFrame, NDArray[Any]]:
    people = generate_demo(rows=2_000, seed=9)
    X = people[["gender", "age", "income", "debt_ratio", "savings_ratio"]]
    return X.assign(gender=(people["gender"] == "male").astype(int)), people["granted"].to_numpy()


def around(estimator: Any, **options: Any) -> CounterSampleClassifier:
    options = {"sensitive_features": SENSITIVE, "steps": 2, "random_state": 0, **options}
    return CounterSampleClassifier(estimator, **options)


def test_rows_without_weight_are_as_good_as_not_there() -> None:
    X, y = rows()
    there = np.random.default_rng(0).random(len(X)) < 0.7
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    weighted = around(tree).fit(X, y, sample_weight=there.astype(float))
    left_out = around(tree).fit(X[there], y[there])
    assert weighted.candidates_ == left_out.candidates_
    assert weighted.scores_after_ == left_out.scores_after_
    assert weighted.predict_proba(X).tolist() == left_out.predict_proba(X).tolist()


def test_a_sample_weighs_as_much_as_its_seed() -> None:
    X, y = rows()
    # Samples keep gender and age, so what they weigh shows whose weight they have.
    weights = 1.0 + X["gender"].to_numpy() + X["age"].to_numpy() / 1_000
    RecordingTree.fits.clear()
    classifier = around(RecordingTree(max_depth=5, random_state=0), validation_share=0.25)
    classifier.fit(X, y, sample_weight=weights)
    training = 1_500
    sizes = [len(fitted) for fitted, _, _ in RecordingTree.fits]
    assert sizes[:3] == [training, training + 50, training + 150]
    for fit, (fitted, _, given) in enumerate(RecordingTree.fits):
        expected = 1.0 + fitted["gender"].to_numpy() + fitted["age"].to_numpy() / 1_000
        assert np.array_equal(given[:training], expected[:training])
        # Where heavier samples are tried, each weighs the same multiple.
        times = given[training:] / expected[training:]
        assert times == pytest.approx(np.full(len(times), times[0] if fit > 2 else 1.0))


def test_lost_accuracy_is_weighed() -> None:
    X, y = rows()
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    RecordingTree.fits.clear()
    classifier = around(RecordingTree(max_depth=5, random_state=0))
    classifier.fit(X, y, sample_weight=weights)
    # The rows that are trained on are known by their contents; the others are for validation.
    trained, labels, given = RecordingTree.fits[0]
    keys = pd.util.hash_pandas_object(X.assign(y=y, w=weights), index=False)
    known = pd.util.hash_pandas_object(trained.assign(y=labels, w=given), index=False)
    aside = ~keys.isin(set(known)).to_numpy()
    assert aside.sum() == 400

    def accuracy(fit: int, part: NDArray[np.bool_]) -> float:
        rows_of, labels_of, weights_of = RecordingTree.fits[fit]
        tree = DecisionTreeClassifier(max_depth=5, random_state=0)
        tree.fit(rows_of, labels_of, sample_weight=weights_of)
        return float(np.average(tree.predict(X[part]) == y[part], weights=weights[part]))

    found = [candidate.accuracy_drop for candidate in classifier.candidates_]
    # The larger of what is lost on the validation rows and on those that are trained on.
    lost = [
        max(100 * (accuracy(0, part) - accuracy(fit, part)) for part in (aside, ~aside))
        for fit in range(1, len(found) + 1)
    ]
    assert found == pytest.approx(lost)


def test_an_estimator_that_takes_no_weights() -> None:
    X, y = rows()
    neighbours = around(KNeighborsClassifier(), steps=1)
    assert neighbours.fit(X, y).group_ is not None
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier.fit takes no weights"):
        neighbours.fit(X, y, sample_weight=np.ones(len(X)))


def test_a_pipeline_passes_weights_to_its_last_step() -> None:
    X, y = rows()
    weights = np.where(y == "yes", 5.0, 1.0)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    piped = around(make_pipeline(StandardScaler(), tree)).fit(X, y, sample_weight=weights)
    assert (piped.predict(X) == "yes").mean() > (around(tree).fit(X, y).predict(X) == "yes").mean()


def test_where_metadata_are_routed() -> None:
    X, y = rows()
    weights = np.where(y == "yes", 5.0, 1.0)
    inside = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0))
    expected = around(inside).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        classifier = around(inside).set_fit_request(sample_weight=True)
        search = GridSearchCV(classifier.set_score_request(sample_weight=False), {"steps": [2]})
        found = search.fit(X, y, sample_weight=weights).best_estimator_
    assert found.candidates_ == expected.candidates_


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has the shape \(3,\), X has 2000 rows"),
        (np.full(2_000, -1.0), "negative or not finite"),
        (np.full(2_000, np.nan), "negative or not finite"),
        (np.zeros(2_000), "at least one non-zero number"),
    ],
)
def test_mistakes_in_weights(weights: NDArray[np.float64], message: str) -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        around(DecisionTreeClassifier()).fit(X, y, sample_weight=weights)
