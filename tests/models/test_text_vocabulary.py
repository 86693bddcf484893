"""From words to numbers: against a dictionary, whatever the words are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.models.text import Vocabulary, WordNumbers, fit_vocabulary, words_of
from testsgd.models.text import vocabulary as module
from testsgd.models.text.vocabulary import LONGEST_WORD

# Words of every length up to beyond the longest, many with equal beginnings or ends.
LETTERS = st.text("ab", min_size=1, max_size=30)
WORDS = st.one_of(LETTERS, st.text("abcdé9", min_size=1, max_size=9), LETTERS.map("same".__add__))
KNOWN = st.lists(WORDS.filter(lambda word: len(word.encode()) <= LONGEST_WORD), unique=True)


def by_dictionary(vocabulary: Vocabulary, text: str) -> list[int]:
    """Number the words of a text one by one, and cut out the middle."""
    numbers = {word: number for number, word in enumerate(vocabulary.words, start=2)}
    found = [numbers.get(word, 1) for word in words_of(text)]
    half = vocabulary.longest // 2
    return found if len(found) <= vocabulary.longest else found[:half] + found[-half:]


def lists(words: WordNumbers) -> list[list[int]]:
    return [part.tolist() for part in np.split(words.numbers, words.offsets[1:-1])]


@given(KNOWN, st.lists(st.lists(WORDS, max_size=15).map(" ".join), min_size=1, max_size=6))
def test_words_have_the_numbers_of_a_dictionary(known: list[str], texts: list[str]) -> None:
    vocabulary = Vocabulary(tuple(known), longest=8)
    numbered = vocabulary.numbers(texts)
    assert lists(numbered) == [by_dictionary(vocabulary, text) for text in texts]
    assert numbered.counts.tolist() == [len(part) for part in lists(numbered)]


def test_many_words_of_which_some_share_a_place() -> None:
    generator = np.random.default_rng(0)
    words = sorted(
        {"".join(chr(97 + n) for n in generator.integers(0, 26, 6)) for _ in range(9000)}
    )
    numbers = Vocabulary(tuple(words[::2]), len(words) + 1).numbers([" ".join(words)]).numbers
    assert numbers[::2].tolist() == list(range(2, 2 + len(words[::2])))
    assert (numbers[1::2] == 1).all()


@pytest.mark.parametrize("words", [["two words"], [""], ["a", "a"], ["x" * 25], ["Upper", "upper"]])
def test_what_is_no_list_of_words(words: list[str]) -> None:
    with pytest.raises(ValueError, match="word"):
        Vocabulary(tuple(words), longest=4).numbers(["any word"])


def test_no_words_and_no_texts() -> None:
    nothing = Vocabulary((), longest=4)
    assert lists(nothing.numbers(["any word", ""])) == [[1, 1], []]
    assert nothing.numbers([]).offsets.tolist() == [0]
    assert len(nothing.numbers([])) == 0
    assert nothing.size == 2


@pytest.mark.parametrize("block", [1, 7, 40, 1 << 20])
def test_texts_are_numbered_in_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    vocabulary = Vocabulary(("one", "two", "three"), longest=4)
    texts = ["one two", "", "three", "four one two three four five", "two " * 30, "", "one"]
    numbered = vocabulary.numbers(texts)
    assert lists(numbered) == [by_dictionary(vocabulary, text) for text in texts]


def test_the_first_and_the_last_words_of_a_long_text_are_kept() -> None:
    vocabulary = Vocabulary(tuple("abcdefghij"), longest=6)
    assert lists(vocabulary.numbers(["a b c d e f", "a b c d e f g", "a b c d e f g h i j"])) == [
        [2, 3, 4, 5, 6, 7],
        [2, 3, 4, 6, 7, 8],
        [2, 3, 4, 9, 10, 11],
    ]


@pytest.mark.parametrize(
    ("term", "known"),
    [
        ("gay", True),
        ("Gay", True),
        ("african american", True),
        ("african-american", True),
        ("african", True),
        ("latinx", False),
        ("african latinx", False),
        ("", False),
        ("-", False),
    ],
)
def test_a_term_is_known_if_all_its_words_are(term: str, known: bool) -> None:
    assert Vocabulary(("gay", "african", "american"), longest=4).knows(term) is known


def test_the_commonest_words_are_chosen() -> None:
    generator = np.random.default_rng(1)
    words = [f"w{n}" for n in range(40)]
    weights = 1 / np.arange(1, 41)
    texts = [" ".join(generator.choice(words, 12, p=weights / weights.sum())) for _ in range(60)]
    found = Counter(word for text in texts for word in set(text.split()))
    vocabulary = fit_vocabulary(texts, size=10, longest=4, least=3)
    assert len(vocabulary.words) == 10
    assert min(found[word] for word in vocabulary.words) >= max(
        found[word] for word in words if word not in vocabulary.words
    )
    counts = [found[word] for word in vocabulary.words]
    assert counts == sorted(counts, reverse=True)


def test_a_word_that_stands_often_in_one_text_is_not_common() -> None:
    texts = ["rare " * 100, "so so", "so good", "so bad"]
    assert fit_vocabulary(texts, size=9, longest=4, least=2).words == ("so",)


def test_terms_are_known_if_they_stand_often_enough() -> None:
    texts = ["the film"] * 9 + ["an old-ish man", "an old one", "old", "one taoist", "a taoist"]
    always = ["old man", "Taoist", "latinx"]
    assert "old" not in fit_vocabulary(texts, size=2, longest=4).words
    chosen = fit_vocabulary(texts, size=2, longest=4, always=always, least=3)
    assert chosen.words == ("film", "the", "old")


def test_words_that_are_too_long_are_left_out() -> None:
    texts = ["x" * LONGEST_WORD + " " + "y" * (LONGEST_WORD + 1) + " " + "é" * 13] * 3
    assert fit_vocabulary(texts, size=9, longest=4).words == ("x" * LONGEST_WORD,)
