"""Terms that a model does not know are one unknown word to it, and are judged as that."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_texts import CATEGORIES, SPECIFICATION, made_up_terms, made_up_texts
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import testsgd
from testsgd.auditing import AuditParameters
from testsgd.auditing.text import run_text_audit
from testsgd.auditing.text.known_words import unknown_terms
from testsgd.data import Label
from testsgd.data.text import check_texts
from testsgd.models import CallableTextModel, LoadedModel

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
    assert unknown_terms(LoadedModel(model, origin=len), made_up_terms()) is None


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
