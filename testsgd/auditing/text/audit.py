"""The steps of an audit of texts, from the terms in them to ranked groups with their guarantee."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats, means_over_draws
from testsgd.auditing.findings import Estimated
from testsgd.auditing.guarantee import guarantee_of_kind
from testsgd.auditing.outcome import order_groups
from testsgd.auditing.rows import LOOKED_AT
from testsgd.auditing.rule_selection import ExplainingRule
from testsgd.auditing.text.answers import KnownAnswers
from testsgd.auditing.text.controls import ask_controls
from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.explaining import explain_term_groups
from testsgd.auditing.text.findings import SeedOverlaps, TextFindings
from testsgd.auditing.text.independent import sample_texts_independent
from testsgd.auditing.text.known_words import nonsense_control, unknown_groups, unknown_terms
from testsgd.auditing.text.max_statistic import simultaneous_texts
from testsgd.auditing.text.observed import (
    observed_estimates,
    unjudged_texts,
    with_independent_texts,
)
from testsgd.auditing.text.outcome import TextAudit, TextOutcome
from testsgd.auditing.text.pooled import sample_texts_pooled
from testsgd.auditing.text.rule_selection import TermSelection
from testsgd.auditing.text.stability import affordable_of_texts, term_stability
from testsgd.models import PROBE_ROWS, Repetition, ask_again, check_reading
from testsgd.progress import step
from testsgd.rules.text import small_category_sets
from testsgd.scoring import lower_confidence_bound, normal_quantile


def audit_texts(audit: TextAudit) -> TextFindings:
    """Audit a model on texts and return what was found, by the same steps as for rows."""
    parameters = audit.parameters
    clock = audit.clock
    predictions = audit.predictions
    with clock.phase("model check"):
        # The first texts show early what is wrong with a model, and by them it is recognised.
        tried = audit.texts.texts[: min(PROBE_ROWS, audit.allowed // 2)]
        with audit.counter("trying the model", len(tried)).asking(len(tried)):
            favourable = predictions.decide(tried)
        probe = 2 * favourable.astype(np.int64) > parameters.draws
        label = audit.texts.specification.label
        check_reading(audit.model.model, probe, audit.texts.labels, label)
        fingerprint = hashlib.sha256(np.packbits(probe).tobytes()).hexdigest()
        repetition = _ask_again(audit, tried, favourable)
    budget = audit.allowed - repetition.asked
    with clock.phase("predictions of the texts"):
        # All texts as they are, if that takes at most half of what sampling may ask.
        answers = None
        if not audit.exact and 2 * len(audit.texts) * parameters.draws <= budget:
            with audit.counter("asking about texts", audit.size).asking(audit.size):
                answers = predictions.decide(audit.texts.texts)
    outcome = _find_rates(audit, budget)
    outcome = replace(
        outcome,
        estimates=with_independent_texts(
            outcome.estimates, audit.rule_sets, audit.mentions, audit.repeated, outcome.known
        ),
    )
    with clock.phase("nonsense word"):
        control = None
        if outcome.known is not None and audit.given is None:
            control = nonsense_control(audit, outcome.known, budget)
    with clock.phase("neutral words"), step(audit.progress, "asking about neutral words"):
        unknown_of = unknown_terms(audit.model, audit.texts.texts, audit.mentions, control)
        control_effects = ask_controls(audit, budget - outcome.drawn, unknown_of)
    rule_sets = audit.rule_sets
    estimates = outcome.estimates
    counterfactual = outcome.counterfactual
    if audit.given is not None:
        rule_sets = rule_sets.take(audit.given)
        estimates = estimates.take(audit.given)
        counterfactual = None if counterfactual is None else counterfactual.take(audit.given)
    with clock.phase("guarantee"):
        guarantee = guarantee_of_kind(parameters.guarantee, estimates, parameters.confidence)
        bootstrapped = parameters.guarantee == "simultaneous" and audit.given is None
        if outcome.known is not None and bootstrapped:
            guarantee = simultaneous_texts(estimates, outcome.known, parameters)
        others = tuple(filter(None, [_observed(audit, outcome, answers)]))
        if parameters.estimand == "observed" and others:
            [observed] = others
            others = (Estimated("neighbourhood", estimates, guarantee),)
            estimates = observed.estimates
            guarantee = observed.guarantee
        elif parameters.estimand == "observed":
            # Too few queries for all texts as they are: what is known is of generated ones.
            parameters = replace(parameters, estimand="neighbourhood")
    unknown = unknown_groups(rule_sets, unknown_of)
    difference = estimates.difference
    first_by = np.zeros(len(unknown))
    if parameters.ranked_by == "lower-bound":
        first_by = guarantee.lower_bounds
    elif parameters.rank_by == "counterfactual" and counterfactual is not None:
        difference = counterfactual.difference
        first_by = lower_confidence_bound(counterfactual.low, counterfactual.high)
    with clock.phase("ranking"):
        # Groups of terms that are not known come last.
        first = np.where(unknown, -1.0, first_by)
        ranking = order_groups(
            estimates, np.abs(difference), rule_sets.rule_counts(), first_by=first
        )
        small = small_category_sets(
            audit.mentions, min_count=audit.min_count, max_features=parameters.depth
        )
    findings = TextFindings(
        model=audit.model,
        parameters=parameters,
        mode="exact" if audit.exact else "sampled",
        rule_sets=rule_sets,
        estimates=estimates,
        ranking=ranking,
        others=others,
        rules=(),
        small=tuple(small),
        unjudged=unjudged_texts(audit),
        neighbourhood=audit.variants,
        queries=predictions.asked + outcome.drawn + repetition.asked,
        changing=repetition.differing,
        model_fingerprint=fingerprint,
        accuracy=outcome.accuracy,
        seconds=clock.seconds,
        guarantee=guarantee,
        texts=audit.texts,
        mentions=audit.mentions,
        clusters=audit.clusters,
        generated=audit.generated,
        counterfactual=counterfactual,
        unknown=unknown,
        unknown_terms=unknown_of,
        control=control,
        control_effects=control_effects,
        asked=outcome.asked,
        favourable=outcome.favourable,
    )
    with clock.phase("rule selection"):
        variances = _variances(audit, findings)
        critical = guarantee.simultaneous_critical_value
        selection = TermSelection(audit.rule_sets, variances, critical)
        rules = _explaining_rules(audit, findings, selection)
        # All groups are variants of the same texts, so no people tell them apart.
        findings = replace(findings, rules=rules, distinct=tuple(rule.group for rule in rules))
    with clock.phase("explanations"):
        highlights = findings.highlights[:LOOKED_AT]
        indices = rule_sets.places(np.array(highlights, dtype=np.intp)).tolist()
        explained = explain_term_groups(
            _differences_of_parts(audit, outcome, findings), audit.rule_sets, indices
        )
    with clock.phase("stability"):
        stability, samples = _stability(audit, findings, outcome.known, selection)
    return replace(
        findings,
        stability=stability,
        stability_samples=samples,
        explanations={
            group: explained[index]
            for group, index in zip(highlights, indices, strict=True)
            if index in explained
        },
    )


def _differences_of_parts(
    audit: TextAudit, outcome: TextOutcome, findings: TextFindings
) -> NDArray[np.float64]:
    """Return the differences of all groups by the rates that are reported; NaN where unknown."""
    if findings.parameters.estimand != "observed":
        return outcome.estimates.difference
    if audit.given is None:
        return findings.estimates.difference
    differences = np.full(len(audit.rule_sets), np.nan)
    differences[audit.given] = findings.estimates.difference
    return differences


def _ask_again(audit: TextAudit, first: Sequence[str], favourable: NDArray[Any]) -> Repetition:
    """Find out whether the model answers differently when asked twice."""
    draws = audit.parameters.draws
    left = audit.allowed - audit.predictions.asked
    if draws > 1:
        # They were asked about again already.
        return Repetition(float(np.mean((favourable > 0) & (favourable < draws))))
    # An exact audit was found to fit with this; else something is left for the samples.
    most = max(len(first), audit.allowed - audit.queries) if audit.exact else left // 2
    # Of equal texts one is asked about: as at first.
    distinct = {text: index for index, text in enumerate(first)}
    texts = list(distinct)
    indices = list(distinct.values())
    with audit.counter("asking about some texts again", len(texts)).asking(len(texts)):
        return ask_again(
            audit.model.model,
            lambda places: [texts[place] for place in places],
            favourable[indices],
            most=most,
        )


def _find_rates(audit: TextAudit, budget: int) -> TextOutcome:
    """Choose among the three ways of finding the groups' rates."""
    parameters = audit.parameters
    if audit.exact:
        outcome = audit_texts_exactly(audit)
        if parameters.draws == 1:
            return outcome
        estimates = means_over_draws(outcome.estimates, parameters.confidence)
        return replace(outcome, estimates=estimates)
    with audit.clock.phase("sampling"):
        if parameters.sampling == "pooled":
            return sample_texts_pooled(audit, budget)
        return sample_texts_independent(audit, budget - audit.predictions.asked)


def _observed(
    audit: TextAudit, outcome: TextOutcome, answers: NDArray[Any] | None
) -> Estimated | None:
    """Return the rates of the texts as they are, None if not all texts were asked about."""
    parameters = audit.parameters
    if outcome.known is not None:
        answers = np.rint(outcome.known.texts * parameters.draws)
    if answers is None:
        return None
    estimates = observed_estimates(audit, answers)
    if audit.given is not None:
        estimates = estimates.take(audit.given)
    guarantee = guarantee_of_kind(parameters.guarantee, estimates, parameters.confidence)
    return Estimated("observed", estimates, guarantee)


def _variances(audit: TextAudit, findings: TextFindings) -> Floats:
    """Return the variance of what groups are ranked by, in samples of texts like these."""
    effects = findings.counterfactual
    if effects is None or audit.parameters.rank_by != "counterfactual":
        variance = np.zeros(len(findings.rule_sets))
        for side in findings.estimates.sides:
            rate = (side.favourable + 1) / (side.samples + 2)
            variance += rate * (1 - rate) / np.maximum(side.rows, 1)
        return variance
    half = (effects.high - effects.low) / 2
    return (half / normal_quantile(audit.paired_confidence)) ** 2


def _explaining_rules(
    audit: TextAudit, findings: TextFindings, selection: TermSelection
) -> tuple[ExplainingRule, ...]:
    """Find the fewest sets of terms that explain how groups differ."""
    judged = findings.ranking[findings.judged[findings.ranking]]
    if audit.given is not None or not len(judged):
        return ()
    seeds = findings.estimates.independent_in.astype(np.float64)
    overlaps = SeedOverlaps(audit.rule_sets, audit.size).between(findings.effects)
    rules = []
    for rule in selection.select(findings.effects, seeds, judged):
        shares = overlaps(np.array([rule.group]), judged)[0]
        near = judged[shares >= audit.parameters.overlap].tolist()
        others = tuple(group for group in near if group != rule.group)
        rules.append(replace(rule, near_duplicates=others))
    return tuple(rules)


def _stability(
    audit: TextAudit, findings: TextFindings, known: KnownAnswers | None, selection: TermSelection
) -> tuple[dict[int, float], int]:
    """Look for the explaining rules in bootstrap samples; return how many samples too."""
    # What the bootstrap draws anew is the answers to generated texts.
    answered = audit.parameters.estimand == "neighbourhood"
    if known is None or audit.given is not None or not findings.rules or not answered:
        return {}, 0
    samples = audit.parameters.stability
    if samples is None:
        answers = sum(variants.size for variants in known.variants)
        samples = affordable_of_texts(audit.size, answers, len(audit.rule_sets))
    if not samples:
        return {}, 0
    stability = term_stability(
        known,
        findings.effects,
        findings.explaining,
        audit.parameters,
        selection=selection,
        judged=findings.judged,
        min_count=audit.min_count,
        samples=samples,
    )
    return stability, samples
