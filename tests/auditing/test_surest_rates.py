"""The surest of many comparisons, against exact intervals of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.auditing.compared_rates import compared_rates, normal_bounds, surest


@given(
    seed=st.integers(0, 10_000),
    apart=st.sampled_from([0.0, 0.1, 0.4]),
    most=st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_the_surest_are_those_of_all_exact_intervals(seed: int, apart: float, most: int) -> None:
    source = np.random.default_rng(seed)
    rows = source.integers(5, 400, (2, 60))
    rates = np.clip(source.uniform(0.3, 0.6) + apart * source.uniform(-1, 1, (2, 60)), 0, 1)
    yes = source.binomial(rows, rates)
    sums = np.vstack([rows[0], yes[0], rows[1], yes[1]]).astype(np.float64)
    error = 1e-3

    everything = enumerate(compared_rates(sums, error=error))
    expected = sorted(everything, key=lambda item: (*item[1].order, item[0]))[:most]

    assert surest(sums, error=error, most=most) == expected


@pytest.mark.parametrize("most", [1, 3])
def test_fewer_comparisons_than_asked_for(most: int) -> None:
    sums = np.array([[50.0], [10.0], [60.0], [30.0]])

    [(index, rates)] = surest(sums, error=0.05, most=most)

    assert index == 0
    assert rates == compared_rates(sums, error=0.05)[0]


def test_normal_bounds_of_many_differences_are_those_of_each() -> None:
    source = np.random.default_rng(0)
    rows = source.integers(5, 400, (2, 20_000))
    yes = source.binomial(rows, 0.3)
    sums = np.vstack([rows[0], yes[0], rows[1], yes[1]]).astype(np.float64)

    bounds = normal_bounds(sums, margin=2.0)

    p, q = yes / rows
    share_in, share_out = (yes + 1) / (rows + 2)
    variance = share_in * (1 - share_in) / rows[0] + share_out * (1 - share_out) / rows[1]
    np.testing.assert_allclose(bounds, np.abs(p - q) - 2 * np.sqrt(variance), atol=1e-12)
