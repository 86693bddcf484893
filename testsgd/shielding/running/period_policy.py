"""The policy in force: that of the first period, or one found for the history so far."""

from __future__ import annotations

from fractions import Fraction

from testsgd.errors import InfeasibleShieldError
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import Requirement
from testsgd.shielding.running.assumptions import assumption_of
from testsgd.shielding.running.counters import Tally
from testsgd.shielding.running.periods import most_periods, period_problem, period_solution
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
    """What is decided in this period, and on what its promise rests.

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
    threshold : fractions.Fraction or None
        The bound that is promised for this period; None: no shield exists, recommendations pass.
    assumption : Requirement or None
        On what the promise of this period rests, if on anything.

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
        self.threshold = specification.threshold if solution.feasible else None
        self._storage: Storage = storage
        self._jobs = jobs
        self._solution: Solution | None = solution
        self._is_first = True
        self.assumption: Requirement | None = assumption_of(self.kind, solution.problem)
        if self.kind == "finite" and not solution.feasible:
            raise infeasible(solution.problem, specification)

    @property
    def active(self) -> bool:
        """Whether a shield exists for this period; otherwise recommendations pass."""
        return self.threshold is not None

    @property
    def anew(self) -> bool:
        """Whether each period has a policy of its own."""
        return self.kind == "dynamic"

    @property
    def expected_cost(self) -> float | None:
        """Expected cost of the changes of a period, at its start; None if it is not known."""
        return self._solution.expected_cost if self._solution is not None and self.active else None

    def begin(self, past: ShieldState) -> None:
        """Start the period after what has happened.

        Parameters
        ----------
        past : ShieldState
            With all decisions so far.
        """
        if not self.anew:
            return
        problem = self._next_problem(past)
        self._solution, self.threshold = period_solution(
            self.specification, problem, storage=self._storage, jobs=self._jobs
        )

    def pretend(self, past: ShieldState, threshold: Fraction | None) -> None:
        """Start a period that is over already: only its report is wanted, so nothing is solved.

        Parameters
        ----------
        past : ShieldState
            With all decisions before it.
        threshold : fractions.Fraction or None
            What was promised.
        """
        self._next_problem(past)
        self.threshold = threshold

    def _next_problem(self, past: ShieldState) -> ShieldProblem:
        # The old policy goes before the new one is found: both together could be too much.
        self._solution, self._is_first = None, False
        run, layout = past.whole_run, past.layout
        problem = period_problem(
            self.specification, self.inputs, layout.numerators(run), layout.denominators(run)
        )
        self.assumption = assumption_of(self.kind, problem)
        return problem

    def changes(self, step: int, counts: Tally, group: int, recommendation: int) -> int:
        """Say at how many of the costs, cheapest first, a recommendation is changed."""
        if self.threshold is None:
            return 0
        assert self._solution is not None
        return self._solution.policy.changes(step, counts, group, recommendation)

    def first_solution(self) -> Solution:
        """Give the solution of the first period, found again if it was given up."""
        if self._is_first and self._solution is not None:
            return self._solution
        problem = period_problem(self.specification, self.inputs)
        return solve(problem, storage=self._storage, jobs=self._jobs)


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
