"""Samples by odds: drawn with the chance that the model gives them the counter label."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered_source import LabelModel, NumberedSource, ScoredModel
from scipy import stats

from testsgd.mitigation.sample_selection import find_by_odds
from testsgd.mitigation.samples import Found

SCORES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)
SEEDS = st.integers(0, 10_000)


def find(model: Any, draws: int, *, copies: int = 1, seed: int = 0, **options: Any) -> Found:
    given = {"favourable": True, "wanted": 10**6, "max_draws": 10**6, "seeds": 7, **options}
    source = NumberedSource(draws, copies=copies)
    return find_by_odds(source, model, generator=np.random.default_rng(seed), **given)


@pytest.mark.parametrize("favourable", [True, False])
def test_chances_are_those_of_the_scores(favourable: bool) -> None:
    """Drawing one after the other: each time in proportion to the chances of those left."""
    chances = np.array([0.05, 0.2, 0.45, 0.55, 0.9])
    model = ScoredModel(chances if favourable else 1 - chances)
    times = 4_000
    found = Counter(
        tuple(find(model, 5, favourable=favourable, wanted=2, seed=seed).numbers.tolist())
        for seed in range(times)
    )
    pairs = list(permutations(range(5), 2))
    total = chances.sum()
    expected = [
        times * chances[first] / total * chances[second] / (total - chances[first])
        for first, second in pairs
    ]
    assert sum(found.values()) == times
    assert stats.chisquare([found[pair] for pair in pairs], expected).pvalue > 1e-6


def test_a_sample_of_many_has_the_odds_moved_alike() -> None:
    """With few of many drawn, the odds of those drawn are those of all, times the chance."""
    generator = np.random.default_rng(1)
    scores = generator.choice([0.1, 0.3, 0.6], size=8_000)
    found = find(ScoredModel(scores), len(scores), wanted=400)
    observed = [int((scores[found.numbers] == score).sum()) for score in (0.1, 0.3, 0.6)]
    weights = [score * (scores == score).sum() for score in (0.1, 0.3, 0.6)]
    for count, weight in zip(observed, weights, strict=True):
        # A draw without repetition varies no more than one with it.
        low, high = stats.binom.ppf([1e-7, 1 - 1e-7], 400, weight / sum(weights))
        assert low <= count <= high


@given(SCORES, st.booleans(), st.integers(0, 50), st.floats(0.01, 0.99), SEEDS)
def test_all_carry_the_counter_label(
    scores: list[float], favourable: bool, wanted: int, threshold: float, seed: int
) -> None:
    model = ScoredModel(scores, threshold)
    found = find(model, len(scores), favourable=favourable, wanted=wanted, seed=seed)
    assert len(found.numbers) == len(set(found.numbers)) == min(wanted, len(scores))
    assert set(found.targets.tolist()) <= {float(favourable)}
    assert not found.anchors.any()
    counter = [(score > threshold) == favourable for score in scores]
    assert found.relabelled.tolist() == [not counter[number] for number in found.numbers]
    report = found.report
    assert (report.seeds, report.distinct) == (7, len(scores))
    assert report.counter_labelled == sum(counter)
    assert report.relabelled == found.relabelled.sum()
    assert report.nearness == "score"


@given(SCORES, st.integers(0, 40), st.integers(0, 40), SEEDS)
def test_the_first_ones_are_a_smaller_draw(
    scores: list[float], one: int, other: int, seed: int
) -> None:
    fewer, more = (
        find(ScoredModel(scores), len(scores), wanted=wanted, seed=seed).numbers.tolist()
        for wanted in sorted((one, other))
    )
    assert more[: len(fewer)] == fewer


def test_those_without_a_chance_come_last() -> None:
    scores = [0.0] * 30 + [1e-6] * 30
    numbers = find(ScoredModel(scores), 60, favourable=True).numbers
    assert set(numbers[:30].tolist()) == set(range(30, 60))
    assert len(numbers) == 60


@given(SCORES, st.booleans(), st.integers(0, 50), SEEDS)
def test_a_model_of_labels_gives_those_with_the_label(
    scores: list[float], favourable: bool, wanted: int, seed: int
) -> None:
    model = LabelModel(scores)
    found = find(model, len(scores), favourable=favourable, wanted=wanted, seed=seed)
    counter = {place for place, score in enumerate(scores) if (score > 0.5) == favourable}
    assert set(found.numbers.tolist()) <= counter
    assert len(found.numbers) == min(wanted, len(counter))
    assert not found.relabelled.any()
    assert found.report.nearness == "unknown"


def test_no_more_is_drawn_than_allowed_and_copies_count_once() -> None:
    model = ScoredModel(np.linspace(0.01, 0.99, 50))
    found = find(model, 50, max_draws=20)
    assert (found.report.drawn, found.report.distinct) == (20, 20)
    assert found.report.exhausted
    found = find(model, 50, copies=3)
    assert (found.report.drawn, found.report.distinct, len(found.numbers)) == (150, 50, 50)
    many = find(ScoredModel(np.full(100_000, 0.5)), 100_000, wanted=3_000)
    # Four are drawn for each one wanted, so that there is a choice.
    assert (many.report.drawn, len(many.numbers)) == (12_000, 3_000)
    assert not many.report.exhausted
