"""Case patterns, also where changing the case changes the number of letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.rules.text.lexicon import fold
from testsgd.sampling.text.replacement import Case, case_of, in_case


@pytest.mark.parametrize(
    ("mention", "case"),
    [
        ("gay", "LISTED"),
        ("gAY", "LISTED"),
        ("african American", "LISTED"),
        ("Gay", "WORDS"),
        ("GaY", "WORDS"),
        ("African American", "WORDS"),
        ("Middle-Aged", "WORDS"),
        ("African \n American", "WORDS"),
        ("African american", "FIRST"),
        ("Middle-aged", "FIRST"),
        ("O'neil", "WORDS"),
        ("GAY", "CAPITALS"),
        ("AFRICAN-AMERICAN", "CAPITALS"),
        ("AFRICAN American", "WORDS"),
        ("x", "LISTED"),
        ("X", "WORDS"),
        ("X1", "WORDS"),
        ("X Y", "CAPITALS"),
        ("1X", "LISTED"),
        ("12", "LISTED"),
        ("\u4e2d\u56fd", "LISTED"),
        ("\u00c9tranger", "WORDS"),
        ("", "LISTED"),
    ],
)
def test_case_of_a_mention(mention, case):
    assert case_of(mention) is Case[case]


@pytest.mark.parametrize(
    ("term", "written"),
    [
        ("gay", ["gay", "Gay", "Gay", "GAY"]),
        ("middle aged", ["middle aged", "Middle aged", "Middle Aged", "MIDDLE AGED"]),
        ("non-binary", ["non-binary", "Non-binary", "Non-Binary", "NON-BINARY"]),
        ("o'neil", ["o'neil", "O'neil", "O'neil", "O'NEIL"]),
        ("x", ["x", "X", "X", "X"]),
        ("20 year old", ["20 year old", "20 year old", "20 Year Old", "20 YEAR OLD"]),
        ("\u00df\u00e4", ["\u00df\u00e4", "Ss\u00e4", "Ss\u00e4", "SS\u00c4"]),
        ("\u4e2d", ["\u4e2d"] * 4),
        ("kad\u0131n", ["kad\u0131n", "Kad\u0131n", "Kad\u0131n", "kad\u0131n"]),
    ],
)
def test_term_in_each_case(term, written):
    assert [in_case(term, case) for case in Case] == written


@given(st.lists(st.text("abc\u00e9", min_size=2, max_size=4), min_size=1, max_size=3).map(" ".join))
def test_case_of_a_term_in_a_case_is_that_case(term):
    for case in Case:
        found = case_of(in_case(term, case))
        # One word has no second one to tell the two apart.
        assert found is (Case.WORDS if case is Case.FIRST and " " not in term else case)


@given(st.text(st.characters(categories=["L", "M", "Nd"]), min_size=1))
def test_a_term_is_found_again_in_any_case(letters):
    term = letters.lower()
    for case in Case:
        assert fold(in_case(term, case)) == fold(term)


def test_capitals_of_an_acronym_are_its_spelling():
    assert case_of("LGBT", acronym=True) is case_of("lgbt", acronym=True) is Case.LISTED
    assert case_of("Lgbt", acronym=True) is Case.WORDS
    assert case_of("GAY") is Case.CAPITALS
    written = [in_case("lgbt", case, acronym=True) for case in Case]
    assert written == ["lgbt", "LGBT", "LGBT", "LGBT"]
