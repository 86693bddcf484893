"""Texts that are one unit: which they are, and what that leaves of the groups' texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.text.answers import KnownAnswers, containing_all
from testsgd.data.text import Texts
from testsgd.rules.text import Mentions, TermRuleSets, nearly_equal
from testsgd.scoring import Clusters, independent_rows


def text_clusters(texts: Texts, mentions: Mentions) -> Clusters:
    """Find the texts that are one unit: equal or nearly equal ones, and known variants of one.

    Parameters
    ----------
    texts : Texts
        The texts, perhaps with clusters of their own, such as variants or texts of one author.
    mentions : Mentions
        The sensitive terms in them, which make no difference here.

    Returns
    -------
    Clusters
    """
    # Imported here: a tenth of a second.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    alike = nearly_equal(texts.texts, mentions)
    if texts.clusters is None:
        return Clusters.of(alike)
    # A text links its cluster of one kind with that of the other.
    given = np.unique(texts.clusters, return_inverse=True)[1] + int(alike.max(initial=-1)) + 1
    size = int(given.max(initial=-1)) + 1
    links = coo_array((np.ones(len(alike)), (alike, given)), shape=(size, size))
    return Clusters.of(connected_components(links, directed=False)[1][alike])


def with_independent_texts(
    estimates: Estimates,
    rule_sets: TermRuleSets,
    mentions: Mentions,
    clusters: Clusters | None,
    known: KnownAnswers | None,
) -> Estimates:
    """Count what the texts of each group are worth if those of one cluster are one unit.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    rule_sets : TermRuleSets
        The groups, all of them.
    mentions : Mentions
        The terms in the texts.
    clusters : Clusters or None
        Texts that are one unit; None if all are alone.
    known : KnownAnswers or None
        Every answer; without them the sizes of the clusters have to do, see
        :func:`testsgd.scoring.independent_rows`.

    Returns
    -------
    Estimates
    """
    if clusters is None:
        return estimates
    size_of_text = clusters.size_of_row
    sizes_in, favourable_in = np.zeros((2, len(rule_sets)))
    for place, category_set in enumerate(rule_sets.category_sets):
        groups = slice(category_set.first, category_set.first + len(category_set))
        of_seeds = clusters.take(category_set.rows).size_of_row
        sizes_in[groups] = of_seeds.sum()
        if known is not None:
            favourable_in[groups] = of_seeds @ known.variants[place]
    sizes_out = size_of_text.sum() - containing_all(mentions, rule_sets, size_of_text)
    if known is None:
        return replace(
            estimates,
            effective_in=independent_rows(estimates.rows_in, sizes_in),
            effective_out=independent_rows(estimates.rows_out, sizes_out),
        )
    liked = np.where(known.texts, size_of_text, 0)
    favourable_out = liked.sum() - containing_all(mentions, rule_sets, liked)
    return replace(
        estimates,
        effective_in=independent_rows(
            estimates.rows_in, sizes_in, estimates.favourable_in, favourable_in
        ),
        effective_out=independent_rows(
            estimates.rows_out, sizes_out, estimates.favourable_out, favourable_out
        ),
    )
