"""Shifted samples: as they come, and what the model says of them moved by one step for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered_source import LabelModel, NumberedSource, ScoredModel
from numpy.typing import NDArray

from testsgd.mitigation.sample_selection import find_shifted
from testsgd.mitigation.samples import Found

# Different scores, none of them near another one or certain.
SCORES = st.lists(st.integers(2, 998), min_size=1, max_size=40, unique=True).map(
    lambda found: np.array(found) / 1000
)
THRESHOLDS = st.sampled_from([0.5, 0.3005, 0.8005])
SEEDS = st.integers(0, 10_000)


def find(model: Any, draws: int, *, seed: int = 0, **options: Any) -> Found:
    given = {
        "favourable": True, "wanted": 10**6, "share": 0.2, "strength": 1.0, "max_draws": 10**6,
        "seeds": 7, **options,
    }  # fmt: skip
    return find_shifted(
        NumberedSource(draws), model, generator=np.random.default_rng(seed), **given
    )


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(scores) - np.log1p(-scores)


@given(SCORES, st.booleans(), st.floats(0, 1), THRESHOLDS, SEEDS)
def test_just_the_nearest_of_the_others_change(
    scores: NDArray[np.float64], favourable: bool, share: float, threshold: float, seed: int
) -> None:
    model = ScoredModel(scores, threshold)
    found = find(model, len(scores), favourable=favourable, share=share, seed=seed)
    assert sorted(found.numbers) == list(range(len(scores)))
    mine = scores[found.numbers]
    counter = (mine > threshold) == favourable
    wanted = min(round(share * len(scores)), int((~counter).sum()))
    others = sorted(mine[~counter], key=lambda score: abs(log_odds(score) - log_odds(threshold)))
    assert sorted(mine[found.relabelled]) == sorted(others[:wanted])
    # Who has the counter label keeps it; who has it not and is not relabelled keeps what it has.
    assert found.anchors.tolist() == (~counter & ~found.relabelled).tolist()
    assert ((found.targets > threshold) == favourable).tolist() == (~found.anchors).tolist()
    assert found.report.relabelled == wanted


@given(SCORES, st.booleans(), st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 2.0]), THRESHOLDS)
def test_all_are_moved_by_the_same_step(
    scores: NDArray[np.float64],
    favourable: bool,
    share: float,
    strength: float,
    threshold: float,
) -> None:
    model = ScoredModel(scores, threshold)
    found = find(model, len(scores), favourable=favourable, share=share, strength=strength)
    mine = scores[found.numbers]
    moved = (log_odds(found.targets) - log_odds(mine)) * (1 if favourable else -1)
    missing = sorted(abs(log_odds(mine[(mine > threshold) != favourable]) - log_odds(threshold)))
    changed = min(round(share * len(scores)), len(missing))
    expected = strength * missing[changed - 1] if changed else 0.0
    assert moved == pytest.approx(np.full(len(scores), expected), abs=1e-6)


@given(SCORES, st.booleans(), st.floats(0, 1))
def test_a_stronger_step_relabels_no_fewer(
    scores: NDArray[np.float64], favourable: bool, share: float
) -> None:
    model = ScoredModel(scores)
    weak, strong = (
        find(model, len(scores), favourable=favourable, share=share, strength=strength)
        for strength in (1.0, 2.0)
    )
    assert weak.numbers.tolist() == strong.numbers.tolist()
    assert not (weak.relabelled & ~strong.relabelled).any()


@given(SCORES, st.integers(1, 40), st.integers(1, 40), SEEDS)
def test_they_are_in_the_order_drawn(
    scores: NDArray[np.float64], one: int, other: int, seed: int
) -> None:
    fewer, more = (
        find(ScoredModel(scores), len(scores), wanted=wanted, seed=seed)
        for wanted in sorted((one, other))
    )
    assert more.numbers[: len(fewer.numbers)].tolist() == fewer.numbers.tolist()
    # The order knows nothing of the scores.
    flipped = find(ScoredModel(1 - scores), len(scores), wanted=max(one, other), seed=seed)
    assert flipped.numbers.tolist() == more.numbers.tolist()


def test_any_first_ones_have_about_the_same_share_relabelled() -> None:
    scores = np.random.default_rng(3).permutation(np.linspace(0.01, 0.99, 4_000))
    found = find(ScoredModel(scores), len(scores), share=0.2)
    assert found.relabelled.sum() == 800
    first = found.relabelled[:1_000].sum()
    # 200 of 1,000 by a draw of 1,000 from 4,000 of which 800 are relabelled: 6 deviations.
    assert abs(first - 200) < 6 * np.sqrt(1_000 * 0.2 * 0.8 * 3_000 / 3_999)


@given(SCORES, st.booleans(), st.floats(0, 1), SEEDS)
def test_of_a_model_of_labels_the_first_drawn_are_relabelled(
    scores: NDArray[np.float64], favourable: bool, share: float, seed: int
) -> None:
    model = LabelModel(scores)
    found = find(model, len(scores), favourable=favourable, share=share, seed=seed)
    counter = (scores[found.numbers] > 0.5) == favourable
    wanted = min(round(share * len(scores)), int((~counter).sum()))
    expected = np.flatnonzero(~counter)[:wanted]
    assert np.flatnonzero(found.relabelled).tolist() == expected.tolist()
    assert found.anchors.tolist() == (~counter & ~found.relabelled).tolist()
    carried = np.where(found.anchors, not favourable, favourable)
    assert found.targets.tolist() == carried.astype(float).tolist()
    assert found.report.nearness == "unknown"


def test_certain_scores_can_be_moved_too() -> None:
    found = find(ScoredModel([0.0, 1.0, 0.5]), 3, share=1.0)
    assert np.isfinite(found.targets).all()
    assert (found.targets > 0.5).all()
    assert found.relabelled[found.numbers != 1].all()


def test_the_report_is_of_all_that_were_drawn() -> None:
    scores = np.linspace(0.005, 0.995, 100)
    found = find(ScoredModel(scores), 100, wanted=30, share=0.1)
    report = found.report
    assert (len(found.numbers), report.drawn, report.distinct, report.seeds) == (30, 100, 100, 7)
    assert report.counter_labelled == (scores > 0.5).sum()
    assert report.relabelled == found.relabelled.sum() == 3
    capped = find(ScoredModel(scores), 100, max_draws=12, share=0.1)
    assert (len(capped.numbers), capped.report.drawn) == (12, 12)
    assert capped.report.exhausted


@given(SCORES)
def test_nothing_moves_if_nothing_is_to_change(scores: NDArray[np.float64]) -> None:
    found = find(ScoredModel(scores), len(scores), share=0.0)
    assert found.targets == pytest.approx(scores[found.numbers])
    assert not found.relabelled.any()
