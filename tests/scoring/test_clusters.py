"""Rows that repeat one another are worth no more than the units behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.scoring import Clusters, clopper_pearson, independent_rows

SIZES = {
    "alone": np.ones(120),
    "five times each": np.full(40, 5.0),
    "one is half": np.r_[50, np.ones(50)],
    "one is a tenth": np.r_[100, np.ones(1000)],
    "falling": np.floor(200 / np.arange(1, 60)),
    "doubling": np.r_[2.0 ** np.arange(8), np.ones(50)],
    "five clusters": np.array([1.0, 2, 5, 9, 30]),
}


def worth(sizes, answers):
    """Count the rows of clusters that answer alike, and what they are worth."""
    rows, squares = sizes.sum(), (sizes**2).sum()
    return independent_rows(rows, squares, answers @ sizes, answers @ sizes**2)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("error", [0.05, 0.002])
def test_intervals_of_rates_cover_the_truth_as_often_as_they_say(sizes, error):
    generator = np.random.default_rng(1)
    draws = 4000
    for truth in (0.002, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5):
        answers = (generator.random((draws, len(sizes))) < truth).astype(float)
        size = worth(sizes, answers)
        low, high = clopper_pearson(answers @ sizes / sizes.sum() * size, size, error)
        missed = int(((low > truth) | (high < truth)).sum())
        # The number that an interval of exactly that error exceeds once in 10,000 times.
        assert missed <= np.quantile(generator.binomial(draws, error, 20_000), 0.9999)


def test_each_text_five_times_is_exactly_as_good_as_once():
    answers = np.array([1.0, 0, 0, 1, 1, 0, 0, 0, 1, 0])
    assert worth(np.full(10, 5.0), answers) == pytest.approx(10, rel=1e-12)


def test_a_rate_that_few_clusters_make_up_is_known_from_so_few():
    # One cluster of 100 rows is favourable, and none of 1,000 rows that stand alone.
    sizes = np.r_[100, np.ones(1000)]
    one = worth(sizes, np.r_[1.0, np.zeros(1000)])
    assert one * 100 / 1100 == pytest.approx(1, rel=1e-9)


SHARES = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@given(st.lists(st.tuples(st.integers(1, 9), SHARES), min_size=1, max_size=30))
def test_it_is_no_more_than_the_clusters_and_the_same_for_the_other_label(clusters):
    sizes = np.array([size for size, _ in clusters], dtype=float)
    answers = np.array([answer for _, answer in clusters])
    size = worth(sizes, answers)
    assert 0 < size <= len(sizes) * (1 + 1e-9)
    assert size == pytest.approx(float(worth(sizes, 1 - answers)), rel=1e-6)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=50))
def test_rows_that_stand_alone_are_worth_themselves_to_the_last_digit(answers):
    answers = np.array(answers, dtype=float)
    assert float(worth(np.ones(len(answers)), answers)) == len(answers)


def test_without_rows_nothing_is_known():
    assert float(independent_rows(0, 0, 0, 0)) == 0


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40))
def test_clusters_are_numbered_as_they_come_and_counted_by_hand(names):
    clusters = Clusters.of(np.array(names))
    seen = list(dict.fromkeys(names))
    assert clusters.of_row.tolist() == [seen.index(name) for name in names]
    assert clusters.sizes.tolist() == [names.count(name) for name in seen]
    assert clusters.size_of_row.tolist() == [names.count(name) for name in names]
    assert clusters.repeated == sum(names.count(name) > 1 for name in names)
    some = np.arange(0, len(names), 2)
    assert clusters.take(some).size_of_row.tolist() == [
        names[::2].count(name) for name in names[::2]
    ]
