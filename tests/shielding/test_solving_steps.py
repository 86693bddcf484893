"""Steps back from any values at the end, against the same in fractions over dictionaries.

Values at the end that are small whole numbers or infinite, at random, come to every branch: labels
that only matter on one side, ties, states that only one group cannot bear.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.shielding.solving import NEVER, CounterLattice, Transitions, induct, worst_case

COMPILED = pytest.mark.parametrize("compiled", [False, True])

State = tuple[int, ...]
Values = dict[State, Fraction | None]


class _Case:
    """A random small problem, in whole numbers."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.labelled = bool(random.integers(2))
        self.groups = int(random.integers(2, 4))
        self.dimensions = int(random.integers(2, 5))
        self.horizon = int(random.integers(1, 6 if self.dimensions < 4 else 5))
        self.costs = sorted(random.choice(5, size=random.choice([1, 1, 2, 3]), replace=False))
        # A tie is told by the largest cost; where all are 0, so are all values of a shield.
        self.costs[-1] += self.costs[-1] == 0
        shape = (self.groups, 2, len(self.costs))
        self.weights = random.integers(0, 5, size=shape)
        self.weights[0, 0, 0] += 1
        self.eighths = random.choice([0, 1, 4, 7, 8], size=(self.groups, 2))
        self.moves = random.integers(self.dimensions + 1, size=(self.groups, 2, 2))
        if not self.labelled:
            self.moves[:, :, 0] = self.moves[:, :, 1]
        self.lattice = CounterLattice(self.dimensions, self.horizon)
        states = np.concatenate([one for _, one in self.lattice.blocks(self.horizon)])
        ends = random.integers(0, 7, size=len(states)).astype(float)
        ends[random.random(len(states)) < random.choice([0.0, 0.1, 0.4])] = NEVER
        self.ends = ends
        self.values: Values = {
            state: None if end == NEVER else Fraction(int(end))
            for state, end in zip(map(tuple, states.tolist()), ends, strict=True)
        }

    @property
    def transitions(self) -> Transitions:
        return Transitions(
            moves=self.moves,
            probabilities=self.weights / self.weights.sum(),
            labels=self.eighths / 8,
            costs=np.array(self.costs, dtype=float),
            labelled=self.labelled,
        )

    def after(self, state: State, move: int) -> State:
        return tuple(count + (place == move) for place, count in enumerate(state))

    def outcome(
        self, values: Values, state: State, group: int, recommendation: int, decision: int
    ) -> Fraction | None:
        one = values[self.after(state, self.moves[group, decision, 1])]
        zero = values[self.after(state, self.moves[group, decision, 0])]
        if one is None or zero is None:
            return None
        share = Fraction(int(self.eighths[group, recommendation]), 8)
        return share * one + (1 - share) * zero if self.labelled else one

    def step_back(self, values: Values, step: int) -> tuple[Values, dict[State, list[int | None]]]:
        """Values, and how many costs each group's recommendations are changed at."""
        total = int(self.weights.sum())
        before: Values = {}
        changes: dict[State, list[int | None]] = {}
        for state in product(range(step + 1), repeat=self.dimensions):
            if sum(state) > step:
                continue
            value: Fraction | None = Fraction(0)
            changes[state] = []
            for group, recommendation in product(range(self.groups), (0, 1)):
                keep, change = (
                    self.outcome(values, state, group, recommendation, decision)
                    for decision in (recommendation, 1 - recommendation)
                )
                if keep is None and change is None:
                    value = None
                    changes[state].append(None)
                    continue
                count = 0
                for place, cost in enumerate(map(int, self.costs)):
                    changed = change is not None and (keep is None or keep > change + cost)
                    count += changed
                    if value is not None:
                        paid = change + cost if changed else keep
                        weight = int(self.weights[group, recommendation, place])
                        value += Fraction(weight, total) * paid
                changes[state].append(count)
            before[state] = value
        return before, changes


@pytest.mark.slow
@COMPILED
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_values_and_codes(seed: int, compiled: bool) -> None:
    case = _Case(seed)
    values = case.values
    layers = induct(case.lattice, case.transitions, case.ends.copy(), compiled=compiled)
    mask = (1 << case.transitions.bits) - 1
    for step, found, codes in layers:
        values, changes = case.step_back(values, step)
        for state, value in values.items():
            place = int(case.lattice.index(step, np.array([state]))[0])
            if value is None:
                assert found[place] == NEVER
            else:
                assert found[place] == pytest.approx(float(value), rel=1e-12, abs=1e-12)
            for input_, count in enumerate(changes[state]):
                if count is not None:
                    assert (int(codes[place]) >> (input_ * case.transitions.bits)) & mask == count


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_worst_case(seed: int) -> None:
    """Inputs and labels by an adversary, decisions by the shield."""
    case = _Case(seed)
    values = {state: 99 if value is None else int(value) for state, value in case.values.items()}
    for step in range(case.horizon - 1, -1, -1):
        values = {
            state: max(
                min(
                    max(
                        values[case.after(state, int(move))] for move in case.moves[group, decision]
                    )
                    for decision in (0, 1)
                )
                for group in range(case.groups)
            )
            for state in product(range(step + 1), repeat=case.dimensions)
            if sum(state) <= step
        }
    ends = np.where(case.ends == NEVER, 99.0, case.ends)
    assert worst_case(case.lattice, case.transitions, ends) == values[(0,) * case.dimensions]
