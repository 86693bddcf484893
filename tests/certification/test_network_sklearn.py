"""scikit-learn's classifiers and pipelines decide as their own predict does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from testsgd.certification.network import CategoryColumns, find_network
from testsgd.errors import ModelError, ParameterError
from testsgd.models.skops_files import write_skops

RNG = np.random.default_rng(0)
PEOPLE = RNG.integers(0, 20, (600, 4)).astype(float)
SCORE = PEOPLE @ [1.0, -1.0, 0.5, 0.2] + RNG.normal(size=600)
TWO = np.where(np.median(SCORE) < SCORE, "good", "bad")
THREE = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.7]))
OTHERS = np.random.default_rng(1).integers(0, 20, (5000, 4)).astype(float)


def _fit(model: Any, people: Any, labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(people, labels)


def _perceptrons(activation: str) -> Any:
    return MLPClassifier((7, 5), activation=activation, max_iter=40, random_state=0)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "make",
    [
        *[
            lambda kind=kind: _perceptrons(kind)
            for kind in ("relu", "tanh", "logistic", "identity")
        ],
        LogisticRegression,
        lambda: SGDClassifier(random_state=0),
        lambda: Perceptron(random_state=0),
        lambda: LinearSVC(random_state=0),
        RidgeClassifier,
        lambda: make_pipeline(StandardScaler(), _perceptrons("relu")),
        lambda: make_pipeline(MinMaxScaler(), MaxAbsScaler(), LogisticRegression()),
        lambda: make_pipeline(RobustScaler(), make_pipeline(StandardScaler(), RidgeClassifier())),
    ],
)
def test_decisions_are_those_of_predict(make: Callable[[], Any], labels: Any) -> None:
    model = _fit(make(), PEOPLE, labels)
    network = find_network(model)
    assert network.precision == "float64"
    names = np.array(network.decision.labels)
    assert (names[network.decisions(OTHERS)] == model.predict(OTHERS).astype(str)).all()


def test_a_tie_goes_to_the_first_class() -> None:
    model = _fit(LogisticRegression(), PEOPLE, TWO)
    model.coef_[:] = [[1.0, -1.0, 0.0, 0.0]]
    model.intercept_[:] = 0.0
    tie = np.array([[3.0, 3.0, 1.0, 1.0]])
    assert find_network(model).decisions(tie).tolist() == [0]
    assert model.predict(tie) == "bad"
    assert find_network(model).decision.tolerance == 0


@pytest.mark.parametrize("share", [0.3, 0.6])
@pytest.mark.parametrize("make", [LogisticRegression, lambda: _perceptrons("relu")])
def test_a_threshold_is_of_the_second_class_probability(
    make: Callable[[], Any], share: float
) -> None:
    model = _fit(make(), PEOPLE, TWO)
    known = np.unique(model.predict_proba(OTHERS)[:, 1])
    threshold = float(known[int(share * len(known)) :][:2].mean())
    network = find_network(model, threshold=threshold)
    likely = model.predict_proba(OTHERS)[:, 1] > threshold
    assert (network.decisions(OTHERS) == likely).all()
    assert 0 < likely.mean() < 1


def test_names_and_labels_are_those_of_the_data() -> None:
    frame = pd.DataFrame(PEOPLE, columns=["age", "race", "hours", "income"])
    network = find_network(_fit(LogisticRegression(), frame, TWO))
    assert [given.name for given in network.inputs] == ["age", "race", "hours", "income"]
    assert network.decision.labels == ("bad", "good")
    assert (network.name, network.kind) == ("LogisticRegression", "scikit-learn LogisticRegression")


def _mixed(**encoder: Any) -> tuple[Any, pd.DataFrame]:
    frame = pd.DataFrame(
        {
            "race": np.array(["a", "b", "c"])[PEOPLE[:, 0].astype(int) % 3],
            "age": PEOPLE[:, 1],
            "grade": np.array(["high", "low"])[PEOPLE[:, 2].astype(int) % 2],
            "hours": PEOPLE[:, 3],
            "unused": PEOPLE[:, 3],
        }
    )
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(StandardScaler(), MinMaxScaler()), ["hours", "age"]),
            ("one hot", OneHotEncoder(**encoder), ["race"]),
            ("ordinal", OrdinalEncoder(), ["grade"]),
        ]
    )
    model = make_pipeline(columns, StandardScaler(with_mean=False), _perceptrons("relu"))
    return _fit(model, frame, TWO), frame


@pytest.mark.parametrize("encoder", [{}, {"drop": "first"}, {"sparse_output": False}])
def test_encoded_tables_keep_their_inputs(encoder: dict[str, Any]) -> None:
    model, frame = _mixed(**encoder)
    network = find_network(model)
    assert [given.name for given in network.inputs] == ["race", "age", "grade", "hours"]
    race = network.inputs[0].columns
    assert isinstance(race, CategoryColumns)
    assert race.values == ("a", "b", "c")
    coded = np.column_stack(
        [
            frame["race"].map({"a": 0, "b": 1, "c": 2}),
            frame["age"],
            frame["grade"].map({"high": 0, "low": 1}),
            frame["hours"],
        ]
    )
    names = np.array(network.decision.labels)
    assert (names[network.decisions(coded)] == model.predict(frame)).all()


def test_one_hot_columns_behind_a_scaler_become_a_category() -> None:
    table = np.column_stack([np.eye(3)[PEOPLE[:, 0].astype(int) % 3], PEOPLE[:, 1]])
    model = _fit(make_pipeline(StandardScaler(), _perceptrons("tanh")), table, TWO)
    network = find_network(model, categories={"race": [0, 1, 2]})
    coded = np.column_stack([PEOPLE[:, 0].astype(int) % 3, PEOPLE[:, 1]])
    assert (np.array(["bad", "good"])[network.decisions(coded)] == model.predict(table)).all()
    np.testing.assert_array_equal(network.encode(coded)[:, :3], model[0].transform(table)[:, :3])


@pytest.mark.skops
def test_a_skops_file_is_read(tmp_path: Path) -> None:
    pytest.importorskip("skops")
    model = _fit(make_pipeline(StandardScaler(), _perceptrons("relu")), PEOPLE, TWO)
    write_skops(model, tmp_path / "model.skops")
    network = find_network(tmp_path / "model.skops")
    assert (network.sums(OTHERS) == find_network(model).sums(OTHERS)).all()
    assert len(network.file_sha256 or "") == 64


class _Own(LogisticRegression):  # type: ignore[misc]  # no types in scikit-learn
    pass


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: _fit(RandomForestClassifier(5), PEOPLE, TWO), "a RandomForestClassifier is no"),
        (lambda: _fit(_Own(), PEOPLE, TWO), "a _Own is no network"),
        (lambda: MLPClassifier(), "not fitted"),
        (lambda: _fit(make_pipeline(PolynomialFeatures(), LogisticRegression()), PEOPLE, TWO),
         "a PolynomialFeatures cannot be certified"),
        (lambda: make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(PEOPLE, TWO),
         "MinMaxScaler clips"),
        (lambda: _fit(_perceptrons("relu"), PEOPLE, np.column_stack([THREE > 0, THREE > 1])),
         "2 decisions|several decisions"),
    ],
)  # fmt: skip
def test_what_cannot_be_certified_is_named(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        find_network(make())
    assert "\n" not in str(caught.value)


def test_numbers_that_are_none_are_refused() -> None:
    model = _fit(LogisticRegression(), PEOPLE, TWO)
    model.coef_[0, 1] = np.nan
    with pytest.raises(ModelError, match="coefficients: some weights are NaN"):
        find_network(model)


def test_weights_and_intercepts_of_different_layers_are_refused() -> None:
    model = _fit(_perceptrons("relu"), PEOPLE, TWO)
    find_network(model)
    model.intercepts_ = model.intercepts_[:-1]
    with pytest.raises(ModelError, match="3 layers"):
        find_network(model)


def test_a_threshold_without_probabilities_is_refused() -> None:
    model = _fit(RidgeClassifier(), PEOPLE, TWO)
    assert (find_network(model, threshold=0.5).decisions(OTHERS)
            == find_network(model).decisions(OTHERS)).all()  # fmt: skip
    with pytest.raises(ParameterError, match="has no logistic probability"):
        find_network(model, threshold=0.3)
