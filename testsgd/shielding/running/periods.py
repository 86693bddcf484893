"""Periods: which problem is solved for each, what it promises, and what is reported of one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from testsgd.errors import InfeasibleShieldError
from testsgd.shielding import synthesis
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import (
    EqualDenominators,
    Provided,
    Requirement,
    can_be_met,
)
from testsgd.shielding.running.state import CounterLayout, ShieldState, Tally, added
from testsgd.shielding.specification import ShieldSpecification


@dataclass(frozen=True)
class PeriodReport:
    """What happened in a finished period of a shield.

    :attr:`Shield.period_reports` has one for each. The biases are exact fractions. The bound of a
    periodic shield is on the history as a whole, so `fair_so_far` is what was to be kept.
    """

    period: int  # From 0.
    events: int  # Decisions that were counted.
    counts: tuple[tuple[int, ...], ...]  # How often each kind of event happened, a tuple a group.
    bias: Fraction  # Of this period alone.
    bias_so_far: Fraction  # From the first period to the end of this one.
    fair_so_far: bool  # Whether that is at most the bound.
    # Whether what the promise of the specification's bound rests on was so in this period, with a
    # shield for that bound; None for a finite horizon, whose promise rests on nothing.
    assumption_held: bool | None
    # False if no shield existed for the period, and recommendations passed as they were.
    active: bool
    # The bound that was promised: the specification's, the smallest one that could be kept if that
    # one could not (``when_infeasible = "closest"``), or None if the period was not active.
    bound: Fraction | None
    interventions: int  # Recommendations that were changed.
    cost: float  # Of these changes.
    overruled: int = 0  # Decisions that a person changed afterwards; the counts follow the person.
    # After how many decisions of the period an overruled one broke the promise; None: it was kept.
    lost_since: int | None = None
    # Whether the bound on the history up to the end of this period was promised: by a static shield
    # if the assumption held and the promise was kept in all periods so far, by a dynamic one, whose
    # problem has the history in it, if in this one. None for a finite horizon.
    promised_so_far: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them; a bias or a bound as text, because it is exact.

        Returns
        -------
        dict
            By the names of the fields.
        """
        return asdict(self) | {
            "counts": [list(counts) for counts in self.counts],
            "bias": str(self.bias),
            "bias_so_far": str(self.bias_so_far),
            "bound": None if self.bound is None else str(self.bound),
        }


def period_problem(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    past_numerators: tuple[int, ...] = (),
    past_denominators: tuple[int, ...] = (),
) -> synthesis.ShieldProblem:
    """Return the problem whose solution is the shield of a period.

    Parameters
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
    past_numerators, past_denominators : tuple of int, length groups
        The counters of the history. Only a dynamic shield uses them.

    Returns
    -------
    ShieldProblem

    Notes
    -----
    Definitions 1, 3, 5 and 6 of Cano and others, Fairness Shields.
    """
    fairness = specification.fairness_property
    horizon = specification.horizon
    if horizon.shield == "static-bounded-welfare":
        assert horizon.welfare is not None, "the specification requires it"
        return synthesis.static_welfare_problem(fairness, horizon.welfare, inputs, horizon.length)
    problem = synthesis.finite_problem(
        fairness,
        specification.bound,
        specification.fairness.empty_group,
        inputs,
        horizon.length,
    )
    if horizon.shield == "dynamic":
        problem = synthesis.dynamic_problem(problem, past_numerators, past_denominators)
    return problem


def first_solution(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    *,
    storage: synthesis.Storage = "auto",
    jobs: int = 1,
    memory_limit: int | None = synthesis.MEMORY_LIMIT,
) -> synthesis.Solution:
    """Return the solution of the first period.

    Parameters
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
    storage : {"auto", "whole", "windows"}
        How the decisions are kept.
    jobs : int
        Threads.
    memory_limit : int or None
        Bytes that the synthesis may be predicted to need.

    Returns
    -------
    Solution

    Raises
    ------
    ParameterError
        If more memory is predicted.
    InfeasibleShieldError
        If there is none; names the smallest bound for which there is one.
    """
    problem = period_problem(specification, inputs)
    synthesis.check_effort(problem, storage=storage, memory_limit=memory_limit)
    solution = synthesis.solve(problem, storage=storage, jobs=jobs)
    if not solution.feasible:
        raise infeasible(solution.problem, specification)
    return solution


def period_solution(
    specification: ShieldSpecification,
    problem: synthesis.ShieldProblem,
    *,
    storage: synthesis.Storage = "auto",
    jobs: int = 1,
    alike: int = 1,
) -> tuple[synthesis.Solution, Fraction | None]:
    """Return the solution of a period and the bound that it promises.

    If the bound of the specification cannot be kept and ``when_infeasible`` is "closest", the
    solution is for the smallest bound that can be kept.

    Parameters
    ----------
    specification : ShieldSpecification
    problem : ShieldProblem
        From :func:`period_problem`.
    storage : {"auto", "whole", "windows"}
        How the decisions are kept.
    jobs : int
        Threads.
    alike : int
        How many problems of this size are solved at a time; they share the memory.

    Returns
    -------
    Solution
    fractions.Fraction or None
        None if there is no shield.
    """
    solution = synthesis.solve(problem, storage=storage, jobs=jobs, alike=alike)
    if solution.feasible:
        return solution, specification.bound
    if not specification.horizon.closest:
        return solution, None
    closest, bound = synthesis.closest_problem(problem)
    del solution  # both together could need too much memory
    return synthesis.solve(closest, storage=storage, jobs=jobs, alike=alike), bound


def most_periods(specification: ShieldSpecification) -> int | None:
    """Return after how many periods a shield stops.

    Parameters
    ----------
    specification : ShieldSpecification

    Returns
    -------
    int or None
        None if it never does.
    """
    horizon = specification.horizon
    if horizon.shield == "finite" and horizon.after == "stop":
        return 1
    return horizon.periods


def assumption_of(kind: str, problem: synthesis.ShieldProblem) -> Requirement | None:
    """Return what a period's counters must satisfy for the promise over all periods.

    Parameters
    ----------
    kind : str
        ``horizon.shield`` of the specification.
    problem : ShieldProblem
        Of the period.

    Returns
    -------
    Requirement or None
        None if nothing is assumed.

    Notes
    -----
    Theorem 2 and Assumptions 1 and 2 of Cano and others, Fairness Shields. Theorem 2 is about two
    groups, each with half of the events; equal denominators, of any number of groups, are enough.
    """
    if kind == "static-fair":
        return EqualDenominators()
    if kind != "finite" and isinstance(problem.requirement, Provided):
        return problem.requirement.assumption
    return None


class PeriodPolicy:
    """The decisions of the present period, with the bound and the assumption of their promise.

    `solution` is of the first period. `bound` is promised for this period; None: no shield exists,
    and recommendations pass. `assumption` is that on which the promise rests, if on anything.
    """

    def __init__(
        self,
        specification: ShieldSpecification,
        inputs: InputDistribution,
        solution: synthesis.Solution,
        *,
        storage: synthesis.Storage = "auto",
        jobs: int = 1,
    ) -> None:
        self.specification = specification
        self.inputs = inputs
        self.kind: str = specification.horizon.shield
        self.horizon: int = specification.horizon.length
        self.most_periods = most_periods(specification)
        self.bound = specification.bound if solution.feasible else None
        self._solve = partial(period_solution, specification, storage=storage, jobs=jobs)
        self._solution: synthesis.Solution | None = solution
        self._problem = solution.problem
        self._is_first = True
        self.assumption: Requirement | None = assumption_of(self.kind, solution.problem)
        if self.kind == "finite" and not solution.feasible:
            raise infeasible(solution.problem, specification)

    @property
    def active(self) -> bool:
        """Whether a shield exists for this period; otherwise recommendations pass."""
        return self.bound is not None

    @property
    def is_solved_each_period(self) -> bool:
        """Whether each period has a policy of its own, which depends on the history."""
        return self.kind == "dynamic"

    @property
    def expected_cost(self) -> float | None:
        """Expected cost of the changes of a period, at its start; None if it is not known."""
        return self._solution.expected_cost if self._solution is not None and self.active else None

    def begin(self, past: ShieldState) -> None:
        """Find the policy of the next period, if it depends on the history."""
        if not self.is_solved_each_period:
            return
        self._solution, self.bound = self._solve(self._next_problem(past))
        self._problem = self._solution.problem

    def begin_unsolved(self, past: ShieldState, bound: Fraction | None) -> None:
        """Start a period that is over already: only its report is needed, so nothing is solved."""
        self._problem = self._next_problem(past)
        if bound is not None and bound != self.specification.bound:
            self._problem = synthesis.with_bound(self._problem, bound)
        self.bound = bound

    def _next_problem(self, past: ShieldState) -> synthesis.ShieldProblem:
        # The old policy is freed before the new one is found: both together could need too much
        # memory.
        self._solution = None
        self._is_first = False
        problem = period_problem(self.specification, self.inputs, *past.totals)
        self.assumption = assumption_of(self.kind, problem)
        return problem

    def changes(self, step: int, counts: Tally, group: int, recommendation: int) -> int:
        """Return at how many of the costs, cheapest first, a recommendation is changed."""
        if self.bound is None:
            return 0
        assert self._solution is not None
        return self._solution.policy.changes(step, counts, group, recommendation)

    def is_kept(self, numerators: Tally, denominators: Tally) -> bool:
        """Return whether the final counters of this period, one a group, are as guaranteed.

        True as well if nothing is guaranteed for this period.
        """
        if self.bound is None:
            return True
        requirement = self._problem.requirement
        return bool(requirement.holds(np.array([numerators]), np.array([denominators]))[0])

    def can_keep(self, step: int, tallies: Collection[Tally]) -> bool:
        """Return whether the promise of this period can be kept from each of some counters on.

        True as well if nothing is promised for this period.
        """
        solution = self._solution
        if self.bound is None or solution is None:
            return True
        return all(solution.can_keep(step, tally) for tally in tallies)

    def can_be_due(self, step: int, denominators: Collection[Tally]) -> bool:
        """Return whether the bound can still be due at the end of this period.

        It is not if the assumption has failed, or can hold in no continuation. `denominators`
        are of this period, one a group, as they can be after `step` decisions. True as well if the
        promise of the period alone rests on no assumption.
        """
        requirement = self._problem.requirement
        if not isinstance(requirement, Provided):
            return True
        most_added = max(map(max, self.specification.fairness_property.denominator))
        left = self.horizon - step
        return any(
            can_be_met(requirement.assumption, counted, left, most_added)
            for counted in denominators
        )

    def first_solution(self) -> synthesis.Solution:
        """Return the solution of the first period, found again if it was freed."""
        if self._is_first and self._solution is not None:
            return self._solution
        return self._solve(period_problem(self.specification, self.inputs))[0]


def infeasible(
    problem: synthesis.ShieldProblem, specification: ShieldSpecification
) -> InfeasibleShieldError:
    """Return the error that no shield exists, with the smallest bound for which one would.

    Parameters
    ----------
    problem : ShieldProblem
        It has no solution of a finite cost.
    specification : ShieldSpecification

    Returns
    -------
    InfeasibleShieldError
        Its ``details`` have the bound and, but for bounded welfare, the ``smallest_bound``.
    """
    name = specification.fairness_property.name
    length = specification.horizon.length
    words = "the custom property" if name == "custom" else name.replace("_", " ")
    if specification.horizon.shield == "static-bounded-welfare":
        return InfeasibleShieldError(
            f"no shield keeps every rate of {words} within the bounds over {length} decisions",
            where="horizon.welfare",
            remedy="widen the bounds, or use another kind of shield",
            property=name,
            length=length,
        )
    smallest = synthesis.smallest_feasible_bound(problem)
    bound = specification.bound
    about = "" if smallest.denominator == 1 else f" (about {float(smallest):.6g})"
    return InfeasibleShieldError(
        f"no shield keeps the bias of {words} at most {bound} over {length} decisions, "
        "whoever comes",
        where="fairness.bound",
        remedy=f"the smallest bound for which one exists is {smallest}{about}",
        property=name,
        length=length,
        bound=bound,
        smallest_bound=smallest,
    )


class PeriodLog:
    """The finished periods of a run, in their order.

    A report takes longer than ten decisions, so at the end of a period only the counters are kept,
    and reports are written when they are read.
    """

    def __init__(self, specification: ShieldSpecification, layout: CounterLayout) -> None:
        self._specification = specification
        self._layout = layout
        self._unwritten: list[Callable[[], PeriodReport]] = []
        self._reports: list[PeriodReport] = []

    def close(self, state: ShieldState, policy: PeriodPolicy) -> None:
        """Add the period that ends in a state and was decided by a policy."""
        lost_since = state.lost_since
        if lost_since is not None and policy.is_kept(*self._layout.totals(state.counts)):
            lost_since = None
        self._unwritten.append(
            partial(
                self._report,
                state.counts,
                state.past,
                policy.bound,
                policy.assumption,
                period=state.period,
                events=state.step,
                interventions=state.period_interventions,
                cost=state.period_cost,
                overruled=state.period_overruled,
                lost_since=lost_since,
            )
        )

    def reopen(self) -> None:
        """Take back the last period, to which a decision was corrected after its end."""
        (self._unwritten or self._reports).pop()

    def reports(self) -> tuple[PeriodReport, ...]:
        """Return the reports of all finished periods."""
        for report in self._unwritten:
            self._reports.append(self._with_promise(report()))
        self._unwritten.clear()
        return tuple(self._reports)

    def unpromised_since(self) -> int | None:
        """Return since which period nothing is promised of the history; None: it is at the end."""
        reports = self.reports()
        if not reports or reports[-1].promised_so_far is not False:
            return None
        promised = (report.period for report in reversed(reports) if report.promised_so_far)
        return next(promised, -1) + 1

    def _with_promise(self, report: PeriodReport) -> PeriodReport:
        """Return the report of the next period, with what was promised of the history."""
        if report.assumption_held is None:
            return report
        promised = report.assumption_held and report.lost_since is None
        if self._specification.horizon.shield != "dynamic" and self._reports:
            promised = promised and self._reports[-1].promised_so_far is True
        return replace(report, promised_so_far=promised)

    def _report(
        self,
        counts: Tally,
        past: Tally,
        bound: Fraction | None,
        assumption: Requirement | None,
        *,
        period: int,
        events: int,
        interventions: int,
        cost: float,
        overruled: int,
        lost_since: int | None,
    ) -> PeriodReport:
        """Return the report of a period; `past` has the counters of the periods before."""
        specification = self._specification
        requirement = specification.requirement
        numerators, denominators = self._layout.totals(counts)
        bias_so_far = requirement.bias(*self._layout.totals(added(past, counts)))
        # Without a shield for the bound, after an unfair history, it was not promised either.
        assumption_held: bool | None = bound == specification.bound
        if specification.horizon.shield == "finite":
            assumption_held = None
        elif assumption_held and assumption is not None:
            mask = assumption.holds(np.array([numerators]), np.array([denominators]))
            assumption_held = bool(mask[0])
        return PeriodReport(
            period=period,
            events=events,
            counts=self._layout.by_group(counts),
            bias=requirement.bias(numerators, denominators),
            bias_so_far=bias_so_far,
            fair_so_far=bias_so_far <= specification.bound,
            assumption_held=assumption_held,
            active=bound is not None,
            bound=bound,
            interventions=interventions,
            cost=cost,
            overruled=overruled,
            lost_since=lost_since,
        )
