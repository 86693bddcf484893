"""Exact mode: everything is asked about once, and all rates follow.

Of rows every neighbour, of texts every seed with the terms of every rule set, and all as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, both_sides, counted_estimates
from testsgd.auditing.outcome import Answers, Outcome, RowAudit, accuracy_of
from testsgd.auditing.text.answers import KnownAnswers, ask_variants, containing_all
from testsgd.auditing.text.outcome import Comparisons, TextAudit, TextOutcome
from testsgd.models import PredictionColumn
from testsgd.sampling import explore_neighbourhood
from testsgd.sampling.text import Replacer


def audit_exactly(audit: RowAudit) -> Outcome:
    """Find every group's rates from the whole perturbation neighbourhood of the rows."""
    contingency, rows = audit.contingency, audit.contingency.tally()
    with audit.clock.phase("predictions"):
        neighbourhood = explore_neighbourhood(
            audit.model.model,
            audit.table,
            jobs=audit.jobs,
            draws=audit.parameters.draws,
            cell_of_row=contingency.cell_of_row,
            progress=audit.progress,
        )
    with audit.clock.phase("rule sets"):
        favourable = [neighbourhood.favourable.astype(np.int64), neighbourhood.own.astype(np.int64)]
        of_cells = [contingency.tally(of_rows) for of_rows in favourable]
        quantities = np.vstack([rows, *of_cells])
        rule_sets = audit.search(quantities)
        together = rule_sets.totals(contingency, quantities)

    def answers(index: int, draws: int) -> Answers:
        chosen = [0, 1 + index]
        tallies = both_sides(rule_sets.sums[chosen], together[chosen])
        estimates = counted_estimates(tallies, draws=draws)
        return Answers(estimates, rows * draws, of_cells[index], draws, favourable[index])

    return Outcome(
        rule_sets,
        neighbourhood=answers(0, neighbourhood.size),
        observed=answers(1, audit.parameters.draws),
        queries=neighbourhood.queries,
        by_feature=neighbourhood.by_feature,
    )


def audit_predictions_exactly(audit: RowAudit) -> Outcome:
    """Find every group's rates from predictions that exist; no model is asked."""
    contingency, rows = audit.contingency, audit.contingency.tally()
    with audit.clock.phase("predictions"):
        decisions = audit.model.model.decisions(audit.table.frame).astype(np.int64)
    with audit.clock.phase("rule sets"):
        favourable = contingency.tally(decisions)
        quantities = np.vstack([rows, favourable])
        rule_sets = audit.search(quantities)
    together = rule_sets.totals(contingency, quantities)
    estimates = counted_estimates(both_sides(rule_sets.sums, together))
    observed = Answers(estimates, rows, favourable, 1, decisions)
    asked = audit.model.model.asked if isinstance(audit.model.model, PredictionColumn) else 0
    return Outcome(rule_sets, neighbourhood=None, observed=observed, queries=asked)


def audit_texts_exactly(audit: TextAudit) -> TextOutcome:
    """Find every group's rates from all its seeds and all texts."""
    texts, mentions, rule_sets = audit.texts, audit.mentions, audit.rule_sets
    predictions, draws = audit.predictions, audit.parameters.draws
    total = len(texts) + int(rule_sets.rows().sum())
    done = 0

    def step(portion: int) -> None:
        audit.tell(done + portion, total)

    with audit.clock.phase("predictions of the texts"):
        answers = predictions.decide(texts.texts, progress=step)
        done += len(texts)
    favourable_in = np.zeros(len(rule_sets), dtype=np.int64)
    comparisons = Comparisons(audit)
    replacer = Replacer(texts.texts, mentions)
    kept: list[NDArray[Any]] = []
    with audit.clock.phase("predictions of the variants"):
        for category_set in rule_sets.category_sets:
            variants = ask_variants(
                predictions, replacer, category_set, category_set.rows, progress=step
            )
            done += variants.size
            kept.append(_means(variants, draws))
            index = slice(category_set.first, category_set.first + variants.shape[1])
            favourable_in[index] = variants.sum(axis=0)
            comparisons.add(category_set, kept[-1])

    def outside(weights: Counts) -> Counts:
        counts: Counts = weights.sum() - containing_all(mentions, rule_sets, weights)
        return counts

    rows_out = outside(np.ones(len(texts), dtype=np.int64))
    favourable_out = outside(answers.astype(np.int64))
    tallies = np.array([rule_sets.rows(), rows_out, favourable_in, favourable_out], dtype=np.int64)
    accuracy = None
    if texts.labels is not None:
        labels = texts.labels == texts.specification.label.favourable
        accuracy = accuracy_of(labels, answers.astype(np.int64), draws)
    return TextOutcome(
        counted_estimates(tallies, draws=draws),
        comparisons.result,
        asked=len(texts) * draws,
        favourable=int(answers.sum()),
        accuracy=accuracy,
        known=KnownAnswers(
            rule_sets, audit.repeated, _means(answers, draws), tuple(kept), mentions.contains()
        ),
    )


def _means(answers: NDArray[Any], draws: int) -> NDArray[Any]:
    """Return each text's mean answer; of one answer that is the answer itself."""
    return answers if draws == 1 else answers / draws
