"""Terms that a model does not know are one unknown word to it, and are judged as that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from made_up_texts import CATEGORIES, SPECIFICATION, made_up_terms, made_up_texts
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import testsgd
from testsgd.auditing import AuditParameters
from testsgd.auditing.text import run_text_audit
from testsgd.auditing.text.known_words import unknown_terms
from testsgd.data import Label
from testsgd.data.text import check_texts, terms_from_mapping
from testsgd.models import CallableTextModel, LoadedModel
from testsgd.rules.text import find_mentions

TEXTS = made_up_texts(600, 1, (0.5, 0.3, 0.3))


class Reader:
    """Dislikes every word of a colour that it knows a little, and does not know "blue"."""

    kind = "reader"

    def __init__(self, words: set[str]) -> None:
        self.words = words

    def knows(self, word: str) -> bool:
        return word in self.words

    def __call__(self, texts: list[str]) -> list[str]:
        return [self.judge(text.split()) for text in texts]

    def judge(self, words: list[str]) -> str:
        known = self.words.intersection(words)
        bad = {"red", "green"} & known and {"table", "chair", "lamp", "door"} & known
        return "bad" if bad else "good"


def audit(unknown: str, **parameters):
    words = {word for text in TEXTS for word in text.split()} - set(unknown.split())
    reader = Reader(words)
    label = SPECIFICATION.label
    model = CallableTextModel(reader, label=label, name="reader")
    model.knows = reader.knows
    return run_text_audit(
        LoadedModel(model, origin=reader),
        check_texts(TEXTS, SPECIFICATION),
        made_up_terms(),
        AuditParameters(
            theta=0.1, max_features=2, replicates=199, estimand="neighbourhood", **parameters
        ),
    )


def terms_of(found, group):
    return [rule.term for rule in found.rule_set(int(group)).rules]


@pytest.mark.parametrize("rank_by", ["auto", "score", "lower-bound"])
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_groups_with_unknown_terms_come_last(rank_by, mode):
    found = audit("blue", rank_by=rank_by, mode=mode, error_margin=0.15, min_samples=200)
    has_it = ["blue" in terms_of(found, group) for group in found.ranking]
    assert has_it == sorted(has_it)
    assert found.unknown.sum() == sum(has_it)
    # It is what differs most from the other colours, and the gate does not go by it.
    own = np.abs(found.counterfactual.difference)
    assert own.argmax() in np.flatnonzero(found.unknown)
    judged = found.sizes[found.estimates.decided & ~found.unknown]
    assert found.top_score == judged.max() < own.max() or rank_by != "auto"


def test_a_model_that_knows_no_term_treats_all_alike():
    found = audit(" ".join(term for terms in CATEGORIES.values() for term in terms))
    assert not found.unknown.any()
    assert found.top_score == 0


def test_a_pipeline_with_a_vocabulary_says_what_it_knows():
    texts = [text for text in TEXTS if "oval" not in text]
    labels = [("yes", "no")["red" in text] for text in texts]
    pipeline = make_pipeline(CountVectorizer(stop_words=["flat"]), LogisticRegression())
    pipeline.fit(texts, labels)
    spec = {
        "dataset": {"name": "rooms"},
        "text": {},
        "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
    }
    result = testsgd.audit(pipeline, TEXTS, spec, terms=made_up_terms(), theta=0.1)
    known = {
        term.term: term.known_to_model
        for category in result.summary.terms.categories
        for term in category.terms
    }
    assert {term for term, knows in known.items() if not knows} == {"oval", "flat"}
    last = [group.unknown_to_model for group in result.summary.groups]
    assert last == sorted(last)
    assert any(last)


def test_a_model_without_a_vocabulary_cannot_say():
    label = Label(column="label", favourable="yes", values=["no", "yes"])
    model = CallableTextModel(lambda texts: ["yes"] * len(texts), label=label, name="any")
    mentions = find_mentions(TEXTS, made_up_terms())
    assert unknown_terms(LoadedModel(model, origin=len), TEXTS, mentions) is None


GOODS = ("apples", "cars", "bread", "trains", "songs", "books", "milk", "shoes", "lamps", "maps")
FAITHS = ("jew", "muslim", "catholic", "buddhist", "hindu", "sikh", "mormon", "quaker", "taoist")


def sales(words: Sequence[str], favoured: str, vectoriser: Any) -> tuple[list[str], Any]:
    """Write texts in which somebody sells goods, and train a model that favours one word."""
    generator = np.random.default_rng(5)
    texts = []
    for _ in range(1_200):
        who = generator.choice(words) if generator.random() < 0.7 else "clerks"
        texts.append(f"The {who} sold {' and '.join(generator.choice(GOODS, 3, replace=False))}.")
    labels = [("show", "hold")[favoured in text] for text in texts]
    pipeline = make_pipeline(vectoriser, LogisticRegression(C=1_000, max_iter=1_000))
    return texts, pipeline.fit(texts, labels)


SALES = {
    "dataset": {"name": "sales"},
    "text": {},
    "label": {"column": "label", "favourable": "hold", "values": ["show", "hold"]},
}


@pytest.mark.parametrize("mode", ["exact", "sampled"])
@pytest.mark.parametrize(
    ("words", "terms", "vectoriser"),
    [
        # "of" is a stop word, so it is in no vocabulary.
        (
            ("person of color", "white", "asian", "latino", "irish", "dutch", "dane"),
            {name: {} for name in ("person of color", "white", "asian", "latino", "irish", "dane")},
            TfidfVectorizer(stop_words="english"),
        ),
        # The word itself is too short for these parts, and the text around it is not.
        (
            FAITHS,
            {name: {} for name in FAITHS},
            TfidfVectorizer(analyzer="char", ngram_range=(5, 6)),
        ),
        (FAITHS, {name: {} for name in FAITHS}, TfidfVectorizer(ngram_range=(2, 2))),
        # Of one term the vocabulary has the plural only.
        (
            [*(f"{name}s" for name in FAITHS), *FAITHS[1:]],
            {name: [f"{name}s"] for name in FAITHS},
            TfidfVectorizer(),
        ),
    ],
)
def test_the_gate_goes_by_a_term_that_the_model_knows_in_its_texts(words, terms, vectoriser, mode):
    texts, pipeline = sales(words, words[0], vectoriser)
    listed = {"terms": {"name": "some"}, "categories": {"people": terms}}
    options = {"terms": listed, "fail_above": 0.2, "mode": mode, "theta": 0.02}
    result = testsgd.audit(pipeline, texts, SALES, **options)
    as_function = testsgd.audit(
        lambda given: list(pipeline.predict(given)), texts, SALES, **options
    )
    assert result.verdict.status == as_function.verdict.status == "gate_failed"
    known = [term.known_to_model for term in result.summary.terms.categories[0].terms]
    assert all(known)
    assert not any(group.unknown_to_model for group in result.summary.groups)


def test_a_plural_that_the_vocabulary_lacks_is_known_where_the_singular_is():
    texts, pipeline = sales(FAITHS, "jew", TfidfVectorizer())
    listed = {"terms": {"name": "some"}, "categories": {"faith": {f: [f"{f}s"] for f in FAITHS}}}
    result = testsgd.audit(pipeline, texts, SALES, terms=listed, theta=0.02)
    assert all(term.known_to_model for term in result.summary.terms.categories[0].terms)


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ({"the", "jew", "sold"}, {"old person", "sikh"}),
        ({"the", "jew", "sikh", "person"}, set()),
        ({"the", "jews", "sikhs"}, {"old person", "jew", "sikh"}),
    ],
)
def test_a_network_knows_a_term_if_it_knows_a_word_that_stands_in_the_texts(words, unknown):
    reader = Reader(words)
    listed = {"jew": ["jews"], "sikh": ["sikhs"], "old person": {"article": "an"}}
    terms = terms_from_mapping({"terms": {"name": "some"}, "categories": {"people": listed}})
    texts = ["An old person sold it.", "The jew sold it.", "A sikh sold it."]
    found = unknown_terms(LoadedModel(reader), texts, find_mentions(texts, terms))
    assert {
        name for name, is_unknown in zip(listed, found[0], strict=True) if is_unknown
    } == unknown


def test_a_term_that_is_answered_otherwise_than_a_nonsense_word_is_known():
    texts = ["An old person sold it.", "The jew sold it.", "A sikh sold it."] * 40

    class Liar(Reader):
        """Says that it knows no term but one, and minds another."""

        def __call__(self, texts):
            return [("good", "bad")["sikh" in text] for text in texts]

    liar = Liar({"jew"})
    model = CallableTextModel(liar, label=SPECIFICATION.label, name="liar")
    model.knows = liar.knows
    listed = {"jew": {}, "sikh": {}, "old person": {"article": "an"}}
    terms = terms_from_mapping({"terms": {"name": "some"}, "categories": {"people": listed}})
    found = run_text_audit(
        LoadedModel(model, origin=liar),
        check_texts(texts, SPECIFICATION),
        terms,
        AuditParameters(theta=0.1, mode="exact"),
    )
    assert found.unknown_terms[0].tolist() == [False, False, True]


def test_a_nonsense_word_is_the_control():
    found = audit("blue")
    control = found.control
    assert control is not None
    assert not any(control.word in text for text in TEXTS)
    unknown = Reader({word for text in TEXTS for word in text.split()} - {"blue"})
    for category, (name, terms) in enumerate(CATEGORIES.items()):
        seeds = [text for text in TEXTS if any(term in text.split() for term in terms)]

        def put(text: str, word: str, terms: tuple[str, ...] = terms) -> list[str]:
            return [word if one in terms else one for one in text.split()]

        answers = [unknown.judge(put(text, control.word)) for text in seeds]
        assert control.rates[category] == answers.count("good") / len(seeds)
        for place, term in enumerate(terms):
            same = [unknown.judge(put(text, term)) for text in seeds] == answers
            assert control.same[category][place] == same, (name, term)
    # Among them the unknown term, and terms that the model does not mind.
    assert control.same[0].tolist() == [False, False, True]
    assert control.same[2].all()


def test_the_control_is_left_out_where_queries_are_short():
    found = audit("blue")
    assert audit("blue", max_queries=found.queries).control is not None
    short = audit("blue", max_queries=found.neighbourhood + len(TEXTS))
    assert short.queries <= found.neighbourhood + len(TEXTS)
