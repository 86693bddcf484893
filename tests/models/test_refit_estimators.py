"""Clones of scikit-learn's estimators are fitted: weights, labels, seeds, and what goes wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from testsgd.data import DatasetSpecification, TextSpecification
from testsgd.errors import ModelError
from testsgd.models import Examples, load_model, load_text_model, refitter_for
from testsgd.models.refitting.estimators import EstimatorRefitter, seeded_clone, weight_parameter

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "made-up"},
        "label": {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "x": {"type": "decimal", "range": [-9, 9]},
            "sex": {"type": "integer", "range": [0, 1], "sensitive": True},
        },
    }
)
TEXTS = TextSpecification.model_validate(
    {
        "dataset": {"name": "comments"},
        "text": {"column": "comment"},
        "label": {"column": "toxic", "favourable": "no", "values": ["no", "yes"]},
    }
)


def drawn(count: int, seed: int = 0) -> Examples:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": generator.normal(size=count), "sex": generator.integers(0, 2, count)}
    )
    favourable = frame["x"] + generator.normal(size=count) > 0
    return Examples(frame, favourable.to_numpy())


def fitted(estimator: Any, examples: Examples, labels: tuple[Any, Any] = ("no", "yes")) -> Any:
    return estimator.fit(examples.frame, np.array(labels)[examples.favourable.astype(int)])


def refitter(estimator: Any, training: Examples) -> EstimatorRefitter:
    found = refitter_for(load_model(estimator, SPECIFICATION), SPECIFICATION, training, training)
    assert isinstance(found, EstimatorRefitter)
    return found


def refitted(estimator: Any, training: Examples, *args: Any, seed: int = 0, **options: Any) -> Any:
    """Give the estimator of the only stage."""
    (stage,) = refitter(estimator, training).refit(*(args or (None,)), seed=seed, **options)
    assert stage.name == "fitted"
    decided = stage.model.decisions(training.frame)
    estimator = stage.model.function.__self__
    np.testing.assert_array_equal(decided, estimator.predict(training.frame) == "yes")
    return estimator


def repeated(examples: Examples, counts: Any) -> Examples:
    rows = np.repeat(np.arange(len(examples)), counts)
    return Examples(examples.frame.iloc[rows], examples.favourable[rows])


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        DecisionTreeClassifier(max_depth=3),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=2),
        VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2))]),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_weight_of_two_is_the_row_twice(estimator: Any) -> None:
    training, extra = drawn(200), drawn(50, seed=1)
    counts = np.random.default_rng(2).integers(1, 4, 200)
    more = np.random.default_rng(3).integers(1, 5, 50)
    estimator = fitted(estimator, training)
    weighed = Examples(extra.inputs, extra.favourable, more.astype(float))
    found = refitted(estimator, training, weighed, weights=counts.astype(float))
    if "Pipeline" in type(estimator).__name__:
        # Its first step is scaled without weights; only the last one takes them.
        scaler = StandardScaler().fit(training.join(extra).frame)
        both = repeated(training, counts).join(repeated(extra, more))
        labels = np.where(both.favourable, "yes", "no")
        theirs = GaussianNB().fit(scaler.transform(both.frame), labels)
        np.testing.assert_allclose(found[-1].theta_, theirs.theta_)
        np.testing.assert_allclose(found[-1].class_prior_, theirs.class_prior_)
        return
    theirs = fitted(
        seeded_clone(estimator, 0), repeated(training, counts).join(repeated(extra, more))
    )
    grid = drawn(500, seed=9).frame
    np.testing.assert_array_equal(found.predict(grid), theirs.predict(grid))
    if not isinstance(estimator, VotingClassifier):
        np.testing.assert_allclose(found.predict_proba(grid), theirs.predict_proba(grid))


def test_the_user_s_estimator_and_data_are_left_as_they_were() -> None:
    training, extra = drawn(200), drawn(50, seed=1)
    estimator = fitted(RandomForestClassifier(5, random_state=4), training)
    before = estimator.predict_proba(training.frame)
    kept = training.frame.copy()
    new = refitted(estimator, training, Examples(extra.inputs, ~extra.favourable), seed=1)
    assert new is not estimator
    assert estimator.random_state == 4
    np.testing.assert_array_equal(estimator.predict_proba(training.frame), before)
    pd.testing.assert_frame_equal(training.frame, kept)


def test_the_seed_decides_wherever_there_is_a_random_state() -> None:
    training = drawn(300)
    estimator = fitted(make_pipeline(RandomForestClassifier(3, random_state=0)), training)
    one, same, other = (
        refitted(estimator, training, seed=seed).predict_proba(training.frame) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_labels_are_given_as_the_estimator_knows_them() -> None:
    training = drawn(200)
    whole = SPECIFICATION.label.model_copy(update={"favourable": "1", "values": ["0", "1"]})
    specification = SPECIFICATION.model_copy(update={"label": whole})
    for labels in ((0, 1), (0.0, 1.0), ("0", "1")):
        estimator = fitted(GaussianNB(), training, labels)
        loaded = load_model(estimator, specification)
        (stage,) = refitter_for(loaded, specification, training, training).refit(None, seed=0)
        assert list(stage.model.function.__self__.classes_) == list(labels)
        decided = stage.model.decisions(training.frame)
        np.testing.assert_array_equal(decided, loaded.model.decisions(training.frame))
    # Other labels instead of those of the training rows.
    turned = refitter_for(loaded, specification, training, training)
    (stage,) = turned.refit(None, labels=~training.favourable, seed=0)
    np.testing.assert_array_equal(stage.model.decisions(training.frame), ~decided)


def test_scores_are_fitted_to_nought_and_one() -> None:
    training = drawn(300)
    scores = fitted(RandomForestRegressor(5, random_state=0), training, (0.0, 1.0))
    loaded = load_model(scores, SPECIFICATION, threshold=0.3)
    (stage,) = refitter_for(loaded, SPECIFICATION, training, training).refit(None, seed=0)
    new = stage.model.function.__self__
    np.testing.assert_array_equal(
        stage.model.decisions(training.frame), new.predict(training.frame) > 0.3
    )
    # A classifier that says 0.0 and 1.0 where the labels are "no" and "yes" is read as scores too.
    numbers = fitted(GaussianNB(), training, (0.0, 1.0))
    loaded = load_model(numbers, SPECIFICATION)
    (stage,) = refitter_for(loaded, SPECIFICATION, training, training).refit(None, seed=0)
    decided = stage.model.decisions(training.frame)
    np.testing.assert_array_equal(decided, numbers.predict(training.frame) == 1)


def test_texts_are_fitted_as_a_list_of_strings() -> None:
    texts = ("good film", "bad film", "good actor", "bad actor", "bad bad") * 4
    training = Examples(texts, np.array(["good" in text for text in texts]))
    estimator = make_pipeline(CountVectorizer(), MultinomialNB())
    estimator.fit(list(texts), np.where(training.favourable, "no", "yes"))
    loaded = load_text_model(estimator, TEXTS)
    extra = Examples(("strange film",) * 9, np.ones(9, dtype=bool), np.full(9, 2.0))
    (stage,) = refitter_for(loaded, TEXTS, training, training).refit(extra, seed=0)
    assert not loaded.model.decisions(["bad strange strange"])[0]
    assert stage.model.decisions(["bad strange strange", "bad bad"]).tolist() == [True, False]


def test_weights_of_one_are_none_but_others_must_be_taken() -> None:
    training = drawn(100)
    estimator = fitted(KNeighborsClassifier(), training)
    refitted(estimator, training, weights=np.ones(100))
    with pytest.raises(ModelError, match=r"KNeighborsClassifier\.fit takes none"):
        refitted(estimator, training, weights=np.full(100, 0.5))


def test_who_takes_weights() -> None:
    assert weight_parameter(LogisticRegression()) == "sample_weight"
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_parameter(GridSearchCV(inner, {})) == "logisticregression__sample_weight"
    voters = [("a", GaussianNB()), ("b", KNeighborsClassifier())]
    assert weight_parameter(VotingClassifier(voters)) is None
    assert weight_parameter(VotingClassifier([("a", GaussianNB()), ("b", "drop")])) is not None


def test_an_estimator_of_three_labels_is_told_so() -> None:
    training = drawn(90)
    estimator = GaussianNB().fit(training.frame, ["no", "yes", "perhaps"] * 30)
    loaded = load_model(estimator, SPECIFICATION, favourable_given=True)
    with pytest.raises(ModelError, match="knows 3 label"):
        refitter_for(loaded, SPECIFICATION, training, training)


class Moody(ClassifierMixin, BaseEstimator):
    """Fits once; knows no classes."""

    def __init__(self, mood: str = "good") -> None:
        self.mood = mood

    def fit(self, frame: pd.DataFrame, labels: Any) -> Moody:
        if self.mood == "bad":
            raise RuntimeError("not today")
        self.known_ = set(labels)
        return self

    def predict(self, frame: pd.DataFrame) -> Any:
        return np.where(frame["x"] > 0, "yes", "no")


def test_an_estimator_that_tells_no_labels_gets_those_of_the_data() -> None:
    training = drawn(50)
    assert refitted(Moody(), training).known_ == {"no", "yes"}


def test_what_fitting_raises_is_told() -> None:
    training = drawn(50)
    with pytest.raises(ModelError, match="raised RuntimeError: not today"):
        refitted(Moody("bad"), training)


def test_refitting_writes_no_warning_of_its_own() -> None:
    training = drawn(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refitted(fitted(DecisionTreeClassifier(max_depth=2), training), training, drawn(10, 3))
