"""Synthesis: from a property, inputs and a horizon to the cheapest decisions that keep it.

Section 3 of the paper on fairness shields (the bounded horizon) and, through other requirements,
section 4 (periods).
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

import numpy as np

from testsgd.errors import SpecificationError
from testsgd.shielding.solving import (
    NEVER,
    CounterLattice,
    Policy,
    Transitions,
    WindowedPolicy,
    induct,
    window_width,
)
from testsgd.shielding.synthesis.problem import ShieldProblem

Storage = Literal["auto", "whole", "windows"]

# Up to here all decisions are stored, unless asked otherwise.
_WHOLE_UP_TO = 2**30
# States whose requirement is decided at once.
_AT_ONCE = 1 << 13
# Bytes for each of them.
_SCRATCH = 400
# Fewer states are done with numpy before machine code is loaded.
_WORTH_LOADING = 1_000_000
_MACHINE_CODE = "testsgd.shielding.solving.compiled_backward"
# Costs of a whole horizon must stay far below what stands for an infinite one.
_LARGEST_COST = 1e-10 * NEVER


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
    >>> from testsgd.shielding import NAMED_PROPERTIES, InputDistribution, finite_problem
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", inputs, 10)
    >>> round(solve(problem, compiled=False).expected_cost, 4)
    4.999
    """
    lattice, transitions = problem.lattice, _checked(problem)
    if compiled is None:
        compiled = _pays(alike * lattice.total)
    if compiled:
        _load_machine_code(lattice, transitions)
    start = time.perf_counter()
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


def _pays(states: int) -> bool:
    """Whether machine code saves more time than loading it takes."""
    if _MACHINE_CODE in sys.modules:
        return True
    return states > _WORTH_LOADING and find_spec("numba") is not None


def _load_machine_code(lattice: CounterLattice, transitions: Transitions) -> None:
    """Load it, or make it, by going one step back from nothing."""
    small = CounterLattice(lattice.dimensions, 1)
    for _ in induct(small, transitions, np.zeros(small.size(1)), compiled=True):
        pass


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
    >>> from fractions import Fraction
    >>> from testsgd.shielding import NAMED_PROPERTIES, InputDistribution, finite_problem
    >>> inputs = InputDistribution.uniform(("a", "b"))
    >>> problem = finite_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "zero", inputs, 100)
    >>> f"{predicted_bytes(problem) / 2**20:.0f} MiB"
    '8 MiB'
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
