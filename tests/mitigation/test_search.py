"""The search: who is a candidate, who is chosen, when it ends, and how it goes on."""

import math
from pathlib import Path

import numpy as np
import pytest
from fake_refits import FakeRefitter, counted, pool
from hypothesis import given
from hypothesis import strategies as st

from testsgd.mitigation.journal import Journal
from testsgd.mitigation.parameters import Dosage
from testsgd.mitigation.search import Search, SearchResult, added, best_of, share_out, worst_of


def search(refitter, judge, journal=None, budget=0.5) -> Search:
    return Search(
        refitter,
        judge,
        max_accuracy_drop=budget,
        journal=journal or Journal(None, {}),
        name="run 1",
    )


def outcome(searching, pools, sizes, *, before, threshold=None, seed=0) -> SearchResult:
    """Try numbers of samples of one kind, each with the weight 1."""
    dosages = [Dosage(size) for size in sizes]
    searching.run(pools, dosages, before=before, threshold=threshold, seed=seed)
    return searching.result({"counter": pools}, seed=seed)


def by_samples(extra, stage):
    return counted(extra), stage


def test_the_smallest_score_within_the_budget_is_chosen() -> None:
    # More samples: a smaller score, and more accuracy lost. 40 samples are too dear.
    def judge(model):
        samples, stage = model
        return samples / 50 + 0.01 * stage, [0.4 - samples / 100 - 0.001 * stage]

    refitter = FakeRefitter(by_samples)
    found = outcome(search(refitter, judge), [pool(100)], [10, 20, 40], before=[0.4])
    assert [one.samples for one in found.candidates] == [10, 10, 20, 20, 40, 40]
    assert [one.allowed for one in found.candidates] == [True] * 4 + [False] * 2
    assert found.chosen is found.candidates[3]
    assert found.model == (20, 1)


def test_nothing_is_chosen_if_nothing_is_allowed_or_better() -> None:
    for verdict in ((0.51, [0.1]), (0.0, [0.4]), (0.0, [0.5])):
        searching = search(FakeRefitter(by_samples), lambda model, verdict=verdict: verdict)
        found = outcome(searching, [pool(100)], [10, 20], before=[0.4])
        assert found.chosen is None
        assert found.model is None
        assert len(found.candidates) == 4


def test_a_model_may_be_refused_though_it_is_within_the_budget() -> None:
    searching = Search(
        FakeRefitter(by_samples),
        lambda model: (0.0, [0.3 - model[0] / 100]),
        max_accuracy_drop=0.5,
        journal=Journal(None, {}),
        name="run 1",
        refuse=lambda model: model[0] == 20,
    )
    found = outcome(searching, [pool(100)], [10, 20], before=[0.4])
    assert [one.allowed for one in found.candidates] == [True, True, False, False]
    assert found.model == (10, 0)


def test_of_equal_candidates_the_first_is_chosen() -> None:
    searching = search(FakeRefitter(by_samples), lambda model: (0.0, [0.1]))
    found = outcome(searching, [pool(100)], [10, 20], before=[0.4])
    assert found.chosen is found.candidates[0]


def test_a_search_for_several_groups_helps_those_above_the_threshold() -> None:
    """Group 0 is helped by any sample of its own, group 1 by 30; the third needs none."""

    def make(extra, stage):
        return tuple(np.bincount(extra.inputs["of"], minlength=3).tolist())

    pools = [pool(100, target=place) for place in range(3)]
    for place, one in enumerate(pools):
        one.inputs["of"] = place

    def judge(taken):
        return 0.0, [0.3 if taken[0] < 10 else 0.05, 0.3 if taken[1] < 30 else 0.05, 0.02]

    searching = search(FakeRefitter(make), judge)
    before = [0.3, 0.3, 0.02]
    found = outcome(searching, pools, [20, 30, 40, 60], before=before, threshold=0.1)
    # 10 each, then all to group 1; at 30 all are below the threshold, and the search is over.
    assert [one.taken for one in found.candidates[::2]] == [(10, 10, 0), (10, 20, 0), (10, 30, 0)]
    assert found.chosen is not None
    assert found.chosen.taken == (10, 30, 0)


def test_a_search_for_several_groups_ends_when_no_step_helps() -> None:
    searching = search(FakeRefitter(by_samples), lambda model: (0.0, [0.25]))
    sizes = [10, 20, 30, 40, 50, 60]
    found = outcome(searching, [pool(1000)], sizes, before=[0.3], threshold=0.1)
    # The first step helps, two more do not.
    assert [one.samples for one in found.candidates[::2]] == [10, 20, 30]


def test_a_small_pool_is_used_up_and_then_weighs_more() -> None:
    refitter = FakeRefitter(by_samples)
    searching = search(refitter, lambda model: (0.0, [0.1]))
    found = outcome(searching, [pool(15)], [10, 20, 40], before=[0.3])
    assert [one.samples for one in found.candidates] == [10, 10, 15, 15, 15, 15]
    # Fifteen stand in for 20 and for 40.
    expected = [1, 1, 20 / 15, 20 / 15, 40 / 15, 40 / 15]
    assert [one.weight for one in found.candidates] == pytest.approx(expected)
    assert refitter.refits == 3


def test_a_small_pool_without_weights_is_not_trained_on_twice() -> None:
    refitter = FakeRefitter(by_samples, takes_weights=False)
    searching = search(refitter, lambda model: (0.0, [0.1]))
    found = outcome(searching, [pool(15)], [10, 20, 40], before=[0.3])
    assert [one.samples for one in found.candidates] == [10, 10, 15, 15]
    assert {one.weight for one in found.candidates} == {1.0}
    assert refitter.refits == 2


def test_an_unknown_score_is_no_reason_to_choose() -> None:
    searching = search(FakeRefitter(by_samples), lambda model: (0.0, [math.nan]))
    found = outcome(searching, [pool(100)], [10], before=[0.3])
    assert found.chosen is None


def test_an_interrupted_search_goes_on_to_the_same_end(tmp_path: Path) -> None:
    def judge(model):
        samples, stage = model
        return 0.0, [abs(0.4 - samples / 50 - 0.001 * stage)]

    arguments = ([pool(100)], [10, 20, 40])
    options = {"before": [0.4], "seed": 3}
    whole = outcome(search(FakeRefitter(by_samples), judge), *arguments, **options)

    calls = 0

    def interrupted(model):
        nonlocal calls
        calls += 1
        if calls > 4:
            raise KeyboardInterrupt
        return judge(model)

    file = tmp_path / "journal.json"
    searching = search(FakeRefitter(by_samples), interrupted, Journal(file, {"work": 1}))
    with pytest.raises(KeyboardInterrupt):
        outcome(searching, *arguments, **options)
    refitter = FakeRefitter(by_samples)
    searching = search(refitter, judge, Journal(file, {"work": 1}, resume=True))
    resumed = outcome(searching, *arguments, **options)
    assert resumed.candidates == whole.candidates
    assert resumed.chosen == whole.chosen
    assert resumed.model == whole.model
    # The third step, and the second again, whose model is wanted.
    assert refitter.refits == 2


def test_added_joins_the_first_samples_of_each_pool() -> None:
    examples = added([pool(5), pool(4, favourable=False)], (2, 1))
    assert examples is not None
    assert examples.inputs["place"].tolist() == [0, 1, 0]
    assert examples.favourable.tolist() == [True, True, False]
    assert added([pool(5)], (0,)) is None


def test_the_worst_of_nothing_known_is_infinite() -> None:
    assert worst_of([math.nan]) == math.inf
    assert best_of([], [1.0]) is None


@given(
    more=st.integers(0, 200),
    sizes=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=6),
)
def test_shares_are_fair(more: int, sizes: list[tuple[int, int, bool]]) -> None:
    """Against dealing one sample at a time."""
    taken = [have for have, _, _ in sizes]
    there = [have + free for have, free, _ in sizes]
    wanting = [place for place, (_, _, wants) in enumerate(sizes) if wants]
    expected, left = list(taken), more
    while left:
        open_ = [place for place in wanting if expected[place] < there[place]]
        if not open_:
            break
        for place in open_:
            if left:
                expected[place] += 1
                left -= 1
    assert share_out(more, wanting, taken, there) == tuple(expected)
