"""Whether what is said of two rates holds at all times: exact chances, and simulated courses."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from testsgd.scoring import confidence_sequence, pair_evidence, pair_interval

MEASURES = ["difference", "ratio"]
TRUTHS = [(0.3, 0.6), (0.2, 0.2), (0.05, 0.15), (0.9, 0.99), (0.0, 0.1)]


def apart(first, second, measure):
    if measure == "difference":
        return abs(first - second)
    return 1 - min(first, second) / max(first, second)


def all_counts(first, second):
    """Give all numbers of successes of the two groups, shape (first + 1, second + 1, 2)."""
    return np.stack(np.meshgrid(np.arange(first + 1), np.arange(second + 1), indexing="ij"), -1)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("samples", [(40, 40), (90, 8), (1, 60)])
def test_the_mean_of_the_evidence_is_at_most_1_where_the_threshold_is_kept(measure, truth, samples):
    """The exact mean over all answers; where the evidence is 0 it may stand for anything below."""
    counts = all_counts(*samples)
    chances = [stats.binom.pmf(np.arange(n + 1), n, p) for n, p in zip(samples, truth, strict=True)]
    chance = chances[0][:, None] * chances[1][None, :]
    # From exactly the true measure to more than that.
    for threshold in (apart(*truth, measure), min(1.0, apart(*truth, measure) + 0.05)):
        for tuned_for in (20, 200):
            found = pair_evidence(counts, samples, threshold, measure=measure, tuned_for=tuned_for)
            assert (chance * np.exp(found) * (found > 0)).sum() <= 1
            for error in (0.5, 0.1, 0.01):
                assert chance[found >= -math.log(error)].sum() <= error


@cache
def tables(measure, confidence, most):
    """Give the intervals after each number of answers, the two groups answering in turn."""
    found = []
    for number in range(1, 2 * most + 1):
        samples = (number + 1) // 2, number // 2
        counts = all_counts(*samples)
        found.append(pair_interval(counts, samples, confidence, measure=measure, tuned_for=20))
    return found


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("truth", TRUTHS)
def test_the_exact_chance_that_all_intervals_hold_is_what_was_promised(measure, truth):
    confidence, most = 0.8, 24
    value = apart(*truth, measure)
    likely = np.ones((1, 1))
    for number, (low, high) in enumerate(tables(measure, confidence, most)):
        axis = number % 2
        grown = np.zeros(low.shape)
        if axis == 0:
            grown[:-1] += likely * (1 - truth[0])
            grown[1:] += likely * truth[0]
        else:
            grown[:, :-1] += likely * (1 - truth[1])
            grown[:, 1:] += likely * truth[1]
        likely = grown * ((low <= value) & (value <= high))
    assert confidence <= likely.sum() <= 1 + 1e-12


def courses(truth, looks, number, seed):
    """Give successes at each look, shape (courses, looks, 2), of groups of different sizes."""
    random = np.random.default_rng(seed)
    samples = np.stack([looks, np.maximum(looks // 3, 1)], axis=-1)
    more = np.diff(samples, axis=0, prepend=0)
    return random.binomial(more, truth, size=(number, *more.shape)).cumsum(axis=1), samples


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("truth", [(0.3, 0.5), (0.04, 0.05)])
def test_evidence_is_false_no_more_often_than_promised(measure, truth):
    looks = np.unique(np.geomspace(10, 20_000, 60).astype(int))
    wins, samples = courses(truth, looks, 2_500, 3)
    error = 0.1
    # A little more than the true measure, which in floating point might be below it.
    threshold = apart(*truth, measure) * (1 + 1e-12)
    found = pair_evidence(wins, samples, threshold, measure=measure)
    false = int((found >= -math.log(error)).any(axis=1).sum())
    assert false <= stats.binom.ppf(0.9999, len(wins), error)
    # Against half of it there is evidence before long.
    true = pair_evidence(wins, samples, threshold / 2, measure=measure) >= -math.log(error)
    assert true[:, -1].mean() > (0.99 if truth[0] == 0.3 else 0.02)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("truth", [(0.3, 0.5), (0.1, 0.1)])
def test_intervals_hold_at_all_looks_together(measure, truth):
    looks = np.unique(np.geomspace(10, 20_000, 16).astype(int))
    wins, samples = courses(truth, looks, 2_000, 4)
    low, high = pair_interval(wins, samples, 0.9, measure=measure)
    value = apart(*truth, measure)
    missed = ((value < low) | (value > high)).any(axis=1).sum()
    assert missed <= stats.binom.ppf(0.9999, len(wins), 0.1)
    assert (high[:, -1] - low[:, -1]).mean() < 0.15 / (1 if measure == "difference" else 0.3)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("samples", [(200, 200), (2_000, 2_000), (20_000, 20_000), (300, 9_000)])
def test_they_are_narrower_than_two_intervals_of_one_rate_each(measure, samples):
    """Or hardly wider, where nearly all the doubt is about one of the two."""
    rates = np.array([[0.3, 0.5], [0.05, 0.1], [0.2, 0.9], [0.4, 0.42]])
    wins = np.round(rates * samples)
    low, high = pair_interval(wins, samples, 0.95, measure=measure)
    # With the same bets: the weight is that for a confidence of 0.95.
    from_each, to_each = confidence_sequence(wins, samples, 0.975)
    if measure == "difference":
        gaps = from_each - to_each[:, ::-1], to_each - from_each[:, ::-1]
        least, most = np.maximum(gaps[0].max(axis=1), 0), gaps[1].max(axis=1)
    else:
        least = np.maximum(1 - (to_each / from_each[:, ::-1]).min(axis=1), 0)
        most = 1 - (from_each / to_each[:, ::-1]).min(axis=1)
    ratio = (high - low) / (most - least)
    assert ratio.max() < (0.97 if samples[0] == samples[1] else 1.15)
    assert ratio.min() < (0.82 if samples[0] == samples[1] else 1.02)
