"""The steps of an audit of texts, from the terms in them to ranked groups with their guarantee."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.clock import Clock
from testsgd.auditing.estimates import Estimates
from testsgd.auditing.false_discovery import false_discovery
from testsgd.auditing.guarantee import Guarantee, assured_size, bonferroni, per_group
from testsgd.auditing.order import order_groups
from testsgd.auditing.outcome import Progress
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.rows import LOOKED_AT
from testsgd.auditing.text.clustering import with_independent_texts
from testsgd.auditing.text.control import nonsense_control
from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.explaining import explain_term_groups
from testsgd.auditing.text.findings import Counterfactual, TextFindings
from testsgd.auditing.text.independent import sample_texts_independent
from testsgd.auditing.text.known_words import unknown_groups, unknown_terms
from testsgd.auditing.text.max_statistic import simultaneous_texts
from testsgd.auditing.text.outcome import TextOutcome
from testsgd.auditing.text.overlaps import seed_overlaps
from testsgd.auditing.text.paired import paired_intervals
from testsgd.auditing.text.pooled import sample_texts_pooled
from testsgd.auditing.text.predictions import SharedPredictions
from testsgd.auditing.text.stability import affordable_samples, term_stability
from testsgd.data.text import Texts
from testsgd.models import PROBE_ROWS, LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import Mentions, TermRuleSets, small_category_sets
from testsgd.scoring import Clusters

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TextAudit:
    """What is to be audited, and how.

    Attributes
    ----------
    model : LoadedModel
        The black box.
    texts : Texts
        The texts.
    mentions : Mentions
        The sensitive terms in them.
    clusters : Clusters
        Texts that are one unit: equal, nearly equal, or known variants of one.
    rule_sets : TermRuleSets
        The groups to ask about, all those of their categories.
    variants : int
        Texts that can be generated for them.
    parameters : AuditParameters
        What to do; ``max_queries`` is given.
    exact : bool
        Ask about all texts and variants.
    given : numpy.ndarray of int or None
        The groups that were asked for, if not all; the others are only needed to judge them.
    """

    model: LoadedModel[TextModel]
    texts: Texts
    mentions: Mentions
    clusters: Clusters
    rule_sets: TermRuleSets
    variants: int
    parameters: AuditParameters
    exact: bool
    given: NDArray[np.intp] | None = None

    @property
    def repeated(self) -> Clusters | None:
        """The clusters; None if every text is alone."""
        return self.clusters if self.clusters.repeated else None

    @property
    def min_count(self) -> int:
        """Fewest texts that mention the terms of a frequent group."""
        return fewest_texts(len(self.texts), self.parameters)


def fewest_texts(texts: int, parameters: AuditParameters) -> int:
    """Give how many of some texts must mention the terms of a frequent group at least."""
    return max(1, math.ceil(parameters.theta * texts - 1e-9))


def audit_texts(audit: TextAudit, clock: Clock, progress: Progress | None) -> TextFindings:
    """Audit a model on some texts.

    Parameters
    ----------
    audit : TextAudit
        What, and how.
    clock : Clock
        Takes down how long each phase takes.
    progress : callable or None
        Called with the texts done and their number.

    Returns
    -------
    TextFindings
    """
    parameters = audit.parameters
    allowed = parameters.budget(0)
    processors = int(joblib.cpu_count()) if audit.model.model.thread_safe else 1
    predictions = SharedPredictions(audit.model.model, jobs=parameters.jobs or processors)
    with clock.phase("model check"):
        # The first texts show early what is wrong with a model, and by them it is recognised.
        probe = predictions.decide(audit.texts.texts[: min(PROBE_ROWS, allowed // 2)])
        fingerprint = hashlib.sha256(np.packbits(probe).tobytes()).hexdigest()
    outcome, queries = _find_rates(
        audit, predictions, budget=allowed, clock=clock, progress=progress
    )
    outcome = replace(
        outcome,
        estimates=with_independent_texts(
            outcome.estimates, audit.rule_sets, audit.mentions, audit.repeated, outcome.known
        ),
    )
    with clock.phase("nonsense word"):
        control = None
        if outcome.known is not None and audit.given is None:
            control = nonsense_control(
                predictions,
                audit.texts,
                audit.mentions,
                audit.rule_sets,
                outcome.known,
                budget=allowed,
            )
            queries = predictions.asked
    rule_sets, estimates = audit.rule_sets, outcome.estimates
    counterfactual = outcome.counterfactual
    if audit.given is not None:
        rule_sets, estimates = rule_sets.take(audit.given), estimates.take(audit.given)
        counterfactual = None if counterfactual is None else counterfactual.take(audit.given)
    with clock.phase("guarantee"):
        guarantee = _guarantee(audit, outcome, estimates)
    unknown = unknown_groups(rule_sets, unknown_terms(audit.model, audit.mentions.terms))
    difference = estimates.difference
    if parameters.rank_by == "counterfactual" and counterfactual is not None:
        difference = counterfactual.difference
    with clock.phase("ranking"):
        ranking, distinct = order_groups(
            estimates,
            np.abs(difference),
            rule_sets.rule_counts(),
            seed_overlaps(rule_sets, difference, len(audit.texts)),
            parameters,
            first_by=_first_by(parameters, guarantee, counterfactual, unknown),
        )
        small = small_category_sets(
            audit.mentions, min_count=audit.min_count, max_features=parameters.max_features
        )
    with clock.phase("explanations"):
        first = np.array(distinct[:LOOKED_AT], dtype=np.intp)
        explained = explain_term_groups(
            outcome.estimates, audit.rule_sets, rule_sets.places(first).tolist()
        )
    with clock.phase("stability"):
        stability, samples = _stability(
            audit,
            outcome,
            difference,
            distinct,
            first=_first_by(parameters, guarantee, counterfactual, unknown),
        )
    return TextFindings(
        model=audit.model,
        parameters=parameters,
        mode="exact" if audit.exact else "sampled",
        rule_sets=rule_sets,
        estimates=estimates,
        ranking=ranking,
        distinct=distinct,
        small=tuple(small),
        neighbourhood=audit.variants,
        queries=queries,
        model_fingerprint=fingerprint,
        accuracy=outcome.accuracy,
        seconds=clock.seconds,
        guarantee=guarantee,
        stability=stability,
        stability_samples=samples,
        explanations={
            group: explained[place]
            for group, place in zip(first.tolist(), rule_sets.places(first).tolist(), strict=True)
            if place in explained
        },
        texts=audit.texts,
        mentions=audit.mentions,
        clusters=audit.clusters,
        counterfactual=counterfactual,
        unknown=unknown,
        control=control,
        asked=outcome.asked,
        favourable=outcome.favourable,
    )


def _find_rates(
    audit: TextAudit,
    predictions: SharedPredictions,
    *,
    budget: int,
    clock: Clock,
    progress: Progress | None,
) -> tuple[TextOutcome, int]:
    """Choose among the three ways of finding the groups' rates; give the queries it took too."""
    texts, mentions, rule_sets = audit.texts, audit.mentions, audit.rule_sets
    parameters = audit.parameters
    looked_at = None if audit.given is None else len(audit.given)
    paired = paired_intervals(rule_sets, parameters, groups=looked_at)
    if audit.exact:
        outcome = audit_texts_exactly(
            predictions,
            texts,
            mentions,
            rule_sets,
            paired=paired,
            clusters=audit.repeated,
            clock=clock,
            progress=progress,
        )
        return outcome, predictions.asked
    with clock.phase("sampling"):
        if parameters.sampling == "pooled":
            outcome = sample_texts_pooled(
                predictions,
                texts,
                mentions,
                rule_sets,
                parameters,
                paired=paired,
                clusters=audit.repeated,
                budget=budget,
                progress=progress,
            )
            return outcome, predictions.asked
        outcome, queries = sample_texts_independent(
            audit.model.model,
            texts,
            mentions,
            rule_sets,
            parameters,
            budget=budget - predictions.asked,
            progress=progress,
        )
    return outcome, queries + predictions.asked


def _guarantee(audit: TextAudit, outcome: TextOutcome, estimates: Estimates) -> Guarantee:
    """Choose among the three kinds of guarantee."""
    parameters = audit.parameters
    if parameters.guarantee == "per-group":
        return per_group(estimates, parameters.confidence)
    if parameters.guarantee == "fdr":
        return false_discovery(estimates, parameters.confidence)
    if outcome.known is None or audit.given is not None:
        return bonferroni(estimates, parameters.confidence)
    return simultaneous_texts(
        estimates,
        audit.rule_sets,
        outcome.known,
        parameters,
        audit.repeated,
    )


def _first_by(
    parameters: AuditParameters,
    guarantee: Guarantee,
    counterfactual: Counterfactual | None,
    unknown: NDArray[np.bool_],
) -> Floats:
    """Give what groups are ranked by before their sizes; terms that are not known come last."""
    first = np.zeros(len(unknown))
    if parameters.rank_by == "assured":
        first = guarantee.assured_sizes
    elif parameters.rank_by == "counterfactual" and counterfactual is not None:
        first = assured_size(counterfactual.low, counterfactual.high)
    return np.where(unknown, -1.0, first)


def _stability(
    audit: TextAudit,
    outcome: TextOutcome,
    difference: Floats,
    distinct: tuple[int, ...],
    *,
    first: Floats,
) -> tuple[dict[int, float], int]:
    """Look for the first distinct groups in bootstrap samples; give how many samples too."""
    parameters, known = audit.parameters, outcome.known
    if known is None or audit.given is not None or not distinct:
        return {}, 0
    samples = parameters.stability
    if samples is None:
        answers = sum(variants.size for variants in known.variants)
        samples = affordable_samples(len(audit.texts), answers, len(audit.rule_sets))
    stability = term_stability(
        audit.rule_sets,
        known,
        difference,
        distinct,
        parameters,
        first=first,
        min_count=audit.min_count,
        samples=samples,
        clusters=audit.repeated,
    )
    return stability, samples
