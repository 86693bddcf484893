"""Margins of sampled rates: the paper's figures, closed forms, and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from testsgd.scoring import (
    WILSON_BELOW,
    enough,
    normal_quantile,
    score_margins,
    wald_margin,
    wilson_margin,
)

CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@st.composite
def observed(draw):
    samples = draw(st.integers(1, 5000))
    return draw(st.integers(0, samples)), samples


def scipy_wilson(successes, samples, confidence):
    """Give the larger distance of the ends of scipy's Wilson interval from the rate."""
    interval = stats.binomtest(successes, samples).proportion_ci(confidence, method="wilson")
    rate = successes / samples
    return max(rate - interval.low, interval.high - rate)


def test_worked_example_of_the_paper():
    # Section 4.2: 283 and 91 of 1000 samples each.
    inside, outside = wald_margin([283, 91], 1000, 0.95).tolist()
    assert (round(inside, 3), round(outside, 3)) == (0.028, 0.018)
    both = score_margins(283, 1000, 91, 1000, 0.95)
    assert round(float(both.margin), 3) == 0.046
    assert not both.wilson
    assert round(283 / 1000 - 91 / 1000, 3) == 0.192
    assert round(0.95**2, 4) == 0.9025


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_quantile_is_that_of_the_normal_distribution(confidence):
    assert normal_quantile(confidence) == pytest.approx(stats.norm.ppf(0.5 + confidence / 2))


@given(observed(), CONFIDENCES)
def test_wald_margin_is_equation_7(seen, confidence):
    successes, samples = seen
    rate = successes / samples
    expected = stats.norm.ppf((1 + confidence) / 2) * math.sqrt(rate * (1 - rate) / samples)
    assert float(wald_margin(successes, samples, confidence)) == pytest.approx(expected, rel=1e-12)


@given(observed(), CONFIDENCES)
def test_wilson_margin_reaches_both_ends_of_scipys_interval(seen, confidence):
    expected = scipy_wilson(*seen, confidence)
    assert float(wilson_margin(*seen, confidence)) == pytest.approx(expected, rel=1e-9)


@given(observed(), observed(), CONFIDENCES)
def test_margin_of_a_score_is_the_sum_of_both_sides(inside, outside, confidence):
    few = [min(k, n - k) < WILSON_BELOW for k, n in (inside, outside)]
    parts = [
        scipy_wilson(k, n, confidence)
        if wilson
        else normal_quantile(confidence) * math.sqrt(k / n * (1 - k / n) / n)
        for wilson, (k, n) in zip(few, (inside, outside), strict=True)
    ]
    found = score_margins(*inside, *outside, confidence)
    assert float(found.margin) == pytest.approx(sum(parts), rel=1e-9)
    assert bool(found.wilson) == any(few)
    swapped = score_margins(*outside, *inside, confidence)
    assert float(swapped.margin) == float(found.margin)


@given(st.lists(st.tuples(observed(), observed()), min_size=1, max_size=8), CONFIDENCES)
def test_many_groups_at_once_are_as_one_after_another(pairs, confidence):
    columns = np.array([[*inside, *outside] for inside, outside in pairs]).T
    together = score_margins(*columns, confidence)
    singly = [score_margins(*inside, *outside, confidence) for inside, outside in pairs]
    assert together.margin.tolist() == [float(one.margin) for one in singly]
    assert together.wilson.tolist() == [bool(one.wilson) for one in singly]


@given(st.integers(1, 10**6), CONFIDENCES)
def test_rate_of_none_or_all_never_has_a_margin_of_nothing(samples, confidence):
    for favourable in (0, samples):
        found = score_margins(favourable, samples, favourable, samples, confidence)
        assert found.margin > 0
        assert found.wilson
        assert wald_margin(favourable, samples, confidence) == 0


@pytest.mark.parametrize("samples", [(0, 100), (100, 0), (0, 0)])
def test_side_without_samples_has_no_finite_margin(samples):
    inside, outside = samples
    found = score_margins(np.array([0]), np.array([inside]), [0], [outside], 0.95)
    assert found.margin.tolist() == [np.inf]
    assert not enough(inside, outside, found.margin, min_samples=1, error_margin=0.05).any()


@pytest.mark.parametrize("samples", [1001, 300])
def test_both_margins_hold_with_the_product_of_their_confidences(samples):
    """Theorem 4.2, worked out over all outcomes for many pairs of true rates."""
    counts = np.arange(samples + 1)
    one_side = score_margins(counts, samples, counts, samples, 0.95).margin / 2
    margins = one_side[:, None] + one_side
    seen = (counts[:, None] - counts) / samples
    for true_in in (0.001, 0.01, 0.03, 0.2, 0.5, 0.97):
        for true_out in (0.002, 0.02, 0.3, 0.5):
            likely_in = stats.binom.pmf(counts, samples, true_in)
            likely_out = stats.binom.pmf(counts, samples, true_out)
            holds = np.abs(seen - (true_in - true_out)) <= margins
            assert likely_in @ holds @ likely_out >= 0.95**2


AROUND_THE_FEWEST = st.one_of(st.integers(999, 1002), st.integers(0, 3000))


@given(AROUND_THE_FEWEST, AROUND_THE_FEWEST, st.sampled_from([0.01, 0.05, 0.0500001, 0.2]))
def test_stopping_rule_of_algorithm_2(inside, outside, margin):
    stop = inside > 1000 and outside > 1000 and margin <= 0.05
    found = enough(inside, outside, margin, min_samples=1000, error_margin=0.05)
    assert bool(found) == stop
