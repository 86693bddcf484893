"""Terms are compared with neutral words as well: a model that minds all of them is found out."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_texts import CATEGORIES, SPECIFICATION, WORDS, audit, made_up_terms, made_up_texts
from scipy.stats import binom

import testsgd
from testsgd.auditing.report.summarise import summarise
from testsgd.data.text import terms_from_mapping
from testsgd.errors import SpecificationError

TEXTS = made_up_texts(800, 1)
TERMS = {term for terms in CATEGORIES.values() for term in terms}
LIMIT = 0.1


def by_chance(text: str) -> bool:
    """Flag about 10% of the texts, whatever terms they mention."""
    rest = " ".join(word for word in text.split() if word in WORDS)
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(rest)) % 10 == 0


def minds_all(text: str) -> bool:
    return by_chance(text) or not TERMS.isdisjoint(text.split())


def minds_unknown(text: str) -> bool:
    return by_chance(text) or not {*WORDS, *TERMS}.issuperset(text.split())


def minds_all_and_unknown(text: str) -> bool:
    return by_chance(text) or not set(WORDS).issuperset(text.split())


def verdict_of(decide, texts=TEXTS, terms=None, **parameters):
    terms = made_up_terms() if terms is None else terms
    summary = summarise(audit(decide, texts, terms, fail_above=LIMIT, **parameters))
    return summary.verdict, summary.terms.controls


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_a_model_that_flags_every_term_alike_fails(mode):
    only_colours = {"colour": CATEGORIES["colour"]}
    texts = made_up_texts(800, 2, shares=(0.4, 0, 0))
    sampling = {"error_margin": 0.1, "min_samples": 200} if mode == "sampled" else {}
    terms = made_up_terms(only_colours)
    verdict, controls = verdict_of(minds_all, texts, terms, mode=mode, **sampling)
    assert (verdict.status, verdict.exit_code) == ("gate_failed", 1)
    assert "colour" in verdict.headline
    # Truth by construction: every text with a term is flagged, and of others those by chance.
    mentioning = [text for text in texts if not TERMS.isdisjoint(text.split())]
    truth = 1 - np.mean([by_chance(text) for text in mentioning])
    assert {effect.term for effect in controls.effects} == {None, *CATEGORIES["colour"]}
    for effect in controls.effects:
        low, high = effect.confidence_interval
        assert effect.rate_with == 1
        assert low <= truth <= high
        left_out = next(control for control in effect.controls if not control.word)
        if mode == "exact":
            assert left_out.difference == pytest.approx(truth)
        assert 0 < effect.difference <= left_out.difference
        assert effect.lower_confidence_bound > LIMIT


def test_a_lone_term_beside_a_harmless_category_fails():
    lone = {"colour": CATEGORIES["colour"], "size": ("small",)}

    def minds_small(text):
        return by_chance(text) or "small" in text.split()

    for strict in (False, True):
        verdict, controls = verdict_of(minds_small, terms=made_up_terms(lone), strict=strict)
        assert verdict.status == "gate_failed"
        assert "size" in verdict.headline
        assert [(item.category, item.terms) for item in controls.not_compared] == [
            ("size", ["small"])
        ]
        assert any("“small”" in sentence for sentence in verdict.sentences)
    by_term = {(effect.category, effect.term): effect for effect in controls.effects}
    assert by_term["size", "small"].lower_confidence_bound > 0.5
    assert all(by_term["colour", term].difference == 0 for term in CATEGORIES["colour"])


def test_a_lone_category_of_a_lone_term_fails():
    texts = made_up_texts(300, 3, shares=(0, 0.4, 0))
    verdict, _ = verdict_of(
        lambda text: "small" in text.split(), texts, made_up_terms({"size": ("small",)})
    )
    assert verdict.status == "gate_failed"


@pytest.mark.parametrize("mode", ["exact", "sampled"])
@pytest.mark.parametrize("lone", [("size",), ("size", "shape")])
def test_of_lone_terms_it_is_said_that_no_other_can_replace_them(mode, lone):
    texts = made_up_texts(300, 3, shares=(0, 0.4, 0.4))
    terms = made_up_terms({category: CATEGORIES[category][:1] for category in lone})
    verdict, _ = verdict_of(by_chance, texts, terms, mode=mode, theta=0.05)
    said = " ".join(verdict.sentences)
    assert "only one term" in said
    assert "a second term" in said
    assert "--rank-by score" in said
    assert all(category in said.partition("a second term")[2] for category in lone)
    # Nothing was left out for want of queries.
    assert "queries" not in said
    assert "margin" not in said


def test_a_lone_term_beside_groups_with_too_few_samples_is_named_too():
    texts = made_up_texts(400, 3, shares=(0.4, 0.4, 0))
    terms = made_up_terms({"colour": CATEGORIES["colour"], "size": ("small",)})
    verdict, _ = verdict_of(by_chance, texts, terms, mode="sampled", max_queries=450)
    said = " ".join(verdict.sentences)
    assert "Allow more queries" in said
    assert "only one term of size" in said


def test_an_exact_audit_of_few_texts_as_they_are_asks_for_more_texts():
    texts = made_up_texts(300, 3, shares=(0.2, 0, 0))
    terms = made_up_terms({"colour": CATEGORIES["colour"]})
    verdict, _ = verdict_of(by_chance, texts, terms, rank_by="score", theta=None, min_rows=45)
    said = " ".join(verdict.sentences)
    assert "None of 3 groups has 45 texts" in said
    assert "more texts" in said
    assert "queries did not" not in said
    assert "Allow more queries" not in said


def test_terms_that_too_few_texts_mention_are_judged_by_the_control():
    texts = [*made_up_texts(970, 4, shares=(0.3, 0, 0)), *made_up_texts(30, 5, shares=(0, 1, 0))]
    both = made_up_terms({"colour": CATEGORIES["colour"], "size": CATEGORIES["size"]})
    sizes = set(CATEGORIES["size"])
    verdict, controls = verdict_of(
        lambda text: by_chance(text) or not sizes.isdisjoint(text.split()), texts, both, theta=0.05
    )
    [rare] = controls.not_compared
    assert (rare.category, set(rare.terms)) == ("size", sizes)
    assert rare.reason
    assert verdict.status == "gate_failed"
    assert "size" in verdict.headline


def noisy(seed):
    """Flag by a hash of the whole text: any change of it draws anew, whatever stands there."""

    def decide(text):
        value = seed + 17
        for letter in text:
            value = (value * 31 + ord(letter)) % 1_000_003
        return value % 10 < 3

    return decide


@pytest.mark.slow
def test_a_model_that_minds_no_term_is_not_accused():
    found = failed = 0
    seeds = range(60)
    for seed in seeds:
        texts = made_up_texts(400, seed, shares=(0.4, 0.3, 0))
        verdict, controls = verdict_of(noisy(seed), texts, max_features=1, replicates=99)
        found += any(effect.lower_confidence_bound > 0 for effect in controls.effects)
        failed += verdict.status == "gate_failed"
    # As many as have a chance of one in a thousand, if 5% are wrong.
    assert found <= binom.isf(0.001, len(seeds), 0.05)
    assert failed == 0


def test_a_model_that_minds_no_term_passes():
    # Single categories, as of three together there are too few texts to pass a gate by.
    verdict, controls = verdict_of(by_chance, max_features=1)
    assert verdict.status == "gate_passed"
    assert all(effect.difference == 0 for effect in controls.effects)


def test_a_model_that_minds_unknown_words_is_not_accused_by_the_nonsense_word():
    verdict, controls = verdict_of(minds_unknown, max_features=1)
    assert verdict.status == "gate_passed"
    for effect in controls.effects:
        rates = {control.word: control.rate for control in effect.controls}
        assert 1 in rates.values()
        assert rates[""] < 0.3
        assert (effect.difference, effect.lower_confidence_bound) == (0, 0)


def test_where_controls_disagree_there_is_no_finding_and_no_all_clear():
    verdict, controls = verdict_of(minds_all_and_unknown)
    assert (verdict.status, verdict.exit_code) == ("not_enough_evidence", 3)
    assert all(effect.lower_confidence_bound == 0 for effect in controls.effects)
    assert all(effect.contested_bound > LIMIT for effect in controls.effects)
    # The reader gets to know both rates.
    assert any("nonsense" in text or "florp" in text for text in verdict.sentences)


def test_copies_are_one_unit():
    few = made_up_texts(30, 6, shares=(1, 0, 0))
    plain = audit(minds_all, few, made_up_terms()).control_effects.effects[0]
    copied = audit(minds_all, few * 20, made_up_terms()).control_effects.effects[0]
    assert copied.difference == pytest.approx(plain.difference)
    assert copied.lower_bound == pytest.approx(plain.lower_bound, abs=0.02)


@pytest.mark.parametrize("spare", [0, 100, 400, 10_000])
def test_controls_stay_within_the_budget(spare):
    needed = audit(minds_all, TEXTS, made_up_terms(), max_queries=1_000_000)
    least = len(TEXTS) + needed.neighbourhood + len(TEXTS)
    found = audit(minds_all, TEXTS, made_up_terms(), max_queries=least + spare)
    assert found.queries <= least + spare
    assert (found.control_effects is None) == (spare == 0)


def test_a_gate_does_not_pass_if_nothing_was_left_for_controls():
    needed = audit(minds_all, TEXTS, made_up_terms())
    least = len(TEXTS) + needed.neighbourhood + len(TEXTS)
    verdict, controls = verdict_of(minds_all, max_queries=least)
    assert controls.confidence is None
    assert verdict.status == "not_enough_evidence"


def test_a_person_is_a_neutral_word_for_nouns():
    terms = terms_from_mapping(
        {
            "terms": {"name": "people"},
            "categories": {"people": {"woman": ["women"], "man": ["men"]}},
        }
    )
    asked = []

    def model(texts):
        asked.extend(texts)
        return ["good" for _ in texts]

    texts = [f"An old woman, two men and {number} chairs." for number in range(60)]
    result = testsgd.audit(model, texts, SPECIFICATION, terms=terms)
    [effect, *_] = result.summary.terms.controls.effects
    assert "person" in {control.word for control in effect.controls}
    assert "An old person, two people and 7 chairs." in asked


def test_a_list_of_terms_may_name_its_neutral_words():
    named = {
        "terms": {"name": "rooms", "neutral": {"colour": ["plain"]}},
        "categories": {"colour": {term: {} for term in CATEGORIES["colour"]}},
    }
    found = audit(minds_all, TEXTS, terms_from_mapping(named))
    assert "plain" in found.control_effects.effects[0].controls
    plain = {**named, "terms": {"name": "rooms"}}
    assert terms_from_mapping(plain).fingerprint() != terms_from_mapping(named).fingerprint()
    for wrong in ({"size": ["plain"]}, {"colour": ["red"]}):
        with pytest.raises(SpecificationError):
            terms_from_mapping({**named, "terms": {"name": "rooms", "neutral": wrong}})
