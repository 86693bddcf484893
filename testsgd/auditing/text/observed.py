"""The selection rates of texts as they are: those that contain a group's terms, and all others."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates, counted_estimates, means_over_draws
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import containing_all
from testsgd.rules import Unjudged
from testsgd.rules.text import Mentions, TermRuleSets
from testsgd.scoring import Clusters, independent_rows


def observed_estimates(
    answers: NDArray[Any],
    mentions: Mentions,
    rule_sets: TermRuleSets,
    clusters: Clusters | None,
    parameters: AuditParameters,
) -> Estimates:
    """Return the rates of the texts that contain all terms of each group, and of all others.

    Parameters
    ----------
    answers : numpy.ndarray, shape (texts,)
        How many answers about each text as it is are favourable.
    mentions : Mentions
        The terms in the texts.
    rule_sets : TermRuleSets
        The groups.
    clusters : Clusters or None
        Texts that are one unit.
    parameters : AuditParameters
        How many texts a judged group needs on each side, and answers a text.

    Returns
    -------
    Estimates
        Decided where both sides have enough texts.
    """
    once = np.ones(len(answers), dtype=np.int64)
    favourable = answers.astype(np.int64)
    inside = containing_all(mentions, rule_sets, once)
    favourable_in = containing_all(mentions, rule_sets, favourable)
    estimates = counted_estimates(
        np.vstack([inside, len(answers) - inside, favourable_in, favourable.sum() - favourable_in]),
        draws=parameters.draws,
    )
    if parameters.draws > 1:
        estimates = means_over_draws(estimates, parameters.confidence)
    fewest = parameters.fewest_rows(len(answers))
    enough = (estimates.rows_in >= fewest) & (estimates.rows_out >= fewest)
    estimates = replace(estimates, decided=enough)
    if clusters is None:
        return estimates
    sizes = clusters.size_of_row
    sizes_in = containing_all(mentions, rule_sets, sizes)
    return replace(
        estimates,
        effective_in=independent_rows(estimates.rows_in, sizes_in),
        effective_out=independent_rows(estimates.rows_out, sizes.sum() - sizes_in),
    )


def unjudged_texts(mentions: Mentions, rule_sets: TermRuleSets, max_features: int) -> Unjudged:
    """Count the texts none of whose combinations of categories could be judged.

    A text that mentions terms of no more than `max_features` categories has one combination, all
    of them; another has one for every choice of so many. Texts without a term have none.

    Parameters
    ----------
    mentions : Mentions
        The terms in the texts.
    rule_sets : TermRuleSets
        The groups, over all frequent sets of categories.
    max_features : int
        Most categories combined.

    Returns
    -------
    Unjudged
    """
    judged = {one.categories for one in rule_sets.category_sets}
    patterns, counts = np.unique(mentions.presence(), axis=0, return_counts=True)
    combinations: set[tuple[int, ...]] = set()
    rows = 0
    for pattern, count in zip(patterns, counts, strict=True):
        categories = np.flatnonzero(pattern).tolist()
        if not categories:
            continue
        size = min(max_features, len(categories))
        own = set(itertools.combinations(categories, size))
        combinations |= own
        rows += 0 if own & judged else int(count)
    return Unjudged(len(combinations), len(combinations - judged), rows)
