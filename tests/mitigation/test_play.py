"""The numeric core of a play: differences, their derivative, weights of groups, costs, votes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.mitigation.compared_rates import ComparedRate, ComparedRates
from testsgd.mitigation.cross_fitted_play import Judge, choose_voters, majority
from testsgd.mitigation.play import ComparedGroups, cost_examples, decision_costs, group_weights
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.rules import lay_out, sensitive_axes


def some_rows(seed: int, rows: int = 60) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], rows),
            "race": generator.choice(["a", "b", "c"], rows),
            "age": np.where(generator.random(rows) < 0.2, np.nan, generator.integers(20, 60, rows)),
        }
    )
    return frame, generator.random(rows) < 0.5


def some_groups(seed: int, counted: NDArray[np.bool_] | None = None) -> ComparedGroups:
    frame, favourable = some_rows(seed)
    table = rows_table(frame, favourable, list(frame))
    assert table is not None
    contingency = lay_out(table, sensitive_axes(table))
    everything = np.ones(len(frame), dtype=bool)
    return ComparedGroups.of(contingency, everything if counted is None else counted, min_rows=4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_differences_are_those_of_rows_counted_one_by_one(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counted = generator.random(60) < 0.8
    groups = some_groups(seed, counted)
    decisions = generator.random((2, 60)) < 0.4
    every, cells = np.arange(len(groups)), groups.contingency.cell_of_row
    inside = groups.rule_sets.members(every, groups.contingency)[:, cells] & counted
    outside = groups.rule_sets.complement_members(every, groups.contingency)[:, cells] & counted
    assert min(inside.sum(axis=1).min(), outside.sum(axis=1).min()) >= 4
    for each, found in zip(decisions, groups.differences(decisions), strict=True):
        expected = [each[a].mean() - each[b].mean() for a, b in zip(inside, outside, strict=True)]
        assert found == pytest.approx(expected)
    # Each counted row that is selected adds the derivative at its cell.
    weights = generator.normal(size=len(groups))
    by_rows = (groups.derivative(weights)[cells] * counted * decisions).sum(axis=1)
    assert by_rows == pytest.approx(groups.differences(decisions) @ weights)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_weights_have_the_signs_of_differences_and_the_worst_the_most(
    differences: list[float],
) -> None:
    weights = group_weights(np.array(differences))
    assert np.abs(weights).sum() <= 1 + 1e-9
    assert (weights * np.array(differences) >= 0).all()
    assert np.abs(weights).max() == pytest.approx(np.abs(weights)[np.argmax(np.abs(differences))])


@given(st.lists(st.tuples(st.booleans(), st.floats(-2, 2)), min_size=1, max_size=9))
def test_weighed_errors_are_the_costs_but_for_a_constant(rows: list[tuple[bool, float]]) -> None:
    favourable = np.array([label for label, _ in rows])
    of_groups = np.array([number for _, number in rows]) + 0.01
    shares = np.full(len(rows), 1 / len(rows))
    costs = decision_costs(favourable, shares, of_groups)
    labels, weights = cost_examples(costs)
    every = np.array([np.zeros(len(rows)), np.ones(len(rows)), favourable], dtype=bool)
    errors = ((every != labels) * weights).mean(axis=1)
    expected = (every * costs).sum(axis=1) - costs[costs < 0].sum()
    assert errors * np.abs(costs).mean() * len(rows) == pytest.approx(expected)


def test_without_groups_the_examples_are_the_rows() -> None:
    favourable = np.array([True, False, True])
    labels, weights = cost_examples(decision_costs(favourable, np.full(3, 1 / 3), np.zeros(3)))
    assert (labels == favourable).all()
    assert weights == pytest.approx(np.ones(3))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_voters_are_few_odd_and_no_worse_than_the_best_alone(seed: int, models: int) -> None:
    generator = np.random.default_rng(seed)
    groups, (_, favourable) = some_groups(seed), some_rows(seed)
    rate = ComparedRate(name="selection_rate", groups=groups, other_counts=np.zeros(60, dtype=bool))
    judge = Judge(ComparedRates((rate,)), favourable, np.full(60, 1 / 60))
    decisions = generator.random((models, 60)) < generator.random((models, 1))
    voters = choose_voters(decisions, judge, least_accuracy=0.0)
    assert len(voters) in (1, 3, 5)
    assert len(set(voters)) == len(voters)
    assert judge.worst(majority(decisions[list(voters)])[None])[0] <= judge.worst(decisions).min()
