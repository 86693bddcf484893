"""Trees whose nodes point outside are found, before anything is predicted with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from testsgd.models.skops_files import check_trees

X = np.random.default_rng(0).normal(size=(120, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def tree() -> Any:
    return DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, Y)


def crafted(**fields: tuple[int, int]) -> Any:
    """Fit a tree, and put a value into one node: what a file could bring."""
    estimator = tree()
    state = estimator.tree_.__getstate__()
    for name, (node, value) in fields.items():
        state["nodes"][name][node] = value
    made = type(estimator.tree_)(4, np.array([2], dtype=np.intp), 1)
    made.__setstate__(state)
    estimator.tree_ = made
    return estimator


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_leaf_nodes=5),
        ExtraTreesClassifier(3),
        RandomForestRegressor(3),
        GradientBoostingClassifier(n_estimators=3),
        HistGradientBoostingClassifier(max_iter=3, categorical_features=[3]),
        AdaBoostClassifier(n_estimators=3),
        make_pipeline(OneHotEncoder(), DecisionTreeClassifier()),
        StackingClassifier(
            [("a", make_pipeline(OneHotEncoder(), DecisionTreeClassifier()))],
            final_estimator=LogisticRegression(),
            cv=2,
        ),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_scikit_learn_fits_is_sound(estimator: Any) -> None:
    whole = np.round(X) % 3
    check_trees(estimator.fit(whole, Y))


def test_a_tree_of_one_leaf_is_sound() -> None:
    check_trees(DecisionTreeClassifier().fit(X, np.ones(120)))


def test_a_copy_with_nothing_changed_is_sound() -> None:
    check_trees(crafted())
    np.testing.assert_array_equal(crafted().predict(X), tree().predict(X))


@pytest.mark.parametrize(
    "fields",
    [
        {"left_child": (0, 10**6)},
        {"right_child": (0, 15)},
        {"left_child": (0, -5)},
        {"left_child": (0, 0)},
        {"right_child": (2, 1)},
        {"feature": (0, 4)},
        {"feature": (0, 10**9)},
        {"feature": (0, -3)},
        {"right_child": (0, -1)},
    ],
    ids=str,
)
def test_a_node_that_points_outside_is_found(fields: dict[str, tuple[int, int]]) -> None:
    estimator = crafted(**fields)
    with pytest.raises(ValueError, match="points outside"):
        check_trees(estimator)
    # Wherever it is.
    for hidden in ([estimator], {"a": (1, estimator)}, np.array([None, estimator])):
        with pytest.raises(ValueError, match="points outside"):
            check_trees(make_pipeline(hidden))


def test_trees_get_no_more_features_than_their_forest_counts() -> None:
    forest = ExtraTreesClassifier(3, random_state=0).fit(X, Y)
    check_trees(forest)
    forest.n_features_in_ = 1
    with pytest.raises(ValueError, match="points outside"):
        check_trees(forest)
    # The same trees in two forests, of which one counts fewer features.
    sound = ExtraTreesClassifier(3, random_state=0).fit(X, Y)
    other = ExtraTreesClassifier(3).fit(X[:, :1], Y)
    other.estimators_ = sound.estimators_
    with pytest.raises(ValueError, match="points outside"):
        check_trees([sound, other])


def test_a_tree_that_nobody_owns_is_not_sound() -> None:
    with pytest.raises(ValueError, match="points outside"):
        check_trees(tree().tree_)


@pytest.mark.parametrize("field", ["left", "right", "feature_idx"])
def test_so_are_the_nodes_of_histogram_boosting(field: str) -> None:
    estimator = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    nodes = estimator._predictors[1][0].nodes
    check_trees(estimator)
    nodes[field][0] = 10_000
    with pytest.raises(ValueError, match="points outside"):
        check_trees(estimator)


@pytest.mark.parametrize("kind", ["kd_tree", "ball_tree"])
@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (1, lambda rows: rows - 1),
        (1, lambda rows: rows[:-1]),
        (2, lambda nodes: with_field(nodes, "idx_end", 1, 1_000)),
        (2, lambda nodes: with_field(nodes, "idx_start", 4, 0)),
        (2, lambda nodes: with_field(nodes, "is_leaf", len(nodes) - 1, 0)),
        (3, lambda bounds: np.copy(bounds[:, :2])),
        (11, lambda distance: None),
    ],
)
def test_so_are_those_of_neighbours(kind: str, place: int, changed: Any) -> None:
    estimator = KNeighborsClassifier(algorithm=kind, leaf_size=10).fit(X, Y)
    check_trees(estimator)
    state = list(estimator._tree.__getstate__())
    state[place] = changed(np.copy(state[place]) if place < 4 else state[place])
    estimator._tree.__setstate__(tuple(state))
    with pytest.raises(ValueError, match="tree"):
        check_trees(estimator)


def with_field(nodes: Any, name: str, place: int, value: int) -> Any:
    nodes[name][place] = value
    return nodes


def test_so_are_its_sets_of_categories() -> None:
    whole = np.round(X * 2) % 5
    labels = (whole[:, 3] % 2).astype(int)
    estimator = HistGradientBoostingClassifier(max_iter=2, categorical_features=[3])
    estimator.fit(whole, labels)
    predictor = estimator._predictors[0][0]
    assert predictor.nodes["is_categorical"].any()
    check_trees(estimator)
    predictor.nodes["bitset_idx"] = 99
    with pytest.raises(ValueError, match="categories"):
        check_trees(estimator)
