"""Batches for training: every text once, padded before its first word, one length a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from testsgd.models.text import WordNumbers
from testsgd.models.text.keras_network import Batches, padded

COUNTS = st.lists(st.integers(0, 30), min_size=1, max_size=40)


def texts_of(counts: list[int]) -> WordNumbers:
    """Give each text words that no other has."""
    return WordNumbers(np.arange(1, sum(counts) + 1), np.cumsum([0, *counts]))


def words_in(words: WordNumbers, row: int) -> list[int]:
    return words.numbers[words.offsets[row] : words.offsets[row + 1]].tolist()


@given(COUNTS, st.integers(1, 9), st.integers(1, 7), st.booleans())
def test_every_text_is_in_one_batch(
    counts: list[int], step: int, size: int, shuffled: bool
) -> None:
    words = texts_of(counts)
    rows = np.arange(len(counts))[::2]
    labels = np.arange(len(counts), dtype=np.float32)
    batches = Batches(
        words,
        labels,
        rows,
        step=step,
        size=size,
        generator=np.random.default_rng(0) if shuffled else None,
    )
    seen: list[int] = []
    made = 0
    for inputs, answers in batches:
        made += 1
        assert inputs.dtype == np.int32
        assert inputs.shape[1] % step == 0
        assert 1 <= len(inputs) <= size
        assert answers.shape == (len(inputs), 1)
        for line, label in zip(inputs.tolist(), answers[:, 0].tolist(), strict=True):
            row = int(label)
            numbers = words_in(words, row)
            assert line == [0] * (len(line) - len(numbers)) + numbers
            # No more padding than the next multiple of the step wants, but for an empty text.
            assert len(line) - len(numbers) < step or not numbers
            seen.append(row)
    assert sorted(seen) == rows.tolist()
    assert len(batches) == made


def test_a_pass_is_shuffled_anew_and_the_seed_fixes_it() -> None:
    words = texts_of([3] * 50)
    labels = np.arange(50, dtype=np.float32)

    def passes(seed: int) -> list[list[float]]:
        generator = np.random.default_rng(seed)
        batches = Batches(words, labels, np.arange(50), step=4, size=8, generator=generator)
        return [[float(x) for _, answers in batches for x in answers[:, 0]] for _ in range(2)]

    first, second = passes(1)
    assert first != second
    assert passes(1) == [first, second]
    assert passes(2)[0] != first


def test_texts_of_several_lengths_are_padded_to_the_longest() -> None:
    words = texts_of([1, 5, 0])
    assert padded(words, np.array([0, 1, 2]), 4).tolist() == [
        [0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 2, 3, 4, 5, 6],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert padded(words, np.array([], dtype=np.intp), 4).shape == (0, 4)


def test_weights_stay_with_their_texts() -> None:
    words = texts_of(list(range(1, 31)))
    labels = np.arange(30, dtype=np.float32)
    generator = np.random.default_rng(0)
    batches = Batches(
        words, labels, np.arange(30), step=4, size=3, generator=generator, weights=labels * 2
    )
    assert batches.weights is not None
    pairs = [
        (float(answer), float(weight))
        for _, answers, weights in batches
        for answer, weight in zip(answers[:, 0], weights, strict=True)
    ]
    assert sorted(pairs) == [(float(text), 2.0 * text) for text in range(30)]


def test_texts_are_joined_one_after_another() -> None:
    first, second = texts_of([2, 0]), texts_of([0, 3, 1])
    both = first.join(second)
    assert both.counts.tolist() == [2, 0, 0, 3, 1]
    assert both.numbers.tolist() == [*first.numbers.tolist(), *second.numbers.tolist()]


def test_the_parts_of_a_pass_are_its_batches_one_after_another() -> None:
    words = texts_of([int(n) for n in np.random.default_rng(0).integers(0, 20, 60)])
    labels = np.arange(60, dtype=np.float32)

    def batches(part: tuple[int, int]) -> list[list[float]]:
        generator = np.random.default_rng(3)
        made = Batches(words, labels, np.arange(60), step=4, size=7, generator=generator, part=part)
        read = [answers[:, 0].tolist() for _, answers in made]
        assert len(made) == len(read)
        return read

    whole = batches((0, 1))
    for parts in (2, 3, len(whole)):
        assert [batch for part in range(parts) for batch in batches((part, parts))] == whole


def test_only_texts_of_the_same_words_have_the_same_key() -> None:
    words = WordNumbers(np.array([1, 2, 1, 2, 2, 1]), np.array([0, 2, 4, 6, 6]))
    one, same, other, empty = words.keys()
    assert one == same
    assert len({one, other, empty}) == 3
