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
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError, SpecificationError
from testsgd.fairness import EmptyGroup, FairnessProperty
from testsgd.io import process_memory
from testsgd.progress import tell_answered
from testsgd.report.formatting import bytes_text
from testsgd.shielding import solving
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import (
    After,
    Balanced,
    BiasAtMost,
    Provided,
    Requirement,
    SmallRatioSteps,
    SmallSteps,
    WelfareWithin,
    least_counted,
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
# Kept layers whose sizes are added up one by one.
_MOST_STEPS = 100_000
_SCRATCH = 400
# Problems of fewer states are solved with numpy as long as no machine code is loaded.
_WORTH_LOADING = 1_000_000
_MACHINE_CODE = "testsgd.shielding.solving.compiled_backward"
# What a process takes more once numba and machine code are loaded, mostly the compiler itself.
_MACHINE_CODE_BYTES = 115 * 10**6
# Costs of a whole horizon must stay far below what stands for an infinite one.
# Bytes that a synthesis may be predicted to need if nothing else is allowed.
MEMORY_LIMIT = 8 * 10**9
# States of all times. A billion of them take about a second, so that these take days.
_MOST_STATES = 10**15
_LARGEST_COST = 1e-10 * solving.NEVER


@dataclass(frozen=True)
class ShieldProblem:
    """The problem that a shield solves: a requirement, the inputs and the horizon.

    :func:`finite_problem` makes one from a bound on the bias, and :func:`solve` solves it.
    """

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
        """The states: the values that the counters can have at each time."""
        counters = self.groups * len(self.fairness.kinds)
        return solving.CounterLattice(counters - self.fairness.always_counts, self.horizon)

    @cached_property
    def transitions(self) -> solving.Transitions:
        """How inputs, decisions and labels move the counters from a state to the next.

        Raises
        ------
        SpecificationError
            If the property counts by labels, and the inputs have no probabilities of them.
        """
        kinds = len(self.fairness.kinds)
        labelled = self.fairness.labelled
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
        """Return the numerators and the denominators of states after the last event.

        Parameters
        ----------
        states : array of int, shape (n, D)
            The counters of the lattice. If every event counts the last one is left out, because it
            follows from the others.

        Returns
        -------
        numerators, denominators : array of int, shape (n, groups)
        """
        if self.fairness.always_counts:
            rest = self.horizon - states.sum(axis=1, keepdims=True)
            states = np.concatenate([states, rest], axis=1)
        counts = states.reshape(len(states), self.groups, -1)
        # Products of whole matrices of integers are slow.
        numerators, denominators = np.zeros((2, len(states), self.groups), dtype=np.int64)
        for kind, (to_numerator, to_denominator) in enumerate(self.fairness.kinds):
            if to_numerator:
                numerators += to_numerator * counts[:, :, kind]
            if to_denominator:
                denominators += to_denominator * counts[:, :, kind]
        return numerators, denominators

    def final_values(self, states: Ints) -> NDArray[np.float64]:
        """Return the costs of final states: 0 if the requirement holds, NEVER otherwise.

        Parameters
        ----------
        states : array of int, shape (n, D)
            Counters after the last event.

        Returns
        -------
        array of float, shape (n,)
        """
        numerators, denominators = self.counters(states)
        return np.where(self.requirement.holds(numerators, denominators), 0.0, solving.NEVER)


def finite_problem(
    fairness: FairnessProperty,
    bound: Fraction,
    empty_group: EmptyGroup,
    inputs: InputDistribution,
    horizon: int,
) -> ShieldProblem:
    """Return the problem to keep the bias at most a bound after the last event.

    Parameters
    ----------
    fairness : FairnessProperty
        What is counted, and how the rates of groups are compared.
    bound : fractions.Fraction
        The largest bias that is allowed.
    empty_group : {"vacuous", "zero"}
        Whether a group without a rate is left out, or has the rate 0.
    inputs : InputDistribution
        What is expected of the people who come.
    horizon : int
        The number of events.

    Returns
    -------
    ShieldProblem

    Notes
    -----
    FinHzn, definition 1 of the paper on fairness shields.

    Examples
    --------
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> parity = NAMED_PROPERTIES["demographic_parity"]
    >>> inputs = InputDistribution.uniform(["female", "male"])
    >>> problem = finite_problem(parity, Fraction(1, 10), "vacuous", inputs, horizon=20)
    >>> problem.groups, problem.lattice.total
    (2, 8855)
    """
    requirement = BiasAtMost(bound, fairness.measure, empty_group, fairness.shares)
    return ShieldProblem(fairness, requirement, inputs, horizon)


def static_welfare_problem(
    fairness: FairnessProperty,
    welfare: tuple[Fraction, Fraction],
    inputs: InputDistribution,
    horizon: int,
) -> ShieldProblem:
    """Return the problem to keep every rate within bounds (Static-BW, definition 5).

    This is asked only of runs in which every group's denominator is at least one over the distance
    of the bounds, rounded up (Assumption 1).
    """
    enough = Balanced(least_counted(welfare))
    return ShieldProblem(fairness, Provided(enough, WelfareWithin(*welfare)), inputs, horizon)


def dynamic_problem(
    problem: ShieldProblem, past_numerators: Sequence[int], past_denominators: Sequence[int]
) -> ShieldProblem:
    """Return the problem to keep the bound of a :func:`finite_problem` after a history.

    The counters of the history, one number a group, are added to those of the period. The bound is
    due only where :class:`SmallSteps` holds, or :class:`SmallRatioSteps` if rates are compared by
    their ratio. Definition 6 of the paper, with its Assumption 2, which is about differences.
    Without a history it is the same problem.
    """
    numerators = tuple(map(int, past_numerators))
    denominators = tuple(map(int, past_denominators))
    bound = problem.requirement
    if not any(denominators):
        return problem
    assert isinstance(bound, BiasAtMost)
    kind = SmallSteps if bound.measure == "difference" else SmallRatioSteps
    assumption: Requirement = kind(
        bound=bound.bound,
        past_numerators=numerators,
        past_denominators=denominators,
        empty_group=bound.empty_group,
    )
    requirement = After(
        past_numerators=numerators, past_denominators=denominators, requirement=bound
    )
    return replace(problem, requirement=Provided(assumption, requirement))


def smallest_feasible_bound(problem: ShieldProblem) -> Fraction:
    """Return the smallest bound on the bias that a shield can keep for all sequences of inputs.

    The worst case over all sequences is computed in floating point. The exact value is the only
    possible bias near it, or is found among those near it by trying them.
    """
    requirement = problem.requirement
    past: After | None = None
    if isinstance(requirement, After):
        past = requirement
        requirement = requirement.requirement
    if not isinstance(requirement, BiasAtMost):
        raise TypeError("only a bound on the bias has a smallest bound")
    lattice = problem.lattice
    final = np.empty(lattice.size(lattice.horizon))
    largest_counter = 1
    largest_rate = 1.0
    for where, numerators, denominators in _final_counters(problem, past):
        largest_counter = max(largest_counter, int(denominators.max()), int(numerators.max()))
        rates = numerators / np.maximum(denominators, 1)
        largest_rate = max(largest_rate, float(rates.max()))
        final[where] = requirement.rounded_biases(numerators, denominators)
    value = solving.worst_case(lattice, problem.transitions, final)
    # A bias is a fraction whose denominator is at most the square of the largest counter. Two
    # fractions a/b and c/d that differ are at least 1/(b d) apart.
    denominator = largest_counter * largest_counter
    rounding_error = _ROUNDED * largest_rate
    if denominator * denominator * rounding_error < 0.5:
        return Fraction(value).limit_denominator(denominator)
    return _exact_bound(problem, requirement, past, value, rounding_error)


def _final_counters(
    problem: ShieldProblem, past: After | None
) -> Iterator[tuple[slice, Ints, Ints]]:
    """Yield the counters after the last event, a history's included, block by block.

    Of each block the slice of its n states, and numerators and denominators, (n, groups) each.
    """
    lattice = problem.lattice
    for where, states in lattice.blocks(lattice.horizon, _BIASES_AT_ONCE):
        numerators, denominators = problem.counters(states)
        if past is not None:
            numerators, denominators = past.together(numerators, denominators)
        yield where, numerators, denominators


def _exact_bound(
    problem: ShieldProblem,
    requirement: BiasAtMost,
    past: After | None,
    value: float,
    rounding_error: float,
) -> Fraction:
    """Return the smallest feasible bound among the exact biases near its rounded `value`."""
    near: set[Fraction] = set()
    for _, numerators, denominators in _final_counters(problem, past):
        biases = requirement.rounded_biases(numerators, denominators)
        close = np.abs(biases - value) <= 2 * rounding_error
        near.update(map(requirement.bias, numerators[close].tolist(), denominators[close].tolist()))

    def is_feasible(bound: Fraction) -> bool:
        candidate = replace(requirement, bound=bound)
        final = np.empty(problem.lattice.size(problem.lattice.horizon))
        for where, numerators, denominators in _final_counters(problem, past):
            final[where] = ~candidate.holds(numerators, denominators)
        return solving.worst_case(problem.lattice, problem.transitions, final) == 0

    bounds = sorted(near)
    return bounds[bisect_left(bounds, True, key=is_feasible)]


def closest_problem(problem: ShieldProblem) -> tuple[ShieldProblem, Fraction]:
    """Return the problem to keep the smallest bound on the bias that can be kept, and that bound.

    The new problem has a solution, and rests on no assumption.
    """
    requirement = problem.requirement
    if isinstance(requirement, Provided):
        requirement = requirement.requirement
    smallest = smallest_feasible_bound(replace(problem, requirement=requirement))
    return with_bound(problem, smallest), smallest


def with_bound(problem: ShieldProblem, bound: Fraction) -> ShieldProblem:
    """Return the problem to keep another bound on the bias, which rests on no assumption."""
    requirement = problem.requirement
    if isinstance(requirement, Provided):
        requirement = requirement.requirement
    if isinstance(requirement, After):
        assert isinstance(requirement.requirement, BiasAtMost)
        kept = replace(requirement.requirement, bound=bound)
        requirement = replace(requirement, requirement=kept)
    else:
        assert isinstance(requirement, BiasAtMost)
        requirement = replace(requirement, bound=bound)
    return replace(problem, requirement=requirement)


@dataclass(frozen=True)
class Solution:
    """The cheapest decisions that keep a requirement, or that there are none.

    :func:`solve` returns one. `expected_cost` is the least expected cost of all changes by the
    inputs of the problem; it is infinite if the requirement cannot be kept for all sequences.

    Examples
    --------
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> parity = NAMED_PROPERTIES["demographic_parity"]
    >>> inputs = InputDistribution.uniform(["a", "b"])
    >>> problem = finite_problem(parity, Fraction(1, 4), "vacuous", inputs, horizon=8)
    >>> solution = solve(problem, compiled=False)
    >>> round(solution.expected_cost, 2)
    1.28
    >>> start = (0,) * 4  # How often each kind of event has happened, group by group.
    >>> solution.policy.changes(0, start, 0, 1)  # At how many costs the first accept is changed.
    0
    """

    problem: ShieldProblem
    policy: solving.Policy | solving.WindowedPolicy  # What to decide in every state.
    expected_cost: float  # Of all changes, at the start; infinite if no shield exists.
    seconds: float  # How long it took to find.

    @property
    def feasible(self) -> bool:
        """Whether the requirement can be kept for all sequences of inputs."""
        return math.isfinite(self.expected_cost)

    def can_keep(self, step: int, counts: tuple[int, ...]) -> bool:
        """Return whether the requirement can be kept from a state on for all inputs.

        The policy keeps it from each state for which that is so. Of a state that the policy itself
        led to it is known; after a decision that was not the policy's it is found out here.

        Parameters
        ----------
        step : int
            Events so far.
        counts : tuple of int
            How often each kind of event has happened, group by group.

        Returns
        -------
        bool
        """
        problem = self.problem
        lattice = problem.lattice
        state = counts[: lattice.dimensions]
        left = lattice.horizon - step
        if left == 0:
            return bool(problem.final_values(np.array([state]))[0] < solving.NEVER)
        if isinstance(self.policy, solving.WindowedPolicy):
            local, final = self.policy.window(step, state)
        else:
            local = solving.CounterLattice(lattice.dimensions, left)
            final = np.empty(local.size(left))
            for where, states in local.blocks(left, _AT_ONCE):
                final[where] = problem.final_values(states + np.array(state))
        compiled = None if local.total >= _WORTH_LOADING else False
        value = solving.NEVER
        for _, values, _ in solving.induct(local, problem.transitions, final, compiled=compiled):
            value = float(values[0])
        return value < solving.NEVER


def solve(
    problem: ShieldProblem,
    *,
    storage: Storage = "auto",
    jobs: int = 1,
    compiled: bool | None = None,
    alike: int = 1,
) -> Solution:
    """Return the decisions of least expected cost that keep a requirement for all inputs.

    Goes back from the last event to the first (backward induction). The value of a state is the
    least expected cost from there on, or infinite if the requirement cannot be kept from there.

    Parameters
    ----------
    problem : ShieldProblem
        What is kept, with what inputs and for how long.
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
        Its seconds are without the loading of machine code. If the requirement cannot be kept, it
        is not `feasible`; no error is raised.

    Raises
    ------
    SpecificationError
        If the horizon is below 1, the costs are too large to be added up, there are too many groups
        and costs together, or the inputs lack probabilities of labels that the property needs.

    Notes
    -----
    Equations 3 and 4 of the paper on fairness shields, over counters (its Theorem 1).

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
    lattice = problem.lattice
    transitions = _checked_transitions(problem)
    if compiled is None:
        compiled = _is_compiled(lattice, alike)
    if compiled:
        # Load the machine code, or compile it, by one step on the smallest lattice.
        small = solving.CounterLattice(lattice.dimensions, 1)
        list(solving.induct(small, transitions, np.zeros(small.size(1)), compiled=True))
    start = time.perf_counter()
    policy: solving.Policy | solving.WindowedPolicy = solving.Policy(lattice, transitions)
    if not _stores_all(problem, storage):
        policy = solving.WindowedPolicy(
            lattice,
            transitions,
            width=solving.window_width(lattice),
            final=problem.final_values,
            compiled=compiled,
        )
    last = np.empty(lattice.size(lattice.horizon))
    all_states = lattice.total + lattice.size(lattice.horizon)
    states_done = 0
    for where, states in lattice.blocks(lattice.horizon, _AT_ONCE):
        last[where] = problem.final_values(states)
        states_done += len(states)
        tell_answered(states_done, all_states)
    value = math.inf
    for step, values, codes in solving.induct(
        lattice, transitions, last, compiled=compiled, jobs=jobs
    ):
        if isinstance(policy, solving.Policy):
            policy.put(step, codes)
        elif policy.keeps(step):
            policy.kept[step] = values.copy()
        value = float(values[0])
        states_done += len(values)
        tell_answered(states_done, all_states)
    expected_cost = value if value < solving.NEVER else math.inf
    return Solution(problem, policy, expected_cost, seconds=time.perf_counter() - start)


def _is_compiled(lattice: solving.CounterLattice, alike: int = 1) -> bool:
    """Whether problems are solved by machine code: it is loaded already, or loading it pays."""
    if _MACHINE_CODE in sys.modules:
        return True
    return alike * lattice.total > _WORTH_LOADING and find_spec("numba") is not None


def _checked_transitions(problem: ShieldProblem) -> solving.Transitions:
    """Return the transitions of a problem; a SpecificationError if it cannot be solved."""
    costs = problem.inputs.costs
    groups = problem.groups
    if problem.horizon < 1:
        raise SpecificationError(
            f"the horizon is {problem.horizon}",
            where="horizon.length",
            remedy="give a number of events, at least 1",
        )
    if problem.horizon * costs[-1] > _LARGEST_COST:
        raise SpecificationError(
            f"the cost {costs[-1]:g} is too large to be added up",
            where="inputs.costs",
            remedy=f"use another unit: all events together must cost less than {_LARGEST_COST:g}",
            cost=costs[-1],
        )
    try:
        problem.transitions.code_type  # noqa: B018  # it raises if 64 bits do not hold a code
    except ValueError:
        raise SpecificationError(
            f"{groups} groups and {len(costs)} costs are too many together",
            where="inputs.costs",
            remedy="use fewer costs",
            groups=groups,
            costs=len(costs),
        ) from None
    return problem.transitions


def _stores_all(problem: ShieldProblem, storage: Storage) -> bool:
    """Whether the decisions of all states are stored, rather than values of some layers."""
    if storage == "auto":
        return predicted_bytes(problem, storage="whole") <= _WHOLE_UP_TO
    return storage == "whole"


def predicted_bytes(problem: ShieldProblem, *, storage: Storage = "auto") -> int:
    """Return how many bytes the arrays of :func:`solve` take at most.

    The process that solves has them beside the program; see :func:`predicted_peak`.
    """
    lattice = problem.lattice
    transitions = _checked_transitions(problem)
    last_size = lattice.size(lattice.horizon)
    code_bytes = transitions.code_type.itemsize
    row_bytes = lattice.row_count * (lattice.dimensions - 1) * (2 + 4 + 3 * 8)
    working_bytes = (16 + code_bytes) * last_size + row_bytes + _SCRATCH * min(last_size, _AT_ONCE)
    if _stores_all(problem, storage):
        if transitions.halved:
            return working_bytes + lattice.total // 2
        return working_bytes + lattice.total * code_bytes
    width = solving.window_width(lattice)
    kept_steps = range(width, lattice.horizon, width)
    if len(kept_steps) > _MOST_STEPS:
        # Of each window one layer is kept, the largest.
        return working_bytes + 8 * (lattice.total // width)
    return working_bytes + 8 * sum(lattice.size(step) for step in kept_steps)


def predicted_peak(problem: ShieldProblem, *, storage: Storage = "auto") -> int:
    """Return how many bytes this process takes at most while it solves a problem.

    They are what it takes now, the machine code if that is still to be loaded, and
    :func:`predicted_bytes`.

    Parameters
    ----------
    problem : ShieldProblem
    storage : {"auto", "whole", "windows"}
        How the decisions would be kept.

    Returns
    -------
    int
        Within a quarter of what is measured in ``docs/benchmarks.md``.
    """
    arrays = predicted_bytes(problem, storage=storage)
    to_load = _MACHINE_CODE not in sys.modules and _is_compiled(problem.lattice)
    return process_memory() + to_load * _MACHINE_CODE_BYTES + arrays


def check_effort(
    problem: ShieldProblem, *, storage: Storage = "auto", memory_limit: int | None = MEMORY_LIMIT
) -> None:
    """Raise an error if solving a problem would take too much memory, or days.

    Parameters
    ----------
    problem : ShieldProblem
    storage : {"auto", "whole", "windows"}
        How the decisions would be kept.
    memory_limit : int or None
        Bytes of the whole process; None for as many as it takes.

    Raises
    ------
    ParameterError
        If more memory is predicted. Its ``details`` have ``predicted`` and ``limit``.
    SpecificationError
        If there are too many states to go through, or the problem cannot be solved at all.
    """
    states = problem.lattice.total
    if states > _MOST_STATES:
        raise SpecificationError(
            f"{problem.horizon:,} events of {problem.groups} groups have about "
            f"10^{len(str(states)) - 1} states, too many to go through",
            where="horizon.length",
            remedy="take a shorter horizon, or fewer groups",
            states=states,
        )
    predicted = predicted_peak(problem, storage=storage)
    if memory_limit is not None and predicted > memory_limit:
        remedy = "allow more, or take a shorter horizon, fewer groups or fewer costs"
        if storage == "whole":
            remedy += ', or the storage "windows"'
        raise ParameterError(
            f"the synthesis would need about {bytes_text(predicted)} of memory, and "
            f"{bytes_text(memory_limit)} are allowed",
            where="memory limit",
            remedy=remedy,
            predicted=predicted,
            limit=memory_limit,
        )
