"""What a shield has to keep: a property, a requirement, inputs and a horizon, as one problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import SpecificationError
from testsgd.fairness import EmptyGroup, FairnessProperty
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import (
    After,
    Balanced,
    BiasAtMost,
    Provided,
    Requirement,
    SmallSteps,
    WelfareWithin,
)
from testsgd.shielding.solving import NEVER, CounterLattice, Transitions


@dataclass(frozen=True)
class ShieldProblem:
    """What is to be kept, from what inputs, for how long.

    Attributes
    ----------
    fairness : FairnessProperty
    requirement : Requirement
        What must hold of the counters after the last event.
    inputs : InputDistribution
    horizon : int
        Number of events.
    """

    fairness: FairnessProperty
    requirement: Requirement
    inputs: InputDistribution
    horizon: int

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.inputs.groups)

    @cached_property
    def lattice(self) -> CounterLattice:
        """The states."""
        counters = self.groups * len(self.fairness.kinds)
        return CounterLattice(counters - self.fairness.always_counts, self.horizon)

    @cached_property
    def transitions(self) -> Transitions:
        """How they follow each other."""
        kinds = len(self.fairness.kinds)
        moves = np.full((self.groups, 2, 2), self.lattice.dimensions, dtype=np.int64)
        for group in range(self.groups):
            for decision in (0, 1):
                for label in (0, 1):
                    kind = self.fairness.kind_of(decision, label)
                    # The last counter follows from the others if every event counts: no move.
                    if kind >= 0:
                        place = group * kinds + kind
                        moves[group, decision, label] = min(place, self.lattice.dimensions)
        labelled = self.fairness.labelled
        labels = self.inputs.labels
        if labelled and labels is None:
            raise SpecificationError(
                f"{self.fairness.name} needs the probability of the true label",
                where="inputs",
                remedy="give label_probability, or a log with labels",
            )
        return Transitions(
            moves=moves,
            probabilities=np.ascontiguousarray(self.inputs.probabilities, dtype=np.float64),
            labels=np.ascontiguousarray(
                labels if labelled else np.zeros((self.groups, 2)), dtype=np.float64
            ),
            costs=np.array(self.inputs.costs, dtype=np.float64),
            labelled=labelled,
        )

    def counters(self, states: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numerators and denominators of states after the last event, (n, groups) each.

        Parameters
        ----------
        states : numpy.ndarray of int, shape (n, dimensions)
        """
        if self.fairness.always_counts:
            rest = self.horizon - states.sum(axis=1, keepdims=True)
            states = np.concatenate([states, rest], axis=1)
        counts = states.reshape(len(states), self.groups, -1)
        # Products of whole matrices of integers are slow.
        numerators, denominators = np.zeros((2, len(states), self.groups), dtype=np.int64)
        for kind, (top, bottom) in enumerate(self.fairness.kinds):
            if top:
                numerators += top * counts[:, :, kind]
            if bottom:
                denominators += bottom * counts[:, :, kind]
        return numerators, denominators

    def final_values(self, states: NDArray[np.int64]) -> NDArray[np.float64]:
        """0 where the requirement holds after the last event, and NEVER elsewhere; shape (n,)."""
        return np.where(self.requirement.holds(*self.counters(states)), 0.0, NEVER)


def finite_problem(
    fairness: FairnessProperty,
    threshold: Fraction,
    empty_group: EmptyGroup,
    inputs: InputDistribution,
    horizon: int,
) -> ShieldProblem:
    """Ask that the bias is at most a threshold at the end (FinHzn, definition 1 of the paper)."""
    bound = BiasAtMost(threshold, fairness.measure, empty_group)
    return ShieldProblem(fairness, bound, inputs, horizon)


def static_welfare_problem(
    fairness: FairnessProperty,
    welfare: tuple[Fraction, Fraction],
    inputs: InputDistribution,
    horizon: int,
) -> ShieldProblem:
    """Ask that every rate lies within bounds, if enough came (Static-BW, definition 5).

    Enough are one over the distance of the bounds, rounded up, of every group (Assumption 1).
    """
    low, high = welfare
    enough = Balanced(math.ceil(1 / (high - low)))
    return ShieldProblem(fairness, Provided(enough, WelfareWithin(low, high)), inputs, horizon)


def dynamic_problem(
    fairness: FairnessProperty,
    threshold: Fraction,
    empty_group: EmptyGroup,
    inputs: InputDistribution,
    horizon: int,
    *,
    past_numerators: Sequence[int],
    past_denominators: Sequence[int],
) -> ShieldProblem:
    """Ask that the bias of a history and the next period is small, if enough came.

    Dynamic shields, definition 6 of the paper, with its Assumption 2. Without a history it is the
    same as :func:`finite_problem`.
    """
    tops, bottoms = tuple(map(int, past_numerators)), tuple(map(int, past_denominators))
    bound = BiasAtMost(threshold, fairness.measure, empty_group)
    if not any(bottoms):
        return ShieldProblem(fairness, bound, inputs, horizon)
    whole = After(tops, bottoms, bound)
    assumption = SmallSteps(threshold, tops, bottoms, empty_group)
    return ShieldProblem(fairness, Provided(assumption, whole), inputs, horizon)
