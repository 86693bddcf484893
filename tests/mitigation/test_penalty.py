"""The penalty on all groups: against dense masks and finite differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from testsgd.mitigation.penalised_networks import RunningPenalty
from testsgd.mitigation.penalty import penalty, penalty_slopes, soft_decisions, soft_maximum
from testsgd.mitigation.play import ComparedGroups, Floats
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.rules import lay_out, sensitive_axes

ROWS = 60


def some_groups(generator: np.random.Generator) -> ComparedGroups:
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], ROWS),
            "race": generator.choice(["a", "b", "c"], ROWS),
            "age": np.where(generator.random(ROWS) < 0.2, np.nan, generator.integers(20, 60, ROWS)),
        }
    )
    table = rows_table(frame, generator.random(ROWS) < 0.5, list(frame))
    assert table is not None
    contingency = lay_out(table, sensitive_axes(table))
    return ComparedGroups.of(contingency, generator.random(ROWS) < 0.9, min_rows=4)


def dense_penalty(groups: ComparedGroups, decisions: Floats, temperature: float) -> float:
    """Return the penalty from one mask a group and side."""
    every, cells = np.arange(len(groups)), groups.contingency.cell_of_row
    sides = [
        members(every, groups.contingency)[:, cells] & groups.counted
        for members in (groups.rule_sets.members, groups.rule_sets.complement_members)
    ]
    inside, outside = (side @ decisions / side.sum(axis=1) for side in sides)
    differences = inside - outside
    both = np.concatenate([differences, -differences])
    return float(temperature * logsumexp(both / temperature))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_penalty_and_its_slopes_are_those_of_dense_masks(seed: int, temperature: float) -> None:
    generator = np.random.default_rng(seed)
    groups, decisions = some_groups(generator), generator.random(ROWS)
    found = penalty(groups, decisions, temperature=temperature)
    assert found == pytest.approx(dense_penalty(groups, decisions, temperature))
    slopes = penalty_slopes(groups, decisions, temperature=temperature)
    step = 1e-6
    for row in generator.choice(ROWS, 8, replace=False):
        moved = step * (np.arange(ROWS) == row)
        above = dense_penalty(groups, decisions + moved, temperature)
        below = dense_penalty(groups, decisions - moved, temperature)
        assert slopes[row] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 4))
def test_slopes_by_margins_are_finite_differences(seed: int, steepness: float) -> None:
    generator = np.random.default_rng(seed)
    groups, margins = some_groups(generator), generator.normal(0, 2, ROWS)
    running = RunningPenalty(groups, margins, steepness=steepness, temperature=0.05)
    running.strength = 0.7
    slopes = running(np.arange(ROWS), margins)
    step = 1e-5

    def value(moved: Floats) -> float:
        return 0.7 * ROWS * dense_penalty(groups, expit(steepness * moved), 0.05)

    for row in generator.choice(ROWS, 8, replace=False):
        moved = step * (np.arange(ROWS) == row)
        expected = (value(margins + moved) - value(margins - moved)) / (2 * step)
        assert slopes[row] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_rows_in_parts_are_remembered() -> None:
    generator = np.random.default_rng(1)
    groups, margins = some_groups(generator), generator.normal(size=ROWS)
    running = RunningPenalty(groups, np.zeros(ROWS), steepness=2.0, temperature=0.05)
    running.strength = 1.0
    halves = np.split(generator.permutation(ROWS), 2)
    for half in (*halves, *halves):
        running(half, margins[half])
    whole = RunningPenalty(groups, margins, steepness=2.0, temperature=0.05)
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
