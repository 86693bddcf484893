"""Counter-labelled samples of texts: seeds with the group's terms, or texts that lack one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts_by_hand import SIDES, TERMS, TEXTS, draw_texts, score, seeds_of, variant

import testsgd.mitigation.sample_selection as selection
from testsgd.rules import find_mentions

OPTIONS = st.fixed_dictionaries(
    {
        "favourable": st.booleans(),
        "wanted": st.integers(0, 30) | st.just(10**6),
        "max_draws": st.integers(1, 30) | st.just(10**6),
        "fallback": st.sampled_from(["nearest", "none"]),
        "seed": st.integers(0, 1000),
    }
)


@given(TEXTS, SIDES, OPTIONS)
def test_every_sample_is_made_from_its_seed_and_has_the_label(texts, side, options):
    samples = draw_texts(texts, side, **options)
    assert set(samples.seeds) <= set(seeds_of(texts, side))
    assert len(set(samples.inputs)) == len(samples.inputs) == len(samples) <= options["wanted"]
    for seed, sample, relabelled in zip(
        samples.seeds, samples.inputs, samples.relabelled, strict=True
    ):
        assert sample == (variant(texts[seed]) if side == "group" else texts[seed])
        assert ((score(sample) > 0.5) == options["favourable"]) == (not relabelled)
    assert samples.relabelled.tolist() == sorted(samples.relabelled), "the relabelled come last"
    assert (samples.side, samples.target) == (side, 1)
    assert samples.favourable == options["favourable"]


@given(TEXTS, OPTIONS)
def test_samples_of_the_group_mention_its_terms_and_no_other_of_their_categories(texts, options):
    samples = draw_texts(texts, "group", **options)
    mentions = find_mentions(samples.inputs, TERMS)
    assert mentions.sole().tolist() == [[2, 0]] * len(samples)


@given(TEXTS, SIDES, OPTIONS)
def test_caps_are_respected(texts, side, options):
    samples = draw_texts(texts, side, **options)
    report, seeds = samples.report, seeds_of(texts, side)
    assert report.seeds == len(seeds)
    assert report.distinct <= report.drawn <= min(options["max_draws"], len(seeds))
    assert report.relabelled == samples.relabelled.sum()
    if report.relabelled:
        assert options["fallback"] == "nearest"
        assert report.exhausted
    if len(samples) < options["wanted"]:
        assert report.drawn == min(options["max_draws"], len(seeds))
        assert report.exhausted


@given(TEXTS, SIDES, st.booleans(), st.sampled_from(["nearest", "none"]), st.integers(0, 100))
def test_all_seeds_are_seen_if_they_are_few(texts, side, favourable, fallback, seed):
    samples = draw_texts(texts, side, favourable=favourable, fallback=fallback, seed=seed)
    everything = {
        variant(texts[place]) if side == "group" else texts[place]
        for place in seeds_of(texts, side)
    }
    wanted = {text for text in everything if (score(text) > 0.5) == favourable}
    kept = {
        text
        for text, relabelled in zip(samples.inputs, samples.relabelled, strict=True)
        if not relabelled
    }
    assert kept == wanted
    assert set(samples.inputs) == (wanted if fallback == "none" else everything)
    report = samples.report
    assert (report.distinct, report.counter_labelled) == (len(everything), len(wanted))


@given(TEXTS, SIDES, st.booleans(), st.integers(1, 25), st.integers(0, 100))
def test_the_relabelled_are_those_nearest_to_the_boundary(texts, side, favourable, wanted, seed):
    samples = draw_texts(texts, side, favourable=favourable, wanted=wanted, seed=seed)
    everything = {
        variant(texts[place]) if side == "group" else texts[place]
        for place in seeds_of(texts, side)
    }
    others = [abs(score(text) - 0.5) for text in everything if (score(text) > 0.5) != favourable]
    found = [
        abs(score(text) - 0.5)
        for text, relabelled in zip(samples.inputs, samples.relabelled, strict=True)
        if relabelled
    ]
    assert len(samples) == min(wanted, len(everything))
    assert found == sorted(others)[: len(found)]


@given(TEXTS, SIDES, OPTIONS, st.integers(0, 30))
def test_who_asks_for_more_gets_the_same_first_ones(texts, side, options, fewer):
    more = draw_texts(texts, side, **options)
    few = draw_texts(texts, side, **{**options, "wanted": min(fewer, options["wanted"])})
    first = more.take(len(few))
    assert len(few) == min(fewer, len(more))
    assert few.inputs == first.inputs
    assert few.seeds.tolist() == first.seeds.tolist()
    assert few.changes.tolist() == first.changes.tolist()
    assert few.relabelled.tolist() == first.relabelled.tolist()


@pytest.mark.parametrize("sizes", [(1, 1), (2, 5)])
def test_how_many_are_asked_about_at_once_changes_nothing(monkeypatch, sizes):
    texts = [f"a small red door {place} by a large lamp" for place in range(40)]
    before = draw_texts(texts, "group", wanted=30)
    monkeypatch.setattr(selection, "_FEWEST", sizes[0])
    monkeypatch.setattr(selection, "_MOST", sizes[1])
    after = draw_texts(texts, "group", wanted=30)
    assert after.inputs == before.inputs
    assert after.relabelled.tolist() == before.relabelled.tolist()


def test_what_was_changed_is_told_once_for_each_term():
    texts = ["a red and Red door by a large lamp", "a blue small door", "a green or red small lamp"]
    samples = draw_texts(texts, "group")
    told = dict(zip(samples.seeds.tolist(), samples.changes, strict=True))
    assert told == {
        0: '"red" to "blue", "large" to "small"',
        1: "",
        2: '"green" to "blue", "red" to "blue"',
    }
    assert set(draw_texts(["a door", "a red lamp"], "rest").changes) == {""}


def test_texts_that_become_the_same_count_once():
    texts = ["a red small door", "a green small door", "a blue large door", "a red large lamp"]
    samples = draw_texts(texts, "group")
    assert sorted(samples.inputs) == ["a blue small door", "a blue small lamp"]
    assert (samples.report.drawn, samples.report.distinct) == (4, 2)


def test_without_seeds_there_are_no_samples():
    samples = draw_texts(["a door"], "group")
    assert (len(samples), samples.inputs, samples.report.exhausted) == (0, (), True)
