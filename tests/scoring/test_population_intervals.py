"""Intervals for the population: made of the intervals of each step, and their algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.scoring import (
    Side,
    clopper_pearson,
    confidence_sequence,
    exact_difference,
    largest_difference,
    lower_confidence_bounds,
    population_interval,
)
from testsgd.scoring.exact_intervals import ShareInterval

ERRORS = st.sampled_from([0.2, 0.05, 1e-4])
KINDS = st.sampled_from(["none", "wald", "anytime"])


@st.composite
def sides(draw):
    rows = draw(st.integers(1, 3000))
    samples = draw(st.integers(1, 20000))
    return Side(*(np.array([n]) for n in (rows, samples, draw(st.integers(0, samples)))))


def everybody(side):
    """All rows but few on the other side, so that only one side counts."""
    return Side(np.array([10**9]), np.array([10**9]), np.array([side]))


@given(sides(), sides(), ERRORS, KINDS)
def test_the_interval_holds_the_difference_and_turns_with_the_sides(inside, outside, error, kind):
    low, high = population_interval(inside, outside, error, margin_kind=kind)
    difference = inside.favourable / inside.samples - outside.favourable / outside.samples
    assert -1 <= low <= difference + 1e-9
    assert difference - 1e-9 <= high <= 1
    turned = population_interval(outside, inside, error, margin_kind=kind)
    np.testing.assert_allclose(turned, (-high, -low), atol=1e-7)
    surer = population_interval(inside, outside, error / 10, margin_kind=kind)
    assert surer[0] <= low + 1e-9
    assert high <= surer[1] + 1e-9


@st.composite
def many_sides(draw, most):
    """Both sides of groups of all sizes; the sides of a few are nearly alike."""
    groups = draw(st.integers(1, most))
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, samples = np.exp(source.uniform(0, 9, (2, 2, groups))).astype(np.int64)
    rates = source.beta(*draw(st.sampled_from([(0.3, 0.3), (1, 1), (2, 20)])), (2, groups))
    favourable = source.binomial(samples, np.where(source.random(groups) < 0.5, rates[:1], rates))
    return [Side(*of_side) for of_side in zip(rows, samples, favourable, strict=True)]


@settings(max_examples=30)
@given(many_sides(300) | many_sides(20), ERRORS, st.sampled_from(["none", "wald"]))
def test_what_needs_no_whole_intervals_is_what_they_say(pair, error, kind):
    groups = len(pair[0].rows)
    for errors in (error, error / np.arange(1, groups + 1)):
        low, high = population_interval(*pair, errors, margin_kind=kind)
        bounds = lower_confidence_bounds(*pair, errors, margin_kind=kind)
        np.testing.assert_array_equal(bounds, np.maximum(np.maximum(low, -high), 0))
        largest = largest_difference(*pair, errors, margin_kind=kind)
        assert largest == np.maximum(np.abs(low), np.abs(high)).max()


@settings(max_examples=10)
@given(many_sides(10), ERRORS)
def test_of_confidence_sequences_it_is_too(pair, error):
    low, high = population_interval(*pair, error, margin_kind="anytime")
    bounds = lower_confidence_bounds(*pair, error, margin_kind="anytime")
    np.testing.assert_array_equal(bounds, np.maximum(np.maximum(low, -high), 0))
    largest = largest_difference(*pair, error, margin_kind="anytime")
    assert largest == np.maximum(np.abs(low), np.abs(high)).max()


def test_a_side_without_samples_allows_nothing_to_be_said():
    inside = Side(np.array([5, 5]), np.array([5, 0]), np.array([1, 0]))
    outside = Side(np.array([9, 9]), np.array([9, 9]), np.array([9, 9]))
    assert lower_confidence_bounds(inside, outside, 0.05, margin_kind="none")[1] == 0
    assert np.isnan(largest_difference(inside, outside, 0.05, margin_kind="none"))
    none = np.zeros(0, dtype=np.intp)
    assert largest_difference(inside.take(none), outside.take(none), 0.1, margin_kind="none") == 0


@given(st.floats(0, 1), st.floats(1e-3, 1e7), st.floats(1e-12, 1))
def test_ends_are_no_more_distant_than_said(share, size, error):
    interval = ShareInterval.of(share * size, size)
    rate = float(interval.successes / size)
    distances = [rate - float(interval.low(error)), float(interval.high(error)) - rate]
    assert max(distances) <= interval.most_distant(error) + 1e-9


@given(sides(), sides(), ERRORS)
def test_draws_add_to_the_error_of_the_rows(inside, outside, error):
    ends = {
        kind: population_interval(inside, outside, error, margin_kind=kind)
        for kind in ("none", "wald", "anytime")
    }
    assert ends["wald"][0] <= ends["none"][0] + 1e-9
    assert ends["none"][1] <= ends["wald"][1] + 1e-9
    assert ends["anytime"][0] <= ends["none"][0] + 1e-9
    assert ends["none"][1] <= ends["anytime"][1] + 1e-9


def test_a_file_is_judged_within_the_ends_of_the_confidence_sequence():
    # 50 rows, of whose neighbours 2,000 draws were favourable 600 times; the rest is known.
    inside = Side(np.array([50]), np.array([2000]), np.array([600]))

    def ends(error):
        low, high = confidence_sequence(600, 2000, 1 - float(error) / 2)
        return (
            clopper_pearson(50 * low, 50, error / 2)[0],
            clopper_pearson(50 * high, 50, error / 2)[1],
        )

    def known(error):
        return np.array(0.5), np.array(0.5)

    expected = exact_difference(0.3, ends, 0.5, known, 0.05)
    found = population_interval(inside, everybody(5 * 10**8), 0.05, margin_kind="anytime")
    np.testing.assert_allclose(np.ravel(found), expected, atol=1e-3)


def test_each_group_may_have_an_error_rate_of_its_own():
    inside = Side(np.array([50, 50]), np.array([50, 50]), np.array([10, 10]))
    outside = Side(np.array([900, 900]), np.array([900, 900]), np.array([300, 300]))
    low, high = population_interval(inside, outside, np.array([0.05, 1e-4]), margin_kind="none")
    for place, error in enumerate((0.05, 1e-4)):
        one = population_interval(inside, outside, error, margin_kind="none")
        assert (low[place], high[place]) == pytest.approx((one[0][place], one[1][place]))
    assert low[1] < low[0]


def test_nothing_is_said_of_a_side_without_samples():
    nobody = Side(np.array([3]), np.array([0]), np.array([0]))
    some = Side(np.array([9]), np.array([9]), np.array([4]))
    for pair in ((nobody, some), (some, nobody)):
        assert np.isnan(population_interval(*pair, 0.05, margin_kind="none")).all()
