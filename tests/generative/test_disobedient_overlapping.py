"""Requests that overlap, and a model that disobeys: how often a value is asked for, and missed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from testsgd.errors import SpecificationError
from testsgd.generative import Schedule, needed_requests
from testsgd.generative.sequence_state import SequenceState, Slot


@dataclass
class Played:
    """What was asked for and what came, in the order in which requests began."""

    asked: list[int] = field(default_factory=list)
    labels: dict[int, int] = field(default_factory=dict)


def play(
    schedule: Schedule,
    *,
    requests: int,
    most_open: int,
    label: Callable[[int], int],
    pick: Callable[[int], int],
    finishes: Callable[[], bool],
) -> tuple[Played, SequenceState]:
    """Let requests begin and end in any order; values and labels are counted from 1."""
    state = SequenceState.start(schedule.betas)
    played = Played()
    awaited: list[int] = []

    def finish() -> None:
        nonlocal state
        number = awaited.pop(pick(len(awaited)))
        played.labels[number] = label(played.asked[number])
        state, _ = state.with_label(str(number), played.labels[number]).counted()

    for number in range(requests):
        while awaited and (len(awaited) >= most_open or finishes()):
            finish()
        index = schedule.decide(state.pending_counters(), since=state.pending_since())
        played.asked.append(0 if index is None else index + 1)
        state = state.with_slot(Slot(str(number), begun=0.0, asked=played.asked[number]))
        awaited.append(number)
    while awaited:
        finish()
    return played, state


def fewest_requests_of_a_miss(played: Played, betas: Sequence[int]) -> int | None:
    """Return how often at least a value was asked for in a stretch in which it never came."""
    fewest = None
    for value, beta in enumerate(betas, start=1):
        outputs = asked = 0
        for number, wanted in enumerate(played.asked):
            label = played.labels[number]
            asked += wanted == value
            outputs += label > 0
            if label == value:
                outputs = asked = 0
            elif outputs == beta:
                fewest = asked if fewest is None else min(fewest, asked)
                outputs = asked = 0
    return fewest


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_before_each_missed_deadline_the_value_was_asked_for_often_enough(
    data: st.DataObject,
) -> None:
    """Whatever the model gives, and in whatever order outputs come."""
    values = data.draw(st.integers(2, 4))
    obedience = data.draw(st.sampled_from([0.6, 0.9, 0.95]))
    requests = needed_requests(obedience=obedience, tries=0, miss_probability=0.01)
    extra = st.integers(0, 2 * requests)
    betas = [values * requests + data.draw(extra) for _ in range(values)]
    source = data.draw(st.randoms(use_true_random=False))
    disobeys = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    favourite = data.draw(st.integers(0, values))

    def label(asked: int) -> int:
        if asked and source.random() >= disobeys:
            return asked
        others = [value for value in range(values + 1) if value != asked]
        return favourite if favourite != asked else source.choice(others)

    played, _ = play(
        Schedule(betas, obedience=obedience),
        requests=120,
        most_open=data.draw(st.integers(1, 12)),
        label=label,
        pick=lambda number: source.randrange(number),
        finishes=lambda: source.random() < 0.5,
    )
    fewest = fewest_requests_of_a_miss(played, betas)
    assert fewest is None or fewest >= requests


@pytest.mark.parametrize("most_open", [1, 8])
@pytest.mark.parametrize(("obedience", "miss"), [(0.9, 0.01), (0.7, 0.05)])
def test_no_more_deadlines_are_missed_than_promised(
    obedience: float, miss: float, most_open: int
) -> None:
    requests = needed_requests(obedience=obedience, tries=0, miss_probability=miss)
    betas = (2 * requests + 1, 2 * requests + 4)
    source = random.Random(most_open)

    def label(asked: int) -> int:
        """Of the model's own accord the second value always comes."""
        return asked if asked and source.random() < obedience else 2

    _, state = play(
        Schedule(betas, obedience=obedience, miss_probability=miss),
        requests=20_000,
        most_open=most_open,
        label=label,
        pick=lambda number: source.randrange(number),
        finishes=lambda: source.random() < 0.5,
    )
    for missed, came in zip(state.misses, state.counts, strict=True):
        assert missed <= binom.ppf(1 - 1e-6, missed + came, miss)
    # The rare value is missed when all of its requests fail, so the promise is not an empty one.
    assert state.misses[0] > 0


def test_betas_too_small_for_the_requests_name_the_smallest_that_suffices() -> None:
    with pytest.raises(SpecificationError) as caught:
        Schedule((5, 40, 40), obedience=0.9)
    assert caught.value.details["smallest"] == 6
    Schedule((6, 40, 40), obedience=0.9)
