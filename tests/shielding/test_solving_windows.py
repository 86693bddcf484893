"""Decisions found again in windows: the same as if all had been stored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exhaustive import Game
from hypothesis import given, settings
from hypothesis import strategies as st
from shield_strategies import problems

from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding import solving
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.solving import CounterLattice, Policy, WindowedPolicy, window_width
from testsgd.shielding.synthesis import ShieldProblem, finite_problem, solve

COMPILED = pytest.mark.parametrize("compiled", [False, True])


def _both(problem: ShieldProblem, *, width: int, compiled: bool) -> tuple[Policy, WindowedPolicy]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "window_width", lambda lattice: width)
        whole = solve(problem, storage="whole", compiled=compiled)
        windows = solve(problem, storage="windows", compiled=compiled)
    assert whole.expected_cost == windows.expected_cost
    assert isinstance(whole.policy, Policy)
    assert isinstance(windows.policy, WindowedPolicy)
    return whole.policy, windows.policy


def _skewed(*, labelled: bool) -> InputDistribution:
    shares = np.array([[[0.1, 0.2], [0.05, 0.0]], [[0.3, 0.05], [0.2, 0.1]]])
    labels = np.array([[0.3, 0.9], [0.0, 1.0]]) if labelled else None
    return InputDistribution(("a", "b"), (0.5, 2.0), shares, labels)


@COMPILED
@pytest.mark.parametrize("width", [1, 2, 7, 100])
@pytest.mark.parametrize(
    ("name", "horizon"), [("demographic_parity", 30), ("equal_opportunity", 14)]
)
def test_runs_decide_the_same(name: str, horizon: int, width: int, compiled: bool) -> None:
    """Along random runs, each decision of both; many runs, so that windows are left and found."""
    fairness = NAMED_PROPERTIES[name]
    inputs = _skewed(labelled=fairness.labelled)
    problem = finite_problem(fairness, Fraction(1, 7), "vacuous", inputs, horizon)
    whole, windows = _both(problem, width=width, compiled=compiled)
    generator = np.random.default_rng(1)
    kinds = len(fairness.kinds)
    for _ in range(4):
        counts = [0] * (2 * kinds)
        for step in range(horizon):
            for group in (0, 1):
                for recommendation in (0, 1):
                    asked = (step, tuple(counts), group, recommendation)
                    assert whole.changes(*asked) == windows.changes(*asked)
            group, decision, label = map(int, generator.integers(2, size=3))
            kind = fairness.kind_of(decision, label)
            if kind >= 0:
                counts[group * kinds + kind] += 1


@given(both=problems(), width=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_all_states_in_any_order(both: tuple[Game, ShieldProblem], width: int, seed: int) -> None:
    """Jumps in time, back too, and states that no run of this shield comes to."""
    problem = both[1]
    whole, windows = _both(problem, width=width, compiled=False)
    generator = np.random.default_rng(seed)
    for _ in range(30):
        step = int(generator.integers(problem.horizon))
        states = np.concatenate([states for _, states in problem.lattice.blocks(step)])
        chosen = states[generator.integers(len(states), size=4)]
        groups = generator.integers(problem.groups, size=4)
        recommendations = generator.integers(2, size=4)
        np.testing.assert_array_equal(
            whole.changes_many(step, chosen, groups, recommendations),
            windows.changes_many(step, chosen, groups, recommendations),
        )


def test_few_layers_are_kept() -> None:
    problem = finite_problem(
        NAMED_PROPERTIES["demographic_parity"], Fraction(1, 7), "zero", _skewed(labelled=False), 20
    )
    _, windows = _both(problem, width=6, compiled=False)
    assert sorted(windows.kept) == [6, 12, 18]
    assert windows.bytes == sum(8 * problem.lattice.size(step) for step in (6, 12, 18))


@pytest.mark.parametrize(("dimensions", "horizon"), [(3, 5), (3, 1000), (4, 300), (8, 100)])
def test_a_window_is_small_or_narrow(dimensions: int, horizon: int) -> None:
    width = window_width(CounterLattice(dimensions, horizon))
    assert 1 <= width <= max(horizon, 8)
    assert width == 8 or CounterLattice(dimensions, width).total <= 5_000_000
