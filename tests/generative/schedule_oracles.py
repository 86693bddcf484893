"""Exact answers about schedules for small betas, from all counters one by one.

Nothing here uses the package: counters are tuples, moves are written out from the definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

Counters = tuple[int, ...]
# Given counters: how likely each value is asked for; none asked for: an empty dict.
Policy = Callable[[Counters], dict[int, float]]


def move(counters: Counters, value: int, betas: Sequence[int]) -> Counters | None:
    """Return the counters after an output, or None if a deadline was missed."""
    after = []
    for index, counter in enumerate(counters):
        if index == value:
            after.append(betas[index])
        elif counter == 1:
            return None
        else:
            after.append(counter - 1)
    return tuple(after)


def can_go_on(betas: Sequence[int]) -> set[Counters]:
    """Return the counters from which deadlines can be met for ever: each leads to another one."""
    left = set(itertools.product(*(range(1, beta + 1) for beta in betas)))
    while True:
        stuck = {
            state
            for state in left
            if not any(move(state, value, betas) in left for value in range(len(betas)))
        }
        if not stuck:
            return left
        left -= stuck


def has_cycle(betas: Sequence[int]) -> bool:
    """Return whether an endless order of values meets the betas, by depth-first search."""
    on_path: set[Counters] = set()
    dead: set[Counters] = set()

    def search(state: Counters) -> bool:
        on_path.add(state)
        for value in range(len(betas)):
            after = move(state, value, betas)
            if after is None or after in dead:
                continue
            if after in on_path or search(after):
                return True
        on_path.discard(state)
        dead.add(state)
        return False

    return search(tuple(betas))


def missed_states(
    betas: Sequence[int], decide: Callable[[Counters], int | None], *, wasted: bool
) -> list[Counters]:
    """Return reachable counters at which some model makes a schedule miss a deadline."""
    start = tuple(betas)
    seen = {start}
    waiting = [start]
    missed = []
    while waiting:
        state = waiting.pop()
        asked = decide(state)
        options: Iterator[int] | list[int] = range(len(betas)) if asked is None else [asked]
        if asked is None and wasted:
            options = [*options, -1]
        for value in options:
            after = move(state, value, betas)
            if after is None:
                missed.append(state)
            elif after not in seen:
                seen.add(after)
                waiting.append(after)
    return missed


def least_share(
    betas: Sequence[int],
    probabilities: Sequence[float],
    *,
    lazy: bool = False,
    wasted: bool = False,
) -> float:
    """Return the least long-run share of outputs asked for, by relative value iteration.

    With `lazy`, a value may be asked for only where the model could make a miss unavoidable. With
    `wasted`, the model may be left to choose only where an output of no value would be safe, too.
    """
    alive = sorted(can_go_on(betas))
    number = {state: index for index, state in enumerate(alive)}
    after = np.array(
        [[number.get(move(s, v, betas), -1) for v in range(len(betas))] for s in alive]
    )
    likely = np.asarray(probabilities)
    # A model may give any value, also one that it is not known to give.
    waits = (after >= 0).all(axis=1)
    if wasted:
        waits &= [tuple(counter - 1 for counter in state) in number for state in alive]
    cost = np.zeros(len(alive))
    half = 0.5  # half of the time nothing happens: no cycles, the same policy
    for _ in range(200_000):
        following = np.where(after >= 0, cost[after], np.inf)
        asked = 1 + following.min(axis=1)
        free = np.where(waits, (np.where(after >= 0, following, 0) * likely).sum(axis=1), np.inf)
        best = np.where(waits, free, asked) if lazy else np.minimum(asked, free)
        new = half * best + (1 - half) * cost
        change = new - cost
        if np.ptp(change) < 1e-9:
            return float(change.mean() / half)
        cost = new - new[0]
    raise AssertionError("value iteration did not settle")


def share_of(betas: Sequence[int], probabilities: Sequence[float], policy: Policy) -> float:
    """Return the long-run share of outputs that a policy asks for, from its Markov chain."""
    start = tuple(betas)
    number = {start: 0}
    waiting = [start]
    moves = []
    costs = {}
    while waiting:
        state = waiting.pop()
        asked = policy(state)
        costs[number[state]] = 1.0 if asked else 0.0
        chances = asked or dict(enumerate(probabilities))
        for value, chance in chances.items():
            if chance == 0:
                continue
            after = move(state, value, betas)
            assert after is not None, f"a deadline is missed at {state}"
            if after not in number:
                number[after] = len(number)
                waiting.append(after)
            moves.append((number[state], number[after], chance))
    size = len(number)
    chain = np.zeros((size, size))
    for before, following, chance in moves:
        chain[before, following] += chance
    # The chain with rests has the same long-run shares and no period.
    steps = 0.5 * (chain + np.eye(size))
    for _ in range(40):
        steps = steps @ steps
        steps /= steps.sum(axis=1, keepdims=True)
    return float(steps[0] @ np.array([costs[index] for index in range(size)]))
