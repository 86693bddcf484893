"""Texts as they are: which are one unit, and the selection rates of those with a group's terms."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Estimates
from testsgd.auditing.text.answers import KnownAnswers, containing_all
from testsgd.auditing.text.outcome import TextAudit
from testsgd.data.text import Texts
from testsgd.rules import Unjudged
from testsgd.rules.text import Generated, Mentions, TermRuleSets, units_of_texts
from testsgd.scoring import Clusters, independent_rows


def text_clusters(texts: Texts, mentions: Mentions) -> Clusters:
    """Return the texts that are one unit: equal or nearly equal ones, and known variants of one.

    Which sensitive terms they mention makes no difference here. The texts may have clusters of
    their own, such as variants or texts of one author; these are joined with the others.

    Parameters
    ----------
    texts : Texts
        The texts.
    mentions : Mentions
        The sensitive terms in them.

    Returns
    -------
    Clusters
        The cluster of each text.
    """
    return text_units(texts, mentions)[0]


def text_units(texts: Texts, mentions: Mentions) -> tuple[Clusters, Generated]:
    """Return the clusters of :func:`text_clusters`, and what was generated from templates."""
    # Imported here: a tenth of a second.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    alike, generated = units_of_texts(texts.texts, mentions)
    if texts.clusters is None:
        return Clusters.of(alike), generated
    # A text links its cluster of one kind with that of the other.
    given = np.unique(texts.clusters, return_inverse=True)[1] + int(alike.max(initial=-1)) + 1
    size = int(given.max(initial=-1)) + 1
    links = coo_array((np.ones(len(alike)), (alike, given)), shape=(size, size))
    return Clusters.of(connected_components(links, directed=False)[1][alike]), generated


def with_independent_texts(
    estimates: Estimates,
    rule_sets: TermRuleSets,
    mentions: Mentions,
    clusters: Clusters | None,
    known: KnownAnswers | None,
) -> Estimates:
    """Count what the texts of each group are worth if those of one cluster are one unit."""
    if clusters is None:
        return estimates
    size_of_text = clusters.size_of_row
    sizes_in, favourable_in = np.zeros((2, len(rule_sets)))
    for index, category_set in enumerate(rule_sets.category_sets):
        groups = slice(category_set.first, category_set.first + len(category_set))
        of_seeds = clusters.take(category_set.rows).size_of_row
        sizes_in[groups] = of_seeds.sum()
        if known is not None:
            favourable_in[groups] = of_seeds @ known.variants[index]
    sizes_out = size_of_text.sum() - containing_all(mentions, rule_sets, size_of_text)
    of_inside: tuple[NDArray[Any], ...] = ()
    of_outside: tuple[NDArray[Any], ...] = ()
    if known is not None:
        liked = np.where(known.texts, size_of_text, 0)
        favourable_out = liked.sum() - containing_all(mentions, rule_sets, liked)
        of_inside = (estimates.favourable_in, favourable_in)
        of_outside = (estimates.favourable_out, favourable_out)
    return replace(
        estimates,
        effective_sample_size_in=independent_rows(estimates.rows_in, sizes_in, *of_inside),
        effective_sample_size_out=independent_rows(estimates.rows_out, sizes_out, *of_outside),
    )


def observed_estimates(audit: TextAudit, answers: NDArray[Any]) -> Estimates:
    """Return the rates of texts with all terms of a group and of all others; `answers` (texts,)."""
    mentions = audit.mentions
    rule_sets = audit.rule_sets
    parameters = audit.parameters
    once = np.ones(len(answers), dtype=np.int64)
    favourable = answers.astype(np.int64)
    counted = [once, favourable]
    inside = np.vstack([containing_all(mentions, rule_sets, weights) for weights in counted])
    tallies = rates.both_sides(inside, np.sum(counted, axis=1)[:, None])
    estimates = rates.counted_estimates(tallies, draws=parameters.draws)
    if parameters.draws > 1:
        estimates = rates.means_over_draws(estimates, parameters.confidence)
    enough = np.minimum(estimates.rows_in, estimates.rows_out) >= audit.min_count
    estimates = replace(estimates, decided=enough)
    if audit.repeated is None:
        return estimates
    sizes = audit.clusters.size_of_row
    sizes_in = containing_all(mentions, rule_sets, sizes)
    return replace(
        estimates,
        effective_sample_size_in=independent_rows(estimates.rows_in, sizes_in),
        effective_sample_size_out=independent_rows(estimates.rows_out, sizes.sum() - sizes_in),
    )


def unjudged_texts(audit: TextAudit) -> Unjudged:
    """Count the texts none of whose combinations of categories could be judged.

    A text that mentions terms of no more than ``max_features`` categories has one combination, all
    of them; another has one for every choice of so many. Texts without a term have none.
    """
    judged = {item.categories for item in audit.rule_sets.category_sets}
    here = np.hstack([audit.mentions.presence(), audit.mentions.replaceable()])
    patterns, counts = np.unique(here, axis=0, return_counts=True)
    every = len(audit.mentions.terms.sizes)
    combinations: set[tuple[int, ...]] = set()
    rows = 0
    for pattern, count in zip(patterns, counts, strict=True):
        categories = np.flatnonzero(pattern[:every]).tolist()
        replaceable = set(np.flatnonzero(pattern[every:]).tolist())
        if not categories:
            continue
        size = min(audit.parameters.depth, len(categories))
        own = set(itertools.combinations(categories, size))
        combinations |= own
        known = any(replaceable.issuperset(one) for one in own & judged)
        rows += 0 if known else int(count)
    return Unjudged(len(combinations), len(combinations - judged), rows)
