"""The penalty on all groups: against dense masks and finite differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from testsgd.mitigation.compared_rates import OBJECTIVES, ComparedRates
from testsgd.mitigation.penalised_networks import RunningPenalty
from testsgd.mitigation.penalty import penalty, penalty_slopes, soft_decisions, soft_maximum
from testsgd.mitigation.play import Bools, Floats
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.rules import lay_out, sensitive_axes

ROWS = 60


def some_rates(objective: str, generator: np.random.Generator) -> tuple[ComparedRates, Bools]:
    """Return the rates of an objective among drawn rows, and the rows' labels."""
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], ROWS),
            "race": generator.choice(["a", "b", "c"], ROWS),
            "age": np.where(generator.random(ROWS) < 0.2, np.nan, generator.integers(20, 60, ROWS)),
        }
    )
    favourable = generator.random(ROWS) < 0.5
    table = rows_table(frame, favourable, list(frame))
    assert table is not None
    contingency = lay_out(table, sensitive_axes(table))
    counted = generator.random(ROWS) < 0.9
    return ComparedRates.of(objective, contingency, favourable, counted, min_rows=4), favourable


def dense_penalty(
    rates: ComparedRates, favourable: Bools, decisions: Floats, temperature: float
) -> float:
    """Return the penalty from one mask a rate, group and side."""
    differences = []
    for rate in rates.rates:
        groups = rate.groups
        every, cells = np.arange(len(groups)), groups.contingency.cell_of_row
        of_label = {"true_positive_rate": favourable, "false_positive_rate": ~favourable}
        rows = of_label.get(rate.name, np.ones(ROWS, dtype=bool)) & groups.counted
        right = favourable * decisions + ~favourable * (1 - decisions)
        hits = right if rate.name == "accuracy" else decisions
        sides = [
            members(every, groups.contingency)[:, cells] & rows
            for members in (groups.rule_sets.members, groups.rule_sets.complement_members)
        ]
        inside, outside = (side @ hits / side.sum(axis=1) for side in sides)
        differences.append(inside - outside)
    together = np.concatenate(differences)
    both = np.concatenate([together, -together])
    return float(temperature * logsumexp(both / temperature))


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), temperature=st.sampled_from([0.01, 0.05, 0.3]))
def test_the_penalty_and_its_slopes_are_those_of_dense_masks(
    objective: str, seed: int, temperature: float
) -> None:
    generator = np.random.default_rng(seed)
    rates, favourable = some_rates(objective, generator)
    decisions = generator.random(ROWS)
    found = penalty(rates, decisions, temperature=temperature)
    assert found == pytest.approx(dense_penalty(rates, favourable, decisions, temperature))
    slopes = penalty_slopes(rates, decisions, temperature=temperature)
    step = 1e-6
    for row in generator.choice(ROWS, 8, replace=False):
        moved = step * (np.arange(ROWS) == row)
        above = dense_penalty(rates, favourable, decisions + moved, temperature)
        below = dense_penalty(rates, favourable, decisions - moved, temperature)
        assert slopes[row] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), steepness=st.floats(0.5, 4))
def test_slopes_by_margins_are_finite_differences(
    objective: str, seed: int, steepness: float
) -> None:
    generator = np.random.default_rng(seed)
    rates, favourable = some_rates(objective, generator)
    margins = generator.normal(0, 2, ROWS)
    running = RunningPenalty(rates, margins, steepness=steepness, temperature=0.05)
    running.strength = 0.7
    slopes = running(np.arange(ROWS), margins)
    step = 1e-5

    def value(moved: Floats) -> float:
        return 0.7 * ROWS * dense_penalty(rates, favourable, expit(steepness * moved), 0.05)

    for row in generator.choice(ROWS, 8, replace=False):
        moved = step * (np.arange(ROWS) == row)
        expected = (value(margins + moved) - value(margins - moved)) / (2 * step)
        assert slopes[row] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("objective", ["selection_rate", "equalized_odds"])
def test_rows_in_parts_are_remembered(objective: str) -> None:
    generator = np.random.default_rng(1)
    rates, _ = some_rates(objective, generator)
    margins = generator.normal(size=ROWS)
    running = RunningPenalty(rates, np.zeros(ROWS), steepness=2.0, temperature=0.05)
    running.strength = 1.0
    halves = np.split(generator.permutation(ROWS), 2)
    for half in (*halves, *halves):
        running(half, margins[half])
    whole = RunningPenalty(rates, margins, steepness=2.0, temperature=0.05)
    whole.strength = 1.0
    for half in halves:
        assert running(half, margins[half]) == pytest.approx(whole(half, margins[half]))


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=20),
    st.floats(0.001, 1),
)
def test_the_soft_maximum_is_a_close_bound(differences: list[float], temperature: float) -> None:
    numbers = np.array(differences)
    found = soft_maximum(numbers, temperature=temperature)
    most = np.abs(numbers).max()
    assert most - 1e-9 <= found <= most + temperature * np.log(2 * len(numbers)) + 1e-9


def test_of_no_groups_it_is_nothing() -> None:
    assert soft_maximum(np.array([]), temperature=0.1) == 0


def test_soft_decisions_are_finite_everywhere() -> None:
    found = soft_decisions(np.array([-np.inf, -1e4, 0.0, 1e4, np.inf]), steepness=3.0)
    assert found == pytest.approx([0, 0, 0.5, 1, 1])
