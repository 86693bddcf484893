"""The classifier in other people's code: pipelines, searches, arrays, frames, kinds of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from recording_classifiers import RecordingTree
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from testsgd.data import generate_demo
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation import CounterSampleClassifier

# Whether samples help is not the matter of these tests.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the estimator was fitted without samples, for no number"
)

SENSITIVE = ["gender", "race", "age"]


def demo() -> tuple[pd.DataFrame, pd.Series]:
    people = generate_demo(rows=2_000, seed=5)
    return people.drop(columns="granted"), people["granted"]


def numbers() -> tuple[pd.DataFrame, pd.Series]:
    """Give the demo with its categories as numbers."""
    X, y = demo()
    codes = {name: X[name].cat.codes for name in X.select_dtypes("category")}
    return X.assign(**codes).astype(np.float64), y


def encoder() -> Any:
    return make_column_transformer(
        (OneHotEncoder(), ["gender", "race", "housing", "purpose"]), remainder=StandardScaler()
    )


def around(estimator: Any, **options: Any) -> CounterSampleClassifier:
    options = {"sensitive_features": SENSITIVE, "steps": 1, "random_state": 0, **options}
    return CounterSampleClassifier(estimator, **options)


def test_around_a_pipeline_that_encodes_categories() -> None:
    X, y = demo()
    classifier = around(make_pipeline(encoder(), LogisticRegression())).fit(X, y)
    assert classifier.group_ is not None
    assert classifier.feature_names_in_.tolist() == list(X.columns)
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert set(classifier.predict(X)) == {"no", "yes"}
    # What is kept inside can be used alone.
    assert (classifier.predict(X) == classifier.estimator_.predict(X)).all()


def test_as_the_last_step_of_a_pipeline() -> None:
    X, y = numbers()
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    inside = around(tree, sensitive_features=[0, 1, 2])
    pipeline = make_pipeline(StandardScaler(), inside).fit(X, y)
    assert pipeline[-1].group_.startswith("x")
    assert pipeline.score(X, y) > 0.7

    named = make_pipeline(StandardScaler(), around(tree))
    named.set_output(transform="pandas").fit(X, y)
    assert any(name in named[-1].group_ for name in SENSITIVE)
    assert (named.predict(X) == pipeline.predict(X)).all()


@pytest.mark.slow
def test_in_a_search_and_in_cross_validation() -> None:
    X, y = numbers()
    classifier = around(DecisionTreeClassifier(max_depth=3, random_state=0))
    search = GridSearchCV(
        classifier, {"estimator__max_depth": [1, 4], "max_accuracy_drop": [0.0, 5.0]}, cv=2
    ).fit(X, y)
    assert search.best_params_["estimator__max_depth"] == 4
    assert search.best_estimator_.estimator_.get_depth() == 4
    assert classifier.estimator.max_depth == 3
    scores = cross_val_score(classifier, X, y, cv=3, scoring="roc_auc")
    assert scores.shape == (3,)
    assert scores.min() > 0.6


def test_an_array_is_as_good_as_a_frame() -> None:
    X, y = numbers()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    by_name = around(tree).fit(X, y)
    by_place = around(tree, sensitive_features=[0, 1, 2]).fit(X.to_numpy(), y.to_numpy())
    assert not hasattr(by_place, "feature_names_in_")
    assert by_place.predict(X.to_numpy()).tolist() == by_name.predict(X).tolist()
    assert list(by_place.scores_after_.values()) == list(by_name.scores_after_.values())
    places = {name: f"x{place}" for place, name in enumerate(X.columns)}
    for text, other in zip(by_name.scores_after_, by_place.scores_after_, strict=True):
        words = [places.get(word, word) for word in text.split()]
        assert " ".join(words) == other


def test_the_estimator_gets_what_it_would_get_alone() -> None:
    X, y = numbers()
    for given in (
        X,
        X.astype(np.float32),
        X.astype({"age": "int8", "income": "Int64"}),
        X.to_numpy(),
        X.to_numpy(np.float32),
        X.astype(int).to_numpy(),
        X.to_numpy(object),
    ):
        RecordingTree.fits.clear()
        sensitive = SENSITIVE if isinstance(given, pd.DataFrame) else [0, 1, 2]
        around(RecordingTree(max_depth=3), sensitive_features=sensitive).fit(given, y)
        assert len(RecordingTree.fits) >= 2
        for rows, labels, weights in RecordingTree.fits:
            assert type(rows) is type(given)
            if isinstance(rows, pd.DataFrame):
                assert rows.dtypes.to_dict() == given.dtypes.to_dict()
            else:
                assert rows.dtype == given.dtype
            assert set(labels) == {"no", "yes"}
            # Rows weigh 1; samples may weigh more, all the same.
            assert weights is None or (weights[:1_600] == 1).all()
            assert weights is None or len(set(weights[1_600:])) == 1


@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_categories_of_any_type(kind: str) -> None:
    X, y = demo()
    names = ["gender", "race", "housing", "purpose"]
    X = X.astype(dict.fromkeys(names, kind))
    classifier = around(make_pipeline(encoder(), LogisticRegression())).fit(X, y)
    assert classifier.group_ is not None
    assert classifier.score(X, y) > 0.8


def test_missing_values() -> None:
    X, y = demo()
    generator = np.random.default_rng(0)
    for name in ("income", "age", "race", "housing"):
        X[name] = X[name].mask(generator.random(len(X)) < 0.1)
    boosting = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    classifier = around(boosting).fit(X, y)
    assert classifier.__sklearn_tags__().input_tags.allow_nan
    assert classifier.group_ is not None


@pytest.mark.parametrize(
    "labels", [(0, 1), (-1.0, 1.0), (False, True), ("a", "b")], ids=["int", "float", "bool", "str"]
)
def test_labels_of_any_type(labels: tuple[Any, Any]) -> None:
    X, y = numbers()
    given = np.array(labels)[(y == "yes").to_numpy().astype(int)]
    classifier = around(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, given)
    assert classifier.classes_.tolist() == list(labels)
    assert classifier.predict(X).dtype == given.dtype
    usual = around(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    assert usual.scores_after_ == classifier.scores_after_


def test_columns_of_other_names_and_other_libraries() -> None:
    X, y = numbers()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    expected = around(tree).fit(X, y).scores_after_

    numbered = X.set_axis(range(10, 20), axis=1)
    by_number = around(tree, sensitive_features=[10, 11, 12]).fit(numbered, y)
    assert list(by_number.scores_after_.values()) == list(expected.values())

    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X})
    of_polars = around(tree).fit(frame, y.to_numpy())
    assert of_polars.scores_after_ == expected
    assert of_polars.predict(frame).tolist() == of_polars.predict(X).tolist()


def test_a_category_that_few_rows_have_is_known_to_the_estimator() -> None:
    X, y = demo()
    X["housing"] = X["housing"].astype(object)
    for row in range(12):
        X.loc[row, "housing"] = f"house {row}"
    classifier = around(make_pipeline(encoder(), LogisticRegression()))
    assert classifier.fit(X, y).group_ is not None


def test_a_column_that_the_estimator_never_looks_at_takes_no_row_away() -> None:
    X, y = demo()
    columns = make_column_transformer(
        (OneHotEncoder(), ["gender", "race", "housing", "purpose"]),
        (StandardScaler(), ["age", "income", "amount", "debt_ratio", "open_loans"]),
    )
    estimator = make_pipeline(columns, LogisticRegression())
    known = around(estimator).fit(X, y)
    numbered = around(estimator).fit(X.assign(customer=[f"C{row:06}" for row in range(len(X))]), y)
    # Rates are estimated from other draws, as there is one feature more to change.
    assert numbered.group_ == known.group_
    assert known.group_ is not None


def test_the_column_is_named_if_too_few_rows_are_left_for_validation() -> None:
    X, y = demo()
    X = X.assign(customer=[f"C{row:06}" for row in range(len(X))])
    columns = make_column_transformer(
        (OneHotEncoder(), ["gender", "race", "housing", "purpose", "customer"]),
        remainder=StandardScaler(),
    )
    classifier = around(make_pipeline(columns, LogisticRegression()))
    with pytest.warns(UserWarning, match="customer"):
        classifier.fit(X, y)
    assert classifier.group_ is None


def test_methods_are_those_of_the_estimator() -> None:
    X, y = numbers()
    machine = around(make_pipeline(StandardScaler(), LinearSVC())).fit(X, y)
    assert not hasattr(machine, "predict_proba")
    decided = machine.classes_[(machine.decision_function(X) > 0).astype(int)]
    assert decided.tolist() == machine.predict(X).tolist()
    tree = around(DecisionTreeClassifier(max_depth=3)).fit(X, y)
    assert tree.predict_proba(X).shape == (2_000, 2)
    assert not hasattr(tree, "decision_function")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive_features": None}, "sensitive_features: no sensitive features are named"),
        ({"sensitive_features": ["sex"]}, "X has no column 'sex'; the columns are gender, race"),
        ({"sensitive_features": [10]}, "sensitive_features: X has no column 10"),
        ({"sensitive_features": [-1]}, "sensitive_features: X has no column -1"),
        ({"theta": 2}, "theta: 2 is not between 0 and 1"),
        ({"validation_share": 1.0}, "validation_share: 1.0 is not between 0 and 1"),
        ({"max_accuracy_drop": -1}, "max_accuracy_drop: -1 is not between 0 and 100"),
        ({"steps": 0}, "steps: 0 is not at least 1"),
        ({"group": 0}, "group: 0 is not at least 1"),
    ],
)
def test_mistakes_in_parameters(options: dict[str, Any], message: str) -> None:
    X, y = numbers()
    with pytest.raises(ParameterError, match=message):
        around(DecisionTreeClassifier(), **options).fit(X, y)


def test_mistakes_in_the_data() -> None:
    X, y = demo()
    tree = make_pipeline(encoder(), DecisionTreeClassifier())
    many = X.assign(gender=[f"kind {row % 1_001}" for row in range(len(X))])
    with pytest.raises(ParameterError, match="'gender' has 1,001 values"):
        around(tree).fit(many, y)
    with pytest.raises(DataError, match="the value 'missing' is what missing cells are called"):
        around(tree).fit(X.assign(housing=["missing", "rent"] * 1_000), y)
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype")
    with pytest.raises(DataError, match="there are infinite numbers"):
        around(boosting).fit(X.assign(income=[np.inf, *range(1_999)]), y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        around(tree).fit(X, np.arange(len(X)) % 3)
    doubled = pd.concat([X, X[["age"]]], axis=1)
    with pytest.raises((DataError, ValueError)):
        around(tree).fit(doubled, y)
