"""The interval for differences within pairs: against counts by hand, and its coverage."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from testsgd.scoring import paired_interval

CONFIDENCE = 0.95


def by_counts(pairs, better, worse, confidence):
    """Write the adjusted Wald interval of Bonett and Price out in counts of discordant pairs."""
    first, second = (better + 1) / (pairs + 2), (worse + 1) / (pairs + 2)
    centre = first - second
    reach = stats.norm.ppf((1 + confidence) / 2) * math.sqrt(
        (first + second - centre**2) / (pairs + 2)
    )
    return max(centre - reach, -1), min(centre + reach, 1)


@given(
    st.integers(1, 400).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))
    ),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_for_yes_or_no_answers_it_is_the_adjusted_wald_interval(counts, confidence):
    pairs, better, worse = counts
    if better + worse > pairs:
        return
    mean, square = (better - worse) / pairs, (better + worse) / pairs
    low, high = paired_interval(mean, square, pairs, confidence)
    expected = by_counts(pairs, better, worse, confidence)
    # At the very ends it is widened to hold the observed mean.
    assert low == pytest.approx(min(expected[0], mean))
    assert high == pytest.approx(max(expected[1], mean))


def coverage(pairs, better, worse):
    """Add up the chances of all outcomes whose interval holds the true difference."""
    counts = [(b, w) for b, w in itertools.product(range(pairs + 1), repeat=2) if b + w <= pairs]
    b, w = np.array(counts).T
    chance = stats.multinomial.pmf(
        np.column_stack([b, w, pairs - b - w]), pairs, [better, worse, 1 - better - worse]
    )
    low, high = paired_interval((b - w) / pairs, (b + w) / pairs, pairs, CONFIDENCE)
    return float(chance[(low <= better - worse) & (better - worse <= high)].sum())


@pytest.mark.parametrize("pairs", [20, 60, 120])
def test_yes_or_no_pairs_are_covered_as_often_as_promised_on_average(pairs):
    rates = [0.01, 0.05, 0.1, 0.2, 0.4]
    covered = [coverage(pairs, *rates) for rates in itertools.product(rates, rates)]
    assert np.mean(covered) >= CONFIDENCE
    assert min(covered) >= 0.93


@pytest.mark.parametrize("others", [2, 13, 136])
@pytest.mark.parametrize("flips", [0.02, 0.3])
def test_means_of_several_other_terms_are_covered(others, flips):
    # A seed's answers depend on its topic; a share of seeds changes its answer with the term.
    generator = np.random.default_rng(7)
    pairs, runs = 80, 4000
    topic = generator.random((runs, pairs)) < 0.4
    flipped = generator.random((runs, pairs)) < flips
    with_term = np.where(flipped, True, topic)
    noisy = generator.random((runs, pairs, 1)) < 0.2
    answers = np.where(noisy, generator.random((runs, pairs, others)) < 0.5, topic[..., None])
    differences = with_term - answers.mean(axis=2)
    # Every other answer is favourable with 0.8 * 0.4 + 0.2 * 0.5.
    truth = (0.4 + 0.6 * flips) - (0.8 * 0.4 + 0.2 * 0.5)
    low, high = paired_interval(
        differences.mean(axis=1), (differences**2).mean(axis=1), pairs, CONFIDENCE
    )
    covered = int(((low <= truth) & (truth <= high)).sum())
    assert covered >= stats.binom.ppf(0.001, runs, CONFIDENCE)


def test_a_model_blind_to_the_terms_has_difference_0_and_a_short_interval():
    low, high = paired_interval(0.0, 0.0, np.array([10, 1000]), CONFIDENCE)
    assert (low < 0).all()
    assert (high > 0).all()
    assert high[1] < 0.003 < high[0]
    assert low.tolist() == (-high).tolist()


def test_without_pairs_nothing_is_known():
    low, high = paired_interval(np.nan, np.nan, 0, CONFIDENCE)
    assert np.isnan(low)
    assert np.isnan(high)


@given(
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=60),
    st.floats(0.5, 0.999),
)
def test_the_interval_holds_the_mean_and_stays_within_bounds(differences, confidence):
    values = np.array(differences)
    low, high = paired_interval(values.mean(), (values**2).mean(), len(values), confidence)
    assert -1 <= low <= values.mean() <= high <= 1
