"""Texts generated from templates: near copies that are units of their own.

"My old neighbour ... with Anna" and "my young neighbour ... with Ben" are nearly equal if the rest
is long. Copies of a text, quotations and spam with a changed name, keep its sensitive terms. So a
cluster of nearly equal texts is taken for one template if

- it has several different texts, apart from their terms: the template with its fillers,
- they are equal but for a few places, the slots, and
- no single term, or set of terms, is in most of the texts.

A text of such a cluster is one unit with those that differ from it by their terms alone: one unit
a template and filler. What fits a template that was found belongs to it, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Words = tuple[int, ...]
Skeleton = tuple[Words, ...]

# Different fillings that a template has at least, and slots at most.
LEAST_FILLINGS = 5
MOST_SLOTS = 3
# The share of a cluster's texts from which on they all have the same terms.
_SAME_TERMS = 0.8
# The share of a text's words that are outside the slots.
_FIXED = 0.6


@dataclass(frozen=True)
class Generated:
    """Counts of the texts that were recognised as generated from templates."""

    templates: int  # How many templates
    texts: int  # How many texts were made of them
    units: int  # How many pairs of a template and a filling

    def __bool__(self) -> bool:
        return self.texts > 0


def take_templates_apart(
    leaders: Counts, different: Counts, distinct: Sequence[Words], terms: Sequence[Words]
) -> tuple[Counts, Generated]:
    """Return the clusters with texts of one template apart, and the templates that were recognised.

    Parameters
    ----------
    leaders : array of int
        For each different text the one that leads its cluster.
    different : array of int
        For each text the number of its words in `distinct`.
    distinct : sequence of tuples
        The words of the different texts, with terms as their categories.
    terms : sequence of tuples
        The terms of each text, in their order.

    Returns
    -------
    leaders : array of int
        Each text of a template leads a cluster of its own.
    generated : Generated
    """
    members: defaultdict[int, list[int]] = defaultdict(list)
    for text, leader in enumerate(leaders.tolist()):
        members[leader].append(text)
    several = {leader: texts for leader, texts in members.items() if len(texts) > 1}
    if not several:
        return leaders, Generated(0, 0, 0)
    mentioned = _mentioned(different, terms, {text for texts in several.values() for text in texts})
    skeletons: dict[Skeleton, None] = {}
    apart: list[int] = []
    left: list[list[int]] = []
    for leader, texts in several.items():
        skeleton = None
        if len(texts) >= LEAST_FILLINGS and _terms_vary([mentioned[text] for text in texts]):
            skeleton = _skeleton(distinct[leader], [distinct[text] for text in texts])
        if skeleton is None:
            left.append(texts)
        else:
            skeletons[skeleton] = None
            apart += texts
    # A few texts that were nearer to one another than to the rest of their template.
    for texts in left:
        if any(all(_fits(distinct[text], runs) for text in texts) for runs in skeletons):
            apart += texts
    result = leaders.copy()
    result[apart] = apart
    generated = int(np.isin(different, apart).sum()) if apart else 0
    return result, Generated(len(skeletons), generated, len(apart))


def _mentioned(
    different: Counts, terms: Sequence[Words], wanted: set[int]
) -> dict[int, Counter[Words]]:
    """Count the terms of the texts with the same words."""
    counts: dict[int, Counter[Words]] = {text: Counter() for text in wanted}
    for text, own in zip(different.tolist(), terms, strict=True):
        if text in counts:
            counts[text][own] += 1
    return counts


def _terms_vary(counts: Sequence[Counter[Words]]) -> bool:
    """Return whether a cluster's texts have different terms, as no copies of one text have."""
    together: Counter[Words] = Counter()
    for counter in counts:
        together.update(counter)
    return max(together.values()) < _SAME_TERMS * together.total()


def _skeleton(leader: Words, texts: Sequence[Words]) -> Skeleton | None:
    """Return the runs of words that all texts have, between a few slots; None if there are many."""
    runs: Skeleton = (leader,)
    for text in texts:
        runs = _in_common(runs, text)
        if len(runs) > MOST_SLOTS + 1:
            return None
    return runs if sum(map(len, runs)) >= _FIXED * len(leader) else None


def _in_common(runs: Skeleton, text: Words) -> Skeleton:
    """Return the parts of runs of words that a text has in the same order, as runs."""
    if _fits(text, runs):
        return runs
    # A word that no text has keeps the runs apart.
    joined = [word for run in runs for word in (*run, -1)][:-1]
    blocks = SequenceMatcher(None, joined, text, autojunk=False).get_matching_blocks()
    return tuple(tuple(joined[at : at + size]) for at, _, size in blocks if size)


def _fits(text: Words, runs: Skeleton) -> bool:
    """Return whether a text has all runs of words, one after another."""
    start = 0
    for run in runs:
        last = len(text) - len(run)
        while start <= last and text[start : start + len(run)] != run:
            start += 1
        if start > last:
            return False
        start += len(run)
    return True
