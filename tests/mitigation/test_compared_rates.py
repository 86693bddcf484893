"""Rates that are compared: against rows counted one by one, and brought together in a world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from testsgd.mitigation import FairClassifier
from testsgd.mitigation.compared_rates import OBJECTIVES, ComparedRates
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.rules import lay_out, sensitive_axes

ROWS = 60


def some_rates(objective: str, seed: int) -> tuple[ComparedRates, NDArray[np.bool_], Any]:
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 60, ROWS)
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], ROWS),
            "race": generator.choice(["a", "b", "c"], ROWS),
            "age": np.where(generator.random(ROWS) < 0.2, np.nan, age),
        }
    )
    favourable, counted = generator.random(ROWS) < 0.5, generator.random(ROWS) < 0.9
    table = rows_table(frame, favourable, list(frame))
    assert table is not None
    rates = ComparedRates.of(
        objective, lay_out(table, sensitive_axes(table)), favourable, counted, min_rows=0.1
    )
    return rates, favourable, counted


def counted_one_by_one(
    rates: ComparedRates, favourable: NDArray[np.bool_], counted: Any, decisions: Any
) -> list[float]:
    """Return all differences by dense masks of the groups and their complements."""
    found = []
    for rate in rates.rates:
        rows, hits = {
            "selection_rate": (counted, decisions),
            "true_positive_rate": (counted & favourable, decisions),
            "false_positive_rate": (counted & ~favourable, decisions),
            "accuracy": (counted, decisions == favourable),
        }[rate.name]
        groups, every = rate.groups, np.arange(len(rate.groups))
        cells = groups.contingency.cell_of_row
        inside = groups.rule_sets.members(every, groups.contingency)[:, cells]
        outside = groups.rule_sets.complement_members(every, groups.contingency)[:, cells]
        for member, other in zip(inside, outside, strict=True):
            own, others = hits[member & rows], hits[other & rows]
            assert min(len(own), len(others)) >= 0.1 * rows.sum()
            found.append(own.mean() - others.mean())
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_differences_and_their_derivative(objective: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rates, favourable, counted = some_rates(objective, seed)
    decisions = generator.random((2, ROWS)) < 0.4
    differences = rates.differences(decisions)
    assert differences.shape == (2, len(rates))
    for each, found in zip(decisions, differences, strict=True):
        assert found == pytest.approx(counted_one_by_one(rates, favourable, counted, each))
    # The derivative by finite differences: each row's decision is changed alone.
    weights = generator.normal(size=len(rates))
    shares = generator.random(ROWS)
    step = np.eye(ROWS) * 0.5
    slopes = (rates.differences(shares + step) - rates.differences(shares - step)) @ weights
    assert rates.derivative(weights) == pytest.approx(slopes, abs=1e-9)


def test_groups_are_described_by_their_rate_and_rules() -> None:
    rates, _, _ = some_rates("equalized_odds", 3)
    described = [rates.described(index) for index in range(len(rates))]
    expected = [
        (rate.name, text)
        for rate in rates.rates
        for text in rate.groups.rule_sets.texts(np.arange(len(rate.groups)))
    ]
    assert described == expected
    assert {name for name, _ in described} == {"true_positive_rate", "false_positive_rate"}


def world(rows: int, seed: int) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return rows whose labels are as frequent in both groups, but read off one less well.

    In group 1 the favourable rows are marked less clearly, so a model finds fewer of them.
    """
    generator = np.random.default_rng(seed)
    group = generator.integers(0, 2, rows)
    label = generator.random(rows) < 0.4
    mark = label * np.where(group == 1, 1.0, 3.0) + generator.normal(size=rows)
    return pd.DataFrame({"group": group, "mark": mark, "cross": group * mark}), label


def gap(decisions: Any, X: pd.DataFrame, rows: Any) -> float:
    inside = (X["group"] == 1).to_numpy()
    return float(abs(decisions[rows & inside].mean() - decisions[rows & ~inside].mean()))


@pytest.mark.parametrize("objective", ["true_positive_rate", "equalized_odds"])
def test_true_positive_rates_that_differ_are_brought_together(objective: str) -> None:
    X, y = world(3_000, seed=0)
    others, labels = world(20_000, seed=1)
    plain = LogisticRegression().fit(X, y)
    before = gap(plain.predict(others), others, labels)
    assert before > 0.3
    classifier = FairClassifier(
        LogisticRegression(),
        sensitive_features=["group"],
        objective=objective,
        strengths=[0.1, 0.2, 0.3],
        budget=0.1,
        rounds=6,
        random_state=0,
    ).fit(X, y)
    decisions = classifier.predict(others)
    # The false-positive rates grow apart when the others come together, so less is to be had.
    most = {"true_positive_rate": 0.6, "equalized_odds": 0.75}[objective] * before
    assert gap(decisions, others, labels) < most
    point = classifier.chosen_
    assert point.rate_before == "true_positive_rate"
    assert point.rate_after in OBJECTIVES[objective]
    assert abs(point.worst_before) == pytest.approx(before, abs=0.06)
    if objective == "equalized_odds":
        assert gap(decisions, others, ~labels) < most
