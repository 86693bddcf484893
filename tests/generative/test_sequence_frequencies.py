"""Shares of values, their intervals, and how far bounds let shares differ."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from testsgd.errors import DataError, ParameterError
from testsgd.generative.sequences import frequencies, frequency_bound, smallest_betas


@given(labels=st.lists(st.integers(1, 3), min_size=1, max_size=40))
def test_counts_and_exact_intervals_are_scipys(labels: list[int]) -> None:
    found = frequencies(labels, values=3, confidence=0.9)
    for value in (1, 2, 3):
        test = binomtest(labels.count(value), len(labels))
        interval = test.proportion_ci(confidence_level=0.9, method="exact")
        assert found.counts[value - 1] == labels.count(value)
        assert found.shares[value - 1] == labels.count(value) / len(labels)
        assert found.exact_low[value - 1] == pytest.approx(interval.low, abs=1e-9)
        assert found.exact_high[value - 1] == pytest.approx(interval.high, abs=1e-9)
        assert found.anytime_low[value - 1] <= found.exact_low[value - 1] + 1e-9
        assert found.anytime_high[value - 1] >= found.exact_high[value - 1] - 1e-9


def test_nothing_is_known_without_outputs() -> None:
    found = frequencies([], values=2)
    assert np.isnan(found.shares).all()
    assert found.exact_low.tolist() == found.anytime_low.tolist() == [0, 0]
    assert found.exact_high.tolist() == found.anytime_high.tolist() == [1, 1]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, float("nan")])
def test_a_confidence_that_is_none_is_an_error(confidence: float) -> None:
    with pytest.raises(ParameterError):
        frequencies([1], values=1, confidence=confidence)


def test_unrelated_outputs_are_an_error() -> None:
    with pytest.raises(DataError):
        frequencies([1, 0], values=1)


def periodic_betas(word: tuple[int, ...], values: int) -> list[int]:
    """Return the largest distance of each value in the endless repetition of a word."""
    row = word * 2
    betas = []
    for value in range(1, values + 1):
        positions = [m for m, one in enumerate(row) if one == value]
        gaps = [later - m for m, later in pairwise(positions)]
        betas.append(max([*gaps, positions[0] + 1]))
    return betas


@pytest.mark.parametrize(("values", "longest"), [(2, 9), (3, 7), (4, 5)])
def test_no_periodic_sequence_differs_by_more_than_its_bounds_allow(
    values: int, longest: int
) -> None:
    for length in range(values, longest + 1):
        for word in product(range(1, values + 1), repeat=length):
            shares = [word.count(value) / length for value in range(1, values + 1)]
            if min(shares) == 0:
                continue
            difference = max(shares) - min(shares)
            betas = periodic_betas(word, values)
            assert difference <= frequency_bound(betas) + 1e-12
            common = max(betas)
            assert difference <= max(0.0, 1 - values / common) + 1e-12


@pytest.mark.parametrize(("values", "beta"), [(2, 2), (2, 7), (3, 5), (4, 9)])
def test_equal_bounds_give_the_lemma_and_a_sequence_reaches_it(values: int, beta: int) -> None:
    bound = frequency_bound([beta] * values)
    assert bound == pytest.approx(1 - values / beta)
    word = (*range(2, values + 1), *[1] * (beta - values + 1))
    assert max(periodic_betas(word, values)) <= beta
    shares = [word.count(value) / beta for value in range(1, values + 1)]
    assert max(shares) - min(shares) == pytest.approx(bound)


@given(betas=st.lists(st.integers(1, 30), min_size=2, max_size=6))
def test_the_bound_is_the_largest_over_all_pairs(betas: list[int]) -> None:
    pairs = [
        1 - sum(1 / b for j, b in enumerate(betas) if j != x) - 1 / betas[y]
        for x in range(len(betas))
        for y in range(len(betas))
        if x != y
    ]
    assert frequency_bound(betas) == pytest.approx(min(1.0, max(0.0, *pairs)))


def test_one_value_differs_from_no_other() -> None:
    assert frequency_bound([7]) == 0


@given(labels=st.lists(st.integers(1, 3), min_size=3, max_size=40))
def test_finite_sequences_exceed_the_bound_by_little(labels: list[int]) -> None:
    smallest = smallest_betas(labels, values=3)
    if smallest.exist.all():
        shares = frequencies(labels, values=3).shares
        allowed = frequency_bound(smallest.betas) + 3 / len(labels)
        assert shares.max() - shares.min() <= allowed + 1e-12
