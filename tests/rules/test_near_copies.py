"""Which texts are nearly equal: against a comparison of all pairs, and a table of cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_terms import TERMS

from testsgd.rules import find_mentions
from testsgd.rules.text import nearly_equal

# Thirty different words, so that one more or one less is a twentieth of the runs.
LONG = " ".join(f"{first}{second}" for first in "bcdfg" for second in "aeiouy")


def numbers(texts):
    return nearly_equal(texts, find_mentions(texts, TERMS)).tolist()


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("An old man.", "an OLD  man!", True),
        ("An old man.", "A middle-aged man", True),
        ("An old man.", "An american man", False),
        ("An old man.", "Two gay men", False),
        ("rain", "snow", False),
        ("rain", "rain today", False),
        ("he is 35", "he is 81", True),
        ("he is 35", "he is 8", False),
        ("see http://a.example/1", "see https://b.example/x?y=2 ", True),
        ("@anna you are late", "@ben you are late", True),
        ("\uff21n old\u200b man", "an old man", True),
        (LONG, LONG + " more", True),
        (LONG, LONG.replace("bo", "other"), True),
        (LONG, "quite " + LONG.replace("bo", "other").replace("fo", "others"), False),
        ("", "...", True),
        ("", "a", True),
    ],
)
def test_pairs(first, second, same):
    assert numbers([first, second]) == [0, 0 if same else 1]


def plain(texts):
    """Number texts by comparing each with every leader; only for texts of plain words."""
    words = [tuple(text.split()) for text in texts]
    runs = {text: {text[at : at + 3] for at in range(len(text) - 2)} for text in words}
    leaders: list[tuple[str, ...]] = []
    led = {}
    for text in sorted(set(words), key=lambda text: (-words.count(text), -len(text), text)):
        for leader in leaders:
            both = len(runs[text] & runs[leader])
            if both and 5 * both >= 4 * len(runs[text] | runs[leader]):
                led[text] = leader
                break
        else:
            leaders.append(text)
            led[text] = text
    seen = list(dict.fromkeys(led[text] for text in words))
    return [seen.index(led[text]) for text in words]


@st.composite
def similar_texts(draw):
    """Some texts, and others that are made of them by leaving out, adding or changing a word."""
    words = st.sampled_from([f"w{letter}" for letter in "bcdefgh"])
    texts = [draw(st.lists(words, max_size=25)) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(0, 8))):
        text = list(draw(st.sampled_from(texts)))
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 1))] = draw(st.lists(words, max_size=1))
        texts.append(text)
    return [" ".join(text) for text in texts]


@settings(max_examples=300)
@given(similar_texts())
def test_clusters_are_those_of_comparing_every_two(texts):
    assert numbers(texts) == plain(texts)


@given(similar_texts(), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_plays_no_part(texts, shuffler):
    shuffled = list(range(len(texts)))
    shuffler.shuffle(shuffled)
    first, second = numbers(texts), numbers([texts[place] for place in shuffled])
    pairs = set(zip([first[place] for place in shuffled], second, strict=True))
    assert len(pairs) == len(set(first)) == len(set(second))


def test_no_texts():
    assert numbers([]) == []
