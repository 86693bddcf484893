"""One step back in numpy and in machine code: the same values and codes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exhaustive import Game
from hypothesis import given, settings
from hypothesis import strategies as st
from shield_strategies import problems

from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import BiasAtMost
from testsgd.shielding.solving import backward
from testsgd.shielding.solving.backward import NEVER, Transitions, induct
from testsgd.shielding.synthesis import ShieldProblem, finite_problem, solve


def _layers(
    problem: ShieldProblem, *, compiled: bool, jobs: int = 1
) -> list[tuple[np.ndarray, np.ndarray]]:
    lattice = problem.lattice
    states = np.concatenate([states for _, states in lattice.blocks(lattice.horizon)])
    final = problem.final_values(states)
    return [
        (values.copy(), codes.copy())
        for _, values, codes in induct(
            lattice, problem.transitions, final, compiled=compiled, jobs=jobs
        )
    ]


def _same(
    one: list[tuple[np.ndarray, np.ndarray]], two: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    for (values, codes), (others, other_codes) in zip(one, two, strict=True):
        np.testing.assert_allclose(values, others, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(values >= NEVER, others >= NEVER)
        np.testing.assert_array_equal(codes, other_codes)


@given(both=problems())
@settings(max_examples=60)
def test_machine_code_does_the_same(both: tuple[Game, ShieldProblem]) -> None:
    problem = both[1]
    _same(_layers(problem, compiled=False), _layers(problem, compiled=True))


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "costs"), [(2, 3), (2, 20), (4, 130), (8, 15)])
def test_codes_of_all_sizes(groups: int, costs: int) -> None:
    """Up to 64 bits: their highest bit must not be taken for a sign or rounded away."""
    who = InputDistribution.uniform(
        [f"g{group}" for group in range(groups)], costs=[0.01 * k for k in range(1, costs + 1)]
    )
    horizon = {2: 7, 4: 3, 8: 2}[groups]
    bound = BiasAtMost(Fraction(1, 2))
    problem = ShieldProblem(NAMED_PROPERTIES["demographic_parity"], bound, who, horizon)
    assert problem.transitions.code_type.itemsize * 8 >= 2 * groups * costs.bit_length()
    plain, fast = (solve(problem, compiled=compiled).policy for compiled in (False, True))
    _same(_layers(problem, compiled=False), _layers(problem, compiled=True))
    generator = np.random.default_rng(0)
    for step in range(horizon):
        states = np.concatenate([states for _, states in problem.lattice.blocks(step)])
        states = states[generator.integers(len(states), size=50)]
        who_comes = generator.integers(groups, size=50)
        recommended = generator.integers(2, size=50)
        found = plain.changes_many(step, states, who_comes, recommended)
        np.testing.assert_array_equal(
            found, fast.changes_many(step, states, who_comes, recommended)
        )
        for place in range(50):
            state = tuple(states[place].tolist())
            one = plain.changes(step, state, int(who_comes[place]), int(recommended[place]))
            assert one == found[place] <= costs


@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_threads_change_nothing(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward, "_WORTH_SHARING", 2)
    who = InputDistribution.uniform(("a", "b", "c"), labelled=True)
    problem = finite_problem(NAMED_PROPERTIES["equal_opportunity"], Fraction(1, 4), "zero", who, 8)
    for (values, codes), (others, other_codes) in zip(
        _layers(problem, compiled=True), _layers(problem, compiled=True, jobs=jobs), strict=True
    ):
        np.testing.assert_array_equal(values, others)
        np.testing.assert_array_equal(codes, other_codes)


@given(bits=st.integers(1, 12), groups=st.integers(2, 8))
def test_code_type_is_the_smallest_that_holds_all_numbers(bits: int, groups: int) -> None:
    transitions = Transitions(
        moves=np.zeros((groups, 2, 2), dtype=np.int64),
        probabilities=np.zeros((groups, 2, 2**bits - 1)),
        labels=np.zeros((groups, 2)),
        costs=np.arange(2.0**bits - 1),
        labelled=False,
    )
    needed = 2 * groups * bits
    if needed > 64:
        with pytest.raises(ValueError, match="bits"):
            _ = transitions.code_type
        return
    size = transitions.code_type.itemsize * 8
    assert needed <= size
    assert size == 8 or needed > size // 2
