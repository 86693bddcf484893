"""The classifier that counters discrimination: the planted group of the demo, choice, fallbacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from recording_classifiers import FavoursMen
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import testsgd
from testsgd.data import PLANTED_GROUP, generate_demo
from testsgd.errors import ParameterError
from testsgd.mitigation import CounterSampleClassifier

SENSITIVE = ["gender", "race", "age"]

# Audits of which the scores alone are of interest.
PLAIN = {"guarantee": "per-group", "stability": 0}

BOOSTING = HistGradientBoostingClassifier(
    max_iter=40,
    learning_rate=0.2,
    min_samples_leaf=5,
    early_stopping=False,
    categorical_features="from_dtype",
    random_state=0,
)


def people(rows: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    table = generate_demo(rows=rows, seed=seed)
    return table.drop(columns="granted"), table["granted"]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slower than one."""
    with threadpool_limits(1):
        yield


# Of the people, and of the classifier that is fitted to them.
SEED = 3


@pytest.fixture(scope="module")
def mitigated() -> CounterSampleClassifier:
    classifier = CounterSampleClassifier(
        BOOSTING, sensitive_features=SENSITIVE, steps=3, random_state=SEED
    )
    return classifier.fit(*people(10_000, SEED))


@pytest.mark.slow
def test_the_planted_group_is_countered(mitigated: CounterSampleClassifier) -> None:
    X, y = people(10_000, SEED)
    classifier = mitigated
    assert classifier.group_ == PLANTED_GROUP
    before, after = classifier.scores_before_, classifier.scores_after_
    assert before[PLANTED_GROUP] == max(before.values())
    assert after[PLANTED_GROUP] < 0.8 * before[PLANTED_GROUP]
    assert max(after.values()) < max(before.values())

    # On people whom it has never seen too, and about as accurate as the estimator alone.
    others, decisions = people(10_000, SEED + 100)
    alone = clone(BOOSTING).fit(X, y)
    assert classifier.score(others, decisions) > alone.score(others, decisions) - 0.012
    scores = [
        testsgd.audit(model, others, "demo", **PLAIN)
        .groups.set_index("text")
        .at[PLANTED_GROUP, "score"]
        for model in (alone, classifier)
    ]
    assert scores[0] > 0.05
    assert scores[1] < 0.5 * scores[0]


@pytest.mark.slow
def test_the_candidate_kept_is_the_best_of_those_allowed(
    mitigated: CounterSampleClassifier,
) -> None:
    candidates = mitigated.candidates_
    assert {candidate.samples for candidate in candidates} == {50, 200, 800}
    for candidate in candidates:
        assert candidate.allowed == (candidate.accuracy_drop <= 0.5)
    allowed = [candidate for candidate in candidates if candidate.allowed]
    lowest = min(candidate.scores[0] for candidate in allowed)
    # Scores in the same half point are taken for equal.
    near = [one for one in allowed if one.scores[0] // 0.005 == lowest // 0.005]
    least = min(candidate.accuracy_drop for candidate in near)
    cheapest = [candidate for candidate in near if candidate.accuracy_drop == least]
    kept = min(cheapest, key=lambda candidate: candidate.scores[0])
    assert mitigated.accuracy_drop_ == least
    assert mitigated.samples_added_ == kept.samples
    assert mitigated.scores_after_[mitigated.group_] == pytest.approx(kept.scores[0], abs=0.01)


def test_the_scores_are_those_of_an_audit(mitigated: CounterSampleClassifier) -> None:
    X, _ = people(10_000, SEED)
    features = {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "race": {
            "type": "categorical",
            "values": ["White", "Black", "Hispanic", "Asian"],
            "sensitive": True,
        },
        "age": {
            "type": "integer",
            "range": [0, 100],
            "edges": [0, *range(20, 81, 10), 100],
            "sensitive": True,
        },
        "housing": {"type": "categorical", "values": ["rent", "mortgage", "own"]},
        "purpose": {
            "type": "categorical",
            "values": ["car", "home", "education", "business", "other"],
        },
    }
    for name in X.columns.difference(list(features)):
        kind = "decimal" if name.endswith("ratio") else "integer"
        features[name] = {"type": kind, "range": [float(X[name].min()), float(X[name].max())]}
    specification = {
        "dataset": {"name": "people"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {name: features[name] for name in X.columns},
    }
    result = testsgd.audit(
        mitigated, X, specification, mode="exact", theta=mitigated.theta, **PLAIN
    )
    scores = result.groups.set_index("text")["score"]
    for text, score in mitigated.scores_after_.items():
        if text in scores:
            assert scores[text] == pytest.approx(score)
    assert max(mitigated.scores_after_.values()) == pytest.approx(scores.max())


def test_the_same_again() -> None:
    X, y = people(3_000, seed=1)
    X = X[["gender", "age", "income", "debt_ratio"]].assign(gender=X["gender"] == "male")
    classifier = CounterSampleClassifier(
        DecisionTreeClassifier(max_depth=6, random_state=0),
        sensitive_features=["gender", "age"],
        random_state=3,
    )
    first, second = (clone(classifier).fit(X, y) for _ in range(2))
    assert first.candidates_ == second.candidates_
    assert first.predict_proba(X).tolist() == second.predict_proba(X).tolist()
    other = clone(classifier).set_params(random_state=4).fit(X, y)
    assert other.candidates_ != first.candidates_


@pytest.mark.filterwarnings("ignore:the estimator was fitted without samples")
def test_another_group_of_the_audit() -> None:
    X, y = people(3_000, seed=1)
    X["race"] = X["race"].cat.codes
    X = X.select_dtypes("number")
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    first, second = (
        CounterSampleClassifier(
            tree, sensitive_features=["race"], group=rank, steps=1, random_state=0
        ).fit(X, y)
        for rank in (1, 2)
    )
    assert first.group_ != second.group_
    assert first.scores_before_[first.group_] >= second.scores_before_[second.group_]
    with pytest.raises(ParameterError, match="there is no group of rank 900"):
        CounterSampleClassifier(tree, sensitive_features=["race"], group=900).fit(X, y)


def test_a_model_that_does_not_learn_is_kept_with_a_warning() -> None:
    X, y = people(2_000, seed=1)
    classifier = CounterSampleClassifier(
        FavoursMen(), sensitive_features=["gender"], steps=2, random_state=0
    )
    with pytest.warns(UserWarning, match="no number of samples lowered the score of gender = "):
        classifier.fit(X, y)
    assert classifier.samples_added_ == 0
    assert classifier.accuracy_drop_ == 0
    assert [candidate.scores for candidate in classifier.candidates_] == [(1.0,), (1.0,)]
    everybody = {"gender = female": 1.0, "gender = male": 1.0}
    assert classifier.scores_after_ == classifier.scores_before_ == everybody
    # Fitted to all rows, as if it stood alone.
    assert classifier.estimator_.rows_ == 2_000


def test_nobody_is_treated_differently() -> None:
    X, y = people(1_000, seed=1)
    classifier = CounterSampleClassifier(DummyClassifier(), sensitive_features=["race"])
    with pytest.warns(UserWarning, match="the audit found no group that is treated differently"):
        classifier.fit(X, y)
    assert classifier.group_ is None
    assert classifier.score(X, y) == (y == y.mode()[0]).mean()


@pytest.mark.parametrize(
    ("rows", "gender", "why"),
    [
        (140, None, "140 rows are too few to set some apart for validation"),
        (2_000, 1, "each sensitive feature has one value only"),
    ],
)
def test_nothing_to_try(rows: int, gender: int | None, why: str) -> None:
    X, y = people(rows, seed=1)
    X = X.assign(gender=(X["gender"] == "male").astype(int) if gender is None else gender)
    X = X.select_dtypes("number")
    alone = LogisticRegression(max_iter=10_000)
    classifier = CounterSampleClassifier(alone, sensitive_features=["gender"])
    with pytest.warns(UserWarning, match=f"the estimator was fitted without samples, for {why}"):
        classifier.fit(X, y)
    assert classifier.group_ is None
    assert classifier.candidates_ == ()
    assert classifier.scores_before_ == classifier.scores_after_ == {}
    alone.fit(X, y)
    assert np.array_equal(classifier.predict_proba(X), alone.predict_proba(X))
