"""The audit of texts: from texts, terms and a model to ranked groups, perhaps held out."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import outcome, run
from testsgd.auditing.parameters import TEXT_DEPTH, TEXT_QUERIES, AuditParameters
from testsgd.auditing.text.audit import audit_texts
from testsgd.auditing.text.findings import TextFindings
from testsgd.auditing.text.observed import text_units
from testsgd.auditing.text.outcome import TextAudit
from testsgd.data.text import SensitiveTerms, Texts
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.progress import Progress, about
from testsgd.rules.text import (
    Mentions,
    TermRuleSets,
    find_mentions,
    frequent_term_sets,
    term_sets_over,
)
from testsgd.scoring import Clusters


def run_text_audit(
    model: LoadedModel[TextModel],
    texts: Texts,
    terms: SensitiveTerms,
    parameters: AuditParameters,
    *,
    progress: Progress | None = None,
) -> TextFindings:
    """Audit a model on texts: whether mentioning a term makes a difference.

    A group is given by terms of one or more categories. Inside it are its seeds, the texts with a
    term of each of its categories, rewritten with its terms; outside are the texts that lack one of
    its terms. Unless sampling is independent, the same seeds are also compared in pairs, with the
    group's terms and with others.

    Parameters
    ----------
    model : LoadedModel
        The model of texts.
    texts : Texts
        The texts.
    terms : SensitiveTerms
        The sensitive terms, by category.
    parameters : AuditParameters
        As for :func:`testsgd.auditing.run_audit`; ``bins`` plays no part.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    TextFindings
        The groups with their rates; with a holdout those found in the search, estimated on the
        texts held out.

    Raises
    ------
    ModelError
        If the model raises an error or returns something unusable.
    ParameterError
        If groups are to be ranked by paired differences with independent sampling, which compares
        nothing in pairs; if features to condition on are named; or if exact mode was asked for and
        takes more queries than allowed.

    Notes
    -----
    See Zhang et al., TestSGD, sections 4.1 and 4.3.
    """
    if parameters.rank_by == "counterfactual" and parameters.sampling == "independent":
        raise ParameterError(
            "independent sampling compares nothing in pairs",
            where="rank_by",
            remedy="rank by score, or use --sampling pooled",
        )
    if parameters.condition_on:
        raise ParameterError(
            f"“{parameters.condition_on[0]}”: texts have no features besides their terms",
            where="condition_on",
            remedy="leave it out; the paired difference compares the same texts with other terms",
        )
    outcome.limit_batches(model.model, parameters.batch_size)
    clock = outcome.Clock(progress)
    allowed = parameters.budget(TEXT_QUERIES)
    ranked_by = parameters.rank_by
    if ranked_by == "auto":
        ranked_by = "score" if parameters.sampling == "independent" else "counterfactual"
    depth = TEXT_DEPTH if parameters.max_features is None else parameters.depth
    parameters = replace(parameters, max_queries=allowed, rank_by=ranked_by, max_features=depth)
    if ranked_by == "counterfactual":
        # The effect is of terms that are put in; so are the rates that stand beside it.
        parameters = replace(parameters, estimand="neighbourhood")
    if parameters.holdout is not None:
        return audit_texts_held_out(
            model, texts, terms, parameters, parameters.holdout, clock, progress
        )
    with clock.phase("terms"):
        mentions = find_mentions(texts.texts, terms)
        rule_sets = _frequent(mentions, len(texts), parameters)
        variants = count_variants(mentions, rule_sets)
        clusters, generated = text_units(texts, mentions)
    return audit_texts(
        TextAudit(
            model=model,
            texts=texts,
            mentions=mentions,
            clusters=clusters,
            generated=generated,
            rule_sets=rule_sets,
            variants=variants,
            parameters=parameters,
            exact=_fits_exactly(model, parameters, len(texts) + variants, texts),
            clock=clock,
            progress=progress,
        )
    )


def _frequent(mentions: Mentions, texts: int, parameters: AuditParameters) -> TermRuleSets:
    return frequent_term_sets(
        mentions, min_count=parameters.fewest_rows(texts), max_features=parameters.depth
    )


def _fits_exactly(
    model: LoadedModel[TextModel], parameters: AuditParameters, written: int, *parts: Texts
) -> bool:
    """Return whether an audit of `written` texts and variants, in `parts`, is exact."""
    needed = written * parameters.draws + sum(run.again_queries(model, part) for part in parts)
    exact = run.fits_exactly(needed, parameters.mode, parameters.budget(0))
    if parameters.nondeterministic is not None and not exact:
        # A text that is drawn twice is asked about once; so its answer is no new one.
        raise ParameterError(
            f"means over several answers take an exact audit of texts, of up to {needed:,} queries",
            where="nondeterministic",
            remedy=f"use --mode exact, give --max-queries {needed}, or fewer texts with --limit",
            name="nondeterministic",
        )
    return exact


def audit_texts_held_out(
    model: LoadedModel[TextModel],
    texts: Texts,
    terms: SensitiveTerms,
    parameters: AuditParameters,
    share: float,
    clock: outcome.Clock,
    progress: Progress | None,
) -> TextFindings:
    """Find distinct groups on one part of the texts and estimate them on the other."""
    with clock.phase("terms"):
        clusters, generated = text_units(texts, find_mentions(texts.texts, terms))
    texts = replace(texts, clusters=clusters.of_row)
    searched, kept = split_texts(texts, share, parameters.seed)
    with clock.phase("terms"):
        mentions = find_mentions(searched.texts, terms)
        rule_sets = _frequent(mentions, len(searched), parameters)
        of_kept = find_mentions(kept.texts, terms)
        variants = count_variants(mentions, rule_sets)
        # Which groups will be found is not known yet, so all are counted.
        most = variants + count_variants(of_kept, term_sets_over(of_kept, rule_sets))
    allowed = parameters.budget(0)
    search = TextAudit(
        model=model,
        texts=searched,
        mentions=mentions,
        clusters=Clusters.of(np.asarray(searched.clusters)),
        generated=generated,
        rule_sets=rule_sets,
        variants=variants,
        parameters=replace(
            parameters,
            guarantee="per-group",
            max_queries=run.part_of_queries(allowed, searched, texts),
        ),
        exact=_fits_exactly(model, parameters, len(texts) + most, searched, kept),
        clock=clock.reporting_to(about(progress, run.SEARCHED)),
        progress=about(progress, run.SEARCHED),
    )
    search_findings = audit_texts(search)
    with clock.phase("terms"):
        needed, given = chosen_over(of_kept, rule_sets, search_findings.highlights)
        variants = count_variants(of_kept, needed)
    estimation = replace(
        search,
        texts=kept,
        mentions=of_kept,
        clusters=Clusters.of(np.asarray(kept.clusters)),
        rule_sets=needed,
        variants=variants,
        parameters=replace(parameters, max_queries=run.part_of_queries(allowed, kept, texts)),
        given=given,
        clock=clock.reporting_to(about(progress, run.HELD_OUT)),
        progress=about(progress, run.HELD_OUT),
    )
    return run.held_out(search_findings, audit_texts(estimation), parameters, share)


def split_texts(texts: Texts, share: float, seed: int) -> tuple[Texts, Texts]:
    """Split texts at random; both parts keep their order, and a note says which part it is.

    Variants of one text, and texts that are nearly equal, stay together, so the share is only as
    near as that allows.
    """
    clusters = np.arange(len(texts)) if texts.clusters is None else texts.clusters
    distinct, of_text = np.unique(clusters, return_inverse=True)
    order = np.random.default_rng([seed, 6]).permutation(len(distinct))
    # Whole clusters, as many as come nearest to the share.
    sizes = np.cumsum(np.bincount(of_text, minlength=len(distinct))[order])
    clusters_inside = int(np.argmin(np.abs(np.concatenate([[0], sizes]) - share * len(texts))))
    inside = np.isin(of_text, order[:clusters_inside])
    return run.two_parts(texts, inside, share, seed)


def chosen_over(
    mentions: Mentions, rule_sets: TermRuleSets, chosen: tuple[int, ...]
) -> tuple[TermRuleSets, NDArray[np.intp]]:
    """Return all groups over the categories of some, or fewer of them, and the places of these."""
    sets = [rule_sets.category_sets[rule_sets.set_of(group)] for group in chosen]
    wanted = {item.categories for item in sets}
    parts = tuple(
        item
        for item in rule_sets.category_sets
        if any(set(item.categories) <= set(categories) for categories in wanted)
    )
    needed = term_sets_over(mentions, replace(rule_sets, category_sets=parts))
    first = {item.categories: item.first for item in needed.category_sets}
    given = [
        first[item.categories] + group - item.first
        for item, group in zip(sets, chosen, strict=True)
    ]
    return needed, np.array(given, dtype=np.intp)


def count_variants(mentions: Mentions, rule_sets: TermRuleSets) -> int:
    """Count the generated texts of an exact audit that differ from the texts they come from.

    A variant is known by its seed and by the terms of the categories that it changes; a category
    all of whose mentions are of the chosen term already is not changed. Variants of different seeds
    may be the same text, so the number is an upper bound.
    """
    present = mentions.replaceable()
    # A category of a text that all of its mentions write with one term can also stay as it is.
    pure = mentions.sole() >= 0
    sizes = np.array(mentions.terms.sizes, dtype=np.int64)
    sets = [frozenset(category_set.categories) for category_set in rule_sets.category_sets]
    patterns, counts = np.unique(np.hstack([present, pure]), axis=0, return_counts=True)
    categories = present.shape[1]
    total = 0
    for pattern, count in zip(patterns, counts, strict=True):
        here = frozenset(np.flatnonzero(pattern[:categories]).tolist())
        stays = frozenset(np.flatnonzero(pattern[categories:]).tolist())
        changed = {
            changes
            for item in sets
            if item <= here
            for size in range(len(item & stays) + 1)
            for changes in map(item.difference, itertools.combinations(sorted(item & stays), size))
        }
        total += int(count) * sum(
            int(np.prod([sizes[at] - (at in stays) for at in changes]))
            for changes in changed
            if changes
        )
    return total
