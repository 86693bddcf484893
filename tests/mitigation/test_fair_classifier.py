"""The fair classifier: less difference within the budget, equal seeds, blindness, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from testsgd.data import generate_demo
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation import FairClassifier

SENSITIVE = ["gender", "race", "age"]


def demo(rows: int = 1_500) -> tuple[pd.DataFrame, pd.Series]:
    people = generate_demo(rows=rows, seed=5)
    return people.drop(columns="granted"), people["granted"]


def numbers(rows: int = 1_500) -> tuple[pd.DataFrame, pd.Series]:
    X, y = demo(rows)
    codes = {name: X[name].cat.codes for name in X.select_dtypes("category")}
    return X.assign(**codes).astype(np.float64), y


def around(estimator: Any, **options: Any) -> FairClassifier:
    options = {
        "sensitive_features": SENSITIVE, "rounds": 3, "strengths": [0.05, 0.2], "budget": 0.1,
        "random_state": 0, **options,
    }  # fmt: skip
    return FairClassifier(estimator, **options)


TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


# Where a check's rows are too few, or nothing helps, the plain estimator is kept.
@pytest.mark.filterwarnings("ignore:the plain estimator was kept")
@parametrize_with_checks(
    [
        FairClassifier(LogisticRegression(max_iter=10_000), sensitive_features=[0], rounds=2),
        FairClassifier(TREE, sensitive_features=[0], rounds=3, budget=0.3),
    ]
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_worst_difference_is_lower_within_the_budget() -> None:
    X, y = numbers(3_000)
    boosting = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    classifier = around(boosting, strengths=[0.03, 0.06, 0.1], budget=0.02).fit(X, y)
    point = classifier.chosen_
    assert point in classifier.frontier_
    # A tenth of the budget is kept in reserve.
    assert point.accuracy_drop <= 0.018
    assert abs(point.worst_after) < 0.9 * abs(point.worst_before)
    assert len(classifier.estimators_) == point.voters
    assert len(classifier.estimators_) in (1, 3, 5)
    assert point.reduction == max(
        each.reduction for each in classifier.frontier_ if each.accuracy_drop <= 0.018
    )
    assert [each.strength for each in classifier.frontier_] == sorted(
        each.strength for each in classifier.frontier_
    )
    assert 0 < point.accuracy_error < 0.02
    # Each row gets what most models say, and that label is the more probable one.
    votes = np.mean([each.predict(X) == "yes" for each in classifier.estimators_], axis=0)
    assert ((votes > 0.5) == (classifier.predict(X) == "yes")).all()
    chances = classifier.predict_proba(X)
    assert (classifier.classes_[chances.argmax(axis=1)] == classifier.predict(X)).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_equal_seeds_give_equal_models_on_any_number_of_jobs() -> None:
    X, y = numbers()
    forest = RandomForestClassifier(3, max_depth=6)
    one, two, every, other = (
        around(forest, n_jobs=jobs, random_state=seed, rounds=2, strengths=[0.1]).fit(X, y)
        for jobs, seed in ((1, 3), (2, 3), (-1, 3), (1, 4))
    )
    for again in (two, every):
        assert one.frontier_ == again.frontier_
        assert (one.predict(X) == again.predict(X)).all()
        assert (one.predict_proba(X) == again.predict_proba(X)).all()
    assert one.frontier_ != other.frontier_
    assert forest.random_state is None


@pytest.mark.filterwarnings("ignore:the plain estimator was kept")
def test_nothing_that_is_given_is_changed() -> None:
    X, y = numbers()
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    copies = X.copy(), y.copy(), weights.copy()
    around(TREE, blind=True).fit(X, y, sample_weight=weights).predict(X)
    assert X.equals(copies[0])
    assert y.equals(copies[1])
    assert (weights == copies[2]).all()


def test_rows_without_weight_are_as_good_as_not_there() -> None:
    X, y = numbers()
    there = np.random.default_rng(0).random(len(X)) < 0.7
    weighted = around(TREE).fit(X, y, sample_weight=there.astype(float))
    left_out = around(TREE).fit(X[there], y[there], sample_weight=np.ones(there.sum()))
    assert weighted.frontier_ == left_out.frontier_
    assert (weighted.predict_proba(X) == left_out.predict_proba(X)).all()


def test_a_blind_classifier_needs_the_sensitive_columns_in_fit_only() -> None:
    X, y = numbers()
    blind = around(TREE, blind=True).fit(X, y)
    assert list(blind.estimators_[0].feature_names_in_) == [
        name for name in X if name not in SENSITIVE
    ]
    mixed = X.assign(gender=1 - X["gender"], age=30.0)
    assert (blind.predict(X) == blind.predict(mixed)).all()
    assert (blind.predict_proba(X) == blind.predict_proba(X.drop(columns=SENSITIVE))).all()
    places = [X.columns.get_loc(name) for name in SENSITIVE]
    arrays = around(TREE, blind=True, sensitive_features=places).fit(X.to_numpy(), y)
    short = X.drop(columns=SENSITIVE).to_numpy()
    assert (arrays.predict(X.to_numpy()) == arrays.predict(short)).all()
    with pytest.raises(ValueError, match="features"):
        arrays.predict(short[:, 1:])
    with pytest.raises(ParameterError, match="none is left for the estimator"):
        around(TREE, blind=True).fit(X[SENSITIVE], y)


def test_around_a_pipeline_inside_a_pipeline_and_in_a_search() -> None:
    X, y = demo()
    encode = make_column_transformer(
        (OneHotEncoder(), ["gender", "race", "housing", "purpose"]), remainder=StandardScaler()
    )
    classifier = around(make_pipeline(encode, LogisticRegression())).fit(X, y)
    assert set(classifier.predict(X)) == {"no", "yes"}
    assert classifier.feature_names_in_.tolist() == list(X.columns)
    X, y = numbers()
    piped = make_pipeline(StandardScaler().set_output(transform="pandas"), around(TREE))
    search = GridSearchCV(piped, {"fairclassifier__budget": [0.01, 0.05]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    assert clone(classifier).get_params()["budget"] == 0.1


@pytest.mark.parametrize("module", ["xgboost", "lightgbm"])
def test_around_gradient_boosting_of_others(module: str) -> None:
    library = pytest.importorskip(module)
    made = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[module]
    X, y = numbers()
    quiet = {"verbosity": 0} if module == "xgboost" else {"verbose": -1}
    estimator = getattr(library, made)(n_estimators=10, max_depth=3, n_jobs=1, **quiet)
    classifier = around(estimator).fit(X, (y == "yes").astype(int))
    assert classifier.chosen_ is not None
    assert set(classifier.predict(X).tolist()) == {0, 1}


def test_what_keeps_the_plain_estimator() -> None:
    X, y = numbers()
    plain = clone(TREE).fit(X, y)
    # A budget of nothing at a strength that costs much.
    with pytest.warns(UserWarning, match="no strength lowered the worst difference"):
        kept = around(TREE, budget=0.0, strengths=[0.9]).fit(X, y)
    assert (kept.predict_proba(X) == plain.predict_proba(X)).all()
    assert kept.chosen_ is None
    assert len(kept.frontier_) == 1
    with pytest.warns(UserWarning, match="50 rows are too few"):
        around(TREE).fit(X[:50], y[:50])
    with pytest.warns(UserWarning, match="no group has enough rows"):
        around(TREE, min_rows=1_400).fit(X, y)
    with pytest.warns(UserWarning, match="one label only"):
        alone = around(TREE).fit(X, ["no"] * len(X))
    assert set(alone.predict(X)) == {"no"}


def test_missing_numbers_of_a_sensitive_feature() -> None:
    X, y = numbers()
    X.loc[::5, "age"] = np.nan
    classifier = around(HistGradientBoostingClassifier(max_iter=10)).fit(X, y)
    assert classifier.frontier_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "other"}, "method: 'other' is not allowed"),
        ({"budget": 1.5}, "budget: 1.5 is not allowed"),
        ({"objective": "precision"}, "objective: .precision. is not allowed"),
        ({"rounds": 0}, "rounds: 0 is not allowed"),
        ({"folds": 1}, "folds: 1 is not allowed"),
        ({"strengths": [0.1, -1]}, "strengths"),
        ({"strengths": 4}, "strengths"),
        ({"strengths": "0.1"}, "strengths"),
        ({"min_rows": 0.7}, "min_rows: 0.7 is not allowed"),
        ({"max_rules": 0}, "max_rules: 0 is not allowed"),
        ({"sensitive_features": None}, "no sensitive features are named"),
        ({"sensitive_features": ["height"]}, "X has no column 'height'"),
    ],
)
def test_mistakes_in_parameters(options: dict[str, Any], message: str) -> None:
    X, y = numbers(200)
    with pytest.raises(ParameterError, match=message):
        around(TREE, **options).fit(X, y)


def test_mistakes_in_what_is_given() -> None:
    X, y = numbers(200)
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier\.fit takes no weights"):
        around(KNeighborsClassifier()).fit(X, y)
    X.loc[0, "age"] = np.inf
    with pytest.raises(DataError, match="infinite numbers"):
        around(TREE).fit(X, y)
