"""Synthesis: from a property, inputs and a horizon to the cheapest decisions that keep it.

Section 3 of the paper on fairness shields (the bounded horizon) and, through other requirements,
section 4 (periods).
"""

from __future__ import annotations

import math
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import SpecificationError
from testsgd.fairness import EmptyGroup, FairnessProperty
from testsgd.shielding import solving
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
from testsgd.shielding.solving.lattice import Ints

# States whose bias is found at once.
_BIASES_AT_ONCE = 1 << 15
# How far a bias in floating point can be from the exact one, for rates up to 1.
_ROUNDED = 1e-15
Storage = Literal["auto", "whole", "windows"]
# Up to here all decisions are stored, unless asked otherwise.
_WHOLE_UP_TO = 2**30
# States whose requirement is decided at once, and bytes for each of them.
_AT_ONCE = 1 << 13
_SCRATCH = 400
# Fewer states are done with numpy before machine code is loaded.
_WORTH_LOADING = 1_000_000
_MACHINE_CODE = "testsgd.shielding.solving.compiled_backward"
# Costs of a whole horizon must stay far below what stands for an infinite one.
_LARGEST_COST = 1e-10 * solving.NEVER


@dataclass(frozen=True)
class ShieldProblem:
    """What is to be kept, from what inputs, for how long."""

    fairness: FairnessProperty
    requirement: Requirement  # What must hold of the counters after the last event.
    inputs: InputDistribution
    horizon: int  # Number of events.

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.inputs.groups)

    @cached_property
    def lattice(self) -> solving.CounterLattice:
        """The states."""
        counters = self.groups * len(self.fairness.kinds)
        return solving.CounterLattice(counters - self.fairness.always_counts, self.horizon)

    @cached_property
    def transitions(self) -> solving.Transitions:
        """How they follow each other."""
        kinds, labelled = len(self.fairness.kinds), self.fairness.labelled
        moves = np.full((self.groups, 2, 2), self.lattice.dimensions, dtype=np.int64)
        for group, decision, label in np.ndindex(moves.shape):
            kind = self.fairness.kind_of(decision, label)
            # The last counter follows from the others if every event counts: no move.
            if kind >= 0:
                index = group * kinds + kind
                moves[group, decision, label] = min(index, self.lattice.dimensions)
        labels = self.inputs.labels if labelled else np.zeros((self.groups, 2))
        if labels is None:
            what = f"{self.fairness.name} needs the probability of the true label"
            remedy = "give label_probability, or a log with labels"
            raise SpecificationError(what, where="inputs", remedy=remedy)
        return solving.Transitions(
            moves=moves,
            probabilities=np.ascontiguousarray(self.inputs.probabilities, dtype=np.float64),
            labels=np.ascontiguousarray(labels, dtype=np.float64),
            costs=np.array(self.inputs.costs, dtype=np.float64),
            labelled=labelled,
        )

    def counters(self, states: Ints) -> tuple[Ints, Ints]:
        """Return numerators and denominators, (n, groups) each, of states at the end, (n, D)."""
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

    def final_values(self, states: Ints) -> NDArray[np.float64]:
        """0 where the requirement holds after the last event, and NEVER elsewhere; shape (n,)."""
        return np.where(self.requirement.holds(*self.counters(states)), 0.0, solving.NEVER)


def finite_problem(
    fairness: FairnessProperty,
    bound: Fraction,
    empty_group: EmptyGroup,
    inputs: InputDistribution,
    horizon: int,
) -> ShieldProblem:
    """Ask that the bias is at most a bound at the end (FinHzn, definition 1 of the paper)."""
    requirement = BiasAtMost(bound, fairness.measure, empty_group)
    return ShieldProblem(fairness, requirement, inputs, horizon)


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
    problem: ShieldProblem, past_numerators: Sequence[int], past_denominators: Sequence[int]
) -> ShieldProblem:
    """Ask of a :func:`finite_problem` that its bound is kept after a history, if enough came.

    Definition 6 of the paper, with its Assumption 2. Without a history it is the same problem.
    """
    past = tuple(map(int, past_numerators)), tuple(map(int, past_denominators))
    bound = problem.requirement
    if not any(past[1]):
        return problem
    assert isinstance(bound, BiasAtMost)
    assumption = SmallSteps(bound.bound, *past, bound.empty_group)
    return replace(problem, requirement=Provided(assumption, After(*past, bound)))


def smallest_feasible_bound(problem: ShieldProblem) -> Fraction:
    """Find the least bound that a shield could keep, of what comes and any history."""
    requirement, past = problem.requirement, None
    if isinstance(requirement, After):
        past = requirement
        requirement = requirement.requirement
    if not isinstance(requirement, BiasAtMost):
        raise TypeError("only a bound on the bias has a smallest bound")
    lattice = problem.lattice
    final = np.empty(lattice.size(lattice.horizon))
    largest, rate = 1, 1.0
    for where, tops, bottoms in _ends(problem, past):
        largest = max(largest, int(bottoms.max()), int(tops.max()))
        rate = max(rate, float((tops / np.maximum(bottoms, 1)).max()))
        final[where] = requirement.rounded_biases(tops, bottoms)
    value = solving.worst_case(lattice, problem.transitions, final)
    # A bias is a fraction whose denominator is at most this, and no two such are so close.
    denominator, rounded = largest * largest, _ROUNDED * rate
    if denominator * denominator * rounded < 0.5:
        return Fraction(value).limit_denominator(denominator)
    return _exactly(problem, requirement, past, value, rounded)


def _ends(problem: ShieldProblem, past: After | None) -> Iterator[tuple[slice, Ints, Ints]]:
    """Go through the counters after the last event, a history's included."""
    lattice = problem.lattice
    for where, states in lattice.blocks(lattice.horizon, _BIASES_AT_ONCE):
        counters = problem.counters(states)
        yield where, *(past.together(*counters) if past else counters)


def _exactly(
    problem: ShieldProblem,
    requirement: BiasAtMost,
    past: After | None,
    value: float,
    rounded: float,
) -> Fraction:
    """Find the smallest bound, known but for rounding, among the exact biases near it."""
    near: set[Fraction] = set()
    for _, tops, bottoms in _ends(problem, past):
        close = np.abs(requirement.rounded_biases(tops, bottoms) - value) <= 2 * rounded
        near.update(map(requirement.bias, tops[close].tolist(), bottoms[close].tolist()))

    def feasible(bound: Fraction) -> bool:
        tried = replace(requirement, bound=bound)
        final = np.empty(problem.lattice.size(problem.lattice.horizon))
        for where, tops, bottoms in _ends(problem, past):
            final[where] = ~tried.holds(tops, bottoms)
        return solving.worst_case(problem.lattice, problem.transitions, final) == 0

    biases = sorted(near)
    return biases[bisect_left(biases, True, key=feasible)]


def closest_problem(problem: ShieldProblem) -> tuple[ShieldProblem, Fraction]:
    """Ask for the smallest bound on the bias that can be kept, whoever comes; return it as well.

    The new problem has a solution, and rests on no assumption.
    """
    kept = problem.requirement
    if isinstance(kept, Provided):
        kept = kept.requirement
    smallest = smallest_feasible_bound(replace(problem, requirement=kept))
    if isinstance(kept, After):
        assert isinstance(kept.requirement, BiasAtMost)
        kept = replace(kept, requirement=replace(kept.requirement, bound=smallest))
    else:
        assert isinstance(kept, BiasAtMost)
        kept = replace(kept, bound=smallest)
    return replace(problem, requirement=kept), smallest


@dataclass(frozen=True)
class Solution:
    """The cheapest decisions, if there are any that keep the requirement."""

    problem: ShieldProblem
    policy: solving.Policy | solving.WindowedPolicy  # What to decide in every state.
    expected_cost: float  # Of all changes, at the start; infinite if no shield exists.
    seconds: float  # How long it took to find.

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
    alike: int = 1,
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
        Whether to use machine code; without an answer: if numba is installed, and the problem so
        large that loading it, half a second once a process, pays.
    alike : int
        How many problems of this size will be solved: many small ones make it pay, too.

    Returns
    -------
    Solution
        Its seconds are without the loading of machine code.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> from testsgd.shielding import InputDistribution, finite_problem
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", inputs, 10)
    >>> round(solve(problem, compiled=False).expected_cost, 4)
    4.999
    """
    lattice, transitions = problem.lattice, _checked(problem)
    if compiled is None:
        worth_it = alike * lattice.total > _WORTH_LOADING and find_spec("numba") is not None
        compiled = worth_it or _MACHINE_CODE in sys.modules
    if compiled:
        # Load it, or make it, by going one step back from nothing.
        small = solving.CounterLattice(lattice.dimensions, 1)
        list(solving.induct(small, transitions, np.zeros(small.size(1)), compiled=True))
    start = time.perf_counter()
    policy: solving.Policy | solving.WindowedPolicy = solving.Policy(lattice, transitions)
    if not _stores_all(problem, storage):
        width, final = solving.window_width(lattice), problem.final_values
        policy = solving.WindowedPolicy(
            lattice, transitions, width=width, final=final, compiled=compiled
        )
    last = np.empty(lattice.size(lattice.horizon))
    for where, states in lattice.blocks(lattice.horizon, _AT_ONCE):
        last[where] = problem.final_values(states)
    value = math.inf
    for step, values, codes in solving.induct(
        lattice, transitions, last, compiled=compiled, jobs=jobs
    ):
        if isinstance(policy, solving.Policy):
            policy.put(step, codes)
        elif policy.keeps(step):
            policy.kept[step] = values.copy()
        value = float(values[0])
    expected_cost = value if value < solving.NEVER else math.inf
    return Solution(problem, policy, expected_cost, seconds=time.perf_counter() - start)


def _checked(problem: ShieldProblem) -> solving.Transitions:
    costs, groups = problem.inputs.costs, problem.groups
    if problem.horizon < 1:
        remedy, what = "give a number of events, at least 1", f"the horizon is {problem.horizon}"
        raise SpecificationError(what, where="horizon.length", remedy=remedy)
    if problem.horizon * costs[-1] > _LARGEST_COST:
        what = f"the cost {costs[-1]:g} is too large to be added up"
        least = f"all events together must cost less than {_LARGEST_COST:g}"
        remedy = f"use another unit: {least}"
        raise SpecificationError(what, where="inputs.costs", remedy=remedy, cost=costs[-1])
    try:
        problem.transitions.code_type  # noqa: B018  # it raises if 64 bits do not hold a code
    except ValueError:
        what = f"{groups} groups and {len(costs)} costs are too many together"
        details: dict[str, Any] = {"groups": groups, "costs": len(costs)}
        remedy = "use fewer costs"
        raise SpecificationError(what, where="inputs.costs", remedy=remedy, **details) from None
    return problem.transitions


def _stores_all(problem: ShieldProblem, storage: Storage) -> bool:
    if storage == "auto":
        return predicted_bytes(problem, storage="whole") <= _WHOLE_UP_TO
    return storage == "whole"


def predicted_bytes(problem: ShieldProblem, *, storage: Storage = "auto") -> int:
    """Predict how many bytes :func:`solve` takes at most, above what is loaded before."""
    lattice, transitions = problem.lattice, _checked(problem)
    last = lattice.size(lattice.horizon)
    code = transitions.code_type.itemsize
    rows = lattice.row_count * (lattice.dimensions - 1) * (2 + 4 + 3 * 8)
    working = (16 + code) * last + rows + _SCRATCH * min(last, _AT_ONCE)
    if _stores_all(problem, storage):
        return working + (lattice.total // 2 if transitions.halved else lattice.total * code)
    width = solving.window_width(lattice)
    kept = sum(lattice.size(step) for step in range(width, lattice.horizon, width))
    return working + 8 * kept
