"""Asking as rarely as possible: which value, and whether a little before it must be.

Asking as late as possible is not always best: with unequal betas a request that is made early can
spare two later ones. For small graphs of counters the least expected share of requests is computed
by dynamic programming, from how often the model gives each value by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.generative.pinwheel import safe_states

Floats = NDArray[np.float64]
_Number = TypeVar("_Number", np.float64, np.bool_)

# Plans of larger graphs would take longer than an answer may.
MOST_STATES = 4_000
# Shares are rounded to multiples of this, so that few plans are made while they are learned.
_STEPS = 20
_MOST_ROUNDS = 3_000
_PRECISION = 1e-5


@dataclass(frozen=True)
class Plan:
    """The relative cost of counters: how many more requests follow than from the start.

    Examples
    --------
    >>> plan = make_plan((3, 5, 6), (0.7, 0.2, 0.1))
    >>> round(plan.least_share, 2), plan.best_value((1, 3, 6))
    (0.47, 0)
    """

    betas: tuple[int, ...]
    shares: tuple[float, ...]
    overlapping: bool
    # At the index of the counters, each less 1; infinite where a deadline would be missed.
    costs: Floats
    least_share: float  # The least expected share of outputs that are asked for.

    def cost_after(self, counters: Sequence[int], value: int) -> float:
        """Return the relative cost after an output of a value."""
        index = []
        for other, (counter, beta) in enumerate(zip(counters, self.betas, strict=True)):
            if other == value:
                index.append(beta - 1)
            elif counter == 1:
                return float("inf")
            else:
                index.append(counter - 2)
        return float(self.costs[tuple(index)])

    def best_value(self, counters: Sequence[int]) -> int | None:
        """Return the value to ask for; None if it costs less to let the model choose.

        Whether waiting is safe is decided elsewhere.
        """
        costs = [self.cost_after(counters, value) for value in range(len(self.betas))]
        waiting = sum(share * cost for share, cost in zip(self.shares, costs, strict=True))
        best = min(range(len(costs)), key=lambda value: costs[value])
        # What is equally good is left to the model.
        return best if 1 + costs[best] < waiting - _PRECISION else None


def plan_for(
    betas: tuple[int, ...], shares: Sequence[float], *, overlapping: bool = False
) -> Plan | None:
    """Return the plan for betas and about these shares; None if the graph is too large.

    Examples
    --------
    >>> plan_for((50, 50, 50, 50), (0.25, 0.25, 0.25, 0.25)) is None
    True
    """
    states = 1
    for beta in betas:
        states *= beta
    if states > MOST_STATES:
        return None
    rounded = [max(round(share * _STEPS), 0) for share in shares]
    # No value is taken to be impossible, or the plan would rely on it.
    lifted = [max(number, 0.2) for number in rounded]
    lifted_shares = tuple(number / sum(lifted) for number in lifted)
    return make_plan(betas, lifted_shares, overlapping=overlapping)


@lru_cache(maxsize=512)
def make_plan(
    betas: tuple[int, ...], shares: tuple[float, ...], *, overlapping: bool = False
) -> Plan:
    """Compute the plan by relative value iteration.

    Parameters
    ----------
    betas : tuple of int, length CG
        The number of outputs within which each value must come, and come again.
    shares : tuple of float, length CG
        How often the model gives each value by itself; they add up to 1.
    overlapping : bool
        Whether the model may choose only where an output that serves no value would be safe, too,
        as outputs of other requests may not be known yet.

    Returns
    -------
    Plan

    References
    ----------
    M. L. Puterman, Markov Decision Processes, 1994, section 8.5 (relative value iteration).
    """
    safe = safe_states(betas)
    may_wait = _one_earlier(safe, outside=False) if overlapping else safe
    start = tuple(beta - 1 for beta in betas)
    costs: Floats = np.where(safe, 0.0, np.inf)
    least = 0.0
    for _ in range(_MOST_ROUNDS):
        following = [_costs_after(costs, value, beta) for value, beta in enumerate(betas)]
        asked: Floats = 1 + np.minimum.reduce(following)
        waited: Floats = np.where(may_wait, 0.0, np.inf)
        for share, after in zip(shares, following, strict=True):
            waited += share * after
        old = costs[safe]
        better: Floats = np.minimum(asked, waited)
        new = better[safe]
        change = new - old
        least = float(change.min() + change.max()) / 2
        # Half a step keeps the iteration from going round in circles.
        costs[safe] = 0.5 * (old + new)
        costs[safe] -= costs[start]
        if change.max() - change.min() < _PRECISION:
            break
    return Plan(betas=betas, shares=shares, overlapping=overlapping, costs=costs, least_share=least)


def _costs_after(costs: Floats, value: int, beta: int) -> Floats:
    """Return the costs after an output of a value, at the counters before it; shape `betas`.

    The value's counter becomes its beta, and all others fall by 1; infinite where one was 1.
    """
    after: Floats = costs.take([beta - 1], axis=value).squeeze(axis=value)
    before = _one_earlier(after, outside=np.inf)
    return np.broadcast_to(np.expand_dims(before, value), costs.shape)


def _one_earlier(after: NDArray[_Number], *, outside: float) -> NDArray[_Number]:
    """Return `after` shifted by one along all axes, so that index i has its entry i - 1."""
    before = np.full_like(after, outside)
    before[(slice(1, None),) * after.ndim] = after[(slice(None, -1),) * after.ndim]
    return before
