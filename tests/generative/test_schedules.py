"""Look-ahead and choice: no deadline is missed, and few outputs are asked for."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_oracles import has_cycle, least_share, missed_states, share_of
from scipy.stats import binom

from testsgd.errors import SpecificationError
from testsgd.generative.compiled_simulation import simulate_schedule
from testsgd.generative.schedules import (
    Schedule,
    choose,
    corrected_look_ahead,
    counters_after,
    needed_outputs,
    needed_requests,
    paper_look_ahead,
)

FAILING = (5, 6, 6, 9)


@st.composite
def betas_of_at_least_their_number(draw):
    number = draw(st.integers(2, 6))
    return tuple(draw(st.lists(st.integers(number, 12), min_size=number, max_size=number)))


@pytest.mark.parametrize("wasted", [False, True])
@pytest.mark.parametrize("number", [2, 3, 4])
def test_no_reachable_counters_lead_to_a_missed_deadline(number, wasted):
    largest = {2: 7, 3: 6, 4: 6}[number]
    for betas in itertools.combinations_with_replacement(range(number, largest + 1), number):
        schedule = Schedule(betas, overlapping=wasted)

        def decide(counters, schedule=schedule):
            return schedule.decide(counters)

        assert missed_states(betas, decide, wasted=wasted) == []


@given(betas_of_at_least_their_number(), st.data())
@settings(max_examples=150, deadline=None)
def test_an_adversary_makes_the_corrected_look_ahead_miss_nothing(betas, data):
    schedule = Schedule(betas, overlapping=False)
    number = len(betas)
    shares = data.draw(st.lists(st.floats(0, 1), min_size=number, max_size=number))
    given_values = data.draw(st.lists(st.integers(0, number - 1), min_size=60, max_size=60))
    counters = betas
    for value in given_values:
        asked = schedule.decide(counters, shares=shares)
        counters = counters_after(counters, value if asked is None else asked, betas)
        assert min(counters) > 0


@given(betas_of_at_least_their_number(), st.data())
@settings(max_examples=150, deadline=None)
def test_decisions_with_and_without_known_labels_mix_without_a_miss(betas, data):
    schedules = {wasted: Schedule(betas, overlapping=wasted) for wasted in (False, True)}
    number = len(betas)
    counters = betas
    for _ in range(40):
        wasted = data.draw(st.booleans())
        asked = schedules[wasted].decide(counters)
        value = data.draw(st.integers(-1 if wasted else 0, number - 1)) if asked is None else asked
        counters = counters_after(counters, value, betas)
        assert min(counters) > 0


def test_waiting_is_refused_only_where_some_output_makes_a_miss_unavoidable():
    betas = (3, 4, 5)

    def is_hopeful(counters):
        return all(c >= place for place, c in enumerate(sorted(counters), start=1))

    for counters in itertools.product(*(range(1, beta + 1) for beta in betas)):
        if not is_hopeful(counters):
            continue
        after = [counters_after(counters, value, betas) for value in range(3)]
        asked = Schedule(betas, overlapping=False).decide(counters)
        assert (asked is None) == all(is_hopeful(state) for state in after)


def test_printed_algorithm_misses_deadlines_where_the_corrected_one_misses_none():
    always_last = (0.0, 0.0, 0.0, 1.0)
    printed = simulate_schedule(FAILING, always_last, outputs=100_000, look_ahead="paper")
    corrected = simulate_schedule(FAILING, always_last, outputs=100_000)
    assert 30 < printed.misses.sum() / 100 < 45
    assert corrected.misses.sum() == 0
    assert missed_states(FAILING, lambda c: next(iter(paper_look_ahead(c)), None), wasted=False)


@pytest.mark.parametrize("pick", [0, -1])
def test_printed_algorithm_misses_nothing_with_three_values(pick):
    for betas in itertools.product(range(3, 8), repeat=3):

        def decide(counters):
            equal = paper_look_ahead(counters)
            return equal[pick] if equal else None

        assert missed_states(betas, decide, wasted=False) == []


def test_trace_of_the_papers_figure():
    betas = (50, 50, 50, 50)
    schedule = Schedule(betas, look_ahead="paper")
    counters = betas
    for output in range(47):
        assert counters == (50, 50 - output, 50 - output, 50 - output)
        assert schedule.decide(counters) is None
        assert Schedule(betas, overlapping=False).decide(counters) is None
        counters = counters_after(counters, 0, betas)
    assert counters == (50, 3, 3, 3)
    assert paper_look_ahead(counters) == (1, 2, 3)
    assert corrected_look_ahead(counters, needed=(1, 2, 3, 4), last=3) == (1, 2, 3)
    came = []
    for _ in range(3):
        asked = schedule.decide(counters, random=random.Random(1))
        came.append(asked)
        counters = counters_after(counters, asked, betas)
    assert sorted(came) == [1, 2, 3]
    assert sorted(counters) == [47, 48, 49, 50]


CASES = [
    ((5, 6, 6), (0.6, 0.3, 0.1)),
    ((3, 5, 7), (0.7, 0.2, 0.1)),
    ((3, 5, 7), (0.1, 0.2, 0.7)),
    ((7, 5, 3), (0.5, 0.5, 0.0)),
    ((3, 7, 7), (0.02, 0.49, 0.49)),
    ((3, 4, 7), (0.3, 0.1, 0.6)),
    ((2, 7), (0.1, 0.9)),
]


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize(("betas", "probabilities"), CASES)
def test_share_asked_for_is_near_the_least_possible(betas, probabilities, overlapping):
    schedule = Schedule(betas, overlapping=overlapping)

    def policy(counters):
        asked = schedule.decide(counters, shares=probabilities)
        return {} if asked is None else {asked: 1.0}

    share = share_of(betas, probabilities, policy)
    least = least_share(betas, probabilities, wasted=overlapping)
    assert least - 1e-6 <= share <= 1.045 * least


def test_asking_early_can_be_better_than_asking_only_when_forced():
    betas, probabilities = (3, 5, 7), (0.7, 0.2, 0.1)
    lazy = least_share(betas, probabilities, lazy=True)
    assert lazy > 1.03 * least_share(betas, probabilities)


def test_choice_is_one_of_the_candidates():
    for candidates in [(0,), (1, 2), (0, 2)]:
        assert choose(candidates, (3, 1, 2), (4, 5, 6), shares=(0.0, 1.0, 0.2)) in candidates
        assert choose(candidates, (3, 1, 2), (4, 5, 6)) in candidates


@given(st.integers(1, 6), st.floats(0.3, 0.99), st.integers(0, 3), st.floats(0.001, 0.2))
@settings(max_examples=100, deadline=None)
def test_needed_outputs_are_the_fewest_that_suffice(values, obedience, tries, miss):
    success = 1 - (1 - obedience) ** (tries + 1)
    needed = needed_outputs(values=values, obedience=obedience, tries=tries, miss_probability=miss)
    for number, outputs in enumerate(needed, start=1):
        allowed = miss * success / values
        assert binom.cdf(number - 1, outputs, success) <= allowed * (1 + 1e-9)
        assert binom.cdf(number - 1, outputs - 1, success) >= allowed * (1 - 1e-9)


@pytest.mark.parametrize("obedience", [0.6, 0.9])
@pytest.mark.parametrize("number", [2, 4])
def test_disobedience_misses_at_most_the_share_that_was_asked_for(obedience, number):
    miss = 0.05
    smallest = needed_outputs(values=number, obedience=obedience, tries=0, miss_probability=miss)[
        -1
    ]
    for extra in (0, 3):
        betas = tuple(smallest + extra * index for index in range(number))
        for rare in (0.0, 0.1):
            probabilities = (rare,) * (number - 1) + (1 - rare * (number - 1),)
            result = simulate_schedule(
                betas,
                probabilities,
                outputs=100_000,
                obedience=obedience,
                miss_probability=miss,
                random_state=number,
            )
            limit = binom.ppf(1 - 1e-6, result.deadlines, miss)
            assert (result.misses <= limit).all()


def test_one_rare_value_is_missed_exactly_when_every_request_fails():
    obedience, miss = 0.5, 0.2
    needed = needed_outputs(values=2, obedience=obedience, tries=0, miss_probability=miss)
    betas = (needed[-1] + 10, needed[-1] + 10)
    result = simulate_schedule(
        betas, (1.0, 0.0), outputs=300_000, obedience=obedience, miss_probability=miss
    )
    expected = (1 - obedience) ** needed[0]
    low, high = binom.ppf([1e-6, 1 - 1e-6], result.deadlines[1], expected)
    assert low <= result.misses[1] <= high
    assert result.misses[0] == 0


def test_betas_too_small_for_the_obedience_name_the_smallest_that_suffices():
    needed = needed_outputs(values=3, obedience=0.8, tries=0, miss_probability=0.01)
    with pytest.raises(SpecificationError) as caught:
        Schedule((4, 40, 40), overlapping=False, obedience=0.8, miss_probability=0.01)
    assert caught.value.details["smallest"] == needed[-1]
    Schedule((needed[-1], 40, 40), overlapping=False, obedience=0.8, miss_probability=0.01)


@given(st.floats(0.05, 0.99), st.integers(0, 3), st.floats(0.001, 0.2))
def test_needed_requests_are_the_fewest_of_which_one_succeeds(obedience, tries, miss):
    requests = needed_requests(obedience=obedience, tries=tries, miss_probability=miss)
    success = 1 - (1 - obedience) ** (tries + 1)
    assert binom.pmf(0, requests, success) <= miss * (1 + 1e-6)
    assert requests == 1 or binom.pmf(0, requests - 1, success) > miss * (1 - 1e-6)


def test_simulation_decides_as_the_definition_evaluated_output_by_output():
    betas, probabilities = (5, 6, 7, 9), (0.05, 0.15, 0.2, 0.6)
    outputs = 3000
    result = simulate_schedule(betas, probabilities, outputs=outputs, random_state=5)
    draws = np.random.default_rng(5).random((outputs, 3))
    counters = betas
    requests = 0
    for output in range(outputs):
        candidates = corrected_look_ahead(counters, needed=(1, 2, 3, 4), last=3)
        if candidates:
            requests += 1
            value = min(candidates, key=lambda index: counters[index])
        else:
            value = int(np.searchsorted(np.cumsum(probabilities), draws[output, 2], side="right"))
        counters = counters_after(counters, value, betas)
    assert requests == result.asked


@pytest.mark.slow
def test_a_million_outputs_of_random_betas_miss_nothing():
    generator = np.random.default_rng(3)
    total = 0
    while total < 1_000_000:
        number = int(generator.integers(2, 9))
        betas = [int(beta) for beta in generator.integers(number, 3 * number, number)]
        probabilities = generator.dirichlet(np.full(number, 0.3))
        result = simulate_schedule(betas, probabilities, outputs=10_000, random_state=total)
        assert result.misses.sum() == 0
        total += result.outputs


def test_depth_first_search_knows_round_robin():
    assert has_cycle((3, 3, 3))
    assert not has_cycle((2, 3, 5))
