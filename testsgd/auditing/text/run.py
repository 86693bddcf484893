"""The audit of texts: from texts, sensitive terms and a model to ranked groups."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace

import joblib
import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.order import order_groups
from testsgd.auditing.outcome import Progress as PhaseProgress
from testsgd.auditing.parameters import TEXT_QUERIES, AuditParameters
from testsgd.auditing.run import Progress, fits_exactly, named
from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.findings import TextFindings
from testsgd.auditing.text.independent import sample_texts_independent
from testsgd.auditing.text.outcome import TextOutcome
from testsgd.auditing.text.overlaps import seed_overlaps
from testsgd.auditing.text.plan import count_variants
from testsgd.auditing.text.pooled import sample_texts_pooled
from testsgd.auditing.text.predictions import SharedPredictions
from testsgd.data.text import SensitiveTerms, Texts
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS, LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import (
    Mentions,
    TermRuleSets,
    find_mentions,
    frequent_term_sets,
    small_category_sets,
)


def run_text_audit(
    model: LoadedModel[TextModel],
    texts: Texts,
    terms: SensitiveTerms,
    parameters: AuditParameters,
    *,
    progress: Progress | None = None,
) -> TextFindings:
    """Audit a text model.

    Parameters
    ----------
    model : LoadedModel
        The black box, from :func:`testsgd.models.load_text_model`.
    texts : Texts
        The texts, from :func:`testsgd.data.load_texts` or :func:`testsgd.data.check_texts`.
    terms : SensitiveTerms
        Whose mention makes a difference or not.
    parameters : AuditParameters
        What to do; ``bins`` plays no part.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    TextFindings

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If exact mode was asked for and takes more queries than allowed, or groups are to be ranked
        by paired differences and sampling compares nothing in pairs.

    References
    ----------
    Zhang et al., TestSGD, sections 4.1 and 4.3.
    """
    if parameters.rank_by == "counterfactual" and parameters.sampling == "independent":
        raise ParameterError(
            "independent sampling compares nothing in pairs",
            where="rank_by",
            remedy="rank by score, or use --sampling pooled",
        )
    clock = Clock()
    allowed = parameters.budget(TEXT_QUERIES)
    parameters = replace(parameters, max_queries=allowed)
    with clock.phase("terms"):
        mentions = find_mentions(texts.texts, terms)
        min_count = max(1, math.ceil(parameters.theta * len(texts) - 1e-9))
        rule_sets = frequent_term_sets(
            mentions, min_count=min_count, max_features=parameters.max_features
        )
        variants = count_variants(mentions, rule_sets)
    jobs = parameters.jobs or (int(joblib.cpu_count()) if model.model.thread_safe else 1)
    predictions = SharedPredictions(model.model, jobs=jobs)
    with clock.phase("model check"):
        # The first texts show early what is wrong with a model, and by them it is recognised.
        probe = predictions.decide(texts.texts[: min(PROBE_ROWS, allowed // 2)])
        fingerprint = hashlib.sha256(np.packbits(probe).tobytes()).hexdigest()
    exact = fits_exactly(len(texts) + variants, parameters.mode, allowed)
    outcome, queries = _find_rates(
        model.model,
        predictions,
        texts,
        mentions,
        rule_sets,
        parameters,
        exact=exact,
        budget=allowed,
        clock=clock,
        progress=named("asking the model", progress),
    )
    estimates = outcome.estimates
    difference = estimates.difference
    if parameters.rank_by == "counterfactual" and outcome.counterfactual is not None:
        difference = outcome.counterfactual.difference
    with clock.phase("ranking"):
        ranking, distinct = order_groups(
            estimates,
            np.abs(difference),
            rule_sets.rule_counts(),
            seed_overlaps(rule_sets, difference, len(texts)),
            parameters,
        )
        small = small_category_sets(
            mentions, min_count=min_count, max_features=parameters.max_features
        )
    return TextFindings(
        model=model,
        parameters=parameters,
        mode="exact" if exact else "sampled",
        rule_sets=rule_sets,
        estimates=estimates,
        ranking=ranking,
        distinct=distinct,
        small=tuple(small),
        neighbourhood=variants,
        queries=queries,
        model_fingerprint=fingerprint,
        accuracy=outcome.accuracy,
        seconds=clock.seconds,
        texts=texts,
        mentions=mentions,
        counterfactual=outcome.counterfactual,
        asked=outcome.asked,
        favourable=outcome.favourable,
    )


def _find_rates(
    model: TextModel,
    predictions: SharedPredictions,
    texts: Texts,
    mentions: Mentions,
    rule_sets: TermRuleSets,
    parameters: AuditParameters,
    *,
    exact: bool,
    budget: int,
    clock: Clock,
    progress: PhaseProgress | None,
) -> tuple[TextOutcome, int]:
    """Choose among the three ways of finding the groups' rates; give the queries it took too."""
    if exact:
        outcome = audit_texts_exactly(
            predictions, texts, mentions, rule_sets, parameters, clock=clock, progress=progress
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
                budget=budget,
                progress=progress,
            )
            return outcome, predictions.asked
        outcome, queries = sample_texts_independent(
            model,
            texts,
            mentions,
            rule_sets,
            parameters,
            budget=budget - predictions.asked,
            progress=progress,
        )
    return outcome, queries + predictions.asked
