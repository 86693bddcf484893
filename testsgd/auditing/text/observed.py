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
    """Return estimates with effective sample sizes, where texts of one cluster are one unit.

    Without `clusters` the estimates stay as they are. With all answers `known` the effective sizes
    allow for the clusters of favourable texts too; see :func:`testsgd.scoring.independent_rows`.
    """
    if clusters is None:
        return estimates
    size_of_text = clusters.size_of_row
    # Sums over the seeds of each group: of the sizes of their clusters, and of the same of those
    # with a favourable answer.
    sizes_in = np.zeros(len(rule_sets))
    favourable_sizes_in = np.zeros(len(rule_sets))
    for index, category_set in enumerate(rule_sets.category_sets):
        groups = slice(category_set.first, category_set.first + len(category_set))
        of_seeds = clusters.take(category_set.rows).size_of_row
        sizes_in[groups] = of_seeds.sum()
        if known is not None:
            favourable_sizes_in[groups] = of_seeds @ known.variants[index]
    sizes_out = size_of_text.sum() - containing_all(mentions, rule_sets, size_of_text)
    if known is None:
        return replace(
            estimates,
            effective_sample_size_in=independent_rows(estimates.rows_in, sizes_in),
            effective_sample_size_out=independent_rows(estimates.rows_out, sizes_out),
        )
    favourable_sizes = np.where(known.texts, size_of_text, 0)
    favourable_sizes_out = favourable_sizes.sum() - containing_all(
        mentions, rule_sets, favourable_sizes
    )
    return replace(
        estimates,
        effective_sample_size_in=independent_rows(
            estimates.rows_in,
            sizes_in,
            favourable=estimates.favourable_in,
            favourable_sizes=favourable_sizes_in,
        ),
        effective_sample_size_out=independent_rows(
            estimates.rows_out,
            sizes_out,
            favourable=estimates.favourable_out,
            favourable_sizes=favourable_sizes_out,
        ),
    )


def observed_estimates(audit: TextAudit, answers: NDArray[Any]) -> Estimates:
    """Return the rates of texts with all terms of a group, as they are, and of all other texts.

    `answers` are those about each text (texts,). Groups with too few texts on a side are undecided.
    """
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
    mentioned = np.hstack([audit.mentions.presence(), audit.mentions.replaceable()])
    patterns, counts = np.unique(mentioned, axis=0, return_counts=True)
    category_count = len(audit.mentions.terms.sizes)
    combinations: set[tuple[int, ...]] = set()
    rows = 0
    for pattern, count in zip(patterns, counts, strict=True):
        categories = np.flatnonzero(pattern[:category_count]).tolist()
        replaceable = set(np.flatnonzero(pattern[category_count:]).tolist())
        if not categories:
            continue
        size = min(audit.parameters.depth, len(categories))
        combinations_of_text = set(itertools.combinations(categories, size))
        combinations |= combinations_of_text
        is_judged = any(
            replaceable.issuperset(combination) for combination in combinations_of_text & judged
        )
        rows += 0 if is_judged else int(count)
    return Unjudged(combinations=len(combinations), unjudged=len(combinations - judged), rows=rows)
