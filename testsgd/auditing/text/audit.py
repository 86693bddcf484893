"""The steps of an audit of texts, from the terms in them to ranked groups with their guarantee."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.clock import Clock
from testsgd.auditing.estimates import Estimates
from testsgd.auditing.false_discovery import false_discovery
from testsgd.auditing.guarantee import Guarantee, bonferroni, per_group
from testsgd.auditing.order import order_groups
from testsgd.auditing.outcome import Progress
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.rows import LOOKED_AT
from testsgd.auditing.rule_selection import ExplainingRule
from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.explaining import explain_term_groups
from testsgd.auditing.text.findings import TextFindings
from testsgd.auditing.text.independent import sample_texts_independent
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
from testsgd.rules import Unjudged
from testsgd.rules.text import Mentions, TermRuleSets, small_category_sets
from testsgd.scoring import distinct_groups

Floats = NDArray[np.float64]

DISTINCT_GROUPS = 20


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
    rule_sets: TermRuleSets
    variants: int
    parameters: AuditParameters
    exact: bool
    given: NDArray[np.intp] | None = None

    @property
    def min_count(self) -> int:
        """Fewest texts that mention the terms of a frequent group."""
        return fewest_texts(len(self.texts), self.parameters)


def fewest_texts(texts: int, parameters: AuditParameters) -> int:
    """Give how many of some texts must mention the terms of a frequent group at least."""
    return parameters.fewest_rows(texts)


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
    rule_sets, estimates = audit.rule_sets, outcome.estimates
    counterfactual = outcome.counterfactual
    if audit.given is not None:
        rule_sets, estimates = rule_sets.take(audit.given), estimates.take(audit.given)
        counterfactual = None if counterfactual is None else counterfactual.take(audit.given)
    with clock.phase("guarantee"):
        guarantee = _guarantee(audit, outcome, estimates)
    difference = estimates.difference
    if parameters.rank_by == "counterfactual" and counterfactual is not None:
        difference = counterfactual.difference
    with clock.phase("ranking"):
        ranking = order_groups(
            estimates,
            np.abs(difference),
            rule_sets.rule_counts(),
            first_by=guarantee.assured_sizes if parameters.ranked_by == "lower-bound" else None,
        )
        distinct = tuple(
            distinct_groups(
                ranking[estimates.decided[ranking]],
                seed_overlaps(rule_sets, difference, len(audit.texts)),
                overlap=parameters.overlap,
                limit=DISTINCT_GROUPS,
            )
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
        stability, samples = _stability(audit, outcome, difference, distinct)
    return TextFindings(
        model=audit.model,
        parameters=parameters,
        mode="exact" if audit.exact else "sampled",
        rule_sets=rule_sets,
        estimates=estimates,
        ranking=ranking,
        rules=tuple(ExplainingRule(group, float("nan")) for group in distinct),
        small=tuple(small),
        unjudged=Unjudged(0, 0, 0),
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
        counterfactual=counterfactual,
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
            predictions, texts, mentions, rule_sets, paired=paired, clock=clock, progress=progress
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
    return simultaneous_texts(estimates, audit.rule_sets, outcome.known, parameters)


def _stability(
    audit: TextAudit, outcome: TextOutcome, difference: Floats, distinct: tuple[int, ...]
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
        min_count=audit.min_count,
        samples=samples,
    )
    return stability, samples
