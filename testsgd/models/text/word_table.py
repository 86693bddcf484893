"""Words and their numbers: a hash table that is asked about all words of many texts at once.

A Python dictionary takes a tenth of a microsecond a word, which for half a million reviews is more
than the network itself takes. Here a word's first 24 bytes become one 64-bit number, its key, and
the table is an array that is looked into at the place which the key's first bits name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.models.text.words import WordPlaces, find_words

Keys = NDArray[np.uint64]

# Words of more bytes are not in a table.
LONGEST_WORD = 24

# Odd, so that multiplying by it loses nothing, and with bits that look like chance: a key's first
# bits then depend on all letters. From the fractional parts of the square roots of 2, 3 and 5.
_FACTORS = tuple(np.uint64(n) for n in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B))
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


class WordTable:
    """Words, each with a number.

    Parameters
    ----------
    words : sequence of str
        Different words of at most 24 bytes in UTF-8, as :func:`testsgd.models.text.words.words_of`
        gives them; they are numbered from `first` on.
    first : int
        The first word's number.
    unknown : int
        The number of every other word.

    Raises
    ------
    ValueError
        If an item is no such word, or stands twice.

    Examples
    --------
    >>> table = WordTable(["good", "bad"], first=2, unknown=1)
    >>> table.numbers(find_words(["Bad, not good"])).tolist()
    [3, 1, 2]
    """

    def __init__(self, words: Sequence[str], *, first: int, unknown: int) -> None:
        places = find_words(words)
        if not (np.diff(places.offsets) == 1).all() or (places.length > LONGEST_WORD).any():
            raise ValueError("not a word")
        keys = _keys(places)
        if len(np.unique(keys)) != len(keys):
            # Different words of more than 8 bytes have equal keys with a chance of one in 10**19.
            raise ValueError("a word stands twice")
        self._unknown = unknown
        # Eight places a word or more: hardly a word lies elsewhere than at the first place tried.
        bits = max(8, (8 * len(words) - 1).bit_length())
        self._shift = np.uint64(64 - bits)
        # A word whose place is taken lies at the next free one, at the end beyond the last place.
        size = (1 << bits) + len(words)
        self._keys = np.zeros(size, dtype=np.uint64)
        self._numbers = np.full(size, unknown, dtype=np.int64)
        for number, (key, place) in enumerate(
            zip(keys.tolist(), self._places(keys).tolist(), strict=True), start=first
        ):
            while self._keys[place]:
                place += 1
            self._keys[place] = key
            self._numbers[place] = number

    def numbers(self, places: WordPlaces) -> NDArray[np.int64]:
        """Give the number of each word."""
        keys = _keys(places)
        at = self._places(keys)
        found = self._keys[at]
        elsewhere = np.flatnonzero((found != keys) & (found != 0))
        while len(elsewhere):
            at[elsewhere] += 1
            found[elsewhere] = self._keys[at[elsewhere]]
            elsewhere = elsewhere[(found[elsewhere] != keys[elsewhere]) & (found[elsewhere] != 0)]
        numbers = self._numbers[at]
        numbers[(found == 0) | (places.length > LONGEST_WORD)] = self._unknown
        return numbers

    def _places(self, keys: Keys) -> NDArray[np.int64]:
        places: NDArray[np.int64] = (keys >> self._shift).view(np.int64)
        return places


def _keys(places: WordPlaces) -> Keys:
    """Make one number of a word's first 24 bytes; words of up to 8 bytes never share one."""
    blocks = places.content.view(np.uint64)
    keys = _eight_bytes(blocks, places.start, places.length)
    keys *= _FACTORS[0]
    for place in (1, 2):
        longer = np.flatnonzero(places.length > 8 * place)
        start, length = places.start[longer] + 8 * place, places.length[longer] - 8 * place
        part = _eight_bytes(blocks, start, length)
        part *= _FACTORS[place]
        part ^= part >> np.uint64(29)
        keys[longer] ^= part * _FACTORS[0]
    return keys


def _eight_bytes(blocks: Keys, start: NDArray[np.int64], length: NDArray[np.int64]) -> Keys:
    """Read eight bytes from anywhere, and set those beyond the word's length to zero."""
    block = start >> 3
    shift = ((start & 7) << 3).view(np.uint64)
    read: Keys = blocks[block] >> shift
    # In two steps, as a shift by all 64 bits is not defined.
    read |= (blocks[block + 1] << np.uint64(1)) << (np.uint64(63) - shift)
    read &= _FIRST_BYTES[np.minimum(length, 8)]
    return read
