"""The smallest threshold for which a shield exists, exact."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import bias
from testsgd.shielding.requirement import After, BiasAtMost
from testsgd.shielding.solving import worst_case
from testsgd.shielding.synthesis.problem import ShieldProblem

# States whose bias is found at once.
_AT_ONCE = 1 << 15
# How far a bias in floating point can be from the exact one, for rates up to 1.
_ROUNDED = 1e-15


def smallest_feasible_threshold(problem: ShieldProblem) -> Fraction:
    """Find the least threshold that a shield could keep, whoever comes.

    Parameters
    ----------
    problem : ShieldProblem
        Its requirement is a bound on the bias, of what comes or of a history and what comes; the
        threshold in it does not count.

    Returns
    -------
    fractions.Fraction

    Raises
    ------
    TypeError
        If the requirement is another.
    """
    requirement, past = problem.requirement, None
    if isinstance(requirement, After):
        past = requirement
        requirement = requirement.requirement
    if not isinstance(requirement, BiasAtMost):
        raise TypeError("only a bound on the bias has a smallest threshold")
    lattice = problem.lattice
    final = np.empty(lattice.size(lattice.horizon))
    largest, rate = 1, 1.0
    for where, tops, bottoms in _ends(problem, past):
        largest = max(largest, int(bottoms.max()), int(tops.max()))
        rate = max(rate, float((tops / np.maximum(bottoms, 1)).max()))
        final[where] = _biases(tops, bottoms, requirement)
    value = worst_case(lattice, problem.transitions, final)
    # A bias is a fraction whose denominator is at most this, and no two such are so close.
    denominator, rounded = largest * largest, _ROUNDED * rate
    if denominator * denominator * rounded < 0.5:
        return Fraction(value).limit_denominator(denominator)
    return _exactly(problem, requirement, past, value, rounded)


def _ends(
    problem: ShieldProblem, past: After | None
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Go through the counters after the last event, a history's included."""
    lattice = problem.lattice
    for where, states in lattice.blocks(lattice.horizon, _AT_ONCE):
        tops, bottoms = problem.counters(states)
        if past is not None:
            tops = tops + np.array(past.past_numerators)
            bottoms = bottoms + np.array(past.past_denominators)
        yield where, tops, bottoms


def _exactly(
    problem: ShieldProblem,
    requirement: BiasAtMost,
    past: After | None,
    value: float,
    rounded: float,
) -> Fraction:
    """Find the smallest threshold, known but for rounding, among the exact biases near it."""
    measure, empty_group = requirement.measure, requirement.empty_group
    near: set[Fraction] = set()
    for _, tops, bottoms in _ends(problem, past):
        close = np.abs(_biases(tops, bottoms, requirement) - value) <= 2 * rounded
        near |= {
            bias(top, bottom, measure=measure, empty_group=empty_group)
            for top, bottom in zip(tops[close].tolist(), bottoms[close].tolist(), strict=True)
        }

    def feasible(threshold: Fraction) -> bool:
        bound = replace(requirement, threshold=threshold)
        final = np.empty(problem.lattice.size(problem.lattice.horizon))
        for where, tops, bottoms in _ends(problem, past):
            final[where] = ~bound.holds(tops, bottoms)
        return worst_case(problem.lattice, problem.transitions, final) == 0

    biases = sorted(near)
    return biases[bisect_left(biases, True, key=feasible)]


def _biases(
    tops: NDArray[np.int64], bottoms: NDArray[np.int64], requirement: BiasAtMost
) -> NDArray[np.float64]:
    rates = np.where(bottoms > 0, tops / np.maximum(bottoms, 1), 0.0)
    counted = (bottoms > 0) | (requirement.empty_group == "zero")
    most = np.where(counted, rates, -np.inf).max(axis=1)
    least = np.where(counted, rates, np.inf).min(axis=1)
    compared = counted.sum(axis=1) >= 2
    if requirement.measure == "difference":
        apart = np.where(compared, most, 0.0) - np.where(compared, least, 0.0)
    else:
        some = compared & (most > 0)
        apart = np.where(some, 1.0 - np.where(some, least, 0.0) / np.where(some, most, 1.0), 0.0)
    return np.asarray(apart)
