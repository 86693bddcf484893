"""Case patterns: how a mention is written, and another term written like it."""

from __future__ import annotations

import re
from enum import Enum

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
    """Give the case pattern of a mention.

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
    """Write a term in a case pattern; an acronym, its first word, has all its capitals or none.

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
