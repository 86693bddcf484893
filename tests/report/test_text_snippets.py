"""Places in the texts: cut at blanks, in one line, from different texts, the same each time."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.auditing.report.terms import choose_mentions, snippet
from testsgd.data.text import terms_from_mapping
from testsgd.rules.text import Mentions, find_mentions

TERMS = terms_from_mapping(
    {"terms": {"name": "ages"}, "categories": {"age": {"old": {}, "young": {}}}}
)


def cut(before: str, after: str, reach: int = 20) -> tuple[str, str]:
    found = snippet(f"{before}old{after}", len(before), len(before) + 3, reach=reach)
    assert found.term == "old"
    return found.before, found.after


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("", ""),
        ("An ", "An "),
        ("It was a very ", "It was a very "),
        ("Somewhere there stands a very ", "… there stands a very "),
        ("Here and there stands a very ", "… there stands a very "),
        ("Once\n\n\t there   was\r\na ", "Once there was a "),
        ("Once<br /><br />there was <br>a ", "Once there was a "),
        ("a" * 30, "…" + "a" * 20),
        ("one " + "a" * 30, "…" + "a" * 20),
        ("one " + "a" * 30 + " ", "…" + "a" * 19 + " "),
        ("word " + " " * 500, "… "),
    ],
)
def test_what_stands_before_and_after(before: str, kept: str) -> None:
    assert cut(before, "")[0] == kept
    # What stands after is cut the same way, read backwards.
    turned = before[::-1].replace(">/ rb<", "<br />").replace(">rb<", "<br>")
    assert cut("", turned)[1] == kept[::-1]


def test_a_long_text_is_not_read_whole() -> None:
    text = "word " * 200_000 + "old" + " word" * 200_000
    found = snippet(text, 1_000_000, 1_000_003)
    assert found.before == "… " + "word " * 12
    assert found.after == " word" * 12 + " …"


def test_a_term_over_two_lines_is_in_one() -> None:
    assert snippet("so middle\n  aged now", 3, 16).term == "middle aged"


def test_what_no_page_can_show_is_replaced() -> None:
    found = snippet("a\x00b \ud800 old \x1b[0m\ufffe", 6, 9)
    assert found.before == "a\ufffdb \ufffd "
    assert found.after == " \ufffd[0m\ufffd"
    json.loads(found.model_dump_json())


@given(
    before=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    after=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    reach=st.integers(5, 60),
)
def test_nothing_is_made_up(before: str, after: str, reach: int) -> None:
    found = snippet(f"{before}old{after}", len(before), len(before) + 3, reach=reach)

    def plain(text: str) -> str:
        line = re.sub(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]", "�", text)
        return re.sub(r"(?:\s|<br ?/?>)+", " ", line)

    assert "\n" not in found.before + found.after
    assert plain(before).lstrip().endswith(found.before.removeprefix("…").lstrip())
    assert plain(after).rstrip().startswith(found.after.removesuffix("…").rstrip())
    assert len(found.before) <= reach + 2
    assert len(found.after) <= reach + 2


def mentions_of(texts: list[str]) -> Mentions:
    return find_mentions(texts, TERMS)


def test_places_are_from_different_texts() -> None:
    mentions = mentions_of(["old old old old", "old", "a day", "old and young", "young"])
    places = np.flatnonzero(mentions.term == 0)
    for seed in range(20):
        chosen = choose_mentions(mentions, places, 3, [seed])
        assert mentions.text[chosen].tolist() == [0, 1, 3]
        assert set(chosen) <= set(places)
    assert len(choose_mentions(mentions, places, 10, [0])) == 3
    assert len(choose_mentions(mentions, places, 0, [0])) == 0
    assert len(choose_mentions(mentions, places[:0], 3, [0])) == 0


def test_the_choice_is_the_same_each_time_and_differs_between_seeds() -> None:
    mentions = mentions_of(["an old day"] * 50)
    places = np.arange(50)
    chosen = [tuple(choose_mentions(mentions, places, 3, [seed, 1])) for seed in range(30)]
    assert chosen == [tuple(choose_mentions(mentions, places, 3, [seed, 1])) for seed in range(30)]
    assert len(set(chosen)) > 20


def test_every_text_and_every_place_is_chosen_about_as_often() -> None:
    mentions = mentions_of(["old old old old old old old old", "old", "old", "old"])
    places = np.arange(11)
    drawn = [int(choose_mentions(mentions, places, 1, [seed])[0]) for seed in range(4000)]
    texts = np.bincount(mentions.text[drawn], minlength=4)
    # 99.99% of binomial counts of 4,000 in 4 lie within these.
    assert (np.abs(texts - 1000) < 110).all()
    first_text = np.bincount([place for place in drawn if place < 8], minlength=8)
    assert (np.abs(first_text - texts[0] / 8) < 50).all()
