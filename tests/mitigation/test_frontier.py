"""The frontier: every point keeps what its models are fitted to, and the best is one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from testsgd.data import generate_demo
from testsgd.mitigation.compared_rates import ComparedRates
from testsgd.mitigation.cross_fitted_play import Judge, choose_voters
from testsgd.mitigation.frontier import (
    FrontierPoint,
    PlayedPoint,
    Search,
    Searched,
    best_point,
    losses_of_choice,
    search_strengths,
)
from testsgd.mitigation.retrained_estimator import fit_clone, rows_table
from testsgd.rules import lay_out, sensitive_axes

CLASSES = np.array(["no", "yes"])
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
SEARCH = Search(
    sensitive=("gender", "race", "age"),
    budget=0.05,
    strengths=(0.2, 0.05, 0.1),
    rounds=3,
    folds=3,
    min_rows=0.05,
    max_rules=None,
    seed=0,
    jobs=None,
)


def people() -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    frame = generate_demo(rows=1_200, seed=5)
    favourable = np.asarray(frame.pop("granted") == "yes")
    codes = {name: frame[name].cat.codes for name in frame.select_dtypes("category")}
    return frame.assign(**codes).astype(np.float64), favourable


def searched(search: Search = SEARCH) -> Searched:
    X, favourable = people()
    return search_strengths(TREE, X, X, favourable, CLASSES, None, search)


def test_the_models_of_any_point_can_be_fitted() -> None:
    X, favourable = people()
    found = searched()
    assert [each.point.strength for each in found.played] == sorted(SEARCH.strengths)
    assert found.points == tuple(each.point for each in found.played)
    for each in found.played:
        assert len(each.examples) == each.point.voters
        for labels, weights in each.examples:
            assert labels.shape == weights.shape == favourable.shape
            assert weights.mean() == pytest.approx(1.0)
            model = fit_clone(TREE, X, CLASSES[labels.astype(np.intp)], weights)
            assert set(model.predict(X)) == set(CLASSES)
    # With more strength more labels are not those of the rows.
    changed = [np.mean(each.examples[0][0] != favourable) for each in found.played]
    assert changed[0] < changed[-1]


def test_a_strength_finds_the_same_whatever_comes_after_it() -> None:
    first = searched(replace(SEARCH, strengths=(0.05,)))
    every = searched()
    assert first.points[0] == every.points[0]
    for (labels, weights), (others, other_weights) in zip(
        first.played[0].examples, every.played[0].examples, strict=True
    ):
        assert (labels == others).all()
        assert (weights == other_weights).all()


def point(drop: float, worst: float) -> PlayedPoint:
    return PlayedPoint(
        point=FrontierPoint(
            strength=0.1,
            voters=1,
            accuracy=0.8 - drop,
            accuracy_error=0.01,
            accuracy_drop=drop,
            accuracy_drop_error=0.001,
            worst_before=0.3,
            group_before="a",
            worst_after=worst,
            group_after="b",
        ),
        examples=(),
        decisions=np.zeros(0, dtype=bool),
    )


def test_the_best_point_is_the_fairest_that_keeps_the_budget() -> None:
    points = [point(0.0, 0.31), point(0.004, -0.2), point(0.003, 0.25), point(0.02, 0.1)]
    assert best_point(points, budget=0.005) is points[1]
    assert best_point(points, budget=0.0035) is points[2]
    assert best_point(points, budget=0.05) is points[3]
    assert best_point(points, budget=0.0) is None
    assert best_point([], budget=1.0) is None


def test_what_a_chosen_model_is_expected_to_lose_is_not_flattered_by_the_choice() -> None:
    """Two models are as often right as the plain one; the more accurate by chance is chosen."""
    X, _ = people()
    source, worlds = np.random.default_rng(0), 300
    flattered, expected = [], []
    for _ in range(worlds):
        favourable = source.random(len(X)) < 0.5
        table = rows_table(X[["gender"]], favourable, ("gender",))
        assert table is not None
        counted = np.ones(len(X), dtype=bool)
        rates = ComparedRates.of(
            "selection_rate",
            lay_out(table, sensitive_axes(table)),
            favourable,
            counted,
            min_rows=0.05,
            max_rules=1,
        )
        judge = Judge(rates, favourable, np.full(len(X), 1 / len(X)))
        right = source.random((3, len(X))) < 0.7
        plain, *decisions = np.where(right, favourable, ~favourable)
        # One of two models is chosen, and no vote of more.
        least = float(judge.accuracies(plain[None])[0]) + 1.0
        [best] = choose_voters(np.stack(decisions), judge, least_accuracy=least)
        both = judge.accuracies(np.stack([plain, decisions[best]]))
        flattered.append(both[0] - both[1])
        part = source.permutation(len(X)) % 2
        expected.append(
            losses_of_choice(plain, np.stack(decisions), judge, part=part, least_lost=-1.0)[0]
        )
    error = np.std(expected) / np.sqrt(worlds)
    assert abs(np.mean(expected)) < 4 * error
    assert np.mean(flattered) < -4 * error
