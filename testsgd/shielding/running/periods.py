"""Periods: which problem is solved for each, how many there are, and what is said of one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import (
    ShieldProblem,
    Solution,
    Storage,
    closest_problem,
    dynamic_problem,
    finite_problem,
    solve,
    static_welfare_problem,
)


@dataclass(frozen=True)
class PeriodReport:
    """What happened in a finished period.

    Attributes
    ----------
    period : int
        From 0.
    events : int
        Decisions that were counted.
    counts : tuple of tuple of int
        How often each kind of event happened, a tuple a group.
    bias : fractions.Fraction
        Of this period alone.
    bias_so_far : fractions.Fraction
        From the first period to the end of this one.
    fair_so_far : bool
        Whether that is at most the threshold.
    assumption_held : bool or None
        Whether what the promise of the specification's bound rests on was so in this period, with
        a shield for that bound; None for a finite horizon, whose promise rests on nothing.
    active : bool
        False if no shield existed for the period, and recommendations passed as they were.
    threshold : fractions.Fraction or None
        The bound that was promised: the specification's, the smallest one that could be kept if
        that one could not (``when_infeasible = "closest"``), or None if the period was not active.
    interventions : int
        Recommendations that were changed.
    cost : float
        Of these changes.
    """

    period: int
    events: int
    counts: tuple[tuple[int, ...], ...]
    bias: Fraction
    bias_so_far: Fraction
    fair_so_far: bool
    assumption_held: bool | None
    active: bool
    threshold: Fraction | None
    interventions: int
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Give the parts as JSON has them; a bias as text, because it is exact.

        Examples
        --------
        >>> report = PeriodReport(0, 2, ((0, 1), (1, 0)), Fraction(1), Fraction(1), False, None,
        ...                       True, Fraction(1, 10), 0, 0.0)
        >>> report.to_dict()["bias"], report.to_dict()["counts"]
        ('1', [[0, 1], [1, 0]])
        """
        return asdict(self) | {
            "counts": [list(counts) for counts in self.counts],
            "bias": str(self.bias),
            "bias_so_far": str(self.bias_so_far),
            "threshold": None if self.threshold is None else str(self.threshold),
        }


def period_problem(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    past_numerators: tuple[int, ...] = (),
    past_denominators: tuple[int, ...] = (),
) -> ShieldProblem:
    """Make the problem whose solution is the shield of a period.

    Parameters
    ----------
    specification : ShieldSpecification
    inputs : InputDistribution
    past_numerators, past_denominators : tuple of int
        The history, one of each a group; only a dynamic shield looks at it.

    Returns
    -------
    ShieldProblem

    Notes
    -----
    Definitions 1, 3, 5 and 6 of the paper on fairness shields.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "name": "loans", "fairness": {"property": "demographic_parity", "threshold": "1/10"},
    ...     "groups": {"names": ["a", "b"]}, "horizon": {"length": 20, "shield": "dynamic"}})
    >>> inputs = specification.input_distribution()
    >>> type(period_problem(specification, inputs).requirement).__name__
    'BiasAtMost'
    >>> type(period_problem(specification, inputs, (1, 4), (8, 12)).requirement).__name__
    'Provided'
    """
    fairness, horizon = specification.fairness_property, specification.horizon
    if horizon.shield == "static-bounded-welfare":
        assert horizon.welfare is not None, "the specification requires it"
        return static_welfare_problem(fairness, horizon.welfare, inputs, horizon.length)
    common = (
        fairness,
        specification.threshold,
        specification.fairness.empty_group,
        inputs,
        horizon.length,
    )
    if horizon.shield == "dynamic":
        groups = len(inputs.groups)
        return dynamic_problem(
            *common,
            past_numerators=past_numerators or (0,) * groups,
            past_denominators=past_denominators or (0,) * groups,
        )
    return finite_problem(*common)


def period_solution(
    specification: ShieldSpecification,
    problem: ShieldProblem,
    *,
    storage: Storage = "auto",
    jobs: int = 1,
    alike: int = 1,
) -> tuple[Solution, Fraction | None]:
    """Find the shield of a period and the bound that it promises.

    Parameters
    ----------
    specification : ShieldSpecification
    problem : ShieldProblem
        As :func:`period_problem` made it.
    storage, jobs, alike
        As for :func:`testsgd.shielding.solve`.

    Returns
    -------
    Solution
        If no shield exists and the specification asks for it, of the smallest bound that can be
        kept.
    fractions.Fraction or None
        None if the solution is none.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "name": "loans", "fairness": {"property": "demographic_parity", "threshold": "1/10"},
    ...     "groups": {"names": ["a", "b"]},
    ...     "horizon": {"length": 4, "shield": "dynamic", "when_infeasible": "closest"}})
    >>> inputs = specification.input_distribution()
    >>> problem = period_problem(specification, inputs, (8, 1), (10, 10))
    >>> period_solution(specification, problem)[1]
    Fraction(33, 70)
    """
    solution = solve(problem, storage=storage, jobs=jobs, alike=alike)
    if solution.feasible:
        return solution, specification.threshold
    if not specification.horizon.closest:
        return solution, None
    closest, threshold = closest_problem(problem)
    del solution  # both together could be too much
    return solve(closest, storage=storage, jobs=jobs, alike=alike), threshold


def most_periods(specification: ShieldSpecification) -> int | None:
    """Say after how many periods a shield stops; None if it never does.

    Parameters
    ----------
    specification : ShieldSpecification
    """
    horizon = specification.horizon
    if horizon.shield == "finite" and horizon.after == "stop":
        return 1
    return horizon.periods
