"""How often the population interval of a text audit holds the truth, where the truth is known.

A seed and the text as it is are one draw from the population: the group's rate is over variants of
seeds, the rate outside over texts as they are, most seeds among them. So both sides vary together.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from testsgd.auditing.estimates import Estimates

CONFIDENCE = 0.95
RUNS = 2_000


def coverage(texts, share, keeps, effect, seed):
    """Draw texts again and again; give how many intervals hold the true difference.

    A text is about a category with chance `share`; a fifth of those have the very term. The topic
    decides the answer; with chance 1 - `keeps` a variant's answer is tossed anew, with the term's
    effect on its chance.
    """
    generator = np.random.default_rng(seed)
    topical, other = 0.35, 0.55
    # The truth: the variant's rate among texts of the category, and the rate of all texts without
    # the term.
    inside = keeps * topical + (1 - keeps) * (topical + effect)
    without = (share * 0.8 * topical + (1 - share) * other) / (1 - share * 0.2)
    rows_in, rows_out, favourable_in, favourable_out = np.zeros((4, RUNS), dtype=np.int64)
    for run in range(RUNS):
        seeds = generator.random(texts) < share
        has_term = seeds & (generator.random(texts) < 0.2)
        answer = generator.random(texts) < np.where(seeds, topical, other)
        tossed = generator.random(texts) < topical + effect
        variant = np.where(has_term | (generator.random(texts) < keeps), answer, tossed)
        rows_in[run] = seeds.sum()
        rows_out[run] = texts - has_term.sum()
        favourable_in[run] = variant[seeds].sum()
        favourable_out[run] = answer[~has_term].sum()
    # Each run's group has its own interval, so all runs are computed like groups of one audit.
    estimates = Estimates(
        rows_in=rows_in,
        rows_out=rows_out,
        samples_in=rows_in,
        samples_out=rows_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        margin=np.zeros(RUNS),
        wilson=np.zeros(RUNS, dtype=bool),
        decided=np.ones(RUNS, dtype=bool),
    )
    low, high = estimates.population_interval(CONFIDENCE)
    # The mentions of the very term keep their answer, which the truth must know.
    truth = 0.2 * topical + 0.8 * inside - without
    return int(((low <= truth) & (truth <= high)).sum())


@pytest.mark.parametrize("texts", [600, 3_000])
@pytest.mark.parametrize("share", [0.06, 0.3])
@pytest.mark.parametrize(("keeps", "effect"), [(1.0, 0.0), (0.5, -0.2), (0.0, 0.3)])
def test_the_truth_is_held_as_often_as_promised(texts, share, keeps, effect):
    held = coverage(texts, share, keeps, effect, seed=texts + int(100 * share))
    assert held >= stats.binom.ppf(0.001, RUNS, CONFIDENCE)


def test_where_all_texts_are_seeds_the_interval_is_too_wide_not_too_narrow():
    # The answers hardly change, so that both rates are over almost the same draws.
    held = coverage(400, 0.95, 0.95, 0.0, seed=1)
    assert held >= 0.99 * RUNS
