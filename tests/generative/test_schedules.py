"""The look-ahead never misses a deadline, and asks as little as it can."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_oracles import after, all_states, least_injections
from scipy.stats import binom

from testsgd.errors import SpecificationError
from testsgd.generative import (
    Schedule,
    corrected_look_ahead,
    counters_after,
    needed_outputs,
    paper_look_ahead,
)

Generator = Callable[[tuple[int, ...]], int]


def run(
    schedule: Schedule,
    generator: Generator,
    *,
    outputs: int,
    wasted: bool,
    shares: Sequence[float] | None = None,
    obeys: Callable[[], bool] = lambda: True,
    seed: int = 0,
) -> tuple[int, int]:
    """Return how many deadlines an obedient model misses, and how many outputs were asked for."""
    counters = schedule.betas
    misses = injections = 0
    chooser = random.Random(seed)
    for _ in range(outputs):
        wanted = schedule.decide(counters, shares=shares, wasted=wasted, random=chooser)
        injections += wanted is not None
        value = generator(counters) if wanted is None or not obeys() else wanted
        following = list(counters_after(counters, value, schedule.betas))
        for index, counter in enumerate(following):
            if counter == 0:
                misses += 1
                following[index] = schedule.betas[index]
        counters = tuple(following)
    return misses, injections


@st.composite
def betas_of_at_least_their_number(draw: st.DrawFn) -> tuple[int, ...]:
    number = draw(st.integers(2, 6))
    return tuple(draw(st.lists(st.integers(number, 12), min_size=number, max_size=number)))


@settings(max_examples=150)
@given(betas_of_at_least_their_number(), st.booleans(), st.randoms(use_true_random=False))
def test_no_deadline_is_missed_whatever_the_model_gives(
    betas: tuple[int, ...], wasted: bool, source: random.Random
) -> None:
    schedule = Schedule(betas)
    misses, _ = run(schedule, lambda _: source.randrange(len(betas)), outputs=300, wasted=wasted)
    assert misses == 0
    # One that always gives what is least urgent.
    misses, _ = run(
        schedule,
        lambda counters: max(range(len(betas)), key=lambda index: counters[index]),
        outputs=300,
        wasted=wasted,
    )
    assert misses == 0


@pytest.mark.parametrize(
    "betas", [(2, 2), (2, 3), (3, 3, 3), (3, 4, 5), (4, 4, 4, 4), (4, 4, 5, 6)]
)
@pytest.mark.parametrize("wasted", [True, False])
def test_every_state_that_can_be_reached_is_safe(betas: tuple[int, ...], wasted: bool) -> None:
    schedule = Schedule(betas)
    reached = {betas}
    left = [betas]
    while left:
        counters = left.pop()
        wanted = schedule.decide(counters, wasted=wasted)
        values = range(len(betas)) if wanted is None else (wanted,)
        for value in values:
            following = after(counters, value, betas)
            assert following is not None
            if following not in reached:
                reached.add(following)
                left.append(following)


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
        wanted = schedule.decide(counters, wasted=True)
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


def test_the_printed_algorithm_misses_with_unequal_betas() -> None:
    """The counterexample: betas (5, 6, 6, 9), and a model that always gives the fourth value."""
    betas = (5, 6, 6, 9)
    misses, _ = run(Schedule(betas, look_ahead="paper"), lambda _: 3, outputs=10_000, wasted=False)
    assert 30 <= misses / 10 <= 45
    misses, _ = run(Schedule(betas), lambda _: 3, outputs=10_000, wasted=False)
    assert misses == 0


def test_the_paper_example_step_by_step() -> None:
    """Example 7: betas of 50, and a model that always gives the first value."""
    betas = (50, 50, 50, 50)
    counters = betas
    for number in range(1, 48):
        assert paper_look_ahead(counters) == ()
        counters = counters_after(counters, 0, betas)
        assert counters == (50, 50 - number, 50 - number, 50 - number)
    assert counters == (50, 3, 3, 3)
    assert paper_look_ahead(counters) == (1, 2, 3)
    assert corrected_look_ahead(counters, needed=(1, 2, 3, 4), last=3) == (1, 2, 3)
    counters = counters_after(counters, 1, betas)
    assert counters == (49, 50, 2, 2)
    assert paper_look_ahead(counters) == (2, 3)
    counters = counters_after(counters, 2, betas)
    assert paper_look_ahead(counters) == (3,)


@given(st.lists(st.integers(1, 8), min_size=2, max_size=5))
def test_waiting_is_safe_exactly_where_all_can_still_come_in_time(counters: list[int]) -> None:
    """Hall's condition after a wasted output, by trying all orders of the values."""
    number = len(counters)
    waits = not corrected_look_ahead(counters, needed=tuple(range(1, number + 1)), last=number)
    ascending = sorted(counter - 1 for counter in counters)
    # The earliest deadline first is the best order of single outputs.
    assert waits == all(deadline >= place for place, deadline in enumerate(ascending, start=1))


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
    schedule = Schedule(betas)
    misses, injections = run(
        schedule, lambda _: next(values), outputs=outputs, wasted=False, shares=probabilities
    )
    least = least_injections(betas, probabilities)
    assert misses == 0
    # Four standard errors of a share, outputs being dependent at most over a few betas.
    error = 4 * np.sqrt(least * (1 - least) * 2 * max(betas) / outputs)
    assert injections / outputs <= 1.03 * least + error
    assert injections / outputs >= least - error


@pytest.mark.parametrize("values", [1, 2, 3, 5])
@pytest.mark.parametrize("obedience", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("tries", [0, 2])
def test_needed_outputs_are_those_of_the_binomial_distribution(
    values: int, obedience: float, tries: int
) -> None:
    needed = needed_outputs(values=values, obedience=obedience, tries=tries, miss_probability=0.02)
    success = 1 - (1 - obedience) ** (tries + 1)
    for number, outputs in enumerate(needed, start=1):
        assert binom.cdf(number - 1, outputs, success) <= 0.02 / values
        assert outputs == number or binom.cdf(number - 1, outputs - 1, success) > 0.02 / values


@pytest.mark.parametrize(
    ("betas", "probabilities"), [((12, 12), (1.0, 0.0)), ((14, 15, 16), (0.8, 0.2, 0.0))]
)
def test_a_disobedient_model_misses_as_rarely_as_is_promised(
    betas: tuple[int, ...], probabilities: tuple[float, ...]
) -> None:
    promised = 0.02
    schedule = Schedule(betas, obedience=0.6, tries=0, miss_probability=promised)
    source = random.Random(5)
    outputs = 200_000
    misses, injections = run(
        schedule,
        lambda _: source.choices(range(len(betas)), probabilities)[0],
        outputs=outputs,
        wasted=True,
        obeys=lambda: source.random() < 0.6,
    )
    # Each deadline begins with an appearance or a miss of a value, so there are as many as outputs
    # of the values that are asked for; fewer than outputs, and at least the injections obeyed.
    deadlines = int(0.5 * injections)
    assert misses <= binom.ppf(1 - 1e-9, deadlines, promised)


def test_a_single_rare_value_is_missed_with_the_probability_of_all_tries_failing() -> None:
    obedience = 0.5
    betas = (10, 10)
    schedule = Schedule(betas, obedience=obedience, miss_probability=0.2)
    (one, _) = needed_outputs(values=2, obedience=obedience, tries=0, miss_probability=0.2)
    source = random.Random(2)
    counters = betas
    deadlines = misses = 0
    for _ in range(100_000):
        wanted = schedule.decide(counters, wasted=True)
        value = 1 if wanted == 1 and source.random() < obedience else 0
        following = list(counters_after(counters, value, betas))
        if value == 1:
            deadlines += 1
        if following[1] == 0:
            deadlines += 1
            misses += 1
            following[1] = betas[1]
        counters = tuple(following)
    # The rare value is asked for in the last outputs before its deadline: as many as are needed.
    probability = (1 - obedience) ** one
    low, high = binom.interval(1 - 1e-6, deadlines, probability)
    assert low <= misses <= high


def test_betas_that_an_unreliable_model_cannot_keep_are_refused() -> None:
    with pytest.raises(SpecificationError) as refused:
        Schedule((3, 3), obedience=0.5, tries=0, miss_probability=0.01)
    smallest = refused.value.details["smallest"]
    Schedule((smallest, smallest), obedience=0.5, tries=0, miss_probability=0.01)
    with pytest.raises(SpecificationError):
        Schedule((smallest - 1, smallest), obedience=0.5, tries=0, miss_probability=0.01)


@pytest.mark.slow
def test_a_million_outputs_without_a_missed_deadline() -> None:
    source = random.Random(11)
    for _ in range(100):
        number = source.randint(2, 8)
        betas = tuple(source.randint(number, 4 * number) for _ in range(number))
        weights = [source.random() ** 4 for _ in range(number)]
        values = iter(source.choices(range(number), weights, k=10_000))
        misses, _ = run(
            Schedule(betas), lambda _, values=values: next(values), outputs=10_000, wasted=False
        )
        assert misses == 0


def test_all_states_are_all() -> None:
    assert len(all_states((2, 3))) == 6
