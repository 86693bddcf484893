"""What a word is, and that the fast way to find words finds the same."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from testsgd.models.text.vocabulary import find_words, words_of

# Taken out one after the other.
NOISE = (r"<br ?/?>", r"https?://[^ \t\n\r\f\v]+", r"&(?:#[0-9]+|[A-Za-z]+);", r"@[A-Za-z0-9_]+")


def plain_words(text: str) -> list[str]:
    """Split letter by letter, after taking out what is no word."""
    # No blank: a sign beyond ASCII does not complete a tag.
    text = "".join(x if x.isascii() or x.isalnum() else "\n" for x in text)
    for pattern in NOISE:
        text = re.sub(pattern, " ", text)
    words, word = [], ""
    for character in text + " ":
        if character.isalnum():
            word += character.lower()
        elif word:
            words.append(word)
            word = ""
    return words


def found_words(texts: list[str]) -> list[list[str]]:
    """Read the words from the places at which they were found."""
    places = find_words(texts)
    content = places.content.tobytes()
    words = [
        content[start : start + length].decode()
        for start, length in zip(places.start.tolist(), places.length.tolist(), strict=True)
    ]
    bounds = places.offsets.tolist()
    assert bounds[0] == 0
    assert bounds[-1] == len(words)
    return [words[start:stop] for start, stop in itertools.pairwise(bounds)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t ", []),
        ("...!?", []),
        ("One", ["one"]),
        ("one,two;three", ["one", "two", "three"]),
        ("don't", ["don", "t"]),
        ("the gay's friend", ["the", "gay", "s", "friend"]),
        ("gay-friendly", ["gay", "friendly"]),
        ("African-American", ["african", "american"]),
        ("_old_ #old snake_case", ["old", "old", "snake", "case"]),
        ("15-year-old 3D", ["15", "year", "old", "3d"]),
        ("end.<br /><br />Start<br>x<br/>y", ["end", "start", "x", "y"]),
        ("<b>bold</b>", ["b", "bold", "b"]),
        ("see http://a.b/c?d=e&f or https://x.y", ["see", "or"]),
        ("@some_body: @x!", []),
        ("fish &amp; chips &#8220;now&#8221;", ["fish", "chips", "now"]),
        ("AT&T; R&B", ["at", "r", "b"]),
        ("ÉTÉ Straße", ["été", "straße"]),
        ("“quoted” \u2013 dash…", ["quoted", "dash"]),
        ("a\u00a0b\u2003c", ["a", "b", "c"]),
        ("日本 2 三", ["日本", "2", "三"]),
        ("nul\x00byte", ["nul", "byte"]),
        ("half\ud800pair", ["half", "pair"]),
        ("\U0001f600smile\U0001f600", ["smile"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    assert found_words([text]) == [words]
    assert found_words(["before", text, "", text]) == [["before"], words, [], words]


# Letters whose lower case is no single letter, or depends on what stands beside, are tried apart.
NO_WORDS = ["<br />", "<br", "/>", "http://", "https", "://", "&amp;", "&#1", ";", "@", "@a", "_"]
LETTERS = [
    "é",
    "É",
    "ß",
    "日",
    "word",
    "W",
    "9",
    " ",
    "“",
    "\u00a0",
    "\u0301",
    "\ud800",
    "\x00",
    "\n",
]
PIECES = st.sampled_from(NO_WORDS + LETTERS)


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=6))
@example(["<br““/>"])
@example(["<br“/>"])
def test_all_ways_agree(texts: list[str]) -> None:
    plain = [plain_words(text) for text in texts]
    assert [words_of(text) for text in texts] == plain
    assert found_words(texts) == plain


@given(st.lists(st.text(max_size=30), max_size=5))
def test_the_fast_way_finds_the_words_of_any_texts(texts: list[str]) -> None:
    assert found_words(texts) == [words_of(text) for text in texts]


@pytest.mark.parametrize("text", ["İSTANBUL", "ΣΟΦΟΣ", "ǅ"])
def test_unusual_lower_case_is_the_same_both_ways(text: str) -> None:
    assert found_words([text]) == [words_of(text)]
    assert words_of(text)


def test_what_is_no_word_ends_with_its_text() -> None:
    assert found_words(["http://", "word"]) == [words_of("http://"), ["word"]]
    assert found_words(["see <br", "/> now"]) == [["see", "br"], ["now"]]
    assert found_words(["&", "amp;", "@", "name"]) == [[], ["amp"], [], ["name"]]


def test_a_text_of_a_megabyte() -> None:
    text = "word! " * 200_000
    assert len(words_of(text)) == 200_000
    assert found_words([text, "x" * 1_000_000]) == [["word"] * 200_000, ["x" * 1_000_000]]
