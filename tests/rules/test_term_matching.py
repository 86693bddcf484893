"""Which terms are found in a text, and where: a table of what is easily got wrong."""

from __future__ import annotations

import pytest
from plain_terms import TERMS, found_in

from testsgd.data.text import SensitiveTerms, Term, TermCategory, load_terms
from testsgd.errors import SpecificationError
from testsgd.rules import find_mentions

# A mention is given as it stands in the text, with its term where that is not just in lower case.
CASES = [
    # Words, not parts of words.
    ("translate a transgendered transatlantic", []),
    ("told old goldfish older oldest", ["old", "older"]),
    ("panafrican africana americano", []),
    ("gay2 2gay", []),
    ("", []),
    (" \n\t ", []),
    ("nothing of the kind", []),
    # The longest term, from left to right.
    ("african american", ["african american"]),
    ("african americans", [("african americans", "african american", True)]),
    ("african african american american", ["african", "african american", "american"]),
    ("middle eastern", ["middle eastern"]),
    ("middle middle aged", ["middle aged"]),
    ("middle aged older", ["middle aged", "older"]),
    ("middle aged old", ["middle aged old"]),
    ("middle aged middle", ["middle aged"]),
    ("the middle", []),
    # Case.
    ("Gay GAY gAy", [("Gay", "gay"), ("GAY", "gay"), ("gAy", "gay")]),
    ("AFRICAN American", [("AFRICAN American", "african american")]),
    # Punctuation.
    ("(gay)", ["gay"]),
    ("GAY!!!", [("GAY", "gay")]),
    ("Gay's mother", [("Gay", "gay")]),
    ("gay\u2019s, gays\u2019", ["gay", ("gays", "gay", True)]),
    ("gay-friendly, anti-gay, gay/trans", ["gay", "gay", "gay", "trans"]),
    # "non" says who is not meant.
    ("non-gay, Non-Gay, NON gay, non\n gay, (non-gay)", []),
    ("non\u2011gay, \uff4eon-gay", []),
    ("non-African American, non-american african", ["african"]),
    ("canon gay, anon-gay, nongay, non, gay, none gay", ["gay"] * 4),
    ("ex-gay, half-african, pre-american", ["gay", "african", "american"]),
    ("15-year-old", ["old"]),
    ("15-year-olds", [("olds", "old", True)]),
    ("#old @old $old", ["old", "old", "old"]),
    ('"old","older"', ["old", "older"]),
    ("old<br /><br />older", ["old", "older"]),
    ("https://gay.example/old.html", ["gay", "old"]),
    # Hyphens: a spelling of its own, or the end of a word.
    ("non-binary", [("non-binary", "nonbinary")]),
    ("Non\u2010Binary", [("Non\u2010Binary", "nonbinary")]),
    ("non binary", [("non binary", "nonbinary")]),
    ("binary non", []),
    ("African\u2013American", [("African\u2013American", "african american")]),
    ("chinese-american", ["chinese", "american"]),
    ("african - american", ["african", "american"]),
    ("african -american", ["african", "american"]),
    ("african--american", ["african", "american"]),
    ("african\u2014american", ["african", "american"]),
    # White space between the words of a term, and what is none.
    ("african\namerican", [("african\namerican", "african american")]),
    ("african \r\n\t american", [("african \r\n\t american", "african american")]),
    ("african\u00a0american", [("african\u00a0american", "african american")]),
    ("african\u2003american", [("african\u2003american", "african american")]),
    ("african, american", ["african", "american"]),
    ("african\u200bamerican", []),
    ("africanamerican", []),
    # An underscore at a word's end sets it off, one between words is as good as a blank.
    ("_old_ __older__ _gay", ["old", "older", "gay"]),
    ("old_man.jpg the_old_man", ["old", "old"]),
    ("_african american_", ["african american"]),
    ("african_ american", ["african", "american"]),
    ("african_american ___ _", [("african_american", "african american")]),
    ("african__american man_9old_", [("african__american", "african american")]),
    # Plurals that are not listed.
    ("afro americans, trans", [("afro americans", "african american", True), "trans"]),
    # Full-width letters and signs, and what is not seen.
    ("\uff27\uff21\uff39\uff01", [("\uff27\uff21\uff39", "gay")]),
    ("non\uff0dbinary", [("non\uff0dbinary", "nonbinary")]),
    ("african\u3000american", [("african\u3000american", "african american")]),
    ("g\u200bay o\ufeffld", [("g\u200bay", "gay"), ("o\ufeffld", "old")]),
    ("african\u200b \u200eamerican", [("african\u200b \u200eamerican", "african american")]),
    ("\U0001d420\U0001d41a\U0001d432", [("\U0001d420\U0001d41a\U0001d432", "gay")]),
    # Beyond ASCII: places are those of the text as it is.
    ("Stra\u00dfe old", ["old"]),
    ("\u0130\u0130\u0130 OLD \u0130", [("OLD", "old")]),
    ("\ufb01\ufb01 gay", ["gay"]),
    ("\U0001f3f3\ufe0f\u200d\U0001f308gay\U0001f308", ["gay"]),
    ("\u4e2dold\u4e2d", []),
    ("caf\u00e9old old\u00e9", []),
    ("gay\u0301 cafe\u0301gay", []),
    ("tra\u00adns\u00adlate", []),
    ("tra\u00adns", [("tra\u00adns", "trans")]),
    ("o\u017f\u017f gay\u017f", [("gay\u017f", "gay", True)]),
    ("\ud800old\ud800", ["old"]),
    ("\x00old\x00", ["old"]),
]  # fmt: skip


def as_mention(expected):
    """Complete a mention of the table."""
    if isinstance(expected, str):
        return expected, expected, False
    return (*expected, False)[:3]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_mentions(text, expected):
    mentions = find_mentions([text], TERMS)
    assert found_in(text, mentions) == [as_mention(mention) for mention in expected]


@pytest.mark.parametrize("before", ["", "\u00df "], ids=["plain", "folds to more letters"])
@pytest.mark.parametrize("distance", [0, 65_520, 65_528, 65_535, 65_537, 70_000, 200_000])
@pytest.mark.parametrize("filler", ["x ", "x-", " "])
def test_long_texts_are_searched_to_their_end(before, distance, filler):
    padding = before + (filler * distance)[:distance]
    text = f"old {padding} african  american."
    mentions = find_mentions([text], TERMS)
    assert found_in(text, mentions) == [
        ("old", "old", False),
        ("african  american", "african american", False),
    ]


def one_category(*terms):
    return SensitiveTerms("some", "these tests", (TermCategory("some", terms),))


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("wei\u00df", "WEISS Wei\u00df weis", ["WEISS", "Wei\u00df"]),
        ("cr\u00e9ole", "Cre\u0301ole CR\u00c9OLE creole", ["Cre\u0301ole", "CR\u00c9OLE"]),
        ("\u0915\u093f", "\u0915\u093f\u0924\u093e\u092c \u0915\u093f", ["\u0915\u093f"]),
        ("3", "3 33 3.5", ["3", "3"]),
        ("c++", "c++ c+ C++, c++11", ["c++", "C++", "c++"]),
        ("o'neil", "O\u2019Neil o'neil", ["O\u2019Neil", "o'neil"]),
        ("a b c d e", "a b a\nb\nc\nd\ne a b c d", ["a\nb\nc\nd\ne"]),
        ("old_man", "_old_man_ old man old_men", ["old_man", "old man"]),
    ],
)
def test_unusual_terms(term, text, expected):
    mentions = find_mentions([text], one_category(Term(term)))
    assert [mention for mention, _, _ in found_in(text, mentions)] == expected


def test_plural_that_is_the_singular_counts_as_singular():
    terms = one_category(Term("chinese", plural=("chinese",)))
    assert find_mentions(["chinese"], terms).plural.tolist() == [False]


@pytest.mark.parametrize("other", ["WEISS", "wei\u00df", "wei\u00adss"])
def test_terms_that_cannot_be_told_apart_are_refused(other):
    with pytest.raises(SpecificationError, match="cannot be told apart from the term “weiss”"):
        find_mentions([], one_category(Term("weiss"), Term("other", plural=(other,))))


def test_signs_apart_from_words_are_refused():
    with pytest.raises(SpecificationError, match="“a - b” has a part without letter or digit"):
        find_mentions([], one_category(Term("ab", spellings=("a - b",))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A Jew, two Jews, a Jew's, the Jews\u2019", ["Jew", "Jews", "Jew", "Jews"]),
        ("L.G.B.T. people, L.G.B.T., (l.g.b.t)", ["L.G.B.T.", "L.G.B.T.", "l.g.b.t"]),
        ("He is L.G.B.T. She is not.", ["L.G.B.T"]),
        ("they are L.G.B.T.", ["L.G.B.T"]),
        ("L. G. B. T. Q. and L G B T", ["L. G. B. T. Q.", "L G B T"]),
        ("LGBTs", ["LGBTs"]),
        ("Native Americans, native-American, Americans", ["Americans"]),
        ("a 10-year-old, 10 years old, 15-year-olds, old", ["old"]),
        ("Native\nAmerican's", []),
        ("the OLD-FASHIONED old man", ["old"]),
        ("old people, elderly people", ["old", "elderly"]),
    ],
)
def test_mentions_of_the_shipped_list(text, expected):
    mentions = find_mentions([text], load_terms())
    assert [mention for mention, _, _ in found_in(text, mentions)] == expected


def test_exceptions_of_a_list_are_passed_over_and_their_plurals_too():
    terms = SensitiveTerms(
        "some",
        "these tests",
        (TermCategory("some", (Term("red"), Term("red light"))),),
        exceptions=("infra red", "red light district", "red-eye"),
    )
    text = "infra red infra  reds red light districts red light red-eye red-eyes red, eye"
    mentions = find_mentions([text], terms)
    assert [mention for mention, _, _ in found_in(text, mentions)] == ["red light", "red"]
