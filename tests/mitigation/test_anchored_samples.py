"""Anchored samples: all there are, of which the nearest to the boundary are relabelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered_source import LabelModel, NumberedSource, ScoredModel
from texts_by_hand import SIDES, TEXTS, draw_texts, score, seeds_of, variant

import testsgd.mitigation.sample_selection as selection
from testsgd.mitigation.sample_selection import find_anchored
from testsgd.mitigation.samples import Found
from testsgd.mitigation.search import added

SCORES = st.lists(st.integers(0, 1000), min_size=1, max_size=40, unique=True).map(
    lambda found: np.array(found) / 1000
)


def find(model: Any, draws: int, *, favourable: bool = True, max_draws: int = 10**6) -> Found:
    return find_anchored(
        NumberedSource(draws),
        model,
        favourable=favourable,
        max_draws=max_draws,
        generator=np.random.default_rng(0),
        seeds=7,
    )


@given(SCORES, st.booleans(), st.sampled_from([0.5, 0.2]))
def test_the_others_come_first_nearest_first(
    scores: Any, favourable: bool, threshold: float
) -> None:
    found = find(ScoredModel(scores, threshold), len(scores), favourable=favourable)
    assert sorted(found.numbers) == list(range(len(scores)))
    mine = scores[found.numbers]
    others = [score for score in scores if (score > threshold) != favourable]
    assert mine[: len(others)].tolist() == sorted(others, reverse=favourable)
    assert found.relabelled.tolist() == [place < len(others) for place in range(len(scores))]
    expected = [float(favourable)] * len(others) + mine[len(others) :].tolist()
    assert found.targets.tolist() == expected
    assert not found.anchors.any()
    assert found.report.counter_labelled == len(scores) - len(others)
    assert found.report.relabelled == len(others)


@given(TEXTS, SIDES, st.booleans(), st.integers(0, 30), st.integers(0, 30))
def test_so_many_are_relabelled_and_the_rest_keep_what_the_model_says(
    texts: list[str], side: str, favourable: bool, count: int, fewer: int
) -> None:
    everything = draw_texts(texts, side, kind="anchored", favourable=favourable)
    made = {
        variant(texts[place]) if side == "group" else texts[place]
        for place in seeds_of(texts, side)
    }
    assert set(everything.inputs) == made
    assert len(everything.inputs) == len(made)
    others = sorted(
        (text for text in made if (score(text) > 0.5) != favourable),
        key=lambda text: abs(score(text) - 0.5),
    )
    assert everything.available == len(others)

    taken = everything.take(count)
    assert taken.inputs == everything.inputs
    changed = set(others[:count])
    for text, relabelled, anchor, carried, target in zip(
        taken.inputs, taken.relabelled, taken.anchors, taken.carried, taken.targets, strict=True
    ):
        assert relabelled == (text in changed)
        assert anchor == (text in others and text not in changed)
        assert carried == (favourable if text in changed else score(text) > 0.5)
        assert target == (float(favourable) if text in changed else score(text))
    # Who takes twice has the smaller number.
    again = taken.take(fewer)
    assert again.relabelled.tolist() == everything.take(min(count, fewer)).relabelled.tolist()
    assert again.anchors.tolist() == everything.take(min(count, fewer)).anchors.tolist()
    assert again.targets.tolist() == everything.take(min(count, fewer)).targets.tolist()


def test_all_of_them_are_trained_on() -> None:
    texts = [f"a red small door {place} by a large lamp" for place in range(12)]
    pool = draw_texts(texts, "group", kind="anchored")
    assert 1 < pool.available < len(pool) == 12
    examples = added([pool], (1,))
    assert examples is not None
    assert examples.texts == pool.inputs
    likes = [score(text) > 0.5 for text in pool.inputs]
    assert examples.favourable.sum() == sum(likes) + 1
    assert examples.full_targets().tolist() == [1.0, *(score(text) for text in pool.inputs[1:])]


def test_a_model_of_labels_has_them_in_the_order_drawn() -> None:
    found = find(LabelModel([0.9, 0.1] * 20), 40)
    assert found.relabelled.tolist() == [True] * 20 + [False] * 20
    assert set(found.numbers[:20] % 2) == {1}
    assert found.report.nearness == "unknown"


def test_there_is_a_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScoredModel(np.linspace(0.01, 0.99, 50))
    assert len(find(model, 50, max_draws=20).numbers) == 20
    monkeypatch.setattr(selection, "MOST_ANCHORED", 15)
    assert len(find(model, 50).numbers) == 15
