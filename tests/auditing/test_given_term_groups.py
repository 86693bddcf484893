"""Rates of given groups of texts: those of an exact audit, or of draws that no model changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_texts import (
    CATEGORIES,
    SPECIFICATION,
    audit,
    by_words,
    checked,
    made_up_terms,
    made_up_texts,
    others_of,
    rule_sets,
    seeds_of,
    with_terms,
)
from scipy import stats

from testsgd.auditing import Estimates
from testsgd.auditing.text import TermGroup, TermGroupMeasure
from testsgd.errors import ParameterError
from testsgd.models import TextModel, load_text_model
from testsgd.rules import find_mentions

TERMS = made_up_terms()


def places_of(chosen: dict[str, str]) -> TermGroup:
    """Give a group as places in the list of terms."""
    names = list(CATEGORIES)
    categories = sorted(names.index(name) for name in chosen)
    terms = [CATEGORIES[names[place]].index(chosen[names[place]]) for place in categories]
    return tuple(categories), tuple(terms)


def text_model(decide: Any = by_words) -> TextModel:
    """A model that decides text by text."""
    return load_text_model(
        lambda batch: ["good" if decide(text) else "bad" for text in batch], SPECIFICATION
    ).model


def measure_of(texts: list[str], groups: list[dict[str, str]], **options: Any) -> TermGroupMeasure:
    """Get ready to measure groups."""
    return TermGroupMeasure(
        checked(texts),
        find_mentions(texts, TERMS),
        [places_of(chosen) for chosen in groups],
        **{"max_queries": 10**6, "seed": 0, **options},
    )


def same(first: Estimates, second: Estimates) -> bool:
    """Compare all that is known of the groups."""
    return all(
        np.array_equal(value, getattr(second, name)) for name, value in vars(first).items()
    ) and np.array_equal(
        first.population_interval(0.9), second.population_interval(0.9), equal_nan=True
    )


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.integers(1, 60),
    st.lists(st.sampled_from(rule_sets()), max_size=8),
)
def test_counts_are_those_of_texts_one_by_one(seed, count, groups):
    texts = made_up_texts(count, seed)
    found = measure_of(texts, groups)(text_model())
    low, high = found.population_interval(0.95)
    assert found.exact
    for place, chosen in enumerate(groups):
        inside = [by_words(with_terms(text, chosen)) for text in seeds_of(texts, chosen)]
        outside = [by_words(text) for text in others_of(texts, chosen)]
        assert found.rows_in[place] == found.samples_in[place] == len(inside)
        assert found.rows_out[place] == found.samples_out[place] == len(outside)
        assert found.favourable_in[place] == sum(inside)
        assert found.favourable_out[place] == sum(outside)
        compared = bool(inside and outside)
        assert found.decided[place] == compared
        assert np.isnan(found.score[place]) == np.isnan(low[place]) == (not compared)
        if compared:
            assert low[place] <= found.difference[place] <= high[place]


TEXTS = made_up_texts(400, 1)
SOME = [{"colour": "red"}, {"colour": "blue", "size": "large"}, {"shape": "flat"}]


def test_all_is_as_an_exact_audit_finds_it():
    found = audit(by_words, TEXTS, TERMS)
    sets = found.rule_sets
    groups = [
        (sets.category_sets[sets.set_of(group)].categories, sets.chosen(group))
        for group in range(len(sets))
    ]
    measure = TermGroupMeasure(
        found.texts, found.mentions, groups, max_queries=found.queries, seed=5
    )
    assert len(groups) > 50
    assert same(measure(text_model()), found.estimates)
    assert same(measure(text_model()), found.estimates), "asked again"


def asked_by(decide: Any, queries: int, **options: Any) -> tuple[Estimates, list[str]]:
    """Measure some groups; give the texts that the model was asked about, too."""
    asked: list[str] = []

    def ask(text: str) -> bool:
        asked.append(text)
        return decide(text)

    return measure_of(TEXTS, SOME, max_queries=queries, **options)(text_model(ask)), asked


def test_a_text_is_asked_about_once_for_all_groups():
    needed = {with_terms(text, chosen) for chosen in SOME for text in seeds_of(TEXTS, chosen)}
    needed |= {text for chosen in SOME for text in others_of(TEXTS, chosen)}
    estimates, asked = asked_by(by_words, 10**6)
    assert estimates.exact
    assert len(asked) == len(set(asked))
    assert set(asked) == needed


def test_it_is_exact_if_the_texts_to_ask_about_are_no_more_than_allowed():
    # No two of these texts are the same, so that each is a query.
    assert len(set(TEXTS)) == len(TEXTS)
    _, asked = asked_by(by_words, 10**6)
    assert measure_of(TEXTS, SOME, max_queries=len(asked)).exact
    assert not measure_of(TEXTS, SOME, max_queries=len(asked) - 1).exact


@pytest.mark.parametrize("queries", [6, 11, 300])
def test_no_more_draws_are_made_than_allowed(queries):
    estimates, asked = asked_by(by_words, queries)
    assert len(asked) <= queries
    assert not estimates.exact
    assert set(estimates.samples_in) == set(estimates.samples_out) == {queries // 6}
    assert estimates.rows_in.tolist() == [len(seeds_of(TEXTS, chosen)) for chosen in SOME]
    assert estimates.rows_out.tolist() == [len(others_of(TEXTS, chosen)) for chosen in SOME]


def test_every_model_is_asked_about_the_same_draws():
    _, first = asked_by(by_words, 300)
    _, second = asked_by(lambda text: "red" in text, 300)
    _, other = asked_by(by_words, 300, seed=1)
    assert first == second
    assert set(first) != set(other)


def test_draws_of_a_side_are_of_that_side():
    estimates, asked = asked_by(lambda text: "red" in text.split(), 300)
    assert estimates.rate_in[0] == 1
    assert estimates.rate_out[0] == 0
    sides = {with_terms(text, chosen) for chosen in SOME for text in seeds_of(TEXTS, chosen)}
    assert set(asked) <= sides | set(TEXTS)


def test_drawn_rates_are_those_of_all_texts_but_for_chance():
    exact = measure_of(TEXTS, SOME)(text_model())
    for seed in range(10):
        drawn, _ = asked_by(by_words, 540, seed=seed)
        for side in ("in", "out"):
            for count, rate in zip(
                getattr(drawn, f"favourable_{side}"), getattr(exact, f"rate_{side}"), strict=True
            ):
                least, most = stats.binom.interval(1 - 1e-6 / 60, 90, rate)
                assert least <= count <= most


@pytest.mark.parametrize("queries", [10, 10**6])
def test_groups_without_texts_on_one_side_have_no_score(queries):
    texts = ["a red door", "a red lamp", "red red chair", "a red table"] * 5
    groups = [{"size": "small"}, {"colour": "red"}, {"colour": "blue"}]
    estimates = measure_of(texts, groups, max_queries=queries)(text_model())
    assert estimates.rows_in.tolist() == [0, 20, 20]
    assert estimates.rows_out.tolist() == [20, 0, 20]
    assert np.isnan(estimates.score).tolist() == [True, True, False]
    assert estimates.decided.tolist()[:2] == [False, False]
    for end in estimates.population_interval(0.95):
        assert np.isnan(end).tolist() == [True, True, False]


def test_no_group_is_no_trouble():
    estimates = measure_of(TEXTS, [], max_queries=2)(text_model())
    assert len(estimates.score) == len(estimates.population_interval(0.95)[0]) == 0


def test_too_few_queries_for_one_draw_a_side_are_refused():
    with pytest.raises(ParameterError, match="3 groups take at least 6 queries, 5 are allowed"):
        measure_of(TEXTS, SOME, max_queries=5)
