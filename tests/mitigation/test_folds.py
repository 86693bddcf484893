"""Folds of rows: only rows that an estimator cannot answer about are left out of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from testsgd.mitigation import FairClassifier
from testsgd.mitigation.cross_fitted_play import CrossFits
from testsgd.mitigation.folds import folds_of, unanswered_rows, values_of_one_fold
from testsgd.mitigation.frontier import Search, search_strengths
from testsgd.mitigation.journal import Journal

CLASSES = np.array(["no", "yes"])
ROWS = 600
SEARCH = Search(
    sensitive=("sex",),
    budget=0.1,
    strengths=(0.1,),
    rounds=2,
    folds=3,
    min_rows=0.05,
    max_rules=None,
    seed=0,
    jobs=None,
)


class Counting(LogisticRegression):  # type: ignore[misc]  # scikit-learn has no types
    """Counts its fits."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


def people() -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    source = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "town": np.where(np.arange(ROWS) == 7, "rare", source.choice(["a", "b"], ROWS)),
            "points": source.normal(size=ROWS),
        }
    )
    chance = frame["points"] + (frame["sex"] == "m") + source.logistic(0, 0.5, ROWS)
    return frame, np.asarray(chance > 0.5)


def unique_columns(rows: int) -> dict[str, Any]:
    return {
        "customer": [f"C{number}" for number in range(rows)],
        "since": pd.date_range("2020-01-01", periods=rows, freq="h"),
        "note": [f"asks for {number}" for number in range(rows)],
    }


def encoded(columns: list[str], *, unknown: str = "error", last: Any = None) -> Any:
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown=unknown), columns), ("passthrough", ["points"])
    )
    return make_pipeline(encode, LogisticRegression() if last is None else last)


def test_every_row_is_in_a_fold_and_values_of_one_fold_are_found() -> None:
    frame = pd.DataFrame({"letter": ["a"] * 29 + ["rare"], "number": np.arange(30.0)})
    fold = folds_of(np.arange(30) % 2 == 0, folds=3, seed=0)
    assert fold is not None
    assert set(fold.tolist()) == {0, 1, 2}
    alone = values_of_one_fold(frame, fold)
    assert list(alone) == ["letter"]
    assert np.flatnonzero(alone["letter"]).tolist() == [29]
    assert folds_of(np.arange(30) < 2, folds=3, seed=0) is None


def test_a_missing_value_is_none_of_one_fold() -> None:
    frame = pd.DataFrame({"letter": ["a", "a", "a", None]}, dtype=object)
    assert not values_of_one_fold(frame, np.array([0, 0, 1, 1]))


def knows(known: dict[str, set[str]]) -> Any:
    def decide(rows: pd.DataFrame) -> NDArray[np.bool_]:
        for name, values in known.items():
            if not set(rows[name]) <= values:
                raise ValueError(name)
        return np.ones(len(rows), dtype=bool)

    return decide


def test_the_column_that_an_estimator_raises_for_is_found_among_others() -> None:
    rows = pd.DataFrame({"id": list("123456"), "town": list("aarsab"), "job": list("xxxyxy")})
    alone = {
        "id": np.array([True, True, True, True, True, False]),
        "town": rows["town"].isin(["r", "s"]).to_numpy(),
        "job": np.array([False, False, False, True, False, False]),
    }
    known = pd.DataFrame({"id": ["0"], "town": ["a"], "job": ["x"]})
    found = unanswered_rows(knows({"town": {"a", "b"}}), rows, alone, known=known)
    assert found.columns == ("town",)
    assert (found.rows == alone["town"]).all()
    # Where each row has an identifier that no other has, and it is asked for, none is left.
    alone["id"][:] = alone["job"][:] = True
    found = unanswered_rows(knows({"id": {"0"}}), rows, alone, known=known)
    assert found.columns == ("id",)
    assert found.rows.all()


def test_errors_for_known_values_are_raised() -> None:
    rows = pd.DataFrame({"id": list("123"), "town": ["a", "a", "b"]})
    alone = {"id": np.array([True, False, False])}
    with pytest.raises(ValueError, match="town"):
        unanswered_rows(knows({"town": set()}), rows, alone, known=rows[:1])
    # Nor is it called an unknown value where only the rows of its fold have it.
    with pytest.raises(ValueError, match="town"):
        unanswered_rows(knows({"town": {"a"}}), rows, alone, known=rows[:1])


@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_columns_that_nothing_hangs_on_change_nothing(unknown: str) -> None:
    """Identifiers, dates and texts that the estimator does not look at leave all as it was."""
    X, favourable = people()
    estimator = encoded(["sex", "town"], unknown=unknown)
    wider = X.assign(**unique_columns(ROWS))
    plain = search_strengths(estimator, X, X, favourable, CLASSES, None, SEARCH)
    found = search_strengths(estimator, wider, wider, favourable, CLASSES, None, SEARCH)
    assert found.points
    assert found.points == plain.points
    assert found.counted.sum() == ROWS - (unknown == "error")


def test_an_encoder_that_ignores_what_it_does_not_know_is_asked_about_all_rows() -> None:
    X, favourable = people()
    wider = X.assign(**unique_columns(ROWS))
    estimator = encoded(["sex", "customer"], unknown="ignore", last=Counting())
    Counting.fits = 0
    found = search_strengths(estimator, wider, wider, favourable, CLASSES, None, SEARCH)
    assert found.counted.all()
    # What was tried is not fitted again: 3 folds, alone and in each of two rounds.
    assert Counting.fits == 9


def test_rows_that_it_cannot_answer_about_are_always_trained_on() -> None:
    X, favourable = people()
    estimator = encoded(["sex", "town"], last=Counting())
    fold = folds_of(favourable, folds=3, seed=0)
    assert fold is not None
    fits = CrossFits(estimator, X, CLASSES, fold)
    Counting.fits = 0
    tried = fits.tried(favourable, None, values_of_one_fold(X, fold))
    assert tried is not None
    assert np.flatnonzero(tried.unanswered.rows).tolist() == [7]
    assert tried.unanswered.columns == ("town",)
    without = CrossFits(estimator, X, CLASSES, np.where(tried.unanswered.rows, -1, fold))
    again = without.decisions(favourable, None, tried=tried)
    # Only its own fold is fitted again.
    assert Counting.fits == 4
    afresh = without.decisions(favourable, None)
    assert again is not None
    assert afresh is not None
    assert (again == afresh).all()


def test_what_was_tried_is_kept_in_the_journal(tmp_path: Path) -> None:
    X, favourable = people()
    estimator = encoded(["sex", "town"], last=Counting())
    path = tmp_path / "journal.json"
    searched = []
    for resume in (False, True):
        Counting.fits = 0
        journal = Journal(path, {}, resume=resume)
        searched.append(
            search_strengths(estimator, X, X, favourable, CLASSES, None, SEARCH, journal=journal)
        )
        assert bool(Counting.fits) is not resume
    assert searched[0].points == searched[1].points
    assert (searched[0].counted == searched[1].counted).all()


def test_where_no_row_is_left_the_reason_names_the_column() -> None:
    X, favourable = people()
    wider = X.assign(**unique_columns(ROWS))
    found = search_strengths(
        encoded(["sex", "customer"]), wider, wider, favourable, CLASSES, None, SEARCH
    )
    assert found.too_few_rows
    assert "'customer'" in found.reason
    assert "'since'" not in found.reason
    classifier = FairClassifier(encoded(["sex", "customer"]), sensitive_features=["sex"])
    with pytest.warns(UserWarning, match="'customer'"):
        classifier.fit(wider, CLASSES[favourable.astype(int)])


def test_a_blind_classifier_leaves_out_what_the_original_cannot_answer_about() -> None:
    X, favourable = people()
    y = CLASSES[favourable.astype(int)]
    classifier = FairClassifier(
        encoded(["sex", "town"]),
        sensitive_features=["sex"],
        blind=True,
        budget=0.2,
        rounds=2,
        strengths=[0.1],
        random_state=0,
    )
    classifier.fit(X.assign(**unique_columns(ROWS)), y)
    assert len(classifier.frontier_) == 1
