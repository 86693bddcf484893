"""The occurrences of sensitive terms in texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.data.text import SensitiveTerms
from testsgd.rules.text.lexicon import lexicon_of
from testsgd.rules.text.term_lists import lists_of_terms

Places = NDArray[np.int64]

MIXED = -1
NONE = -2


@dataclass(frozen=True)
class Mentions:
    """All occurrences of sensitive terms in a list of texts, one entry a mention.

    Mentions are ordered by text, then by their place in it. There are m of them.
    :func:`find_mentions` makes this.
    """

    terms: SensitiveTerms  # The terms that were looked for.
    texts: int  # How many texts were searched.
    text: Places  # Which text each mention is in, ascending; shape (m,).
    # Its first character, and the one after its last, in the text as it is; shape (m,).
    start: Places
    stop: Places
    # The places of the category in `terms`, and of the term in the category; shape (m,).
    category: Places
    term: Places
    plural: NDArray[np.bool_]  # Whether the mention is a plural; shape (m,).
    # Which texts list different terms of which category, as "gay or straight": such a text makes no
    # sense with one term for all of them; shape (texts, categories).
    lists: NDArray[np.bool_]
    # The mentions of text i are those from ``offsets[i]`` up to, not including, ``offsets[i + 1]``;
    # shape (texts + 1,).
    offsets: Places

    def __len__(self) -> int:
        return len(self.text)

    def presence(self) -> NDArray[np.bool_]:
        """Return a mask of the categories that each text mentions, shape (texts, categories)."""
        present = np.zeros((self.texts, len(self.terms.sizes)), dtype=bool)
        present[self.text, self.category] = True
        return present

    def replaceable(self) -> NDArray[np.bool_]:
        """Return a mask of texts where one term can replace a category's, (texts, categories)."""
        return self.presence() & ~self.lists

    def contains(self) -> tuple[NDArray[np.bool_], ...]:
        """Return for each category a mask of the terms that texts mention, shape (texts, terms)."""
        matrices = tuple(np.zeros((self.texts, size), dtype=bool) for size in self.terms.sizes)
        for category, matrix in enumerate(matrices):
            chosen = self.category == category
            matrix[self.text[chosen], self.term[chosen]] = True
        return matrices

    def sole(self) -> Places:
        """Return the one term of each category that a text has, shape (texts, categories).

        The term's place in its category if every mention of the category in the text is of that
        term, -1 if mentions are of several terms, -2 if there are none.
        """
        terms = np.full((self.texts, len(self.terms.sizes)), NONE, dtype=np.int64)
        for category, matrix in enumerate(self.contains()):
            count = matrix.sum(axis=1)
            terms[count > 1, category] = MIXED
            terms[count == 1, category] = matrix[count == 1].argmax(axis=1)
        return terms


def find_mentions(texts: Sequence[str], terms: SensitiveTerms) -> Mentions:
    """Return every occurrence of sensitive terms in texts.

    A term is found as a word or as several words in a row, whatever their case and whatever white
    space is between the words, and never inside a word. Where terms overlap, the one that begins
    first counts, of those the longest. Hyphens end words: "gay-friendly" mentions "gay", unless the
    list has "gay-friendly" as a spelling of its own. So do underscores at a word's end, but not
    inside: "_old_" mentions "old", "old_man.jpg" does not.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    terms : SensitiveTerms
        The terms, by category.

    Returns
    -------
    Mentions

    Raises
    ------
    SpecificationError
        If two terms of the list are written alike, or a part of one has neither letter nor digit.

    Examples
    --------
    >>> from testsgd.data.text import Term, TermCategory, SensitiveTerms
    >>> race = TermCategory("race", (Term("african"), Term("african american"), Term("american")))
    >>> terms = SensitiveTerms("some", "made up", (race,))
    >>> mentions = find_mentions(["African American food, African food", "panamerican"], terms)
    >>> mentions.term.tolist(), mentions.start.tolist(), mentions.stop.tolist()
    ([1, 0], [0, 23], [16, 30])
    >>> mentions.presence().tolist()
    [[True], [False]]
    """
    lexicon = lexicon_of(terms)
    counts = np.zeros(len(texts) + 1, dtype=np.int64)
    mentions: list[tuple[int, int, int, int, bool]] = []
    for row, text in enumerate(texts):
        before = len(mentions)
        mentions.extend((start, stop, *form) for start, stop, form in lexicon.find(text))
        counts[row + 1] = len(mentions) - before
    of_text = np.repeat(np.arange(len(texts)), counts[1:])
    columns = np.array(mentions, dtype=np.int64).reshape(-1, 5).T
    return Mentions(
        terms=terms,
        texts=len(texts),
        text=of_text,
        start=columns[0],
        stop=columns[1],
        category=columns[2],
        term=columns[3],
        plural=columns[4].astype(bool),
        lists=lists_of_terms(
            texts,
            zip(of_text.tolist(), *columns[:4].tolist(), strict=True),
            categories=len(terms.sizes),
        ),
        offsets=np.cumsum(counts),
    )
