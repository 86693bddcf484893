"""Splitting for a training: every row on one side, the variants of a text together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from testsgd.errors import DataError
from testsgd.models.training_split import Split, split_examples

Marks = Any


def divide(labels: Any, seed: int = 0, **options: Any) -> Split:
    return split_examples(
        np.asarray(labels, np.float32), seed, unit="text", source="made up", **options
    )


def drawn_labels(count: int, seed: int = 0, share: float = 0.3) -> Marks:
    return np.random.default_rng(seed).random(count) < share


@given(st.integers(0, 1000), st.integers(200, 400), st.booleans(), st.booleans(), st.booleans())
def test_nothing_is_on_two_sides(
    seed: int, count: int, clustered: bool, told: bool, only: bool
) -> None:
    generator = np.random.default_rng(seed)
    labels = drawn_labels(count, seed)
    clusters = generator.integers(0, 3 * count, count) if clustered else None
    parts = generator.choice(np.array(["train", "test", None], object), count) if told else None
    training_only = generator.random(count) < 0.2 if only else None
    found = divide(labels, seed, clusters=clusters, parts=parts, training_only=training_only)
    sides = [set(rows.tolist()) for rows in (found.train, found.validation, found.test)]
    assert sum(len(side) for side in sides) == len(set().union(*sides))
    assert all((np.diff(rows) > 0).all() for rows in (found.train, found.validation, found.test))
    assert min(len(side) for side in sides) > 0
    if clusters is not None:
        for one in range(3):
            for other in range(one):
                assert not set(clusters[list(sides[one])]) & set(clusters[list(sides[other])])
    if training_only is not None:
        assert not training_only[found.test].any()
    if parts is not None:
        assert (parts[found.test] == "test").all()
        assert not (parts[found.seen] == "test").any()
    if clusters is None and training_only is None:
        assert len(set().union(*sides)) == count
    assert sorted(found.seen) == sorted(sides[0] | sides[1])


def test_the_shares_of_rows_and_of_labels() -> None:
    labels = drawn_labels(1000)
    found = divide(labels)
    assert (len(found.train), len(found.validation), len(found.test)) == (720, 80, 200)
    for rows in (found.train, found.validation, found.test):
        assert labels[rows].mean() == pytest.approx(labels.mean(), abs=0.01)


def test_the_seed_fixes_the_split() -> None:
    labels = drawn_labels(500)
    same, again, other = divide(labels, 1), divide(labels, 1), divide(labels, 2)
    assert same.test.tolist() == again.test.tolist()
    assert same.validation.tolist() == again.validation.tolist()
    assert same.test.tolist() != other.test.tolist()


def test_texts_for_training_only_go_where_their_variants_are() -> None:
    # As in a data set of comments, the same comments with other terms, and made-up sentences.
    comments = 100
    labels = np.concatenate([drawn_labels(comments)] * 2 + [drawn_labels(300, share=0.5)])
    clusters = np.concatenate([np.arange(comments)] * 2 + [comments + np.arange(300)])
    only = np.repeat([False, True, True], [comments, comments, 300])
    parts = np.full(len(labels), None, object)
    parts[2 * comments :] = "train"
    found = divide(labels, clusters=clusters, training_only=only, parts=parts)
    assert len(found.test) == 20
    assert found.test.max() < comments
    # Neither those for the test nor their variants were seen, and every sentence was.
    assert set(found.seen.tolist()).isdisjoint(found.test + comments)
    assert set(range(200, 500)) <= set(found.train.tolist())
    assert len(found.validation) == 16
    originals = found.validation[found.validation < comments]
    assert set(found.validation.tolist()) == {*originals, *(originals + comments)}
    assert len(found.train) + len(found.validation) + 2 * len(found.test) == len(labels)


def test_a_test_part_of_the_files_is_the_test() -> None:
    parts = np.where(np.arange(200) % 2 == 0, "train", "test").astype(object)
    found = divide(drawn_labels(200), parts=parts)
    assert found.test.tolist() == list(range(1, 200, 2))
    assert len(found.validation) == 10


@given(st.lists(st.booleans(), max_size=12))
def test_too_few_to_be_split(labels: list[bool]) -> None:
    assume(sum(labels) < 2 or len(labels) - sum(labels) < 2)
    with pytest.raises(DataError, match=rf"made up: {len(labels)} text\(s\), {sum(labels)} of"):
        divide(labels)


def test_no_text_that_can_be_tested() -> None:
    labels = drawn_labels(100)
    with pytest.raises(DataError, match="too few to be split"):
        divide(labels, training_only=np.ones(100, bool))
    with pytest.raises(DataError, match="too few to be split"):
        divide(labels, parts=np.full(100, "train", object))
    last = np.arange(100) == 99
    with pytest.raises(DataError, match="too few to be split"):
        divide(labels, parts=np.where(last, "test", "train").astype(object), training_only=last)
