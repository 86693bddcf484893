"""From words to the numbers that a network takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testsgd.models.text.word_table import LONGEST_WORD, WordTable
from testsgd.models.text.words import find_words, words_of

# What stands before a text's first word, and in the place of words that are not in a vocabulary.
PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2

# Characters of the texts that are numbered at once: more would not fit into a processor's caches.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class WordNumbers:
    """The words of some texts as numbers.

    Attributes
    ----------
    numbers : numpy.ndarray of int64, shape (words,)
        The words of all texts, one text after another.
    offsets : numpy.ndarray of int64, shape (texts + 1,)
        The words of text i are ``numbers[offsets[i]:offsets[i + 1]]``.
    """

    numbers: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of words of each text."""
        return np.diff(self.offsets)

    def keys(self) -> list[bytes]:
        """Give each text a key that only texts of the same numbers have."""
        return [
            self.numbers[start:stop].tobytes()
            for start, stop in zip(self.offsets, self.offsets[1:], strict=False)
        ]

    def join(self, other: WordNumbers) -> WordNumbers:
        """Give these texts with another's after them.

        Examples
        --------
        >>> one = WordNumbers(np.array([5, 6]), np.array([0, 2]))
        >>> both = one.join(WordNumbers(np.array([7]), np.array([0, 0, 1])))
        >>> both.numbers.tolist(), both.offsets.tolist()
        ([5, 6, 7], [0, 2, 2, 3])
        """
        return WordNumbers(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
        )


@dataclass(frozen=True)
class Vocabulary:
    """The words that a network knows, and how much of a text it takes.

    Attributes
    ----------
    words : tuple of str
        Different words, as :func:`testsgd.models.text.words.words_of` gives them; the first has the
        number 2, as 0 is padding and 1 stands for every word that is not here.
    longest : int
        Even. Of a text with more words the first and the last ``longest / 2`` are kept.

    Examples
    --------
    >>> vocabulary = Vocabulary(("a", "good", "film"), longest=4)
    >>> numbered = vocabulary.numbers(["A good one", "", "good film, a good, good film"])
    >>> numbered.numbers.tolist(), numbered.offsets.tolist()
    ([2, 3, 1, 3, 4, 3, 4], [0, 3, 3, 7])
    >>> vocabulary.knows("good film"), vocabulary.knows("bad film")
    (True, False)
    """

    words: tuple[str, ...]
    longest: int

    @property
    def size(self) -> int:
        """How many numbers there are, with those for padding and unknown words."""
        return FIRST_WORD + len(self.words)

    def knows(self, word: str) -> bool:
        """Say whether all words of a text, of at least one, are in the vocabulary."""
        parts = words_of(word)
        return bool(parts) and self._known.issuperset(parts)

    def numbers(self, texts: Sequence[str]) -> WordNumbers:
        """Give the words of texts as numbers, of long texts only those that are kept."""
        blocks = [self._block(texts[start:stop]) for start, stop in _blocks(texts)]
        counts = np.concatenate([np.zeros(1, dtype=np.int64), *(block.counts for block in blocks)])
        numbers = [block.numbers for block in blocks]
        return WordNumbers(
            np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64), np.cumsum(counts)
        )

    def _block(self, texts: Sequence[str]) -> WordNumbers:
        places = find_words(texts)
        numbers, offsets = self._table.numbers(places), places.offsets
        counts = np.diff(offsets)
        long = np.flatnonzero(counts > self.longest)
        if not len(long):
            return WordNumbers(numbers, offsets)
        kept = np.ones(len(numbers), dtype=bool)
        half = self.longest // 2
        for text in long.tolist():
            kept[offsets[text] + half : offsets[text + 1] - half] = False
        counts[long] = self.longest
        return WordNumbers(numbers[kept], np.concatenate([[0], np.cumsum(counts)]))

    @cached_property
    def _table(self) -> WordTable:
        return WordTable(self.words, first=FIRST_WORD, unknown=UNKNOWN)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)


def fit_vocabulary(
    texts: Iterable[str],
    *,
    size: int,
    longest: int,
    always: Iterable[str] = (),
    least: int = 3,
) -> Vocabulary:
    """Choose the words that a network is to know.

    Parameters
    ----------
    texts : iterable of str
        The texts it is trained on.
    size : int
        How many words there may be, besides those of `always`.
    longest : int
        As for :class:`Vocabulary`.
    always : iterable of str
        Words that are to be known even if others are commoner, such as sensitive terms.
    least : int
        A word must stand in at least so many of the texts: one of `always` too, as nothing can be
        learnt of a word that is not there.

    Returns
    -------
    Vocabulary
        The commonest words first, then by the alphabet.

    Examples
    --------
    >>> texts = ["so good", "so bad", "so so", "good old film", "old film"]
    >>> fit_vocabulary(texts, size=2, longest=10, always=["old woman"], least=2).words
    ('so', 'film', 'old')
    """
    found: Counter[str] = Counter()
    for text in texts:
        found.update(set(words_of(text)))
    often = sorted(
        (word for word in found if found[word] >= least and len(word.encode()) <= LONGEST_WORD),
        key=lambda word: (-found[word], word),
    )
    wanted = {word for text in always for word in words_of(text)}
    chosen = set(often[:size]) | wanted
    return Vocabulary(tuple(word for word in often if word in chosen), longest)


def _blocks(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Cut texts into blocks of about as many characters."""
    ends = np.cumsum([len(text) + 1 for text in texts])
    blocks, start = [], 0
    while start < len(texts):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        blocks.append((start, stop))
        start = stop
    return blocks
