"""From texts to words, and from words to the numbers that a network takes.

A word is a run of letters and digits, in lower case; everything else stands between words. What is
no word of the writer's is passed over: line breaks of web pages, addresses, characters written as
entities, and the names of users.

A Python dictionary takes a tenth of a microsecond a word, which for half a million reviews is more
than the network itself takes. So a word's first 24 bytes become one 64-bit number, its key, which
is found in a table of hashes, all words at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# What is no word. All signs are ASCII, so that blanks can take the place of just as many bytes; and
# none goes on beyond the end of a line, so that texts can be searched together, a line end between.
_BREAKS = (b"<br />", b"<br/>", b"<br>")
_NOISE = (
    re.compile(rb"https?://\S+"),
    re.compile(rb"&(?:#[0-9]+|[A-Za-z]+);"),
    re.compile(rb"@[A-Za-z0-9_]+"),
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")

_BLANK = ord(" ")
# From a byte to the same in lower case, or to a blank if it cannot be in a word. Bytes from 128 up
# are parts of letters: other characters beyond ASCII are blanks already when this is applied.
_BYTES = bytes(
    ord(chr(byte).lower()) if byte >= 128 or chr(byte).isalnum() else _BLANK for byte in range(128)
) + bytes(range(128, 256))

# Bytes after the last text, so that whole blocks of them can be read from any word's beginning.
_MARGIN = 40


@dataclass(frozen=True)
class FoundWords:
    """Where the words of some texts are.

    `content`: all texts one after another in UTF-8, in lower case, with blanks between the words,
    and at least 32 blanks at the end; its length is a multiple of 8. `start`, `length`: the bytes
    of each word. The words of text i are ``offsets[i]:offsets[i + 1]``.
    """

    content: NDArray[np.uint8]
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    offsets: NDArray[np.int64]


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case and in their order.

    Addresses, entities such as ``&amp;``, names of users and line breaks of web pages are no words.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of str

    Examples
    --------
    >>> words_of("It's the 2nd<br />time, @you: see https://example.org/a?b=1 &amp; Über")
    ['it', 's', 'the', '2nd', 'time', 'see', 'über']
    """
    return _without_noise(_encoded(text)).translate(_BYTES).decode().split()


def find_words(texts: Sequence[str]) -> FoundWords:
    """Find the words of many texts, as :func:`words_of` gives them; fastest a megabyte at once."""
    encoded = [_encoded(text) for text in texts]
    joined = _without_noise(b"\n".join([b"", *encoded]))
    joined = joined.ljust((len(joined) + _MARGIN) // 8 * 8).translate(_BYTES)
    content = np.frombuffer(joined, dtype=np.uint8)
    inside = content != _BLANK
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    edges += 1
    start, stop = edges[0::2], edges[1::2]
    bounds = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(item) + 1 for item in encoded], out=bounds[1:])
    return FoundWords(content, start, stop - start, np.searchsorted(start, bounds))


def _encoded(text: str) -> bytes:
    """Write a text in UTF-8, of what is beyond ASCII only letters and digits, in lower case."""
    return (text if text.isascii() else _BEYOND_ASCII.sub(_letters, text)).encode()


def _letters(characters: re.Match[str]) -> str:
    lower = characters[0].lower()
    # No blank: it might complete a tag, as in <br“/>.
    return lower if lower.isalnum() else _BETWEEN_WORDS.sub("\n", lower)


def _without_noise(content: bytes) -> bytes:
    """Put blanks in the place of everything that is no word of the writer's."""
    for sign in _BREAKS:
        content = content.replace(sign, b" " * len(sign))
    for pattern in _NOISE:
        content = pattern.sub(lambda match: b" " * len(match[0]), content)
    return content


Keys = NDArray[np.uint64]

# Words of more bytes are in no vocabulary.
LONGEST_WORD = 24

# Odd, so that multiplying by it loses nothing, and with bits that look like chance: a key's first
# bits then depend on all letters. From the fractional parts of the square roots of 2, 3 and 5.
_FACTORS = tuple(np.uint64(n) for n in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B))
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


def _keys(words: FoundWords) -> Keys:
    """Return the key of each word, shape (words,): a hash of its first 24 bytes.

    Words of up to 8 bytes never share a key. In arithmetic modulo 2**64, the first eight bytes are
    multiplied by an odd factor; each further eight are multiplied, mixed and combined by XOR.
    """
    blocks = words.content.view(np.uint64)
    keys = _eight_bytes(blocks, words.start, words.length)
    keys *= _FACTORS[0]
    for eighth in (1, 2):
        longer = np.flatnonzero(words.length > 8 * eighth)
        start, length = words.start[longer] + 8 * eighth, words.length[longer] - 8 * eighth
        part = _eight_bytes(blocks, start, length)
        part *= _FACTORS[eighth]
        part ^= part >> np.uint64(29)
        keys[longer] ^= part * _FACTORS[0]
    return keys


def _eight_bytes(blocks: Keys, start: NDArray[np.int64], length: NDArray[np.int64]) -> Keys:
    """Return eight bytes from each start, shape (words,); those beyond `length` are zero.

    `blocks`: the texts' bytes, eight in a number. `start` need be no multiple of eight.
    """
    block = start >> 3
    shift = ((start & 7) << 3).view(np.uint64)
    read: Keys = blocks[block] >> shift
    # In two steps, as a shift by all 64 bits is not defined.
    read |= (blocks[block + 1] << np.uint64(1)) << (np.uint64(63) - shift)
    read &= _FIRST_BYTES[np.minimum(length, 8)]
    return read


# What stands before a text's first word, and in the place of words that are not in a vocabulary.
PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2

# Characters of the texts that are numbered at once: more would not fit into a processor's caches.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class WordNumbers:
    """The words of texts as numbers, one text after another.

    Examples
    --------
    >>> words = WordNumbers(np.array([2, 4, 3]), offsets=np.array([0, 2, 3]))
    >>> words.counts.tolist()
    [2, 1]
    """

    numbers: NDArray[np.int64]  # The words of all texts, one text after another; shape (words,).
    # The words of text i are ``numbers[offsets[i]:offsets[i + 1]]``; shape (texts + 1,).
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of words of each text."""
        return np.diff(self.offsets)

    def keys(self) -> list[bytes]:
        """Return for each text a key that only texts of the same numbers have."""
        return [
            self.numbers[start:stop].tobytes()
            for start, stop in zip(self.offsets, self.offsets[1:], strict=False)
        ]

    def join(self, other: WordNumbers) -> WordNumbers:
        """Return these texts with another's after them."""
        return WordNumbers(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
        )


@dataclass(frozen=True)
class Vocabulary:
    """The words that a network knows, and how many words of a text it takes.

    Examples
    --------
    >>> vocabulary = Vocabulary(("a", "film"), longest=4)
    >>> vocabulary.numbers(["A bad film"]).numbers.tolist()
    [2, 1, 3]
    """

    # Different words, as :func:`words_of` gives them; the first has the number 2, as 0 is
    # padding and 1 stands for every word that is not here.
    words: tuple[str, ...]
    longest: int  # Even. Of a text with more words the first and the last ``longest / 2`` are kept.

    @property
    def size(self) -> int:
        """Count of the numbers, with those for padding and unknown words."""
        return FIRST_WORD + len(self.words)

    def knows(self, word: str) -> bool:
        """Return whether all words of a text, of at least one, are in the vocabulary."""
        parts = words_of(word)
        return bool(parts) and self._word_set.issuperset(parts)

    def numbers(self, texts: Sequence[str]) -> WordNumbers:
        """Return the words of texts as numbers; of long texts only the first and last words."""
        nothing = WordNumbers(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
        blocks = [nothing, *(self._block(texts[start:stop]) for start, stop in _blocks(texts))]
        counts = np.concatenate([[0], *(block.counts for block in blocks)])
        return WordNumbers(np.concatenate([block.numbers for block in blocks]), np.cumsum(counts))

    def _block(self, texts: Sequence[str]) -> WordNumbers:
        """Return the words of one block of texts as numbers."""
        words = find_words(texts)
        numbers = self._numbers_of(words)
        offsets = words.offsets
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

    def _numbers_of(self, words: FoundWords) -> NDArray[np.int64]:
        """Return the number of each word, shape (words,); 1 for unknown words."""
        indices = self._table.get_indexer(pd.Index(_keys(words)))
        unknown = (indices < 0) | (words.length > LONGEST_WORD)
        return np.where(unknown, UNKNOWN, indices + FIRST_WORD)

    @cached_property
    def _table(self) -> pd.Index[int]:
        """The key of each word."""
        words = find_words(self.words)
        if not (np.diff(words.offsets) == 1).all() or (words.length > LONGEST_WORD).any():
            raise ValueError("not a word")
        keys = pd.Index(_keys(words))
        if not keys.is_unique:
            # Different words of more than 8 bytes have equal keys with a chance of one in 10**19.
            raise ValueError("a word stands twice")
        return keys

    @cached_property
    def _word_set(self) -> frozenset[str]:
        return frozenset(self.words)


def fit_vocabulary(
    texts: Iterable[str],
    *,
    size: int,
    longest: int,
    always: Iterable[str] = (),
    least: int = 3,
) -> Vocabulary:
    """Return the vocabulary of texts: the commonest words first, then by the alphabet.

    A word is the commoner the more texts it is in.

    Parameters
    ----------
    texts : iterable of str
        The training texts.
    size : int
        The most words to take by how common they are.
    longest : int
        Words of a text that are kept; even.
    always : iterable of str
        Texts whose words are taken even if others are commoner, such as sensitive terms.
    least : int
        The fewest texts that a word must be in. This holds for the words of `always` too, as
        nothing can be learnt about a word that is not in the texts.

    Returns
    -------
    Vocabulary

    Examples
    --------
    >>> texts = ["a good film", "a bad film", "a film"]
    >>> fit_vocabulary(texts, size=2, longest=4, always=["bad"], least=1).words
    ('a', 'film', 'bad')
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(words_of(text)))
    common = [
        word for word in counts if counts[word] >= least and len(word.encode()) <= LONGEST_WORD
    ]
    common.sort(key=lambda word: (-counts[word], word))
    chosen = {*common[:size], *(word for text in always for word in words_of(text))}
    return Vocabulary(tuple(word for word in common if word in chosen), longest)


def _blocks(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the bounds of blocks of texts, each of about `_BLOCK` characters."""
    ends = np.cumsum([len(text) + 1 for text in texts])
    blocks = []
    start = 0
    while start < len(texts):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        blocks.append((start, stop))
        start = stop
    return blocks
