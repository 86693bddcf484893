"""Intervals for the population: Newcombe's own examples, other programs, and their algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from testsgd.scoring import difference_interval, effective_size, wilson_interval

RATES = st.floats(0, 1)
SIZES = st.floats(1, 1e6)
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@st.composite
def observed(draw):
    rows = draw(st.integers(1, 3000))
    return draw(st.integers(0, rows)), rows


@pytest.mark.parametrize(
    ("successes_in", "rows_in", "successes_out", "rows_out", "interval"),
    [
        (56, 70, 48, 80, (0.0524, 0.3339)),
        (9, 10, 3, 10, (0.1705, 0.8090)),
        (6, 7, 2, 7, (0.0582, 0.8062)),
        (5, 56, 0, 29, (-0.0381, 0.1926)),
        (0, 10, 0, 20, (-0.1611, 0.2775)),
        (0, 10, 0, 10, (-0.2775, 0.2775)),
        (10, 10, 0, 20, (0.6791, 1.0000)),
        (10, 10, 0, 10, (0.6075, 1.0000)),
    ],
)
def test_examples_of_newcombe(successes_in, rows_in, successes_out, rows_out, interval):
    # Statistics in Medicine 17 (1998), table II, method 10.
    found = difference_interval(
        successes_in / rows_in, rows_in, successes_out / rows_out, rows_out, 0.95
    )
    assert tuple(float(end.round(4)) for end in found) == interval


@given(observed(), CONFIDENCES)
def test_wilson_interval_is_scipys(seen, confidence):
    successes, rows = seen
    expected = stats.binomtest(successes, rows).proportion_ci(confidence, method="wilson")
    low, high = wilson_interval(successes / rows, rows, confidence)
    assert float(low) == pytest.approx(expected.low, abs=1e-12)
    assert float(high) == pytest.approx(expected.high, abs=1e-12)


@given(observed(), observed(), CONFIDENCES)
def test_difference_interval_is_that_of_statsmodels(inside, outside, confidence):
    expected = confint_proportions_2indep(
        *inside, *outside, method="newcomb", compare="diff", alpha=1 - confidence
    )
    rates = inside[0] / inside[1], outside[0] / outside[1]
    found = difference_interval(rates[0], inside[1], rates[1], outside[1], confidence)
    assert [float(end) for end in found] == pytest.approx(list(expected), abs=1e-9)


@given(RATES, SIZES, RATES, SIZES, CONFIDENCES)
def test_interval_holds_the_difference_and_swaps_with_the_groups(
    rate_in, size_in, rate_out, size_out, confidence
):
    low, high = difference_interval(rate_in, size_in, rate_out, size_out, confidence)
    assert -1 <= low <= rate_in - rate_out <= high <= 1
    swapped = difference_interval(rate_out, size_out, rate_in, size_in, confidence)
    assert (-float(swapped[1]), -float(swapped[0])) == (float(low), float(high))
    # Nor does it matter which of the labels is called the favourable one.
    mirrored = difference_interval(1 - rate_in, size_in, 1 - rate_out, size_out, confidence)
    assert float(mirrored[0]) == pytest.approx(-float(high), abs=1e-9)
    assert float(mirrored[1]) == pytest.approx(-float(low), abs=1e-9)


@given(RATES, SIZES, CONFIDENCES, st.floats(1.01, 100))
def test_interval_narrows_with_more_rows_and_less_confidence(rate, size, confidence, factor):
    low, high = wilson_interval(rate, size, confidence)
    assert 0 <= low <= rate <= high <= 1
    narrower_low, narrower_high = wilson_interval(rate, size * factor, confidence)
    assert low - 1e-12 <= narrower_low
    assert narrower_high <= high + 1e-12
    surer_low, surer_high = wilson_interval(rate, size, 0.999)
    assert surer_low - 1e-12 <= low
    assert high <= surer_high + 1e-12


@given(st.integers(1, 40), st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_effective_size_lies_between_the_rows_and_twice_as_many(answers, counts):
    counts = np.minimum(counts, answers)
    shares = counts / answers
    rate, mean_square = shares.mean(), (shares**2).mean()
    size = float(effective_size(rate, mean_square, len(shares), answers))
    most = min(answers, 2)
    assert len(shares) <= size <= len(shares) * most
    # The variance of a mean of so many yes/no answers is that of the mean of the rows' shares, with
    # a row of nothing but favourable answers and one of none among them.
    shares = np.append(shares, [0.0, 1.0])
    rate = shares.mean()
    assume(shares.var() * most > rate * (1 - rate) * (1 + 1e-9))
    assert rate * (1 - rate) / size == pytest.approx(shares.var() / len(counts))


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 40))
def test_rows_of_one_kind_of_answer_count_once(favourable, answers):
    rate = np.mean(favourable)
    size = effective_size(rate, rate, len(favourable), answers)
    assert float(size) == pytest.approx(len(favourable))


def test_rows_that_all_have_the_same_share_count_as_two_answers_each():
    assert float(effective_size(0.25, 0.0625, 100, 20)) == 200


def test_arrays_give_what_single_groups_give():
    rates, squares = np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.0, 0.2, 0.25, 1.0])
    rows = np.array([5, 10, 20, 40])
    sizes = effective_size(rates, squares, rows, 8)
    assert sizes.tolist() == [
        float(effective_size(*group, 8)) for group in zip(rates, squares, rows, strict=True)
    ]
    low, high = difference_interval(rates, sizes, rates[::-1], sizes[::-1], 0.95)
    for place in range(4):
        one = difference_interval(
            rates[place], sizes[place], rates[3 - place], sizes[3 - place], 0.95
        )
        assert (float(one[0]), float(one[1])) == (low[place], high[place])
