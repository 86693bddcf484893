"""Texts that are equal or nearly equal: copies, quotations, texts from one template.

A text is taken for its words: in small letters, without punctuation and without "a" and "an", every
digit as 0, every address and every user name as one word, and every sensitive term as its category.
Texts with the same words are equal. Longer ones are compared by all runs of three words: two texts
are nearly equal if four fifths of the runs that either has are in both (Jaccard's index). One
changed word takes away three runs, so short texts must be equal. Texts generated from one template
are units of their own, as :mod:`testsgd.rules.text.templates` says.

The different texts are taken one after another, those with most copies first, then the longer ones,
then by the alphabet. Each joins the first one before it that leads a cluster and that it is nearly
equal to, or leads a cluster of its own. So neither chance nor the order of the texts plays a part.
Two texts that are nearly equal share one of the rarest few runs of each, so not all are compared.

See Broder (1997), On the resemblance and containment of documents (runs of words); Chaudhuri, Ganti
and Kaushik (2006), A primitive operator for similarity joins in data cleaning, and Bayardo, Ma and
Srikant (2007), Scaling up all pairs similarity search (the rarest few).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.rules.text.lexicon import without_unseen
from testsgd.rules.text.matching import Mentions
from testsgd.rules.text.templates import Generated, take_templates_apart

Counts = NDArray[np.int64]
Words = tuple[int, ...]

# Words in a run, and the share of the runs of two texts from which they are nearly equal.
RUN = 3
ALIKE = 0.8

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_USER = re.compile(r"(?<!\w)@\w+")
_DIGIT = re.compile(r"\d")
# A character that no text has stands around the words that are put in.
_WORD = re.compile("[^\\W_]+|\x00[^\x00]+\x00")
_ARTICLES = frozenset({"a", "an"})


def nearly_equal(texts: Sequence[str], mentions: Mentions) -> Counts:
    """Return a number for each text, the same for equal and nearly equal ones.

    They are 0, 1, ... in the order of their first texts. Texts that differ by the terms of a
    category alone are equal. Texts of one template with different fillings are not.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    mentions : Mentions
        The sensitive terms in them.

    Returns
    -------
    numpy.ndarray of int64, shape (texts,)

    References
    ----------
    Broder (1997), On the resemblance and containment of documents.
    """
    return units_of_texts(texts, mentions)[0]


def units_of_texts(texts: Sequence[str], mentions: Mentions) -> tuple[Counts, Generated]:
    """Return the numbers of :func:`nearly_equal`, and counts of texts generated from templates.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    mentions : Mentions
        The sensitive terms in them.

    Returns
    -------
    units : numpy.ndarray of int64, shape (texts,)
        The number of each text's unit.
    generated : Generated
        The templates that were recognised.
    """
    vocabulary: dict[str, int] = {}
    number_of: dict[Words, int] = {}
    different = np.array(
        [
            number_of.setdefault(
                tuple([vocabulary.setdefault(word, len(vocabulary)) for word in words]),
                len(number_of),
            )
            for words in _words(texts, mentions)
        ],
        dtype=np.int64,
    )
    distinct, spelled = list(number_of), list(vocabulary)
    copies = np.bincount(different, minlength=len(distinct)).tolist()
    order = sorted(
        range(len(distinct)),
        key=lambda text: (
            -copies[text],
            -len(distinct[text]),
            [spelled[word] for word in distinct[text]],
        ),
    )
    sizes, shared = _runs(distinct)
    leaders, generated = take_templates_apart(
        _leaders(sizes, shared, order), different, distinct, _terms(mentions)
    )
    leaders = leaders[different]
    _, first, inverse = np.unique(leaders, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64), generated


def _terms(mentions: Mentions) -> list[Words]:
    """Return the terms of each text, in their order, as numbers."""
    numbers = (mentions.category * (max(mentions.terms.sizes) + 1) + mentions.term).tolist()
    return [tuple(numbers[first:last]) for first, last in pairwise(mentions.offsets.tolist())]


def _words(texts: Sequence[str], mentions: Mentions) -> Iterator[list[str]]:
    """Yield each text's words as they are compared."""
    starts = mentions.start.tolist()
    stops = mentions.stop.tolist()
    categories = mentions.category.tolist()
    for row, text in enumerate(texts):
        plain = text.replace("\x00", " ")
        pieces: list[str] = []
        end = 0
        for mention in range(mentions.offsets[row], mentions.offsets[row + 1]):
            pieces += plain[end : starts[mention]], f" \x00term{'s' * categories[mention]}\x00 "
            end = stops[mention]
        plain = "".join([*pieces, plain[end:]])
        if not plain.isascii():
            plain = unicodedata.normalize("NFKC", without_unseen(plain))
        plain = _USER.sub(" \x00user\x00 ", _ADDRESS.sub(" \x00address\x00 ", plain))
        words = _WORD.findall(_DIGIT.sub("0", plain).casefold())
        yield [word for word in words if word not in _ARTICLES]


def _runs(distinct: Sequence[Words]) -> tuple[Counts, list[Counts]]:
    """Count the different runs of words of each text, and number those that others have, too.

    Of the second result, for each text the numbers of those that are in several texts, ascending;
    the fewer texts a run is in, the smaller is its number.
    """
    lengths = np.array([len(text) for text in distinct], dtype=np.int64)
    words = np.array([word for text in distinct for word in text], dtype=np.int64)
    if len(words) < RUN:
        return np.zeros_like(lengths), [words[:0] for _ in distinct]
    owner = np.repeat(np.arange(len(distinct)), lengths)
    whole = owner[: 1 - RUN] == owner[RUN - 1 :]
    codes = words[: 1 - RUN]
    for step in range(1, RUN):
        following = words[step : len(words) - RUN + 1 + step]
        codes = pd.factorize(codes * (int(words.max()) + 1) + following)[0].astype(np.int64)
    once = pd.unique(owner[: 1 - RUN][whole] * len(words) + codes[whole])
    owner, code = np.divmod(once, len(words))
    sizes = np.bincount(owner, minlength=len(distinct))
    texts = np.bincount(code, minlength=1)
    several = texts[code] > 1
    owner = owner[several]
    code = code[several]
    rank = np.empty(len(texts), dtype=np.int64)
    rank[np.argsort(texts)] = np.arange(len(texts))
    ordered = np.sort(owner * len(texts) + rank[code])
    ends = np.cumsum(np.bincount(owner, minlength=len(distinct)))[:-1]
    return sizes, np.split(ordered % len(texts), ends)


def _leaders(sizes: Counts, shared: Sequence[Counts], order: Sequence[int]) -> Counts:
    """Return for each different text the one that leads its cluster, shape (different texts,).

    `sizes`: number of runs of each text; `shared`: for each text the runs that other texts have,
    rarest first; `order`: the order in which texts are taken.
    """
    leaders = np.arange(len(shared), dtype=np.int64)
    rank = np.empty(len(shared), dtype=np.int64)
    rank[list(order)] = np.arange(len(shared))
    lengths = np.array([len(runs) for runs in shared], dtype=np.int64)
    # Texts that lead a cluster, under each of their rarest runs.
    under: defaultdict[int, list[int]] = defaultdict(list)
    inside = np.zeros(
        1 + max((int(item[-1]) for item in shared if len(item)), default=0), dtype=bool
    )
    for text in order:
        own = shared[text]
        size = int(sizes[text])
        # Two texts that are nearly equal share at least one of this number of rarest runs of each.
        # Runs that no other text has are rarer than all others.
        alone = size - len(own)
        few = own[: max(0, size - math.ceil(ALIKE * size - 1e-9) + 1 - alone)].tolist()
        leaders_of_runs = {leader for run in few if run in under for leader in under[run]}
        near = np.array(list(leaders_of_runs), dtype=np.int64)
        near = near[np.minimum(sizes[near], size) >= ALIKE * np.maximum(sizes[near], size) - 1e-9]
        if len(near):
            inside[own] = True
            both = np.add.reduceat(
                inside[np.concatenate([shared[leader] for leader in near])].astype(np.int64),
                np.cumsum(lengths[near]) - lengths[near],
            )
            inside[own] = False
            near = near[both >= ALIKE * (size + sizes[near] - both) - 1e-9]
        if len(near):
            leaders[text] = near[np.argmin(rank[near])]
            continue
        for run in few:
            under[run].append(text)
    return leaders
