"""A text is predicted once, whoever asks; and how many there will be is known before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_texts import (
    SPECIFICATION,
    audit,
    by_words,
    made_up_terms,
    made_up_texts,
    rule_sets,
    seeds_of,
    with_terms,
)

from testsgd.auditing.text import answers as predictions_module
from testsgd.auditing.text.answers import SharedPredictions
from testsgd.auditing.text.run import count_variants
from testsgd.models import load_text_model
from testsgd.rules.text import find_mentions, frequent_term_sets


def recording(calls):
    """Give a model that takes down what it was asked."""

    def model(batch):
        calls.append(list(batch))
        return ["good" if by_words(text) else "bad" for text in batch]

    return load_text_model(model, SPECIFICATION).model


@given(st.lists(st.lists(st.text(alphabet="abc é\ud800", max_size=5), max_size=30), max_size=6))
def test_each_different_text_is_asked_about_once(requests):
    calls = []
    shared = SharedPredictions(recording(calls))
    for request in requests:
        assert shared.decide(iter(request)).tolist() == [by_words(text) for text in request]
    asked = [text for call in calls for text in call]
    assert len(asked) == len(set(asked)) == shared.asked
    assert set(asked) == {text for request in requests for text in request}


@pytest.mark.parametrize("jobs", [1, 3])
def test_portions_batches_and_threads_change_no_answer(monkeypatch, jobs):
    texts = made_up_texts(500, 1)
    expected = [by_words(text) for text in texts]
    monkeypatch.setattr(predictions_module, "_PORTION_TEXTS", 64)
    monkeypatch.setattr(predictions_module, "_BATCH", 10)
    calls = []
    shared = SharedPredictions(recording(calls), jobs=jobs)
    seen = []
    assert shared.decide(texts, progress=seen.append).tolist() == expected
    assert seen == sorted(seen)
    assert {*range(64, 500, 64), 500} <= set(seen)
    # Within a portion too, after each batch.
    assert len(set(seen)) > 40
    assert max(map(len, calls)) <= 10


def test_long_texts_are_not_held_all_at_once(monkeypatch):
    monkeypatch.setattr(predictions_module, "_PORTION_CHARACTERS", 1_000_000)
    calls = []
    shared = SharedPredictions(recording(calls))

    def texts():
        for place in range(6):
            yield f"{place} " * 500_000

    answers = shared.decide(texts())
    assert len(answers) == 6
    assert [len(call) for call in calls] == [1] * 6


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([1, 4, 15]))
def test_variants_are_counted_before_they_are_written(seed, most, min_count):
    # A number in every text keeps variants of different texts apart.
    texts = [f"{place} {text}" for place, text in enumerate(made_up_texts(60, seed))]
    mentions = find_mentions(texts, made_up_terms())
    sets = frequent_term_sets(mentions, min_count=min_count, max_features=most)
    variants = {
        with_terms(text, chosen)
        for chosen in rule_sets(most)
        if len(seeds_of(texts, chosen)) >= min_count
        for text in seeds_of(texts, chosen)
    }
    assert count_variants(mentions, sets) == len(variants - set(texts))


def test_an_exact_audit_asks_what_was_counted():
    texts = [f"{place} {text}" for place, text in enumerate(made_up_texts(200, 3))]
    calls = 0

    def decide(text):
        nonlocal calls
        calls += 1
        return by_words(text)

    found = audit(decide, texts, made_up_terms())
    # The first texts are asked about twice, the seeds of each category without its terms, with a
    # nonsense word and with a common word, too.
    seeds = sum(len(one.rows) for one in found.rule_sets.category_sets if len(one.categories) == 1)
    assert calls == found.queries == 200 + found.neighbourhood + 200 + 3 * seeds


def test_equal_variants_of_different_texts_are_asked_about_once():
    texts = ["a red door", "a green door", "a blue door", "a door"] * 25
    calls = 0

    def decide(text):
        nonlocal calls
        calls += 1
        return by_words(text)

    found = audit(decide, texts, made_up_terms(), theta=0.1)
    # Once, and again to see that the answers stay; and two neutral words.
    assert calls == found.queries == 2 * 4 + 2
    assert found.estimates.samples_in.tolist() == [75, 75, 75]


@pytest.mark.parametrize("jobs", [1, 2])
def test_threads_change_no_result(jobs):
    texts = made_up_texts(400, 9)
    found = audit(by_words, texts, made_up_terms(), jobs=jobs)
    assert int(found.estimates.favourable_in.sum()) == sum(
        by_words(with_terms(text, chosen))
        for chosen in rule_sets()
        if len(seeds_of(texts, chosen)) >= 4
        for text in seeds_of(texts, chosen)
    )
    assert np.isfinite(found.estimates.score).all()
