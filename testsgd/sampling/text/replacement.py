"""Replacing sensitive terms, in the case of the mention: the texts an audit asks a model about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from testsgd.rules.text import Mentions
from testsgd.rules.text.lexicon import fold

# The first character of a word, of a part after a hyphen, too.
_FIRST = re.compile("(?<![^\\s\u2010-\u2013-])[^\\W_]")


class Case(Enum):
    """The case pattern of a mention."""

    LISTED = "as the term is listed"
    FIRST = "the first word begins with a capital"
    WORDS = "every word begins with a capital"
    CAPITALS = "all letters are capitals"


def case_of(mention: str, *, acronym: bool = False) -> Case:
    """Return the case pattern of a mention.

    A single letter in upper case is a word that begins with a capital. What is neither of the
    patterns, such as "gAY", counts as listed, and so does an acronym in capitals: it is spelled so.

    Examples
    --------
    >>> [case_of(mention).name for mention in ("gay", "Gay", "GAY", "African American")]
    ['LISTED', 'WORDS', 'CAPITALS', 'WORDS']
    >>> case_of("African american").name, case_of("X").name
    ('FIRST', 'WORDS')
    """
    if acronym and mention.isupper():
        return Case.LISTED
    if mention.isupper() and sum(letter.isupper() for letter in mention) > 1:
        return Case.CAPITALS
    letters = [letter for letter in _FIRST.findall(mention) if letter.lower() != letter.upper()]
    capital = [not letter.islower() for letter in letters]
    if not capital or not capital[0]:
        return Case.LISTED
    return Case.WORDS if all(capital) else Case.FIRST


def in_case(term: str, case: Case, *, acronym: bool = False) -> str:
    """Return a term in a case pattern; an acronym, its first word, has all its capitals or none.

    A term that is another word in that case stays as it is listed: the capital of the
    Turkish dotless i is "I", which is an "i" to the matcher.

    Examples
    --------
    >>> [in_case("middle aged", case) for case in Case]
    ['middle aged', 'Middle aged', 'Middle Aged', 'MIDDLE AGED']
    """
    if case is Case.CAPITALS:
        written = term.upper()
    elif acronym and case is not Case.LISTED:
        first, blank, rest = term.partition(" ")
        written = f"{first.upper()}{blank}{rest}"
    elif case is Case.LISTED:
        written = term
    else:
        count = 1 if case is Case.FIRST else 0
        written = _FIRST.sub(lambda letter: letter[0].title(), term, count=count)
    return written if fold(written) == fold(term) else term


# What makes a possessive of the word before it. After a plural an apostrophe alone does, if more
# words follow: else it may be the end of a quotation.
_POSSESSIVE = re.compile(r"(['\u2019\uff07])(?:([sS])(?!\w)|(?=\s+\w))")
# An article stands alone: it is not the end of a word, of "Q&A" or of "grade-A".
_ARTICLE = re.compile("(?<![\\w&\u0300-\u036f\u00ad\u200c\u200d-])an?\\Z", re.IGNORECASE)


class _Mention(NamedTuple):
    """A mention, and what is before it up to the one before; `owner` makes it a possessive."""

    before: str
    article: str
    blanks: str
    word: str
    category: int
    term: int
    plural: bool
    case: Case
    owner: str


class Replacer:
    """Writer of texts with other terms of the same categories.

    Every mention of a category gets the chosen term, in the mention's case: "Gay", "GAY" and "gay"
    become "Old", "OLD" and "old". A plural gets the term's plural, if the list has one, and a
    possessive stays one: "the gays' and Mary's" and "the women's and Mary's". The article directly
    before a mention that changes becomes the term's: "a gay man" and "an old man". A
    mention of the chosen term stays as it is, letter by letter, whatever its spelling, and so does
    everything else.

    A new term may happen to make one with the words around it, as "american" does after "Afro",
    which the text then mentions: only the words that were mentions are looked at.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    mentions : Mentions
        The terms in them.

    Raises
    ------
    ValueError
        If the mentions are of another number of texts.

    References
    ----------
    Zhang et al., TestSGD, section 4.3.

    Examples
    --------
    >>> from testsgd.data.text import Term, TermCategory, SensitiveTerms
    >>> from testsgd.rules.text import find_mentions
    >>> age = TermCategory("age", (Term("old", article="an"), Term("middle aged")))
    >>> texts = ["An OLD man and a middle-aged woman, both middle  aged."]
    >>> mentions = find_mentions(texts, SensitiveTerms("some", "made up", (age,)))
    >>> replacer = Replacer(texts, mentions)
    >>> replacer.variant(0, [0], [1])
    'A MIDDLE AGED man and a middle-aged woman, both middle  aged.'
    >>> replacer.variant(0, [0], [0])
    'An OLD man and a middle-aged woman, both old.'
    """

    def __init__(self, texts: Sequence[str], mentions: Mentions) -> None:
        if len(texts) != mentions.texts:
            raise ValueError(f"{len(texts)} texts, but mentions of {mentions.texts}")
        self._texts = texts
        self._mentions = mentions
        self._categories = mentions.terms.categories
        self._rows: dict[int, tuple[list[_Mention], str]] = {}
        self._written: dict[tuple[str, int, int, bool, Case, str], tuple[str, str]] = {}

    def variant(self, row: int, categories: Sequence[int], chosen: Sequence[int]) -> str:
        """Return a text with one term for all mentions of a category.

        Parameters
        ----------
        row : int
            Which text.
        categories : sequence of int
            The categories to replace.
        chosen : sequence of int
            The term for each of them, as its place in the category.

        Returns
        -------
        str
        """
        wanted = dict(zip(categories, chosen, strict=True))
        if row not in self._rows:
            self._rows[row] = self._take_apart(row)
        mentions, ending = self._rows[row]
        pieces: list[str] = []
        for before, article, blanks, word, category, term, plural, case, owner in mentions:
            new_term = wanted.get(category, term)
            if new_term == term:
                pieces += before, article, blanks, word, owner
                continue
            key = (article, category, new_term, plural, case, owner)
            if key not in self._written:
                self._written[key] = self._write(*key)
            new_article, new_word = self._written[key]
            pieces += before, new_article, blanks, new_word
        pieces.append(ending)
        return "".join(pieces)

    def _take_apart(self, row: int) -> tuple[list[_Mention], str]:
        """Return the mentions of a text with what is before each, and what is after the last."""
        text = self._texts[row]
        mentions = self._mentions
        chosen = slice(mentions.offsets[row], mentions.offsets[row + 1])
        pieces = []
        end = 0
        columns = (mentions.start, mentions.stop, mentions.category, mentions.term, mentions.plural)
        for start, stop, category, term, plural in zip(
            *(column[chosen].tolist() for column in columns), strict=True
        ):
            word = text[start:stop]
            before, article, blanks = _split_article(text[end:start])
            acronym = self._categories[category].terms[term].acronym
            case = case_of(word, acronym=acronym)
            owner = _POSSESSIVE.match(text, stop)
            if owner and not owner[2] and not (plural and word[-1] in "sS"):
                owner = None
            ending = owner[0] if owner else ""
            pieces.append(
                _Mention(before, article, blanks, word, category, term, plural, case, ending)
            )
            end = owner.end() if owner else stop
        return pieces, text[end:]

    def _write(
        self, article: str, category: int, term: int, plural: bool, case: Case, owner: str
    ) -> tuple[str, str]:
        """Return the article and the word that a mention becomes, with the possessive's ending."""
        new = self._categories[category].terms[term]
        name = new.plural[0] if plural and new.plural else new.name
        written = in_case(name, case, acronym=new.acronym)
        if owner:
            ends = name in new.plural and name.endswith("s")
            written += owner[0] if ends else owner if len(owner) > 1 else f"{owner}{_s(written)}"
        return _article_like(article, new.article, case), written


def _s(written: str) -> str:
    return "S" if len(written) > 1 and written.isupper() else "s"


def _split_article(before: str) -> tuple[str, str, str]:
    """Return what is before a mention, cut into the rest, an article and its white space."""
    stripped = before.rstrip()
    # Three characters are enough for "an" and what must not be before it.
    article = _ARTICLE.search(stripped[-3:]) if len(stripped) < len(before) else None
    if article is None:
        return before, "", ""
    cut = len(stripped) - len(article[0])
    return stripped[:cut], article[0], before[len(stripped) :]


def _article_like(old: str, new: str, case: Case) -> str:
    """Return the article before a mention: in small letters, with a capital, or in capitals."""
    if not old or old.lower() == new:
        return old
    if old[0].islower():
        return new
    # A lone "A" may begin a sentence or be in capitals: the mention decides.
    return new.upper() if old == "AN" or case is Case.CAPITALS else new.capitalize()
