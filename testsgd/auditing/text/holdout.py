"""Find groups on one part of the texts, and estimate them on the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.clock import Clock
from testsgd.auditing.findings import Found, Holdout
from testsgd.auditing.holdout import renumbered_rules
from testsgd.auditing.outcome import Progress
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.run import again_queries, fits_exactly
from testsgd.auditing.text.audit import TextAudit, audit_texts, fewest_texts
from testsgd.auditing.text.clustering import text_clusters
from testsgd.auditing.text.findings import TextFindings
from testsgd.auditing.text.plan import check_means, count_variants
from testsgd.data.text import SensitiveTerms, Texts
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import (
    Mentions,
    TermRuleSets,
    find_mentions,
    frequent_term_sets,
    term_sets_over,
)
from testsgd.scoring import Clusters


def audit_texts_held_out(
    model: LoadedModel[TextModel],
    texts: Texts,
    terms: SensitiveTerms,
    parameters: AuditParameters,
    share: float,
    clock: Clock,
    progress: Progress | None,
) -> TextFindings:
    """Find distinct groups on one part of the texts and estimate them on the other.

    Parameters
    ----------
    model, texts, terms, parameters
        As for :func:`testsgd.auditing.text.run_text_audit`; ``max_queries`` is given. The parts
        share the queries by their texts.
    share : float
        Share of the texts that are kept for estimating.
    clock : Clock
        Takes down how long each phase takes; both parts' times are added.
    progress : callable or None
        Called with the texts done and their number, for one part and then for the other.

    Returns
    -------
    TextFindings
        Of the texts kept for estimating, with the distinct groups found on the others only, in the
        order in which they were found.

    Raises
    ------
    ParameterError
        If a part would have no texts, or exact mode was asked for and takes more queries than
        allowed.
    """
    allowed = parameters.budget(0)
    with clock.phase("terms"):
        clusters = text_clusters(texts, find_mentions(texts.texts, terms))
    texts = replace(texts, clusters=clusters.of_row)
    searched, kept = split_texts(texts, share, parameters.seed)
    with clock.phase("terms"):
        first = _part(searched, terms)
        rule_sets = frequent_term_sets(
            first.mentions,
            min_count=fewest_texts(len(searched), parameters),
            max_features=parameters.max_features,
        )
        second = _part(kept, terms)
        variants = count_variants(first.mentions, rule_sets)
        # Which groups will be found is not known yet, so all are counted.
        most = variants + count_variants(
            second.mentions, term_sets_over(second.mentions, rule_sets)
        )
    queries = (len(texts) + most) * parameters.draws
    queries += again_queries(model, searched) + again_queries(model, kept)
    exact = fits_exactly(queries, parameters.mode, allowed)
    check_means(parameters, exact=exact, needed=queries)
    found = audit_texts(
        TextAudit(
            model=model,
            texts=searched,
            mentions=first.mentions,
            clusters=first.clusters,
            rule_sets=rule_sets,
            variants=variants,
            parameters=replace(
                parameters, guarantee="per-group", max_queries=_queries(allowed, searched, texts)
            ),
            exact=exact,
        ),
        clock,
        progress,
    )
    with clock.phase("terms"):
        needed, given = chosen_over(second.mentions, rule_sets, found.highlights)
        variants = count_variants(second.mentions, needed)
    estimated = audit_texts(
        TextAudit(
            model=model,
            texts=kept,
            mentions=second.mentions,
            clusters=second.clusters,
            rule_sets=needed,
            variants=variants,
            parameters=replace(parameters, max_queries=_queries(allowed, kept, texts)),
            exact=exact,
            given=given,
        ),
        clock,
        progress,
    )
    rank = {int(group): place for place, group in enumerate(found.ranking, start=1)}
    number = {group: index for index, group in enumerate(found.highlights)}
    return replace(
        estimated,
        parameters=parameters,
        queries=found.queries + estimated.queries,
        neighbourhood=found.neighbourhood + estimated.neighbourhood,
        rules=renumbered_rules(found),
        unjudged=found.unjudged,
        stability={number[group]: share for group, share in found.stability.items()},
        stability_samples=found.stability_samples,
        holdout=Holdout(
            share=share,
            searched=len(searched),
            estimated=len(kept),
            groups=len(rule_sets),
            missing=int((~estimated.estimates.sampled).sum()),
            found={
                place: Found(
                    rank=rank[group],
                    score=float(found.estimates.score[group]),
                    n_in=int(found.estimates.rows_in[group]),
                )
                for group, place in number.items()
            },
        ),
    )


def split_texts(texts: Texts, share: float, seed: int) -> tuple[Texts, Texts]:
    """Split texts at random; both parts keep their order, and a note says which part it is.

    Variants of one text, and texts that are nearly equal, stay together, so the share is only as
    near as that allows.

    Parameters
    ----------
    texts : Texts
        The texts.
    share : float
        Share of them in the second part.
    seed : int
        Same seed, same split.

    Returns
    -------
    searched, kept : Texts

    Raises
    ------
    ParameterError
        If a part would have no texts.
    """
    clusters = np.arange(len(texts)) if texts.clusters is None else texts.clusters
    distinct, of_text = np.unique(clusters, return_inverse=True)
    order = np.random.default_rng([seed, 6]).permutation(len(distinct))
    # Whole clusters, as many as come nearest to the share.
    sizes = np.cumsum(np.bincount(of_text, minlength=len(distinct))[order])
    taken = int(np.argmin(np.abs(np.concatenate([[0], sizes]) - share * len(texts))))
    inside = np.isin(of_text, order[:taken])
    size = int(np.count_nonzero(inside))
    if not 0 < size < len(texts):
        raise ParameterError(
            f"{share:g} of {len(texts):,} texts leaves one part without texts",
            where="holdout",
            remedy="give a share such as 0.5, or bring more texts",
        )
    searched, kept = texts.take(np.flatnonzero(~inside)), texts.take(np.flatnonzero(inside))
    note = (
        f"groups were found on {len(searched):,} texts and estimated on {size:,} others, split at "
        f"random with seed {seed}"
    )
    return searched, replace(kept, notes=(*kept.notes, note))


@dataclass(frozen=True)
class _Part:
    texts: Texts
    mentions: Mentions
    clusters: Clusters


def _part(texts: Texts, terms: SensitiveTerms) -> _Part:
    assert texts.clusters is not None  # those of the whole
    return _Part(texts, find_mentions(texts.texts, terms), Clusters.of(texts.clusters))


def _queries(allowed: int, part: Texts, texts: Texts) -> int:
    return max(2, allowed * len(part) // len(texts))


def chosen_over(
    mentions: Mentions, rule_sets: TermRuleSets, chosen: tuple[int, ...]
) -> tuple[TermRuleSets, NDArray[np.intp]]:
    """Give what must be asked about other texts to judge some groups, and these groups in it.

    That is all groups over the same categories, with whose terms theirs are compared, and those
    over some of these categories, which say what each term adds.

    Parameters
    ----------
    mentions : Mentions
        The terms in the other texts.
    rule_sets : TermRuleSets
        All groups.
    chosen : tuple of int
        Those to judge.

    Returns
    -------
    needed : TermRuleSets
    given : numpy.ndarray of int
        The numbers of the chosen groups in `needed`.
    """
    sets = [rule_sets.category_sets[rule_sets.set_of(group)] for group in chosen]
    wanted = {one.categories for one in sets}
    parts = tuple(
        one
        for one in rule_sets.category_sets
        if any(set(one.categories) <= set(categories) for categories in wanted)
    )
    needed = term_sets_over(mentions, replace(rule_sets, category_sets=parts))
    first = {one.categories: one.first for one in needed.category_sets}
    given = [
        first[one.categories] + group - one.first for one, group in zip(sets, chosen, strict=True)
    ]
    return needed, np.array(given, dtype=np.intp)
