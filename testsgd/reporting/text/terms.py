"""The sensitive terms: where the texts mention them, and what is known of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text import TextFindings
from testsgd.auditing.text.known_words import unknown_terms
from testsgd.reporting.summary import FeatureRates, TermCategorySummary, TermsSummary, TermSummary
from testsgd.reporting.text.snippets import choose_mentions, snippet


def describe_terms(
    findings: TextFindings, rates: list[FeatureRates], *, snippets: int
) -> TermsSummary:
    """Describe the sensitive terms of an audit of texts.

    Parameters
    ----------
    findings : TextFindings
        What the audit found.
    rates : list of FeatureRates
        The rates over the terms of each frequent category.
    snippets : int
        Places to show of each term, at most; 0 if the texts are not to be shown.

    Returns
    -------
    TermsSummary
    """
    terms = findings.mentions.terms
    control = findings.control
    unknown = unknown_terms(findings.model, terms)
    present = findings.mentions.presence()
    rate_of = {(one.feature, cell.label): cell.rate for one in rates for cell in one.cells}
    return TermsSummary(
        name=terms.name,
        source=terms.source,
        fingerprint=terms.fingerprint(),
        nonsense=None if control is None else control.word,
        exceptions=list(terms.exceptions),
        texts=int(present.any(axis=1).sum()),
        snippets_shown=snippets > 0,
        categories=[
            TermCategorySummary(
                name=category.name,
                texts=int(present[:, place].sum()),
                share=_share(int(present[:, place].sum()), findings.rows),
                mentions=int((findings.mentions.category == place).sum()),
                nonsense_rate=None if control is None else control.rates.get(place),
                terms=[
                    _describe(
                        findings,
                        place,
                        term,
                        rate_of.get((category.name, name.name)),
                        snippets,
                        known=None if unknown is None else not unknown[place][term],
                    )
                    for term, name in enumerate(category.terms)
                ],
            )
            for place, category in enumerate(terms.categories)
        ],
    )


def _describe(
    findings: TextFindings,
    category: int,
    place: int,
    rate: float | None,
    snippets: int,
    *,
    known: bool | None,
) -> TermSummary:
    mentions = findings.mentions
    term = mentions.terms.categories[category].terms[place]
    of_category = mentions.category == category
    places: NDArray[np.intp] = np.flatnonzero(of_category & (mentions.term == place))
    same = None if findings.control is None else findings.control.same.get(category)
    chosen = choose_mentions(
        mentions, places, snippets, [findings.parameters.seed, category, place]
    )
    return TermSummary(
        term=term.name,
        forms=[*term.plural, *term.spellings],
        ambiguous=term.ambiguous,
        texts=len(np.unique(mentions.text[places])),
        mentions=len(places),
        share=_share(len(places), int(of_category.sum())),
        rate=rate,
        as_nonsense=None if same is None else bool(same[place]),
        known_to_model=known,
        snippets=[
            snippet(
                findings.texts.texts[mentions.text[at]],
                int(mentions.start[at]),
                int(mentions.stop[at]),
            )
            for at in chosen
        ],
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
