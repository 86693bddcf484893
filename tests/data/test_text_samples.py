"""Some of the texts: chosen or drawn, with everything that belongs to them."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_texts import comments

from testsgd.data.text import Texts, check_texts, texts_fingerprint
from testsgd.errors import ParameterError

COUNT = 40


def numbered(count: int = COUNT) -> Texts:
    """Give texts that say their own number, and so do all arrays beside them."""
    numbers = np.arange(count)
    return dataclasses.replace(
        check_texts([f"text {number}" for number in numbers], comments()),
        labels=np.array([f"label {number}" for number in numbers], dtype=object),
        parts=np.array([f"part {number}" for number in numbers], dtype=object),
        clusters=numbers * 10,
        training_only=numbers % 3 == 0,
        notes=("a note",),
    )


def check_taken(texts: Texts, rows: list[int]) -> None:
    """Check that everything of these rows is there, in their order."""
    assert len(texts) == len(rows)
    assert texts.texts == tuple(f"text {row}" for row in rows)
    assert texts.labels is not None
    assert texts.parts is not None
    assert texts.clusters is not None
    assert texts.training_only is not None
    assert texts.labels.tolist() == [f"label {row}" for row in rows]
    assert texts.parts.tolist() == [f"part {row}" for row in rows]
    assert texts.clusters.tolist() == [row * 10 for row in rows]
    assert texts.training_only.tolist() == [row % 3 == 0 for row in rows]


@given(rows=st.lists(st.integers(0, COUNT - 1)))
def test_the_rows_taken_come_with_all_that_belongs_to_them(rows: list[int]) -> None:
    taken = numbered().take(np.array(rows, dtype=np.intp))
    check_taken(taken, rows)
    assert taken.notes == ("a note",)


def test_what_is_not_there_stays_away() -> None:
    taken = check_texts(["a", "b"], comments()).take(np.array([1]))
    assert taken.labels is taken.parts is taken.clusters is taken.training_only is None
    assert taken.texts == ("b",)


@given(count=st.integers(1, COUNT - 1), seed=st.integers(0, 1000))
def test_a_sample_keeps_the_order_and_says_what_it_is(count: int, seed: int) -> None:
    sample = numbered().sample(count, seed)
    rows = [int(text.split()[1]) for text in sample.texts]
    assert rows == sorted(set(rows))
    check_taken(sample, rows)
    note = f"a sample of {count} of the {COUNT} texts, drawn with seed {seed}"
    assert sample.notes == ("a note", note)
    assert sample.texts == numbered().sample(count, seed).texts, "same seed, same texts"


def test_every_text_is_as_likely_to_be_drawn() -> None:
    """3 of 12 texts, 4,000 times: each is drawn 1,000 times, give or take 5 standard deviations."""
    texts = numbered(12)
    drawn = Counter(text for seed in range(4000) for text in texts.sample(3, seed).texts)
    spread = 5 * (4000 * 0.25 * 0.75) ** 0.5
    assert set(drawn) == set(texts.texts)
    assert all(abs(count - 1000) < spread for count in drawn.values())


@pytest.mark.parametrize("count", [COUNT, COUNT + 1, 10**9])
def test_a_sample_of_all_texts_is_all_texts(count: int) -> None:
    sample = numbered().sample(count, 0)
    check_taken(sample, list(range(COUNT)))
    assert sample.notes == ("a note",)


@pytest.mark.parametrize(
    ("count", "seed", "name"), [(0, 0, "count"), (-1, 0, "count"), (3, -1, "seed")]
)
def test_a_sample_that_cannot_be_drawn(count: int, seed: int, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        numbered().sample(count, seed)
    assert caught.value.details["name"] == name


TEXTS = st.lists(st.text(max_size=4), max_size=5)


@given(one=TEXTS, other=TEXTS)
def test_only_equal_texts_have_equal_fingerprints(one: list[str], other: list[str]) -> None:
    assert (texts_fingerprint(one) == texts_fingerprint(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(["ab"], ["a", "b"]), ([""], []), (["", "a"], ["a", ""]), (["a\n", "b"], ["a", "\nb"])],
)
def test_where_a_text_ends_is_part_of_the_fingerprint(one: list[str], other: list[str]) -> None:
    assert texts_fingerprint(one) != texts_fingerprint(other)


def test_half_a_character_pair_has_a_fingerprint_too() -> None:
    """Python's strings may hold what no UTF-8 text does."""
    assert texts_fingerprint(["\ud83d"]) != texts_fingerprint(["\ude00"])
