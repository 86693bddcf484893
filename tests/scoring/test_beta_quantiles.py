"""Quantiles of beta distributions, against the distribution function and exact sums."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, betaincinv, gammainccinv, gammaincinv

from testsgd.scoring import clopper_pearson
from testsgd.scoring.beta_quantile import beta_quantile

PARAMETERS = st.floats(0.5, 1e6)
LEVELS = st.floats(1e-15, 1 - 1e-9)


@given(first=PARAMETERS, second=PARAMETERS, level=LEVELS)
@settings(max_examples=300)
def test_the_share_below_a_quantile_is_its_level(first: float, second: float, level: float) -> None:
    quantile = float(beta_quantile(first, second, level))
    assert 0 <= quantile <= 1
    # Between the two numbers beside it nothing can be told apart.
    below, above = quantile * (1 - 1e-11), min(1.0, quantile * (1 + 1e-11))
    assert betainc(first, second, below) <= level * (1 + 1e-8)
    assert betainc(first, second, above) >= level * (1 - 1e-8)


@given(
    parameters=st.lists(
        st.tuples(st.integers(1, 3_000), st.integers(1, 3_000)), min_size=1, max_size=20
    ),
    level=st.floats(1e-12, 0.999),
)
def test_quantiles_are_those_of_scipy_where_these_are_right(
    parameters: list[tuple[int, int]], level: float
) -> None:
    first, second = np.array(parameters, dtype=np.float64).T
    ours = beta_quantile(first, second, level)
    np.testing.assert_allclose(ours, betaincinv(first, second, level), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("successes", [1, 2, 3, 17, 39, 40])
def test_a_lower_end_has_its_error_by_exact_sums(successes: int) -> None:
    size, error = 40, 1e-6
    low, _ = clopper_pearson(successes, size, error)
    share = Fraction(float(low))
    as_many = sum(
        comb(size, hits) * share**hits * (1 - share) ** (size - hits)
        for hits in range(successes, size + 1)
    )
    assert float(as_many) == pytest.approx(error / 2, rel=1e-9)


@pytest.mark.parametrize("error", [0.05, 1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("successes", [20, 1_000, 30_000])
def test_rare_successes_among_very_many_are_those_of_poisson(successes: int, error: float) -> None:
    size = 1_000_000_000
    low, high = clopper_pearson(successes, size, error)
    assert float(low) * size == pytest.approx(gammaincinv(successes, error / 2), rel=1e-4)
    assert float(high) * size == pytest.approx(gammainccinv(successes + 1, error / 2), rel=1e-4)


def test_a_thousand_of_fifty_seven_million_have_no_interval_to_half_their_share() -> None:
    low, _ = clopper_pearson(1_000, 56_961_425, 1e-12)
    assert float(low) * 56_961_425 == pytest.approx(gammaincinv(1_000, 5e-13), rel=1e-4)


def test_shapes_broadcast_and_what_is_no_number_has_no_quantile() -> None:
    quantiles = beta_quantile(np.ones((2, 1)), np.arange(1.0, 4.0), np.array([0.5, np.nan, 0.2]))
    assert quantiles.shape == (2, 3)
    np.testing.assert_array_equal(np.isnan(quantiles), [[False, True, False]] * 2)
    np.testing.assert_allclose(quantiles[:, 2], 1 - 0.8 ** (1 / 3))


def test_each_quantile_is_the_same_alone_and_among_others() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.integers(1, 5_000, (2, 400)).astype(np.float64)
    together = beta_quantile(first, second, 1e-5)
    alone = [float(beta_quantile(a, b, 1e-5)) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(together, alone, rtol=1e-14)
