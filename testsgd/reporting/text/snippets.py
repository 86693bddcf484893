"""Snippets: places at which a sensitive term stands, with some words around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.reporting.summary import Snippet
from testsgd.rules.text import Mentions

# Characters on each side.
REACH = 60
# Line breaks, also as pages have them, are blanks here.
_BLANKS = re.compile(r"(?:\s|<br ?/?>)+")
# What no page can show: controls, and halves of characters.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)


def choose_mentions(
    mentions: Mentions, places: NDArray[np.intp], count: int, seed: Sequence[int]
) -> NDArray[np.intp]:
    """Choose some mentions of a term at random, each in a text of its own.

    Parameters
    ----------
    mentions : Mentions
        Every mention of every term.
    places : numpy.ndarray of int
        Which of them are of the term, ascending.
    count : int
        How many are wanted.
    seed : sequence of int
        Same seed, same choice.

    Returns
    -------
    numpy.ndarray of int
        At most `count` of `places`, in the order of the texts.
    """
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(places)
    # The first of each text in the shuffled order, so that long texts give one as others do.
    _, first = np.unique(mentions.text[shuffled], return_index=True)
    chosen: NDArray[np.intp] = np.sort(shuffled[generator.permutation(first)[:count]])
    return chosen


def snippet(text: str, start: int, stop: int, reach: int = REACH) -> Snippet:
    """Cut a mention and what is around it out of a text.

    Parameters
    ----------
    text : str
        The text.
    start, stop : int
        Where the term stands.
    reach : int
        Characters on each side; words that do not fit whole are left out.

    Returns
    -------
    Snippet
        In one line, without the line breaks of the text; an ellipsis says where it goes on.

    Examples
    --------
    >>> snippet("He told an old story about ships.", 11, 14, reach=12)
    Snippet(before='He told an ', term='old', after=' story about …')
    """
    # More than is kept, because blanks in a row become one.
    window = 4 * reach
    before = _one_line(text[max(0, start - window) : start])
    after = _one_line(text[stop : stop + window])
    return Snippet(
        # Cutting before the term is cutting after it, read backwards.
        before=_cut(before[::-1], reach, goes_on=start > window)[::-1],
        term=_one_line(text[start:stop]),
        after=_cut(after, reach, goes_on=len(text) - stop > window),
    )


def _cut(line: str, reach: int, *, goes_on: bool) -> str:
    """Keep the whole words that fit, and say with an ellipsis that the text goes on."""
    if len(line) <= reach:
        line = line.rstrip()
        return f"{line} …" if goes_on else line
    kept = line[:reach]
    if line[reach] != " " and " " in kept.strip():
        kept = kept.rpartition(" ")[0]
        return f"{kept.rstrip()} …"
    # A word that is longer than the reach is cut where it must be.
    return f"{kept.rstrip()} …" if line[reach] == " " else f"{kept}…"


def _one_line(text: str) -> str:
    return _BLANKS.sub(" ", _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text))
