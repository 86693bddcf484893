"""The order of samples: by chance, the same for the same seed, and with a common beginning."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbours_by_hand import ROWS, draw_samples, keys_of, model_of, neighbourhood, rows_of, score
from scipy import stats

import testsgd.mitigation.sample_selection as selection
from testsgd.mitigation.samples import CounterSamples

PEOPLE = [
    {"gender": gender, "wage": wage, "age": age, "share": share, "town": town}
    for gender in "fm"
    for wage in (1, 2)
    for age in (3, 5)
    for share in (0.2, 1.0)
    for town in ("north", "middle")
]
SEEDS = st.integers(0, 1000)


def same(one: CounterSamples, other: CounterSamples) -> bool:
    """Compare two sets of samples, their order too."""
    pd.testing.assert_frame_equal(one.inputs, other.inputs)
    return (
        one.seeds.tolist() == other.seeds.tolist()
        and one.changes.tolist() == other.changes.tolist()
        and one.relabelled.tolist() == other.relabelled.tolist()
    )


@given(ROWS, st.integers(0, 30), SEEDS)
def test_same_seed_same_samples(rows, wanted, seed):
    first, again = (draw_samples(rows, wanted=wanted, seed=seed) for _ in range(2))
    assert same(first, again)
    assert first.report == again.report


@given(
    ROWS,
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(1, 80),
    st.sampled_from(["nearest", "none"]),
    SEEDS,
)
def test_who_asks_for_more_gets_the_same_first_ones(rows, one, other, cap, fallback, seed):
    fewer, more = (
        draw_samples(rows, wanted=wanted, max_draws=cap, fallback=fallback, seed=seed)
        for wanted in sorted((one, other))
    )
    assert len(fewer) == min(one, other, len(more))
    assert same(fewer, more.take(len(fewer)))


@given(ROWS, st.booleans(), st.integers(1, 60), SEEDS)
def test_the_relabelled_are_those_nearest_to_the_boundary(rows, favourable, wanted, seed):
    samples = draw_samples(rows, favourable=favourable, wanted=wanted, seed=seed)
    everything = neighbourhood(rows, list(range(len(rows)))).values()
    others = [abs(score(row) - 0.5) for row in everything if (score(row) > 0.5) != favourable]
    relabelled = samples.inputs[samples.relabelled]
    found = [abs(score(row) - 0.5) for row in rows_of(relabelled)]
    counter = len(everything) - len(others)
    assert len(found) == max(0, min(wanted, len(everything)) - counter)
    assert found == pytest.approx(sorted(others)[: len(found)])
    assert samples.report.nearness == "score"


@given(ROWS, st.integers(1, 60), SEEDS)
def test_a_model_of_labels_has_them_relabelled_in_the_order_drawn(rows, wanted, seed):
    """Every draw is of another label, so that the order drawn is that of a model that likes all."""
    none, every = (model_of(lambda _, value=value: value, labels=True) for value in (0.1, 0.9))
    relabelled = draw_samples(rows, model=none, wanted=wanted, seed=seed)
    drawn = draw_samples(rows, model=every, wanted=wanted, seed=seed)
    assert relabelled.relabelled.all()
    assert not drawn.relabelled.any()
    assert relabelled.report.nearness == "unknown"
    assert drawn.report.nearness == "score"
    assert keys_of(relabelled, rows) == keys_of(drawn, rows)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 7), (1, 100)])
@pytest.mark.parametrize("wanted", [5, 40, 10**6])
def test_how_many_are_asked_about_at_once_changes_nothing(monkeypatch, sizes, wanted):
    # Of half the people four moves lead nowhere: they themselves come up again and again.
    people = [*PEOPLE, *({**person, "town": None, "wage": None} for person in PEOPLE)]
    before = draw_samples(people, wanted=wanted)
    monkeypatch.setattr(selection, "_FEWEST", sizes[0])
    monkeypatch.setattr(selection, "_MOST", sizes[1])
    assert same(draw_samples(people, wanted=wanted), before)


def test_the_model_is_asked_about_no_more_than_needed():
    asked = []

    def count(row):
        asked.append(row)
        return 0.9

    samples = draw_samples(PEOPLE * 20, model=model_of(count), wanted=50)
    assert len(samples) == 50
    # One batch, though the neighbourhood holds many times as many.
    assert len(asked) == samples.report.distinct == 256 < samples.report.seeds


LIKES_ALL = model_of(lambda _: 0.9)


def test_every_neighbour_is_as_likely_to_come_first():
    copies, wanted = 300, 4000
    samples = draw_samples(PEOPLE * copies, model=LIKES_ALL, wanted=wanted)
    # Copies of a person are told together: 32 people with six moves each, five of which or all
    # lead somewhere. In the north a move stays where it is, which is a sample too.
    found = Counter(zip((samples.seeds % len(PEOPLE)).tolist(), samples.changes, strict=True))
    people = [
        (place, sum(key[1] == "" for key in neighbourhood(PEOPLE, [place])))
        for place in range(len(PEOPLE))
    ]
    assert [still for _, still in people] == [person["town"] == "north" for person in PEOPLE]
    assert len(found) == 6 * len(PEOPLE)
    assert stats.chisquare(list(found.values())).pvalue > 1e-6
    assert sum(found.values()) == wanted


@given(ROWS, st.integers(1, 30), SEEDS)
def test_of_a_large_neighbourhood_none_comes_twice_either(rows, cap, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_SHUFFLED", 0)
        patch.setattr(selection, "_TIMES", 0)
        samples = draw_samples(rows, model=LIKES_ALL, max_draws=cap, seed=seed)
        again = draw_samples(rows, model=LIKES_ALL, max_draws=cap, wanted=3, seed=seed)
    keys = keys_of(samples, rows)
    assert len(set(keys)) == len(keys) <= cap
    assert keys_of(again, rows) == keys[:3]


def test_of_a_large_neighbourhood_as_many_are_drawn_as_allowed(monkeypatch):
    monkeypatch.setattr(selection, "_SHUFFLED", 0)
    rows = PEOPLE * 10
    # Five times as many neighbours as draws: more than are shuffled whole.
    samples = draw_samples(rows, model=LIKES_ALL, max_draws=len(rows) * 6 // 5)
    assert samples.report.drawn == len(rows) * 6 // 5
    assert samples.report.exhausted
