"""Texts that set terms of one category beside one another: "black or white", "gays and lesbians".

With one term for all of a category such a text becomes "asian or asian", which makes no sense. It
is about the terms together, so one of them cannot replace the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.rules.text.lexicon import fold

# What may stand around a term: quotation marks, brackets, the ending of a possessive.
_QUOTES = "[\"'\u201c\u201d\u2018\u2019()*_]*"
_WORDS = r"(?:and/or|and|or|nor|vs\.?|versus|than)\s+"
_JOINT = rf"(?:\s*[,/&+]\s*(?:{_WORDS})?|\s+{_WORDS})"
_DETERMINER = r"(?:(?:a|an|the|some|any|other|even)\s+)?"
_SHARED = rf"(?:\s+(?!{_WORDS}|and/)(?P<shared>\w+(?:\s+\w+)?))?"
# What makes a list of two terms if it stands between them; a word that both belong to may follow
# the first, as "people" in "black people and white people".
_BETWEEN = re.compile(rf"(?:'s?)?{_QUOTES}{_SHARED}{_QUOTES}{_JOINT}{_DETERMINER}{_QUOTES}")
# Longer stretches make no list.
_LONGEST = 60


def lists_of_terms(
    texts: Sequence[str], mentions: Iterable[tuple[int, int, int, int, int]], categories: int
) -> NDArray[np.bool_]:
    """Return a mask of the categories of which texts list several terms, (texts, categories).

    `mentions` are text, start, stop, category and term of each, in the order of texts and places.
    """
    lists = np.zeros((len(texts), categories), dtype=bool)
    before: dict[int, tuple[int, int, int]] = {}
    for row, start, stop, category, term in mentions:
        last = before.get(category)
        before[category] = (row, stop, term)
        if last is None or last[0] != row or last[2] == term or lists[row, category]:
            continue
        lists[row, category] = _is_list(texts[row], last[1], start, stop)
    return lists


def _is_list(text: str, end: int, start: int, stop: int) -> bool:
    """Return whether two terms, up to `end` and from `start` to `stop`, are in one list."""
    if start - end > _LONGEST:
        return False
    between = _BETWEEN.fullmatch(fold(text[end:start]))
    if between is None:
        return False
    shared = between["shared"]
    if shared is None:
        return True
    words = fold(text[stop : stop + _LONGEST]).split()[: len(shared.split())]
    return [word.strip(".,;:!?\"'") for word in words] == shared.split()
