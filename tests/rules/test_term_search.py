"""The matcher against a slow search that tries every form at every letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_terms import TERMS, slow_search

from testsgd.rules import find_mentions

# Pieces of which texts are put together: words of terms, what may join them, what may not.
WORDS = sorted(
    {
        word
        for category in TERMS.categories
        for term in category.terms
        for form in (term.name, *term.spellings, *term.plural)
        for word in form.split()
    }
)
JOINTS = [
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\u00a0",
    "-",
    "\u2011",
    ",",
    "_",
    "",
    "'",
    "!?",
    " - ",
    "\u200b",
]
# With ß and İ a text folds to more letters than it has, with the accent it is not composed.
OTHERS = ["x", "a", "9", "xyz", "caf\u00e9", "\u00df", "\u0130", "e\u0301", "\u0301", "\u4e2d", "."]
CASES = [str.lower, str.lower, str.title, str.upper, str.swapcase]


@st.composite
def texts(draw):
    pieces = []
    for _ in range(draw(st.integers(0, 15))):
        word = draw(st.sampled_from(WORDS) | st.sampled_from(OTHERS))
        pieces += draw(st.sampled_from(CASES))(word), draw(st.sampled_from(JOINTS))
    return "".join(pieces)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(texts(), max_size=4))
def test_mentions_are_those_of_a_slow_search(searched):
    mentions = find_mentions(searched, TERMS)
    expected = [slow_search(text, TERMS) for text in searched]
    assert mentions.texts == len(searched)
    assert mentions.terms is TERMS
    assert len(mentions) == sum(map(len, expected))
    assert mentions.offsets.tolist() == [0, *np.cumsum([len(found) for found in expected])]
    for row, found in enumerate(expected):
        rows = slice(mentions.offsets[row], mentions.offsets[row + 1])
        assert set(mentions.text[rows].tolist()) <= {row}
        columns = (mentions.start, mentions.stop, mentions.category, mentions.term, mentions.plural)
        assert list(zip(*(column[rows].tolist() for column in columns), strict=True)) == found


@given(st.lists(texts(), max_size=5))
def test_terms_of_each_text(searched):
    mentions = find_mentions(searched, TERMS)
    presence, contains, sole = mentions.presence(), mentions.contains(), mentions.sole()
    assert presence.shape == sole.shape == (len(searched), 3)
    assert [matrix.shape for matrix in contains] == [(len(searched), n) for n in TERMS.sizes]
    for row, text in enumerate(searched):
        for category, size in enumerate(TERMS.sizes):
            terms = {term for _, _, place, term, _ in slow_search(text, TERMS) if place == category}
            assert presence[row, category] == bool(terms)
            assert contains[category][row].tolist() == [term in terms for term in range(size)]
            only = -2 if not terms else -1 if len(terms) > 1 else min(terms)
            assert sole[row, category] == only


def test_types_and_shapes_without_a_mention():
    mentions = find_mentions(["nothing", ""], TERMS)
    for column in ("text", "start", "stop", "category", "term", "offsets"):
        assert getattr(mentions, column).dtype == np.int64
    assert mentions.plural.dtype == bool
    assert mentions.offsets.tolist() == [0, 0, 0]
    assert not mentions.presence().any()
    assert (mentions.sole() == -2).all()
    assert find_mentions([], TERMS).presence().shape == (0, 3)
