"""How many yes/no answers rows with shares are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from testsgd.scoring import effective_sample_size


@given(st.integers(1, 40), st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_effective_size_lies_between_the_rows_and_twice_as_many(answers, counts):
    counts = np.minimum(counts, answers)
    shares = counts / answers
    rate, mean_square = shares.mean(), (shares**2).mean()
    size = float(effective_sample_size(rate, mean_square, len(shares), answers))
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
    size = effective_sample_size(rate, rate, len(favourable), answers)
    assert float(size) == pytest.approx(len(favourable))


def test_rows_that_all_have_the_same_share_count_as_two_answers_each():
    assert float(effective_sample_size(0.25, 0.0625, 100, 20)) == 200


def test_arrays_give_what_single_groups_give():
    rates, squares = np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.0, 0.2, 0.25, 1.0])
    rows = np.array([5, 10, 20, 40])
    sizes = effective_sample_size(rates, squares, rows, 8)
    assert sizes.tolist() == [
        float(effective_sample_size(*group, 8)) for group in zip(rates, squares, rows, strict=True)
    ]
