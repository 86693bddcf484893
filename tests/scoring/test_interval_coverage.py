"""How often the population's interval holds the true difference, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from testsgd.scoring import Side, population_interval

CONFIDENCE = 0.95
ANSWERS = 20
REPETITIONS = 4000


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


def drawn_side(generator, name, rows):
    """Draw samples of rows again and again."""
    # How many of the rows have 0, 1, ..., 20 favourable answers.
    tallies = generator.multinomial(rows, POPULATIONS[name], REPETITIONS)
    counts = np.full(REPETITIONS, rows)
    return Side(counts, counts * ANSWERS, tallies @ np.arange(ANSWERS + 1))


def simulated_coverage(inside, outside, rows_in, rows_out):
    """Count the samples whose interval holds the true difference of two populations."""
    generator = np.random.default_rng(7)
    sides = drawn_side(generator, inside, rows_in), drawn_side(generator, outside, rows_out)
    low, high = population_interval(*sides, 1 - CONFIDENCE, margin_kind="none")
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
