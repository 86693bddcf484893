"""The least share of outputs that must be asked for, by dynamic programming state by state."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

Counters = tuple[int, ...]


def after(counters: Counters, value: int, betas: Sequence[int]) -> Counters | None:
    """Return the counters after an output of a value, None if a deadline is missed."""
    following = []
    for index, counter in enumerate(counters):
        if index == value:
            following.append(betas[index])
        elif counter == 1:
            return None
        else:
            following.append(counter - 1)
    return tuple(following)


def all_states(betas: Sequence[int]) -> list[Counters]:
    return list(itertools.product(*(range(1, beta + 1) for beta in betas)))


def least_injections(
    betas: Sequence[int], probabilities: Sequence[float], *, rounds: int = 4000
) -> float:
    """Compute the least share of outputs that must be asked for, by value iteration.

    The model gives the values with the given probabilities unless it is asked for one, which it
    then gives. A missed deadline is forbidden.
    """
    states = all_states(betas)
    index = {counters: number for number, counters in enumerate(states)}
    following = np.full((len(states), len(betas)), -1)
    for number, counters in enumerate(states):
        for value in range(len(betas)):
            new = after(counters, value, betas)
            if new is not None:
                following[number, value] = index[new]
    # States from which no order of values goes on are left out.
    alive = np.ones(len(states), dtype=bool)
    while True:
        leads = ((following >= 0) & alive[following]).any(axis=1) & alive
        if np.array_equal(leads, alive):
            break
        alive = leads
    allowed = (following >= 0) & alive[following]
    free = allowed[:, np.asarray(probabilities) > 0].all(axis=1)
    cost = np.zeros(len(states))
    for _ in range(rounds):
        next_cost = np.where(allowed, cost[following], np.inf)
        asked = 1 + next_cost.min(axis=1)
        finite = np.where(allowed, next_cost, 0.0)
        unasked = np.where(free, finite @ np.asarray(probabilities), np.inf)
        new = np.where(alive, np.minimum(asked, unasked), 0.0)
        change = new - cost
        # Half a step keeps the iteration from going round in circles.
        start = index[tuple(betas)]
        gain = change[start]
        cost = 0.5 * cost + 0.5 * new
        cost -= cost[start]
        cost[~alive] = 0.0
    return float(gain)
