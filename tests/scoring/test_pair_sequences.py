"""Two rates at a time: against capitals over a grid of pairs of rates, and searches on lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from testsgd.scoring import pair_evidence, pair_interval

MEASURES = ["difference", "ratio"]
CONFIDENCES = st.sampled_from([0.5, 0.9, 0.95, 0.999, 1 - 1e-9])
TUNINGS = st.sampled_from([20, 500, 2000])
THRESHOLDS = st.sampled_from([0.0, 0.01, 0.1, 0.2, 0.5, 0.9, 1.0])


@st.composite
def observed(draw, most=5_000):
    pairs = []
    for _ in range(2):
        samples = draw(st.integers(0, 30) | st.integers(0, most))
        ends = st.sampled_from([0, min(1, samples), samples])
        pairs.append((draw(st.integers(0, samples) | ends), samples))
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def weight_of(tuned_for):
    """Solve 1 + x = log(e (1 + x) / a^2) for a = 0.05 by Lambert's function."""
    return tuned_for / (-special.lambertw(-(0.05**2) / math.e, -1).real - 1)


def log_capital(successes, samples, rate, weight):
    """Give the ratio of the mixed likelihood to that of the rate, as a logarithm."""
    rate = np.clip(rate, 1e-15, 1 - 1e-15)
    found = np.zeros(np.shape(rate))
    for share, number in ((rate, successes), (1 - rate, samples - successes)):
        prior = weight * share
        found += special.gammaln(prior + number) - special.gammaln(prior)
        found -= special.xlogy(number, share)
    return found - special.gammaln(weight + samples) + special.gammaln(weight)


def apart(first, second, measure):
    if measure == "difference":
        return np.abs(first - second)
    return 1 - np.minimum(first, second) / np.maximum(first, second)


def grid_of(successes, samples, weight, size=401):
    """Give rates that are close together where the samples put them, and the capital of each."""
    even = np.linspace(0, 1, size)[1:-1]
    rate = (successes + 0.5) / (samples + 1)
    spread = 6 * math.sqrt(rate * (1 - rate) / (samples + 1))
    near = np.linspace(rate - spread, rate + spread, size)
    rates = np.sort(np.concatenate([even, near[(near > 0) & (near < 1)]]))
    return rates, log_capital(successes, samples, rates, weight)


def least_where_apart(successes, samples, weight, threshold, measure):
    """Search the two lines on which the measure is the threshold for the least product."""
    least = math.inf
    for first, second in ((0, 1), (1, 0)):

        def product(rate, first=first, second=second):
            lower = rate - threshold if measure == "difference" else rate * (1 - threshold)
            return log_capital(successes[first], samples[first], rate, weight) + log_capital(
                successes[second], samples[second], lower, weight
            )

        begin = threshold if measure == "difference" else 0.0
        # Close together towards the ends of the line, where the least product may be.
        rates = begin + (1 - begin) * special.expit(np.linspace(-30, 30, 4001))
        values = product(rates)
        place = int(np.argmin(values))
        around = rates[max(place - 1, 0)], rates[min(place + 1, len(rates) - 1)]
        found = optimize.minimize_scalar(
            product, bounds=around, method="bounded", options={"xatol": 1e-14}
        )
        least = min(least, float(values[place]), float(found.fun))
    return least


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None, max_examples=60)
@given(seen=observed(), confidence=CONFIDENCES, tuned_for=TUNINGS, threshold=THRESHOLDS)
def test_no_pair_of_rates_of_a_grid_contradicts(measure, seen, confidence, tuned_for, threshold):
    weight = weight_of(tuned_for)
    rates, capitals = zip(*(grid_of(*one, weight) for one in zip(*seen, strict=True)), strict=True)
    product = capitals[0][:, None] + capitals[1][None, :]
    measured = apart(rates[0][:, None], rates[1][None, :], measure)
    inside = product < -math.log1p(-confidence)
    low, high = pair_interval(*seen, confidence, measure=measure, tuned_for=tuned_for)
    assert (measured[inside] >= low).all()
    assert (measured[inside] <= high).all()
    evidence = pair_evidence(*seen, threshold, measure=measure, tuned_for=tuned_for)
    allowed = product[measured <= threshold]
    assert evidence <= max(0.0, allowed.min(initial=math.inf))


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None, max_examples=60)
@given(seen=observed(), tuned_for=TUNINGS, threshold=THRESHOLDS)
def test_the_evidence_is_the_least_product(measure, seen, tuned_for, threshold):
    assume(threshold < 1 and min(seen[1]) > 0)
    found = float(pair_evidence(*seen, threshold, measure=measure, tuned_for=tuned_for))
    rates = np.divide(*seen)
    if rates.max() == 0 or apart(*rates, measure) <= threshold:
        assert found == 0
        return
    least = least_where_apart(*seen, weight_of(tuned_for), threshold, measure)
    assert found == pytest.approx(max(least, 0.0), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None, max_examples=60)
@given(seen=observed(), confidence=CONFIDENCES, tuned_for=TUNINGS)
def test_the_ends_are_where_the_products_reach_the_level(measure, seen, confidence, tuned_for):
    weight, level = weight_of(tuned_for), -math.log1p(-confidence)
    ends = pair_interval(*seen, confidence, measure=measure, tuned_for=tuned_for)
    for end, outward in zip((float(one) for one in ends), (-1, 1), strict=True):
        if 1e-4 < end < 1 - 1e-4:
            step = outward * 1e-4 * min(end, 1 - end)
            beyond = least_where_apart(*seen, weight, end + step, measure)
            within = least_where_apart(*seen, weight, end - step, measure)
            assert within < level < beyond


@settings(deadline=None)
@given(seen=observed(), threshold=THRESHOLDS)
def test_with_threshold_0_it_is_the_least_product_of_equal_rates(seen, threshold):
    assume(min(seen[1]) > 0)
    weight = weight_of(2000)
    rates = special.expit(np.linspace(-30, 30, 40_001))
    product = sum(log_capital(*one, rates, weight) for one in zip(*seen, strict=True))
    for measure in MEASURES:
        found = float(pair_evidence(*seen, 0.0, measure=measure))
        # The least on the grid is above the least of all.
        on_grid = max(0.0, float(product.min()))
        assert on_grid * (1 - 1e-5) - 1e-3 <= found <= on_grid * (1 + 1e-9) + 1e-9
        # What is evidence against more is evidence against less.
        assert pair_evidence(*seen, threshold, measure=measure) <= found


@settings(deadline=None)
@given(seen=observed(10**9), confidence=CONFIDENCES, threshold=THRESHOLDS)
def test_order_of_the_groups_and_what_counts_as_success_do_not_matter(seen, confidence, threshold):
    wins, samples = (np.array(one) for one in seen)
    for measure in MEASURES:
        low, high = pair_interval(wins, samples, confidence, measure=measure)
        evidence = float(pair_evidence(wins, samples, threshold, measure=measure))
        others = [(wins[::-1], samples[::-1])]
        if measure == "difference":
            others.append((samples - wins, samples))
        for other in others:
            turned = pair_interval(*other, confidence, measure=measure)
            ends = [float(low), float(high)]
            assert [float(one) for one in turned] == pytest.approx(ends, rel=1e-6, abs=1e-9)
            again = float(pair_evidence(*other, threshold, measure=measure))
            assert again == pytest.approx(evidence, rel=1e-7, abs=1e-7)


@settings(deadline=None)
@given(seen=observed(10**9), threshold=THRESHOLDS, confidence=CONFIDENCES)
def test_evidence_and_interval_say_the_same(seen, threshold, confidence):
    level = -math.log1p(-confidence)
    for measure in MEASURES:
        evidence = float(pair_evidence(*seen, threshold, measure=measure))
        low, high = pair_interval(*seen, confidence, measure=measure)
        assert 0 <= low <= high <= 1
        if abs(evidence - level) > 1e-6 * level:
            assert (evidence > level) == (low > threshold)
