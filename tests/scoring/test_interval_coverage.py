"""How often the population's interval holds the true difference, where the truth is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from testsgd.scoring import difference_interval, effective_size

CONFIDENCE = 0.95
ANSWERS = 20
REPETITIONS = 4000


def exact_coverage(rows_in, rows_out, true_in, true_out):
    """Add up the chances of all outcomes whose interval holds the true difference."""
    counts_in, counts_out = np.arange(rows_in + 1), np.arange(rows_out + 1)
    low, high = difference_interval(
        counts_in[:, None] / rows_in, rows_in, counts_out / rows_out, rows_out, CONFIDENCE
    )
    holds = (low <= true_in - true_out) & (true_in - true_out <= high)
    likely_in = stats.binom.pmf(counts_in, rows_in, true_in)
    likely_out = stats.binom.pmf(counts_out, rows_out, true_out)
    return likely_in @ holds @ likely_out


@pytest.mark.parametrize(("rows_in", "rows_out"), [(30, 50), (50, 300), (100, 900)])
def test_yes_or_no_rows_are_covered_as_often_as_promised_on_average(rows_in, rows_out):
    # For counts no interval is exact everywhere; Newcombe's is so on average.
    rates = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98]
    coverages = [
        exact_coverage(rows_in, rows_out, *pair) for pair in itertools.product(rates, rates)
    ]
    assert np.mean(coverages) >= CONFIDENCE
    assert min(coverages) >= 0.92


# How often a row has each number of favourable answers among its 20 neighbours.
def _mostly_one_sided(favourable, between):
    chances = np.full(ANSWERS + 1, between / (ANSWERS - 1))
    chances[0], chances[-1] = 1 - favourable - between, favourable
    return chances


def _yes_or_one_answer(favourable, one_answer):
    chances = np.zeros(ANSWERS + 1)
    chances[[0, 1, -1]] = 1 - favourable - one_answer, one_answer, favourable
    return chances


COMMON = {
    "yes or no": _mostly_one_sided(0.3, 0),
    "yes or no with some in between": _mostly_one_sided(0.25, 0.1),
    "half in between": _mostly_one_sided(0.25, 0.5),
    "all near one half": stats.binom.pmf(np.arange(ANSWERS + 1), ANSWERS, 0.5),
    "all at one tenth": stats.binom.pmf(np.arange(ANSWERS + 1), ANSWERS, 0.1),
    "mostly no": _mostly_one_sided(0.05, 0.05),
}
RARE = {
    "rarely yes": _yes_or_one_answer(0.02, 0.03),
    "very rarely yes": _yes_or_one_answer(0.005, 0.05),
    "almost never": _yes_or_one_answer(0.01, 0),
    "seldom yes": _yes_or_one_answer(0.05, 0.1),
}
POPULATIONS = COMMON | RARE


def estimate(generator, name, rows):
    """Draw samples of rows again and again; give each one's rate and effective size."""
    levels = np.arange(ANSWERS + 1)
    # How many of the rows have 0, 1, ..., 20 favourable answers.
    tallies = generator.multinomial(rows, POPULATIONS[name], REPETITIONS)
    rate = tallies @ levels / (rows * ANSWERS)
    mean_square = tallies @ levels**2 / (rows * ANSWERS**2)
    return rate, effective_size(rate, mean_square, rows, ANSWERS)


def simulated_coverage(inside, outside, rows_in, rows_out):
    """Count the samples whose interval holds the true difference of two populations."""
    generator = np.random.default_rng(7)
    rate_in, size_in = estimate(generator, inside, rows_in)
    rate_out, size_out = estimate(generator, outside, rows_out)
    low, high = difference_interval(rate_in, size_in, rate_out, size_out, CONFIDENCE)
    truth = (POPULATIONS[inside] - POPULATIONS[outside]) @ np.arange(ANSWERS + 1) / ANSWERS
    return int(np.sum((low <= truth) & (truth <= high)))


# Were the coverage 95 %, fewer would be seen once in a million.
FEWEST = stats.binom.ppf(1e-6, REPETITIONS, CONFIDENCE)


@pytest.mark.parametrize("inside", COMMON)
def test_rows_with_shares_are_covered_as_often_as_promised(inside):
    covered = simulated_coverage(inside, "yes or no with some in between", 200, 600)
    assert covered >= FEWEST


@pytest.mark.parametrize(
    ("rows", "inside"), [(50, "rarely yes"), (200, "very rarely yes"), (50, "seldom yes")]
)
def test_rare_rows_are_covered_as_often_as_promised(rows, inside):
    assert simulated_coverage(inside, "almost never", rows, 10 * rows) >= FEWEST


def test_shares_in_between_narrow_the_interval():
    generator = np.random.default_rng(7)
    rate, size = estimate(generator, "all near one half", 200)
    low, high = difference_interval(rate, size, 0.25, 600, CONFIDENCE)
    plain_low, plain_high = difference_interval(rate, 200, 0.25, 600, CONFIDENCE)
    assert np.mean(high - low) < 0.85 * np.mean(plain_high - plain_low)
