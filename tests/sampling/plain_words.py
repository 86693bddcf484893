"""A made-up list of terms for texts to be written anew with."""

from __future__ import annotations

from testsgd.data.text import SensitiveTerms, Term, TermCategory

TERMS = SensitiveTerms(
    "made up",
    "these tests",
    (
        TermCategory(
            "gender",
            (
                Term("gay", plural=("gays",)),
                Term("lgbt", article="an"),
                Term("nonbinary", spellings=("non-binary",)),
                Term("male", plural=("males",)),
            ),
        ),
        TermCategory(
            "race",
            (
                Term("african", plural=("africans",), article="an"),
                Term(
                    "african american",
                    plural=("african americans", "african-americans"),
                    spellings=("african-american",),
                    article="an",
                ),
                Term("american", plural=("americans",), article="an"),
                Term("european", plural=("europeans",)),
                Term("chinese"),
            ),
        ),
        TermCategory(
            "age",
            (
                Term("old", article="an"),
                Term("young"),
                Term("middle aged", spellings=("middle-aged",)),
            ),
        ),
    ),
)

WORDS = ("african", "africans", "american", "americans", "european", "chinese", "gay", "gays")
WORDS += (
    "lgbt",
    "non-binary",
    "nonbinary",
    "male",
    "old",
    "young",
    "middle-aged",
    "middle",
    "aged",
)


def named(*names):
    """Give the places of terms: their categories, and the terms in them."""
    places = {
        term.name: (category, place)
        for category, group in enumerate(TERMS.categories)
        for place, term in enumerate(group.terms)
    }
    chosen = sorted(places[name] for name in names)
    return [category for category, _ in chosen], [term for _, term in chosen]
