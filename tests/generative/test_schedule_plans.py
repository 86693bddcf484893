"""As few outputs are asked for as possible, and plans break no deadline."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from least_requests import least_injections

from testsgd.generative import Schedule, counters_after

Generator = Callable[[tuple[int, ...]], int]


def run(
    schedule: Schedule,
    generator: Generator,
    *,
    outputs: int,
    shares: Sequence[float] | None = None,
    obeys: Callable[[], bool] = lambda: True,
    seed: int = 0,
) -> tuple[int, int]:
    """Return how many deadlines an obedient model misses, and how many outputs were asked for."""
    counters = schedule.betas
    misses = injections = 0
    chooser = random.Random(seed)

    def decide(counters: tuple[int, ...]) -> int | None:
        return schedule.decide(counters, shares=shares, random=chooser)

    # The same counters come again and again.
    decided = cache(decide)
    seen = {counters}
    for _ in range(outputs):
        wanted = decided(counters)
        injections += wanted is not None
        value = generator(counters) if wanted is None or not obeys() else wanted
        following = list(counters_after(counters, value, schedule.betas))
        for index, counter in enumerate(following):
            if counter == 0:
                misses += 1
                following[index] = schedule.betas[index]
        counters = tuple(following)
        seen.add(counters)
    # What was decided before does not matter.
    assert all(decide(one) == decided(one) for one in seen)
    return misses, injections


@pytest.mark.parametrize(
    ("betas", "probabilities"),
    [
        ((3, 3), (0.9, 0.1)),
        ((4, 6), (0.95, 0.05)),
        ((6, 6), (0.8, 0.2)),
        ((3, 5, 6), (0.7, 0.2, 0.1)),
        ((4, 4, 4), (0.8, 0.1, 0.1)),
        ((5, 5, 5), (0.6, 0.3, 0.1)),
        ((3, 4, 7), (0.1, 0.1, 0.8)),
        ((4, 5, 6), (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_as_few_outputs_are_asked_for_as_possible(
    betas: tuple[int, ...], probabilities: tuple[float, ...]
) -> None:
    outputs = 200_000
    source = random.Random(1)
    values = iter(source.choices(range(len(betas)), probabilities, k=outputs))
    schedule = Schedule(betas, overlapping=False)
    misses, injections = run(
        schedule, lambda _: next(values), outputs=outputs, shares=probabilities
    )
    least = least_injections(betas, probabilities)
    assert misses == 0
    # Four standard errors of a share, outputs being dependent at most over a few betas.
    error = 4 * np.sqrt(least * (1 - least) * 2 * max(betas) / outputs)
    assert injections / outputs <= 1.03 * least + error
    assert injections / outputs >= least - error


@pytest.mark.parametrize("betas", [(3, 3, 3), (3, 4, 5), (4, 5, 6, 6)])
def test_outputs_that_serve_no_value_break_nothing_unless_one_is_asked_for(
    betas: tuple[int, ...],
) -> None:
    """Requests that overlap: what was not asked for may turn out to serve no value."""
    schedule = Schedule(betas)
    reached = {betas}
    left = [betas]
    while left:
        counters = left.pop()
        wanted = schedule.decide(counters)
        following = [
            tuple(counter - 1 for counter in counters)
            if wanted is None
            else counters_after(counters, wanted, betas)
        ]
        if wanted is None:
            following += [counters_after(counters, value, betas) for value in range(len(betas))]
        for new in following:
            assert min(new) >= 1
            if new not in reached:
                reached.add(new)
                left.append(new)
