"""The sensitive terms of an audit of texts, how the texts use them, and places in the texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.report.controls import controls_summary
from testsgd.auditing.report.summary import FeatureRates
from testsgd.auditing.report.term_summary import (
    Snippet,
    TermCategorySummary,
    TermsSummary,
    TermSummary,
)
from testsgd.auditing.text import TextFindings
from testsgd.rules.text import Mentions


def describe_terms(
    findings: TextFindings, rates: list[FeatureRates], *, snippets: int
) -> TermsSummary:
    """Describe the sensitive terms; `rates` are those over the terms of each frequent category."""
    mentions = findings.mentions
    control = findings.control
    texts = findings.texts.texts
    terms = mentions.terms
    present = mentions.presence()
    rate_of = {(item.feature, cell.label): cell.rate for item in rates for cell in item.cells}
    unknown = findings.unknown_terms
    categories = []
    for index, category in enumerate(terms.categories):
        of_category = mentions.category == index
        same = None if control is None else control.same.get(index)
        described = []
        for number, term in enumerate(category.terms):
            places: NDArray[np.intp] = np.flatnonzero(of_category & (mentions.term == number))
            seed = [findings.parameters.seed, index, number]
            described.append(
                TermSummary(
                    term=term.name,
                    forms=[*term.plural, *term.spellings],
                    ambiguous=term.ambiguous,
                    texts=len(np.unique(mentions.text[places])),
                    mentions=len(places),
                    share=len(places) / max(1, int(of_category.sum())),
                    rate=rate_of.get((category.name, term.name)),
                    as_nonsense=None if same is None else bool(same[number]),
                    known_to_model=None if unknown is None else not unknown[index][number],
                    snippets=[
                        snippet(texts[mentions.text[at]], mentions.start[at], mentions.stop[at])
                        for at in choose_mentions(mentions, places, snippets, seed)
                    ],
                )
            )
        having = int(present[:, index].sum())
        categories.append(
            TermCategorySummary(
                name=category.name,
                texts=having,
                share=having / max(1, findings.rows),
                mentions=int(of_category.sum()),
                nonsense_rate=None if control is None else control.rates.get(index),
                terms=described,
            )
        )
    return TermsSummary.of(
        terms,
        fingerprint=terms.fingerprint(),
        nonsense=None if control is None else control.word,
        texts=int(present.any(axis=1).sum()),
        snippets_shown=snippets > 0,
        categories=categories,
        controls=controls_summary(findings),
    )


# Characters on each side.
REACH = 60
# Line breaks, also as pages have them, are blanks here.
_BLANKS = re.compile(r"(?:\s|<br ?/?>)+")
# What no page can show: controls, and halves of characters.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)


def choose_mentions(
    mentions: Mentions, indices: NDArray[np.intp], count: int, seed: Sequence[int]
) -> NDArray[np.intp]:
    """Choose some mentions of a term at random, each in a text of its own."""
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(indices)
    # The first of each text in the shuffled order, so that long texts give one as others do.
    _, first = np.unique(mentions.text[shuffled], return_index=True)
    chosen: NDArray[np.intp] = np.sort(shuffled[generator.permutation(first)[:count]])
    return chosen


def snippet(text: str, start: int, stop: int, reach: int = REACH) -> Snippet:
    """Cut a mention and what is around it out of a text.

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
