"""Synthesis: from a property, inputs and a horizon to the cheapest decisions that keep it.

Section 3 of the paper on fairness shields (the bounded horizon) and, through other requirements,
section 4 (periods).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import SpecificationError
from testsgd.shielding.fairness import EmptyGroup, FairnessProperty
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
from testsgd.shielding.smallest_threshold import smallest_feasible_threshold
from testsgd.shielding.solving import (
    NEVER,
    CounterLattice,
    Policy,
    Transitions,
    WindowedPolicy,
    induct,
    window_width,
)

__all__ = [
    "ShieldProblem",
    "Solution",
    "Storage",
    "dynamic_problem",
    "finite_problem",
    "predicted_bytes",
    "smallest_feasible_threshold",
    "solve",
    "static_welfare_problem",
]

Storage = Literal["auto", "whole", "windows"]

# Up to here all decisions are stored, unless asked otherwise.
_WHOLE_UP_TO = 2**30
# States whose requirement is decided at once.
_AT_ONCE = 1 << 15
# Bytes for each of them.
_SCRATCH = 400
# Costs of a whole horizon must stay far below what stands for an infinite one.
_LARGEST_COST = 1e-10 * NEVER


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
        kinds = np.array(self.fairness.kinds, dtype=np.int64)
        counts = states.reshape(len(states), self.groups, len(kinds))
        return counts @ kinds[:, 0], counts @ kinds[:, 1]

    def final_values(self, states: NDArray[np.int64]) -> NDArray[np.float64]:
        """0 where the requirement holds after the last event, and NEVER elsewhere; shape (n,)."""
        return np.where(self.requirement.holds(*self.counters(states)), 0.0, NEVER)


@dataclass(frozen=True)
class Solution:
    """The cheapest decisions, if there are any that keep the requirement.

    Attributes
    ----------
    problem : ShieldProblem
    policy : Policy or WindowedPolicy
        What to decide in every state.
    expected_cost : float
        Of all changes, at the start; infinite if no shield exists.
    seconds : float
        How long it took to find.
    """

    problem: ShieldProblem
    policy: Policy | WindowedPolicy
    expected_cost: float
    seconds: float

    @property
    def feasible(self) -> bool:
        """Whether the requirement can be kept whoever comes."""
        return math.isfinite(self.expected_cost)


def solve(
    problem: ShieldProblem,
    *,
    storage: Storage = "auto",
    jobs: int = 1,
    compiled: bool | None = None,
) -> Solution:
    """Find the decisions of least expected cost that keep a requirement for all inputs.

    Parameters
    ----------
    problem : ShieldProblem
    storage : {"auto", "whole", "windows"}
        Whether to store the decisions of all states, or to keep the values of some layers and find
        decisions again when they are needed. "auto": the first up to a gibibyte.
    jobs : int
        Threads.
    compiled : bool, optional
        Whether to use machine code; without an answer: if numba is installed.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from testsgd.shielding.fairness import NAMED_PROPERTIES
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", inputs, 10)
    >>> round(solve(problem, compiled=False).expected_cost, 4)
    4.999
    """
    start = time.perf_counter()
    if compiled is None:
        compiled = find_spec("numba") is not None
    lattice, transitions = problem.lattice, _checked(problem)
    policy: Policy | WindowedPolicy
    if _stores_all(problem, storage):
        policy = Policy.for_transitions(lattice, transitions)
    else:
        policy = WindowedPolicy(
            lattice,
            transitions,
            width=window_width(lattice),
            final=problem.final_values,
            compiled=compiled,
        )
    final = np.empty(lattice.size(lattice.horizon))
    for where, states in lattice.blocks(lattice.horizon, _AT_ONCE):
        final[where] = problem.final_values(states)
    value = math.inf
    for step, values, codes in induct(lattice, transitions, final, compiled=compiled, jobs=jobs):
        if isinstance(policy, Policy):
            policy.put(step, codes, compiled=compiled)
        elif policy.keeps(step):
            policy.kept[step] = values.copy()
        value = float(values[0])
    return Solution(
        problem=problem,
        policy=policy,
        expected_cost=value if value < NEVER else math.inf,
        seconds=time.perf_counter() - start,
    )


def _checked(problem: ShieldProblem) -> Transitions:
    if problem.horizon < 1:
        raise SpecificationError(
            f"the horizon is {problem.horizon}",
            where="horizon.length",
            remedy="give a number of events, at least 1",
        )
    if problem.horizon * problem.inputs.costs[-1] > _LARGEST_COST:
        raise SpecificationError(
            f"the cost {problem.inputs.costs[-1]:g} is too large to be added up",
            where="inputs.costs",
            remedy=f"use another unit: all events together must cost less than {_LARGEST_COST:g}",
            cost=problem.inputs.costs[-1],
        )
    try:
        problem.transitions.code_type  # noqa: B018  # it raises
    except ValueError:
        raise SpecificationError(
            f"{problem.groups} groups and {len(problem.inputs.costs)} costs are too many together",
            where="inputs.costs",
            remedy="use fewer costs",
            groups=problem.groups,
            costs=len(problem.inputs.costs),
        ) from None
    return problem.transitions


def _stores_all(problem: ShieldProblem, storage: Storage) -> bool:
    if storage == "auto":
        return predicted_bytes(problem, storage="whole") <= _WHOLE_UP_TO
    return storage == "whole"


def predicted_bytes(problem: ShieldProblem, *, storage: Storage = "auto") -> int:
    """Predict the most memory that :func:`solve` takes, above what is loaded before.

    Parameters
    ----------
    problem : ShieldProblem
    storage : {"auto", "whole", "windows"}

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> from testsgd.shielding.fairness import NAMED_PROPERTIES
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", inputs, 100)
    >>> f"{predicted_bytes(problem) / 2**20:.0f} MiB"
    '18 MiB'
    """
    lattice, transitions = problem.lattice, _checked(problem)
    last = lattice.size(lattice.horizon)
    code = transitions.code_type.itemsize
    rows = lattice.row_count * (lattice.dimensions - 1) * (2 + 4 + 3 * 8)
    working = (16 + code) * last + rows + _SCRATCH * min(last, _AT_ONCE)
    if _stores_all(problem, storage):
        halved = 2 * problem.groups * transitions.bits <= 4
        return working + (lattice.total // 2 if halved else lattice.total * code)
    width = window_width(lattice)
    kept = sum(lattice.size(step) for step in range(width, lattice.horizon, width))
    return working + 8 * kept


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
