"""On what the promise of a periodic shield rests, and whether a period met it."""

from __future__ import annotations

import numpy as np

from testsgd.shielding.requirement import Balanced, Provided, Requirement
from testsgd.shielding.synthesis import ShieldProblem


def assumption_of(kind: str, problem: ShieldProblem) -> Requirement | None:
    """Find what must hold of a period's counters so that the promise holds.

    Parameters
    ----------
    kind : {"finite", "static-fair", "static-bounded-welfare", "dynamic"}
    problem : ShieldProblem
        Of the period.

    Returns
    -------
    Requirement or None
        None if nothing is assumed: for a finite horizon, and in the first period of a dynamic
        shield.

    Notes
    -----
    Theorem 2 and Assumptions 1 and 2 of the paper on fairness shields. Theorem 2 is about two
    groups, each with half of the events; for more groups it is an equal share each.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from testsgd.shielding import NAMED_PROPERTIES, InputDistribution, finite_problem
    >>> problem = finite_problem(NAMED_PROPERTIES["demographic_parity"], Fraction(1, 10),
    ...                          "vacuous", InputDistribution.uniform(("a", "b")), 10)
    >>> assumption_of("static-fair", problem)
    Balanced(least=5)
    """
    if kind == "static-fair":
        return Balanced(-(-problem.horizon // problem.groups))
    if kind != "finite" and isinstance(problem.requirement, Provided):
        return problem.requirement.assumption
    return None


def assumption_held(
    kind: str,
    assumption: Requirement | None,
    numerators: tuple[int, ...],
    denominators: tuple[int, ...],
) -> bool | None:
    """Say whether a finished period met its assumption.

    Parameters
    ----------
    kind : str
    assumption : Requirement or None
        As :func:`assumption_of` gave it.
    numerators, denominators : tuple of int
        The period's, one of each a group.

    Returns
    -------
    bool or None
        None for a finite horizon, where there is none; True where nothing is assumed.

    Examples
    --------
    >>> assumption_held("static-fair", Balanced(5), (1, 2), (5, 5))
    True
    """
    if kind == "finite":
        return None
    if assumption is None:
        return True
    holds = assumption.holds(np.array([numerators]), np.array([denominators]))
    return bool(holds[0])
