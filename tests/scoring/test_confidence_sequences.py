"""Confidence sequences: against bets made one by one, a grid of rates, and exact probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from testsgd.scoring import confidence_sequence, rate_margins, score_margins, sequence_margin

CONFIDENCES = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
TUNINGS = st.sampled_from([20, 500, 2000, 100_000])


@st.composite
def observed(draw, most=20_000):
    samples = draw(st.integers(1, 50) | st.integers(1, most))
    return draw(st.integers(0, samples)), samples


def weight_of(confidence, tuned_for):
    """Solve 1 + x = log(e (1 + x) / a^2) by Lambert's function; the weight is tuned_for / x."""
    error = 1 - confidence
    return tuned_for / (-special.lambertw(-(error**2) / math.e, -1).real - 1)


def capital_of_bets(answers, rate, weight):
    """Bet on answer after answer; the odds are fair if `rate` is true."""
    capital, wins = 1.0, 0
    for number, answer in enumerate(answers):
        expected = (weight * rate + wins) / (weight + number)
        stake = (expected - rate) / (rate * (1 - rate))
        capital *= 1 + stake * (answer - rate)
        wins += answer
    return capital


def log_capital(successes, samples, rate, weight):
    """Give the ratio of the mixed likelihood to that of the rate, as a logarithm."""
    yes, no = weight * rate, weight * (1 - rate)
    mixed = special.betaln(yes + successes, no + samples - successes) - special.betaln(yes, no)
    return mixed - special.xlogy(successes, rate) - special.xlog1py(samples - successes, -rate)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=400), CONFIDENCES, TUNINGS)
def test_at_its_ends_the_bets_have_won_what_the_confidence_allows(answers, confidence, tuned_for):
    successes, samples = sum(answers), len(answers)
    weight = weight_of(confidence, tuned_for)
    low, high = confidence_sequence(successes, samples, confidence, tuned_for=tuned_for)
    for end, seen in ((float(low), successes), (1 - float(high), samples - successes)):
        if seen < 2:
            assert end == 0
        elif end > 1e-6:
            rate = end if seen == successes else 1 - end
            turned = answers if seen == successes else [not answer for answer in answers]
            capital = capital_of_bets(turned, end, weight)
            assert capital == pytest.approx(1 / (1 - confidence), rel=1e-5), rate


def test_the_bets_are_a_mixture_over_rates():
    answers = [1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1]
    rate, weight = 0.3, 7.0
    mixed, _ = integrate.quad(
        lambda other: (
            stats.beta.pdf(other, weight * rate, weight * (1 - rate)) * other**5 * (1 - other) ** 6
        ),
        0,
        1,
    )
    likelihood = rate**5 * (1 - rate) ** 6
    assert capital_of_bets(answers, rate, weight) == pytest.approx(mixed / likelihood)
    assert math.exp(log_capital(5, 11, rate, weight)) == pytest.approx(mixed / likelihood)


@settings(deadline=None)
@given(observed(), CONFIDENCES, TUNINGS)
def test_a_grid_of_rates_is_kept_inside_and_excluded_outside(seen, confidence, tuned_for):
    successes, samples = seen
    rates = np.linspace(0, 1, 4003)[1:-1]
    capital = log_capital(successes, samples, rates, weight_of(confidence, tuned_for))
    kept = capital < -math.log1p(-confidence)
    low, high = confidence_sequence(successes, samples, confidence, tuned_for=tuned_for)
    near = np.minimum(np.abs(rates - low), np.abs(rates - high)) < 1e-7
    assert (kept == ((rates > low) & (rates < high)))[~near].all()


@given(observed(), CONFIDENCES, TUNINGS)
def test_failures_in_place_of_successes_turn_it_round(seen, confidence, tuned_for):
    successes, samples = seen
    low, high = confidence_sequence(successes, samples, confidence, tuned_for=tuned_for)
    other = confidence_sequence(samples - successes, samples, confidence, tuned_for=tuned_for)
    assert (1 - float(high), 1 - float(low)) == pytest.approx([float(end) for end in other])


@given(observed(), TUNINGS)
def test_it_holds_the_observed_rate_and_grows_with_the_confidence(seen, tuned_for):
    successes, samples = seen
    low_before = high_before = rate = successes / samples
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99):
        # One mixture for all of them: its weight depends on the confidence.
        tuned = tuned_for * weight_of(0.95, 1) / weight_of(confidence, 1)
        low, high = confidence_sequence(successes, samples, confidence, tuned_for=tuned)
        assert 0 <= low <= low_before <= rate <= high_before <= high <= 1
        assert low < high
        low_before, high_before = float(low), float(high)


@given(observed(2000), CONFIDENCES)
def test_it_moves_up_with_the_successes_and_shrinks_with_the_samples(seen, confidence):
    successes, samples = seen
    low, high = confidence_sequence(np.arange(samples + 1), samples, confidence)
    assert (np.diff(low) >= -1e-12).all()
    assert (np.diff(high) >= -1e-12).all()
    times = 4.0 ** np.arange(6)
    margins = sequence_margin(successes * times, samples * times, confidence)
    assert (np.diff(margins) <= 0).all()


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_it_is_narrowest_where_it_is_tuned_for(rate):
    samples = 100_000
    margins = {
        tuned: float(sequence_margin(rate * samples, samples, 0.95, tuned_for=tuned))
        for tuned in (2_000, 25_000, 100_000, 400_000, 5_000_000)
    }
    assert min(margins, key=lambda tuned: margins[tuned]) == 100_000
    # Close to the bound for a large sample: (1 + 1/x) log((1 + x) / a^2) in place of 1.96^2.
    assert margins[100_000] == pytest.approx(math.sqrt(9.2 * rate * (1 - rate) / samples), rel=0.03)


@given(st.lists(observed(), min_size=1, max_size=8), CONFIDENCES)
def test_many_at_once_are_as_one_after_another(pairs, confidence):
    successes, samples = np.array(pairs).T
    low, high = confidence_sequence(successes, samples, confidence)
    singly = [confidence_sequence(*pair, confidence) for pair in pairs]
    assert low.tolist() == [float(one) for one, _ in singly]
    assert high.tolist() == [float(one) for _, one in singly]


def test_nothing_is_known_without_samples():
    low, high = confidence_sequence([[0], [0]], [0, 0, 0], 0.95)
    assert low.tolist() == [[0, 0, 0]] * 2
    assert high.tolist() == [[1, 1, 1]] * 2
    assert sequence_margin(0, 0, 0.95) == np.inf
    found = score_margins([0, 5], [0, 10], [7, 0], [20, 0], 0.95, kind="anytime")
    assert found.margin.tolist() == [np.inf, np.inf]
    assert not found.wilson.any()


def test_millions_of_samples_and_rare_successes_are_no_trouble():
    samples = 20_000_000
    successes = np.array([0, 1, 2, 10, 10_000, samples // 2, samples - 2, samples])
    low, high = confidence_sequence(successes, samples, 0.95)
    assert (low <= successes / samples).all()
    assert (successes / samples <= high).all()
    assert (high - low < 0.001).all()
    # By the normal approximation of the mixture.
    ratio = samples / weight_of(0.95, 2000)
    expected = math.sqrt((1 + 1 / ratio) * math.log((1 + ratio) / 0.05**2) * 0.25 / samples)
    assert float(high[5]) - 0.5 == pytest.approx(expected, rel=1e-3)


def kept_counts(rate, samples, confidence):
    """Give the fewest and most successes, after each number of samples, that keep the rate."""
    bounds = []
    for end, sign in ((1, 1), (0, -1)):
        # `inside` keeps the rate, `outside` does not or does not exist.
        inside = np.round(rate * samples)
        outside = np.full(len(samples), -1.0) if sign > 0 else samples + 1.0
        while (np.abs(inside - outside) > 1).any():
            middle = (
                np.floor((inside + outside) / 2) if sign > 0 else np.ceil((inside + outside) / 2)
            )
            last = np.abs(inside - outside) <= 1
            found = confidence_sequence(np.clip(middle, 0, samples), samples, confidence)[end]
            keeps = (found >= rate) if sign > 0 else (found <= rate)
            inside = np.where(keeps & ~last, middle, inside)
            outside = np.where(~keeps & ~last, middle, outside)
        bounds.append(inside.astype(int))
    return bounds


def chance_to_stay(rate, fewest, most):
    """Work out how likely the successes stay between the bounds after each number of samples."""
    likely = np.zeros(len(fewest) + 1)
    likely[0] = 1
    for low, high in zip(fewest, most, strict=True):
        likely[1:] = likely[1:] * (1 - rate) + likely[:-1] * rate
        likely[0] *= 1 - rate
        likely[:low] = 0
        likely[high + 1 :] = 0
    return likely.sum()


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_it_holds_after_all_of_5000_samples_as_often_as_promised(rate, confidence):
    """The exact probability over all courses of 5,000 answers."""
    fewest, most = kept_counts(rate, np.arange(1, 5001), confidence)
    held = chance_to_stay(rate, fewest, most)
    assert confidence <= held < 1
    # And the promise is not kept by never saying anything.
    assert most[-1] - fewest[-1] < 5000 * 0.1


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_the_margin_of_one_look_does_not_hold_after_all(rate):
    """The paper's margin, with Wilson's where there are few, from 100 samples on to 2,000."""
    fewest, most = [0] * 99, list(range(1, 100))
    for samples in range(100, 2001):
        counts = np.arange(samples + 1)
        margin, _ = rate_margins(counts, samples, 0.95, kind="wald")
        kept = counts[np.abs(counts / samples - rate) <= margin]
        fewest.append(int(kept[0]))
        most.append(int(kept[-1]))
    assert chance_to_stay(rate, fewest, most) < 0.75
