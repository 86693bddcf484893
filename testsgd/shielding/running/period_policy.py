"""The policy in force: that of the first period, or one found for the history so far."""

from __future__ import annotations

from testsgd.errors import InfeasibleShieldError
from testsgd.fairness import bias
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import Requirement
from testsgd.shielding.running.assumptions import assumption_held, assumption_of
from testsgd.shielding.running.counters import Tally
from testsgd.shielding.running.periods import PeriodReport, most_periods, period_problem
from testsgd.shielding.running.state import ShieldState
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import (
    ShieldProblem,
    Solution,
    Storage,
    smallest_feasible_threshold,
    solve,
)


class PeriodPolicy:
    """What is decided in this period, and what is said of it at its end.

    Parameters
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
    solution : Solution
        Of the first period.
    storage : {"auto", "whole", "windows"}
    jobs : int
        How later periods are solved, if they are.

    Attributes
    ----------
    horizon : int
        Decisions of a period.
    most_periods : int or None
    active : bool
        Whether a shield exists for this period; otherwise recommendations pass.

    Raises
    ------
    InfeasibleShieldError
        If the horizon is finite and no shield exists.
    """

    def __init__(
        self,
        specification: ShieldSpecification,
        inputs: InputDistribution,
        solution: Solution,
        *,
        storage: Storage = "auto",
        jobs: int = 1,
    ) -> None:
        self.specification = specification
        self.inputs = inputs
        self.kind: str = specification.horizon.shield
        self.horizon: int = specification.horizon.length
        self.most_periods = most_periods(specification)
        self.active = solution.feasible
        self._storage: Storage = storage
        self._jobs = jobs
        self._solution: Solution | None = solution
        self._is_first = True
        self._assumption: Requirement | None = assumption_of(self.kind, solution.problem)
        if self.kind == "finite" and not solution.feasible:
            raise infeasible(solution.problem, specification)

    @property
    def anew(self) -> bool:
        """Whether each period has a policy of its own."""
        return self.kind == "dynamic"

    @property
    def expected_cost(self) -> float | None:
        """Expected cost of the changes of a period, at its start; None if it is not known."""
        return self._solution.expected_cost if self._solution is not None and self.active else None

    def begin(self, past: ShieldState, *, active: bool | None = None) -> None:
        """Start the period after what has happened.

        Parameters
        ----------
        past : ShieldState
            With all decisions so far.
        active : bool, optional
            If given, the period is over already and only its report is wanted: nothing is solved.
        """
        if not self.anew:
            return
        # The old policy goes before the new one is found: both together could be too much.
        self._solution, self._is_first = None, False
        run, layout = past.whole_run, past.layout
        problem = period_problem(
            self.specification, self.inputs, layout.numerators(run), layout.denominators(run)
        )
        if active is None:
            self._solution = solve(problem, storage=self._storage, jobs=self._jobs)
            active = self._solution.feasible
        self.active = active
        self._assumption = assumption_of(self.kind, problem)

    def changes(self, step: int, counts: Tally, group: int, recommendation: int) -> int:
        """Say at how many of the costs, cheapest first, a recommendation is changed."""
        if not self.active:
            return 0
        assert self._solution is not None
        return self._solution.policy.changes(step, counts, group, recommendation)

    def first_solution(self) -> Solution:
        """Give the solution of the first period, found again if it was given up."""
        if self._is_first and self._solution is not None:
            return self._solution
        problem = period_problem(self.specification, self.inputs)
        return solve(problem, storage=self._storage, jobs=self._jobs)

    def report(self, state: ShieldState) -> PeriodReport:
        """Sum up the period that ends in a state."""
        fairness, layout = self.specification.fairness_property, state.layout
        tops, bottoms = layout.numerators(state.counts), layout.denominators(state.counts)
        empty_group = self.specification.fairness.empty_group
        run = state.whole_run
        held = assumption_held(self.kind, self._assumption, tops, bottoms)
        so_far = bias(
            layout.numerators(run),
            layout.denominators(run),
            measure=fairness.measure,
            empty_group=empty_group,
        )
        return PeriodReport(
            period=state.period,
            events=state.step,
            counts=layout.by_group(state.counts),
            bias=bias(tops, bottoms, measure=fairness.measure, empty_group=empty_group),
            bias_so_far=so_far,
            fair_so_far=so_far <= self.specification.threshold,
            # Without a shield, after an unfair history, nothing was promised either.
            assumption_held=held if held is None else held and self.active,
            active=self.active,
            interventions=state.period_interventions,
            cost=state.period_cost,
        )


def infeasible(problem: ShieldProblem, specification: ShieldSpecification) -> InfeasibleShieldError:
    """Say that no shield exists, with the smallest threshold for which one would.

    Parameters
    ----------
    problem : ShieldProblem
        Of the first period.
    specification : ShieldSpecification
    """
    name, length = specification.fairness_property.name, specification.horizon.length
    words = "the custom property" if name == "custom" else name.replace("_", " ")
    if specification.horizon.shield == "static-bounded-welfare":
        return InfeasibleShieldError(
            f"no shield keeps every rate of {words} within the bounds over {length} decisions",
            where="horizon.welfare",
            remedy="widen the bounds, or use another kind of shield",
            property=name,
            length=length,
        )
    smallest = smallest_feasible_threshold(problem)
    about = "" if smallest.denominator == 1 else f" (about {float(smallest):.6g})"
    return InfeasibleShieldError(
        f"no shield keeps the bias of {words} at most {specification.threshold} over {length} "
        "decisions, whoever comes",
        where="fairness.threshold",
        remedy=f"the smallest threshold for which one exists is {smallest}{about}",
        property=name,
        length=length,
        threshold=specification.threshold,
        smallest_threshold=smallest,
    )
