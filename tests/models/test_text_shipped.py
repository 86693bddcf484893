"""The committed networks of texts: what their cards say is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from testsgd.data import Texts, TextSpecification, load_specification, load_terms
from testsgd.models import TextNetwork, load_text_model
from testsgd.models.training_split import binary_labels, split_examples

NAMES = ["imdb", "tweets", "wiki"]
# What is asked of the networks; wiki has 1,492 comments, of which 83.4% are not toxic.
LEAST_ACCURACY = {"imdb": 0.86, "tweets": 0.93, "wiki": 0.84}


def shipped(name: str) -> tuple[TextNetwork, dict[str, Any], TextSpecification]:
    specification = load_specification(name)
    assert isinstance(specification, TextSpecification)
    loaded = load_text_model(name, specification)
    assert isinstance(loaded.model, TextNetwork)
    return loaded.model, loaded.card, specification


@pytest.mark.parametrize("name", NAMES)
def test_the_card_names_the_terms_that_the_network_does_not_know(name: str) -> None:
    network, card, specification = shipped(name)
    terms = load_terms(specification.terms)
    unknown = [
        term.name
        for category in terms.categories
        for term in category.terms
        if not network.knows(term.name)
    ]
    assert card["terms not known"] == unknown
    assert len(unknown) < sum(terms.sizes) / 2


@pytest.mark.parametrize("name", NAMES)
def test_terms_that_are_not_known_are_one_and_the_same(name: str) -> None:
    network, card, _ = shipped(name)
    single = [term for term in card["terms not known"] if " " not in term]
    scores = network.scores([f"they said {term} people are good" for term in single])
    # But for the order of additions, which depends on where a text stands.
    assert np.ptp(scores) < 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_of_this_data_set(name: str) -> None:
    _, card, specification = shipped(name)
    assert card["data set"] == name
    assert card["data"] == specification.dataset.description
    assert card["label predicted"] == specification.label.favourable
    assert card["test accuracy"] >= LEAST_ACCURACY[name]
    assert card["test accuracy"] > card["majority share"]
    paper = specification.paper
    assert card["paper accuracy"] == (paper.accuracy if paper else None)


@pytest.mark.real_data
@pytest.mark.parametrize("name", NAMES)
def test_the_test_accuracy_is_the_one_of_the_card(
    name: str, real_texts: Callable[[str], Texts]
) -> None:
    network, card, specification = shipped(name)
    texts = real_texts(name)
    labels = binary_labels(texts.labels, specification.label, one="text", source=name)
    test = split_examples(
        labels,
        card["seed"],
        unit="text",
        source=name,
        parts=texts.parts,
        clusters=texts.clusters,
        training_only=texts.training_only,
    ).test
    assert len(test) == card["texts for testing"]
    right = network.decisions([texts.texts[row] for row in test]) == labels[test].astype(bool)
    # One text in a thousand may be so near the threshold that another processor turns it.
    assert right.mean() == pytest.approx(card["test accuracy"], abs=1e-3)
    shares = [right[labels[test] == answer].mean() for answer in (0, 1)]
    assert np.mean(shares) == pytest.approx(card["balanced accuracy"], abs=5e-3)
