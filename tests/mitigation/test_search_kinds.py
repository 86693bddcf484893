"""The search over kinds and weights of samples: all are tried, and the best of all is chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_refits import FakeRefitter, pool
from hypothesis import given
from hypothesis import strategies as st

from testsgd.mitigation.journal import Journal
from testsgd.mitigation.parameters import Dosage
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.search import Candidate, Search, added, best_of

KINDS = ("counter", "odds", "shifted")


def pools_of(count: int = 100) -> dict[str, list[CounterSamples]]:
    """A pool of each kind; its samples know the kind by their place."""
    pools = {}
    for number, kind in enumerate(KINDS):
        pools[kind] = [pool(count, kind=kind)]
        pools[kind][0].inputs["place"] += 1000 * number
    return pools


def known(extra: Any, stage: int) -> tuple[str, int, float, int]:
    """A model that is the kind, number and weight of its samples, and the stage."""
    weights = extra.full_weights()
    assert len(set(weights)) == 1
    return KINDS[extra.inputs["place"].iloc[0] // 1000], len(extra), float(weights[0]), stage


def search(refitter: Any, judge: Any, journal: Journal | None = None) -> Search[Any]:
    return Search(
        refitter,
        judge,
        max_accuracy_drop=0.5,
        journal=journal or Journal(None, {}),
        name="run 1",
    )


def run_all(searching: Search[Any], *dosages: Dosage, threshold: float | None = None) -> Any:
    pools = pools_of()
    for kind in KINDS:
        searching.run(pools[kind], dosages, before=[0.4], threshold=threshold, seed=0)
        if searching.reached(threshold):
            break
    return searching.result(pools, seed=0)


@pytest.mark.parametrize("best", KINDS)
def test_the_best_of_all_kinds_is_chosen(best: str) -> None:
    def judge(model: Any) -> tuple[float, list[float]]:
        kind, count, _, _ = model
        return 0.1, [0.1 if (kind, count) == (best, 10) else 0.3]

    found = run_all(search(FakeRefitter(known), judge), Dosage(10), Dosage(20))
    tried = [(one.kind, one.samples) for one in found.candidates[::2]]
    assert tried == [(kind, count) for kind in KINDS for count in (10, 20)]
    assert (found.chosen.kind, found.chosen.samples) == (best, 10)
    assert found.model == (best, 10, 1.0, 0)


def test_weights_reach_the_training_and_are_told() -> None:
    found = run_all(
        search(FakeRefitter(known, stages=1), lambda model: (0.0, [0.4 - model[2] / 100])),
        Dosage(10),
        Dosage(10, 2.5),
    )
    assert [one.weight for one in found.candidates] == [1.0, 2.5] * 3
    assert found.model == ("counter", 10, 2.5, 0)


def test_what_takes_no_weights_is_spared_heavier_samples() -> None:
    refitter = FakeRefitter(known, stages=1, takes_weights=False)
    found = run_all(search(refitter, lambda _: (0.0, [0.3])), Dosage(10), Dosage(10, 2.5))
    assert [one.weight for one in found.candidates] == [1.0] * 3
    assert refitter.refits == 3


def test_few_samples_stand_in_for_many_and_for_heavier_ones() -> None:
    refitter = FakeRefitter(known, stages=1)
    searching = search(refitter, lambda _: (0.0, [0.3]))
    dosages = [Dosage(2), Dosage(8), Dosage(8, 3.0)]
    searching.run([pool(4)], dosages, before=[0.4], threshold=None, seed=0)
    found = searching.result({"counter": [pool(4)]}, seed=0)
    assert [(one.samples, one.weight) for one in found.candidates] == [(2, 1), (4, 2), (4, 6)]


def test_when_all_are_below_the_threshold_no_other_kind_is_tried() -> None:
    def judge(model: Any) -> tuple[float, list[float]]:
        return 0.0, [0.05 if model[0] == "odds" else 0.3]

    found = run_all(search(FakeRefitter(known), judge), Dosage(10), Dosage(20), threshold=0.1)
    assert [one.kind for one in found.candidates] == ["counter"] * 4 + ["odds"] * 2
    assert found.chosen.kind == "odds"


def test_an_interrupted_search_goes_on_from_any_kind(tmp_path: Path) -> None:
    def judge(model: Any) -> tuple[float, list[float]]:
        kind, count, weight, stage = model
        return 0.0, [0.2 + 0.01 * KINDS.index(kind) - count * weight / 1000 - stage / 100]

    dosages = (Dosage(10), Dosage(20), Dosage(20, 2.0))
    whole = run_all(search(FakeRefitter(known), judge), *dosages)
    for stop in range(1, 19):
        calls = 0

        def interrupted(model: Any, stop: int = stop) -> Any:
            nonlocal calls
            calls += 1
            if calls >= stop:
                raise KeyboardInterrupt
            return judge(model)

        file = tmp_path / f"{stop}.json"
        with pytest.raises(KeyboardInterrupt):
            run_all(search(FakeRefitter(known), interrupted, Journal(file, {})), *dosages)
        refitter = FakeRefitter(known)
        again = search(refitter, judge, Journal(file, {}, resume=True))
        resumed = run_all(again, *dosages)
        assert resumed == whole
        # Each step has two stages; at most the one whose model is wanted is done again.
        assert refitter.refits <= 9 - (stop - 1) // 2 + 1


def candidate(score: float, drop: float, step: int) -> Candidate:
    return Candidate(step, 0, "epoch 1", "odds", (9,), 1.0, drop, (score,), drop <= 0.5)


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(-10, 10)), min_size=1, max_size=12, unique=True
    ),
    st.integers(0, 400),
)
def test_of_scores_in_the_same_half_point_the_most_accurate(
    found: list[tuple[int, int]], before: int
) -> None:
    """Against counting in whole thousandths: five are half a point, twenty as good as nothing."""
    candidates = [
        candidate((score + 0.5) / 1000, drop / 10, step) for step, (score, drop) in enumerate(found)
    ]
    allowed = [(score, drop) for score, drop in found if drop <= 5 and score < before]
    chosen = best_of(candidates, [(before + 0.5) / 1000])
    if not allowed:
        assert chosen is None
        return
    score, drop = min(allowed, key=lambda one: (one[0] // 5 if one[0] >= 20 else 0, one[1], one[0]))
    assert chosen is not None
    assert (chosen.scores[0], chosen.accuracy_drop) == ((score + 0.5) / 1000, drop / 10)


def test_the_weight_multiplies_those_of_the_samples() -> None:
    heavy = replace(pool(3), weights=np.array([1.0, 2.0, 4.0]))
    examples = added([heavy, pool(2)], (2, 1), 2.5)
    assert examples is not None
    assert examples.full_weights().tolist() == [2.5, 5.0, 2.5]
    plain = added([pool(3)], (2,))
    assert plain is not None
    assert plain.weights is None


def test_anchors_keep_their_label_and_targets_are_learnt() -> None:
    shifted = replace(
        pool(3, kind="shifted", favourable=False),
        anchors=np.array([False, True, False]),
        targets=np.array([0.2, 0.7, 0.4]),
    )
    examples = added([shifted], (3,))
    assert examples is not None
    assert examples.favourable.tolist() == [False, True, False]
    assert examples.full_targets().tolist() == [0.2, 0.7, 0.4]
