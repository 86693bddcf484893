"""Intervals from exact tails: against statsmodels, and by enumerating every outcome."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from testsgd.scoring import clopper_pearson, exact_difference

SIZES = st.integers(1, 300)
SHARES = st.floats(0, 1)
ERRORS = st.sampled_from([0.2, 0.05, 1e-3, 1e-5])
RATES = (0.001, 0.02, 0.1, 0.3, 0.5, 0.9, 0.995)


def difference(found_in, size_in, found_out, size_out, error):
    return exact_difference(
        found_in / size_in,
        lambda level: clopper_pearson(found_in, size_in, level),
        found_out / size_out,
        lambda level: clopper_pearson(found_out, size_out, level),
        error,
    )


@given(size=SIZES, share=SHARES, error=ERRORS)
def test_the_interval_of_one_rate_is_statsmodels(size, share, error):
    successes = round(share * size)
    expected = proportion_confint(successes, size, alpha=error, method="beta")
    np.testing.assert_allclose(clopper_pearson(successes, size, error), expected, atol=1e-9)


@given(size=SIZES, share=SHARES, error=ERRORS)
def test_a_number_that_is_not_whole_lies_between_whole_ones(size, share, error):
    successes = share * size
    low, high = clopper_pearson(successes, size, error)
    below, _ = clopper_pearson(np.floor(successes), size, error)
    _, above = clopper_pearson(np.ceil(successes), size, error)
    assert below - 1e-12 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= above + 1e-12


def missed(size_in, size_out, rate_in, rate_out, error):
    """The chance that the interval leaves out the truth: every outcome, with its probability."""
    found_in, found_out = np.arange(size_in + 1), np.arange(size_out + 1)
    chance_in, chance_out = (
        binom.pmf(found_in, size_in, rate_in),
        binom.pmf(found_out, size_out, rate_out),
    )
    found_in, found_out = found_in[chance_in > 1e-12], found_out[chance_out > 1e-12]
    low, high = difference(found_in[:, None], size_in, found_out[None], size_out, error)
    truth = rate_in - rate_out
    outside = (low > truth + 1e-12) | (high < truth - 1e-12)
    chances = np.outer(chance_in[chance_in > 1e-12], chance_out[chance_out > 1e-12])
    return float(chances[outside].sum())


@pytest.mark.parametrize("sizes", [(3, 300), (9, 300), (50, 50), (50, 950), (200, 800)])
@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-4])
def test_no_difference_is_missed_more_often_than_promised(sizes, error):
    worst = max(missed(*sizes, one, other, error) for one in RATES for other in RATES)
    assert worst <= error


@given(
    sizes=st.tuples(SIZES, SIZES),
    shares=st.tuples(SHARES, SHARES),
    error=ERRORS,
)
def test_the_interval_holds_the_difference_and_turns_with_the_sides(sizes, shares, error):
    found = [share * size for share, size in zip(shares, sizes, strict=True)]
    low, high = difference(found[0], sizes[0], found[1], sizes[1], error)
    assert -1 <= low <= shares[0] - shares[1] + 1e-9
    assert shares[0] - shares[1] - 1e-9 <= high <= 1
    turned_low, turned_high = difference(found[1], sizes[1], found[0], sizes[0], error)
    np.testing.assert_allclose([turned_low, turned_high], [-high, -low], atol=1e-9)
    wider_low, wider_high = difference(found[0], sizes[0], found[1], sizes[1], error / 10)
    assert wider_low <= low + 1e-9
    assert wider_high >= high - 1e-9


def test_with_many_rows_it_is_the_normal_interval():
    # 1.96 * sqrt(0.3 * 0.7 / 1e6 + 0.5 * 0.5 / 4e6) = 0.001023
    low, high = difference(300_000, 1_000_000, 2_000_000, 4_000_000, 0.05)
    assert [float(low), float(high)] == pytest.approx([-0.2 - 0.001023, -0.2 + 0.001023], abs=2e-5)
