"""Texts that list several terms, "X or Y", are never written anew as "X or X"."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_up_texts import CATEGORIES, SPECIFICATION, audit, made_up_terms

import testsgd
from testsgd.rules.text import find_mentions

TERMS = made_up_terms({"colour": CATEGORIES["colour"]})

LISTS = [
    "red or blue",
    "Red and blue lamps",
    "red, green or blue",
    "a red, blue, table",
    "red/blue",
    "red & blue",
    "red and/or blue",
    "neither red nor blue",
    "a red or a blue lamp",
    "\u201cred\u201d or \u201cblue\u201d",
    "red lamps and blue lamps",
    "a red table lamp or a blue table lamp.",
    "red or red or blue",
]
OTHERS = [
    "red",
    "red or red",
    "a red lamp stands near a blue door",
    "red lamps and blue doors",
    "It is red. Blue is the door.",
    "red blue",
    "red or small",
    "red or not, the lamp is blue",
    "",
]


@pytest.mark.parametrize("text", LISTS)
def test_lists(text):
    assert find_mentions([text], TERMS).lists.tolist() == [[True]]


@pytest.mark.parametrize("text", OTHERS)
def test_no_lists(text):
    assert find_mentions([text], TERMS).lists.tolist() == [[False]]


def world(seed: int) -> list[str]:
    """Write texts with one colour each, and as many that list two."""
    generator = np.random.default_rng(seed)
    texts = []
    for number in range(200):
        first, second = generator.choice(CATEGORIES["colour"], 2, replace=False)
        thing = "".join(generator.choice(list("bcdfgh"), 7))
        joint = generator.choice([" or ", " and ", ", ", "/"])
        texts.append(f"{first}{joint}{second} {thing}" if number % 2 else f"{first} {thing}")
    return texts


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_a_model_never_sees_the_same_term_twice_in_a_list(mode):
    asked: list[str] = []

    def decide(text: str) -> bool:
        asked.append(text)
        return False

    texts = world(1)
    found = audit(decide, texts, TERMS, mode=mode, error_margin=0.1, min_samples=100)
    colours = "|".join([*CATEGORIES["colour"], "florp", "thing"])
    doubled = re.compile(rf"\b({colours})( or | and |, |/)\1\b")
    assert not any(doubled.search(text) for text in asked)
    # All variants of the other texts, and nothing else of those that list two.
    listing = {text for number, text in enumerate(texts) if number % 2}
    assert listing <= set(asked)
    rests = {text.split()[-1] for text in listing}
    assert {text for text in asked if text.split()[-1] in rests} == listing
    assert found.estimates.rows_in.tolist() == [100] * 3


def test_the_truth_is_that_of_the_texts_that_can_be_written_anew():
    """The model minds "red", and always holds texts that list colours."""
    listed = re.compile(r"\b(?:red|green|blue)(?: or | and |, |/)")
    found = audit(lambda text: bool(listed.search(text)) or "red" in text.split(), world(2), TERMS)
    effects = found.counterfactual
    assert effects.rate_with.tolist() == [1, 0, 0]
    np.testing.assert_allclose(effects.difference, [1, -0.5, -0.5])


def test_the_report_says_how_many_texts_are_left_out():
    result = testsgd.audit(
        lambda texts: ["good" for _ in texts], world(3), SPECIFICATION, terms=TERMS
    )
    assert any(re.search(r"\b100 texts\b", note) for note in result.summary.data.notes)
    # They mention the category, and are not judged.
    assert result.summary.terms.categories[0].texts == 200
    assert result.summary.unjudged.rows == 100
