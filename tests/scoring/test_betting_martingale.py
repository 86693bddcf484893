"""The logarithm of the capital and its derivatives: against sums, differences, and many digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.scoring.betting_martingale import (
    log_wealth,
    log_wealth_curvature,
    log_wealth_slope,
    weight_of_rate,
)

COUNTS = st.integers(0, 3) | st.integers(0, 300)
RATES = st.floats(0.001, 0.999)
WEIGHTS = st.sampled_from([0.5, 7.0, 244.0, 5000.0])


def by_sums(rate, wins, losses, weight):
    """Add up the logarithm of what each answer multiplies the capital by."""
    found = math.fsum(math.log(weight + number / rate) for number in range(wins))
    found += math.fsum(math.log(weight + number / (1 - rate)) for number in range(losses))
    return found - math.fsum(math.log(weight + number) for number in range(wins + losses))


def log_gamma(value: Decimal) -> Decimal:
    """Sum Stirling's series far out, where few terms are exact to forty digits."""
    shifted, product = value, Decimal(1)
    while shifted < 60:
        product *= shifted
        shifted += 1
    total = (shifted - Decimal("0.5")) * shifted.ln() - shifted
    # Half the logarithm of 2 pi.
    total += Decimal("0.91893853320467274178032973640561763986139747363778")
    bernoulli = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
    for place, (top, bottom) in enumerate(bernoulli, start=1):
        order = 2 * place
        total += Decimal(top) / Decimal(bottom * order * (order - 1)) / shifted ** (order - 1)
    return total - product.ln()


def by_decimals(rate, wins, losses, weight):
    with localcontext() as context:
        context.prec = 50
        share, prior = Decimal(rate), Decimal(weight)
        found = log_gamma(prior) - log_gamma(prior + wins + losses)
        for part, number in ((share, wins), (1 - share, losses)):
            found += log_gamma(prior * part + number) - log_gamma(prior * part)
            found -= number * part.ln()
        return float(found)


@settings(deadline=None)
@given(RATES, COUNTS, COUNTS, WEIGHTS)
def test_it_is_what_the_answers_add_up_to(rate, wins, losses, weight):
    expected = by_sums(rate, wins, losses, weight)
    found = float(log_wealth(rate, wins, losses, weight))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert by_decimals(rate, wins, losses, weight) == pytest.approx(expected, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("samples", [10_000, 20_000, 20_001, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("share", [0.5, 0.001, 0.0, 1.0])
@pytest.mark.parametrize("weight", [0.7, 244.0])
def test_it_has_many_digits_however_many_samples_there_are(samples, share, weight):
    wins = round(share * samples)
    rates = np.clip(wins / samples + np.array([-3.0, -0.5, 0.0, 0.1, 5.0]) / samples**0.5, 0.0, 1.0)
    rates = rates[(rates > 0) & (rates < 1)]
    found = log_wealth(rates, wins, samples - wins, weight)
    expected = [by_decimals(rate, wins, samples - wins, weight) for rate in rates.tolist()]
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


@given(RATES, COUNTS, COUNTS, WEIGHTS)
def test_slope_and_curvature_are_what_differences_say(rate, wins, losses, weight):
    step = 1e-4 * min(rate, 1 - rate)
    around = np.array([rate - step, rate, rate + step])
    values = log_wealth(around, wins, losses, weight)
    slopes = log_wealth_slope(around, wins, losses, weight)
    curvature = float(log_wealth_curvature(rate, wins, losses, weight))
    size = (wins + losses + 1) / min(rate, 1 - rate)
    assert slopes[1] == pytest.approx((values[2] - values[0]) / (2 * step), abs=1e-5 * size)
    between = (slopes[2] - slopes[0]) / (2 * step)
    assert curvature == pytest.approx(between, rel=1e-5, abs=1e-5 * size)
    assert curvature >= 0


@given(RATES, COUNTS, WEIGHTS)
def test_the_curvature_is_what_the_answers_add_up_to(rate, wins, weight):
    further = range(max(wins, 1) - 1)
    terms = [1 / rate**2 - (weight / (weight * rate + 1 + number)) ** 2 for number in further]
    found = float(log_wealth_curvature(rate, wins, 0, weight))
    assert found == pytest.approx(math.fsum(terms), abs=1e-11 * (wins + weight**2 + 1) / rate**2)


@given(COUNTS, COUNTS, WEIGHTS)
def test_at_the_observed_rate_nothing_is_won(wins, losses, weight):
    rate = wins / max(wins + losses, 1)
    assert log_wealth(rate, wins, losses, weight) <= 1e-9


@given(COUNTS, WEIGHTS)
def test_at_the_ends_it_is_the_limit(losses, weight):
    """With one success at most the sums stay finite towards the rate 0."""
    for wins in (0, 1):
        expected = math.fsum(math.log(weight + number) for number in range(losses))
        expected += wins * math.log(weight)
        expected -= math.fsum(math.log(weight + number) for number in range(wins + losses))
        found = float(log_wealth(0.0, wins, losses, weight))
        assert found == pytest.approx(expected, abs=1e-9)
        # In the mirror the same at 1.
        assert float(log_wealth(1.0, losses, wins, weight)) == pytest.approx(expected, abs=1e-9)
        assert math.isfinite(log_wealth_slope(0.0, wins, losses, weight))
    assert log_wealth(0.0, 2, losses, weight) > 250
    assert log_wealth(1.0, losses, 2, weight) > 250
    assert log_wealth_slope(0.0, 2, losses, weight) < -1e100


def test_the_weight_is_best_where_it_is_tuned_for():
    """The square of the margin, but for a factor, after 2,000 samples."""

    def squared(weight, samples=2_000, error=0.01):
        ratio = samples / weight
        return (1 + 1 / ratio) * math.log((1 + ratio) / error**2)

    best = weight_of_rate(0.99, 2_000)
    assert squared(best) < min(squared(best * 1.01), squared(best / 1.01))


def test_a_confidence_of_nearly_nothing_has_a_weight():
    for confidence in (1e-320, 1e-17, 1e-9, 1e-3):
        weight = weight_of_rate(confidence, 200)
        assert 0 < weight < math.inf
        assert math.isfinite(weight_of_rate(confidence, 200) ** 2)
