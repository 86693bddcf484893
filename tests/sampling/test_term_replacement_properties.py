"""What replacing terms never does, whatever the text."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from plain_words import TERMS, WORDS

from testsgd.rules import find_mentions
from testsgd.sampling import Replacer

OTHERS = [
    "a",
    "an",
    "A",
    "An",
    "AN",
    "man",
    "\u00df",
    "\u0130",
    "caf\u00e9",
    "e\u0301",
    "\u4e2d",
    "&",
    ".",
]
JOINTS = [" ", " ", " ", "  ", "\n", "\u00a0", "-", ", ", "_", "", "<br />"]
CASES = [str.lower, str.lower, str.title, str.capitalize, str.upper, str.swapcase]


@st.composite
def replacements(draw):
    pieces = []
    for _ in range(draw(st.integers(0, 15))):
        word = draw(st.sampled_from(WORDS) | st.sampled_from(OTHERS))
        pieces += draw(st.sampled_from(CASES))(word), draw(st.sampled_from(JOINTS))
    categories = draw(st.lists(st.integers(0, 2), unique=True))
    chosen = [draw(st.integers(0, TERMS.sizes[category] - 1)) for category in categories]
    return "".join(pieces), categories, chosen


def listed(mentions):
    """Give category, term and plural of each mention."""
    columns = (mentions.category, mentions.term, mentions.plural)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=300)
@given(replacements())
def test_nothing_changes_but_terms_and_their_articles(replacement):
    text, categories, chosen = replacement
    mentions = find_mentions([text], TERMS)
    wanted = dict(zip(categories, chosen, strict=True))
    pattern, end = "", 0
    for place, (category, term, _) in enumerate(listed(mentions)):
        before = text[end : mentions.start[place]]
        end = mentions.stop[place]
        if wanted.get(category, term) == term:
            pattern += re.escape(before + text[mentions.start[place] : end])
            continue
        article = re.search(r"\b(?:a|an)(?=\s+\Z)", before, re.IGNORECASE)
        if article:
            pattern += re.escape(before[: article.start()]) + "(?i:an?)"
            before = before[article.end() :]
        new = TERMS.categories[category].terms[wanted[category]]
        forms = "|".join(re.escape(form) for form in (new.name, *new.plural[:1]))
        pattern += f"{re.escape(before)}(?i:{forms})"
    pattern += re.escape(text[end:])
    variant = Replacer([text], mentions).variant(0, categories, chosen)
    assert re.fullmatch(pattern, variant), (pattern, variant)


@settings(max_examples=300)
@given(replacements())
def test_mentions_of_a_variant_are_those_that_were_chosen(replacement):
    text, categories, chosen = replacement
    mentions = find_mentions([text], TERMS)
    variant = Replacer([text], mentions).variant(0, categories, chosen)
    wanted = dict(zip(categories, chosen, strict=True))
    expected = []
    for category, term, plural in listed(mentions):
        new = wanted.get(category, term)
        expected.append(
            (category, new, plural and bool(TERMS.categories[category].terms[new].plural))
        )
    assert listed(find_mentions([variant], TERMS)) == expected


@settings(max_examples=300)
@given(replacements())
def test_replacing_twice_is_replacing_once(replacement):
    text, categories, chosen = replacement
    once = Replacer([text], find_mentions([text], TERMS)).variant(0, categories, chosen)
    again = Replacer([once], find_mentions([once], TERMS))
    assert again.variant(0, categories, chosen) == once


@given(replacements())
def test_one_category_after_the_other_is_all_at_once(replacement):
    text, categories, chosen = replacement
    together = Replacer([text], find_mentions([text], TERMS)).variant(0, categories, chosen)
    for category, term in zip(categories, chosen, strict=True):
        text = Replacer([text], find_mentions([text], TERMS)).variant(0, [category], [term])
    assert text == together


@given(replacements())
def test_article_before_a_changed_term_is_that_terms(replacement):
    text, categories, chosen = replacement
    mentions = find_mentions([text], TERMS)
    variant = Replacer([text], mentions).variant(0, categories, chosen)
    wanted = dict(zip(categories, chosen, strict=True))
    found = find_mentions([variant], TERMS)
    for place, (category, term, _) in enumerate(listed(mentions)):
        if wanted.get(category, term) == term:
            continue
        words = variant[: found.start[place]].split()
        if (
            variant[: found.start[place]][-1:].isspace()
            and words
            and words[-1].lower() in ("a", "an")
        ):
            new = TERMS.categories[category].terms[wanted[category]]
            assert words[-1].lower() == new.article
