"""The best that can be promised where a bound cannot: the smallest bound that can be kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from testsgd.shielding.requirement import After, BiasAtMost, Provided
from testsgd.shielding.synthesis.problem import ShieldProblem
from testsgd.shielding.synthesis.smallest_threshold import smallest_feasible_threshold


def closest_problem(problem: ShieldProblem) -> tuple[ShieldProblem, Fraction]:
    """Ask for the smallest bound on the bias that can be kept, whoever comes.

    Parameters
    ----------
    problem : ShieldProblem
        Whose bound on the bias, of what comes or of a history and what comes, cannot be kept.

    Returns
    -------
    ShieldProblem
        It has a solution. Where the bound of the given one rests on an assumption, this one rests
        on none.
    fractions.Fraction
        The bound, exactly.

    Raises
    ------
    TypeError
        If the requirement is no bound on the bias.

    Examples
    --------
    >>> from testsgd.shielding import NAMED_PROPERTIES, InputDistribution
    >>> from testsgd.shielding.synthesis import dynamic_problem, solve
    >>> problem = dynamic_problem(
    ...     NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10), "vacuous",
    ...     InputDistribution.uniform(("a", "b")), 4,
    ...     past_numerators=(8, 1), past_denominators=(10, 10))
    >>> closest, threshold = closest_problem(problem)
    >>> solve(problem).feasible, solve(closest).feasible, threshold
    (False, True, Fraction(33, 70))
    """
    bound = problem.requirement
    if isinstance(bound, Provided):
        bound = bound.requirement
    problem = replace(problem, requirement=bound)
    smallest = smallest_feasible_threshold(problem)
    if isinstance(bound, After):
        assert isinstance(bound.requirement, BiasAtMost)
        bound = replace(bound, requirement=replace(bound.requirement, threshold=smallest))
    else:
        assert isinstance(bound, BiasAtMost)
        bound = replace(bound, threshold=smallest)
    return replace(problem, requirement=bound), smallest
