"""Splitting texts into words: what a word is, and a fast way to find the words of many texts.

A word is a run of letters and digits, in lower case; everything else stands between words. What is
no word of the writer's is passed over: line breaks of web pages, addresses, characters written as
entities, and the names of users.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
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
class WordPlaces:
    """Where the words of some texts are.

    Attributes
    ----------
    content : numpy.ndarray of uint8
        All texts one after another in UTF-8, in lower case, with blanks between the words, and at
        least 32 blanks at the end. The length is a multiple of 8.
    start, length : numpy.ndarray of int64, shape (words,)
        The bytes of each word.
    offsets : numpy.ndarray of int64, shape (texts + 1,)
        The words of text i are ``offsets[i]:offsets[i + 1]``.
    """

    content: NDArray[np.uint8]
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    offsets: NDArray[np.int64]


def words_of(text: str) -> list[str]:
    """Split a text into words.

    Examples
    --------
    >>> words_of("An African-American's view_point:<br /><br />DON'T miss the 2nd")
    ['an', 'african', 'american', 's', 'view', 'point', 'don', 't', 'miss', 'the', '2nd']
    >>> words_of("@somebody: good! See https://example.org/a?b=c &amp; more")
    ['good', 'see', 'more']
    """
    return _without_noise(_encoded(text)).translate(_BYTES).decode().split()


def find_words(texts: Sequence[str]) -> WordPlaces:
    """Find the words of many texts, the same as :func:`words_of` gives.

    Parameters
    ----------
    texts : sequence of str
        The texts; about a megabyte at once is fastest.

    Returns
    -------
    WordPlaces

    Examples
    --------
    >>> places = find_words(["Not bad!", "", "ÉTÉ"])
    >>> places.offsets.tolist(), places.length.tolist()
    ([0, 2, 2, 3], [3, 3, 5])
    """
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
    return WordPlaces(content, start, stop - start, np.searchsorted(start, bounds))


def _encoded(text: str) -> bytes:
    """Write a text in UTF-8, of what is beyond ASCII only letters and digits, in lower case."""
    return (text if text.isascii() else _BEYOND_ASCII.sub(_letters, text)).encode()


def _letters(characters: re.Match[str]) -> str:
    found = characters[0].lower()
    return found if found.isalnum() else _BETWEEN_WORDS.sub(" ", found)


def _without_noise(content: bytes) -> bytes:
    """Put blanks in the place of everything that is no word of the writer's."""
    for sign in _BREAKS:
        content = content.replace(sign, b" " * len(sign))
    for pattern in _NOISE:
        content = pattern.sub(lambda match: b" " * len(match[0]), content)
    return content
