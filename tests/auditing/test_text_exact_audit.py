"""Exact audits of texts, against counts made text by text and rule set by rule set."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_texts import (
    CATEGORIES,
    audit,
    by_words,
    made_up_terms,
    made_up_texts,
    named,
    others_of,
    rule_sets,
    seeds_of,
    with_terms,
)


def other_terms(chosen):
    """List the ways to give every category of a rule set another term."""
    names = list(chosen)
    for terms in itertools.product(*(CATEGORIES[name] for name in names)):
        if all(term != chosen[name] for name, term in zip(names, terms, strict=True)):
            yield dict(zip(names, terms, strict=True))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(30, 120), st.sampled_from([0.02, 0.1, 0.3]))
def test_rates_are_those_counted_text_by_text(seed, count, theta):
    texts = made_up_texts(count, seed)

    def decide(text):
        return by_words(text, str(seed))

    found = audit(decide, texts, made_up_terms(), theta=theta)
    groups = named(found)
    assert found.mode == "exact"
    frequent = [
        chosen for chosen in rule_sets() if len(seeds_of(texts, chosen)) >= theta * count - 1e-9
    ]
    assert set(groups) == {frozenset(chosen.items()) for chosen in frequent}
    for chosen in frequent:
        group = groups[frozenset(chosen.items())]
        inside = [decide(with_terms(text, chosen)) for text in seeds_of(texts, chosen)]
        outside = [decide(text) for text in others_of(texts, chosen)]
        estimates = found.estimates
        assert estimates.rows_in[group] == estimates.samples_in[group] == len(inside)
        assert estimates.rows_out[group] == estimates.samples_out[group] == len(outside)
        assert estimates.favourable_in[group] == sum(inside)
        assert estimates.favourable_out[group] == sum(outside)
        assert estimates.margin[group] == 0


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_paired_differences_are_those_counted_seed_by_seed(seed):
    texts = made_up_texts(60, seed)
    found = audit(by_words, texts, made_up_terms(), guarantee="per-group")
    assert found.counterfactual is not None
    for terms, group in named(found).items():
        chosen = dict(terms)
        seeds = seeds_of(texts, chosen)
        differences = []
        for text in seeds:
            here = by_words(with_terms(text, chosen))
            elsewhere = [by_words(with_terms(text, other)) for other in other_terms(chosen)]
            differences.append(here - sum(elsewhere) / len(elsewhere))
        compared = found.counterfactual
        assert compared.seeds[group] == len(seeds)
        assert compared.difference[group] == pytest.approx(np.mean(differences), abs=1e-12)
        assert compared.rate_with[group] == found.estimates.rate_in[group]
        padded = np.array([*differences, 1.0, -1.0])
        reach = 1.959964 * math.sqrt(padded.var() / len(padded))
        low, high = padded.mean() - reach, padded.mean() + reach
        assert compared.low[group] == pytest.approx(
            max(min(low, np.mean(differences)), -1), abs=1e-6
        )
        assert compared.high[group] == pytest.approx(
            min(max(high, np.mean(differences)), 1), abs=1e-6
        )


def test_a_model_blind_to_the_terms_has_no_paired_difference_though_it_may_have_a_score():
    texts = made_up_texts(300, 4)
    # Texts with colours are about doors more often; the model looks at doors only.
    texts = [
        f"{text} door door" if any(term in text for term in CATEGORIES["colour"]) else text
        for text in texts
    ]

    def doors(text):
        return text.split().count("door") >= 2

    found = audit(doors, texts, made_up_terms())
    assert found.counterfactual is not None
    assert (found.counterfactual.difference == 0).all()
    assert (found.counterfactual.low < 0).all()
    assert (found.counterfactual.high > 0).all()
    assert found.top_score == found.largest_bound == 0
    assert found.significant_terms == 0
    assert audit(doors, texts, made_up_terms(), rank_by="score").top_score > 0.5


def test_a_category_of_one_term_has_no_other_to_compare_with():
    terms = made_up_terms({"colour": ("red",), "size": ("small", "large")})
    texts = ["a red door", "a small red lamp", "a large chair", "a lamp", "a door"] * 10
    found = audit(by_words, texts, terms, theta=0.05)
    groups = named(found)
    assert found.counterfactual is not None
    for terms_of_group, group in groups.items():
        compared = found.counterfactual.seeds[group]
        assert (compared == 0) == any(category == "colour" for category, _ in terms_of_group)
        assert np.isnan(found.counterfactual.difference[group]) == (compared == 0)


def test_accuracy_and_overall_rate_are_over_the_texts_as_they_are():
    texts = made_up_texts(90, 2)
    found = audit(by_words, texts, made_up_terms())
    assert found.overall_rate == sum(map(by_words, texts)) / 90
    assert found.accuracy is None
    assert found.rows == 90


def test_terms_that_nobody_mentions_leave_nothing_to_judge():
    found = audit(by_words, ["a door", "a lamp"] * 20, made_up_terms())
    assert len(found.rule_sets) == 0
    assert found.top_score is None
    assert len(found.small) > 0
    assert {small.count for small in found.small} == {0}
