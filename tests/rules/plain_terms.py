"""A made-up list of terms, and a slow search for them, letter by letter.

The search knows no tokens: it tries every form at every place and looks at the characters around.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from testsgd.data.text import SensitiveTerms, Term, TermCategory

TERMS = SensitiveTerms(
    "made up",
    "these tests",
    (
        TermCategory(
            "gender",
            (
                Term("gay", plural=("gays",)),
                Term("trans"),
                Term("nonbinary", spellings=("non-binary", "non binary")),
                Term("female", plural=("females",)),
            ),
        ),
        TermCategory(
            "race",
            (
                Term("african", plural=("africans",), article="an"),
                Term(
                    "african american",
                    plural=("african americans", "african-americans"),
                    spellings=("african-american", "afro american"),
                    article="an",
                ),
                Term("american", plural=("americans",), article="an"),
                Term("middle eastern", spellings=("middle-eastern",)),
                Term("chinese"),
            ),
        ),
        TermCategory(
            "age",
            (
                Term("old", article="an"),
                Term("older", article="an"),
                Term("middle aged", spellings=("middle-aged",)),
                Term("middle aged old"),
            ),
        ),
    ),
)

# Not seen, wherever it stands.
UNSEEN = "[\u00ad\u200b]*"
HYPHEN = "[-\u2010\u2011\u2012\u2013]"


def found_in(text, mentions, row=0):
    """Give the mentions of one text: as written, the term's name, and whether it is a plural."""
    categories = mentions.terms.categories
    return [
        (
            text[mentions.start[place] : mentions.stop[place]],
            categories[mentions.category[place]].terms[mentions.term[place]].name,
            bool(mentions.plural[place]),
        )
        for place in range(mentions.offsets[row], mentions.offsets[row + 1])
    ]


def slow_search(text, terms):
    """Give start, stop, category, term and plural of every mention: first place, then longest."""
    found = []
    start = 0
    while start < len(text):
        ends = []
        if not _goes_on(reversed(text[:start])):
            for pattern, *form in _patterns(terms):
                match = pattern.match(text, start)
                if match and not _goes_on(text[match.end() :], accent=True):
                    ends.append((match.end(), *form))
        if ends:
            best = max(ends)
            if not _negated(text[:start]):
                found.append((start, *best))
            start = best[0]
        else:
            start += 1
    return found


def _negated(before):
    """Say whether the text before a term ends with "non" and blanks or one hyphen."""
    before = "".join(sign for sign in before if sign not in UNSEEN[1:-2]).replace("\u2011", "-")
    joined = before[:-1] if before.endswith("-") else before.rstrip("_ \n\u00a0")
    word = joined[-4:]
    return joined != before and word[-3:].lower() == "non" and not word[:-3].isalnum()


@functools.cache
def _patterns(terms):
    listed = [
        (form, category, place, form in term.plural)
        for category, group in enumerate(terms.categories)
        for place, term in enumerate(group.terms)
        for form in term.forms
    ]
    known = {form for form, *_ in listed}
    further = [
        (f"{form}s", category, place, True)
        for form, category, place, plural in listed
        if not plural and f"{form}s" not in known and form[-1] not in "ey"
    ]
    return [(_pattern(form), *rest) for form, *rest in listed + further]


def _pattern(form):
    words = [
        UNSEEN + UNSEEN.join(HYPHEN if sign == "-" else re.escape(sign) for sign in word) + UNSEEN
        for word in form.split()
    ]
    # Accents on an underscore are none of a word.
    return re.compile(r"(?:\s+|(?:_[\u0301]*)+)".join(words), re.IGNORECASE)


def _goes_on(characters, accent=False):
    """Say whether a word goes on with these characters, those that are not seen left aside.

    With `accent`, one that comes first is on the word.
    """
    for character in characters:
        if character in UNSEEN[1:-2]:
            continue
        is_accent = unicodedata.category(character)[0] == "M"
        if character.isalnum() or (accent and is_accent):
            return True
        if not is_accent:
            return False
        accent = False
    return False
