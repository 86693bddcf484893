"""What is said of two rates without samples, without successes, at the ends, and of very many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.scoring import confidence_sequence, pair_evidence, pair_interval

MEASURES = ["difference", "ratio"]


def interval(wins, samples, confidence=0.95, **others):
    low, high = pair_interval(wins, samples, confidence, **others)
    return float(low), float(high)


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_is_known_without_samples(measure):
    assert interval([0, 0], [0, 0], measure=measure) == (0, 1)
    assert pair_evidence([0, 0], [0, 0], 0.0, measure=measure) == 0


def test_of_one_group_alone_the_other_rate_may_be_any():
    for wins, samples in ((300, 1000), (0, 50), (50, 50), (1, 1)):
        for seen in (([wins, 0], [samples, 0]), ([0, wins], [0, samples])):
            assert float(pair_evidence(*seen, 0.0)) == 0
            assert interval(*seen, measure="ratio") == (0, 1)
            low, high = interval(*seen)
            least, most = confidence_sequence(wins, samples, 0.95)
            assert low == 0
            # The rate that is farthest from all that the known one may be.
            assert high == pytest.approx(max(float(most), 1 - float(least)), abs=1e-8)


def test_no_success_at_all_may_mean_two_rates_of_0():
    wins, samples = [0, 0], [1000, 200_000]
    for measure in MEASURES:
        assert float(pair_evidence(wins, samples, 0.0, measure=measure)) == 0
    assert interval(wins, samples, measure="ratio") == (0, 1)
    low, high = interval(wins, samples)
    assert low == 0
    assert high == pytest.approx(float(confidence_sequence(0, 1000, 0.95)[1]), rel=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_none_against_all_comes_as_close_to_1_as_the_samples_allow(measure):
    low, high = interval([0, 5000], [5000, 5000], measure=measure)
    assert 0.99 < low < high == 1
    assert pair_evidence([0, 5000], [5000, 5000], 1.0, measure=measure) == 0
    assert pair_evidence([0, 5000], [5000, 5000], low, measure=measure) == pytest.approx(
        math.log(20), rel=1e-6
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_observed_rates_within_the_threshold_are_no_evidence(measure):
    assert pair_evidence([300, 350], [1000, 1000], 0.15, measure=measure) == 0
    assert pair_evidence([10, 10], [10, 10], 0.0, measure=measure) == 0
    assert pair_evidence([1, 3], [1, 3], 0.0, measure=measure) == 0


def test_with_confidence_1_nothing_is_said():
    assert interval([300, 600], [1000, 1000], 1.0) == (0, 1)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.data())
def test_whatever_the_counts_are_the_observed_rates_lie_inside(data):
    pairs = []
    for _ in range(2):
        samples = data.draw(st.sampled_from([1, 2, 10, 10**4, 10**6, 10**9, 10**12]))
        wins = data.draw(st.sampled_from([0, 1, 2, 3]) | st.integers(0, samples))
        wins = min(wins, samples)
        pairs.append((data.draw(st.sampled_from([wins, samples - wins])), samples))
    wins, samples = np.array(pairs).T
    confidence = data.draw(st.sampled_from([0.01, 0.5, 0.95, 1 - 1e-12]))
    low_rate, high_rate = sorted(wins / samples)
    for measure in MEASURES:
        low, high = interval(wins, samples, confidence, measure=measure)
        value = high_rate - low_rate
        if measure == "ratio":
            value = 1 - low_rate / high_rate if high_rate else 0.0
        assert 0 <= low <= value <= high <= 1


@pytest.mark.parametrize("measure", MEASURES)
def test_for_very_many_samples_it_is_as_the_normal_approximation_says(measure):
    samples = 10**9
    rates = np.array([0.3, 0.31])
    wins = np.round(rates * samples)
    low, high = interval(wins, [samples] * 2, measure=measure)
    # Two mixtures: each adds half the logarithm of one more than the samples over the weight.
    level = math.log(20) + math.log1p(samples / 244)
    variances = rates * (1 - rates) / samples
    if measure == "ratio":
        variances = variances / rates**2 * (rates[0] / rates[1]) ** 2
    width = 2 * math.sqrt(2 * level * variances.sum())
    assert high - low == pytest.approx(width, rel=1e-3)


@pytest.mark.parametrize("measure", MEASURES)
def test_many_at_once_are_as_one_after_another(measure):
    random = np.random.default_rng(8)
    samples = random.integers(0, 3000, (4, 15, 2))
    wins = random.binomial(samples, random.random((4, 15, 2)))
    low, high = pair_interval(wins, samples, 0.9, measure=measure)
    evidence = pair_evidence(wins, samples, 0.05, measure=measure)
    assert low.shape == high.shape == evidence.shape == (4, 15)
    for place in np.ndindex(4, 15):
        ends = [float(low[place]), float(high[place])]
        assert interval(wins[place], samples[place], 0.9, measure=measure) == pytest.approx(ends)
        alone = float(pair_evidence(wins[place], samples[place], 0.05, measure=measure))
        assert alone == pytest.approx(evidence[place], rel=1e-8, abs=1e-8)


def test_none_at_all_is_an_empty_answer():
    low, high = pair_interval(np.zeros((0, 2)), np.zeros((0, 2)), 0.95)
    assert low.shape == high.shape == (0,)
    assert pair_evidence(np.zeros((0, 2)), np.zeros((0, 2)), 0.1).shape == (0,)
