"""Blind models of pipelines that name the sensitive columns do not see them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from testsgd import FairClassifier
from testsgd.mitigation.blind_estimators import without_columns

ONE_HOT = OneHotEncoder(handle_unknown="ignore")
ALL = ["sex", "place", "age", "score"]
SENSITIVE = ["sex", "age"]
SEEN = ["place", "score"]


def people(rows: int = 400) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Return people, and labels that depend on all columns."""
    generator = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], rows),
            "place": generator.choice(["n", "s", "w"], rows),
            "age": generator.integers(20, 60, rows),
            "score": generator.normal(size=rows),
        }
    )[ALL]
    chance = frame["score"] + (frame["sex"] == "m") + (frame["place"] == "s") - 0.5
    return frame, (chance + generator.normal(size=rows) > 0).to_numpy().astype(int)


def chosen(texts: Any, numbers: Any) -> ColumnTransformer:
    return make_column_transformer((ONE_HOT, texts), (StandardScaler(), numbers))


# Each says the same columns.
SAID = {
    "by names": chosen(["sex", "place"], ["age", "score"]),
    "by places": chosen([0, 1], [2, -1]),
    "by a mask": chosen([True, True, False, False], np.array([False, False, True, True])),
    "by slices": chosen(slice("sex", "place"), slice(2, 4)),
    "by type": chosen(
        make_column_selector(dtype_exclude="number"), make_column_selector(dtype_include="number")
    ),
    "by a function": chosen(lambda frame: list(frame.columns[:2]), lambda frame: [2, 3]),
}


@pytest.mark.parametrize("said", SAID)
def test_it_is_the_estimator_of_the_other_columns(said: str) -> None:
    frame, labels = people()
    blind = without_columns(make_pipeline(SAID[said], LogisticRegression()), frame, SENSITIVE)
    expected = make_pipeline(chosen(["place"], ["score"]), LogisticRegression())
    left = frame[SEEN]
    np.testing.assert_array_equal(
        blind.fit(left, labels).predict_proba(left), expected.fit(left, labels).predict_proba(left)
    )


def test_single_columns_and_the_remainder_are_as_before() -> None:
    frame, labels = people()
    ages = ColumnTransformer([("age", "drop", "age"), ("score", "drop", 3)], remainder=ONE_HOT)
    blind = without_columns(Pipeline([("c", ages), ("m", LogisticRegression())]), frame, SENSITIVE)
    left = frame[SEEN]
    expected = make_pipeline(
        make_column_transformer((ONE_HOT, ["place"])), LogisticRegression()
    ).fit(left, labels)
    assert blind.fit(left, labels).predict_proba(left) == pytest.approx(
        expected.predict_proba(left)
    )


def test_column_transformers_are_found_in_unions_and_searches() -> None:
    frame, labels = people()
    named = SAID["by names"]
    union = FeatureUnion([("one", named), ("two", clone(named))])
    search = GridSearchCV(
        make_pipeline(union, LogisticRegression()), {"logisticregression__C": [1]}
    )
    left = frame[SEEN]
    blind = without_columns(search, frame, SENSITIVE).fit(left, labels)
    assert blind.best_estimator_[0].transform(left).shape == (400, 8)


def test_the_estimator_given_is_not_changed() -> None:
    frame, _ = people()
    given = make_pipeline(clone(SAID["by names"]), LogisticRegression())
    without_columns(given, frame, SENSITIVE)
    assert [columns for *_, columns in given[0].transformers] == [
        ["sex", "place"],
        ["age", "score"],
    ]


def test_a_blind_fair_classifier_takes_such_a_pipeline() -> None:
    frame, labels = people()
    fair = FairClassifier(
        make_pipeline(SAID["by names"], LogisticRegression()),
        sensitive_features=SENSITIVE,
        blind=True,
        # Leaving the sensitive columns out costs 5 points of accuracy here.
        budget=0.1,
        random_state=0,
    ).fit(frame, labels)
    others = frame.assign(sex=frame["sex"].iloc[::-1].to_numpy(), age=0)
    np.testing.assert_array_equal(fair.predict(frame), fair.predict(others))
