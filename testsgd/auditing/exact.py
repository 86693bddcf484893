"""Exact mode: everything is asked about once, and all rates follow.

Of rows every neighbour, of texts every seed with the terms of every rule set, and all as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import both_sides, counted_estimates
from testsgd.auditing.outcome import Answers, Clock, Outcome, Progress, RowAudit, Search
from testsgd.auditing.text.answers import (
    KnownAnswers,
    SharedPredictions,
    ask_variants,
    containing_all,
    pair_sums,
)
from testsgd.auditing.text.outcome import Comparisons, PairedIntervals, TextOutcome
from testsgd.data.text import Texts
from testsgd.rules import Contingency
from testsgd.rules.text import Mentions, TermRuleSets
from testsgd.sampling import explore_neighbourhood
from testsgd.sampling.text import Replacer
from testsgd.scoring import Clusters


def audit_exactly(
    audit: RowAudit,
    contingency: Contingency,
    search: Search,
    clock: Clock,
    progress: Progress | None,
) -> Outcome:
    """Find every group's rates from the whole perturbation neighbourhood of the rows."""
    table, draws = audit.table, audit.parameters.draws
    with clock.phase("predictions"):
        neighbourhood = explore_neighbourhood(
            audit.model.model,
            table,
            jobs=audit.jobs,
            draws=draws,
            cell_of_row=contingency.cell_of_row,
            progress=progress,
        )
    with clock.phase("rule sets"):
        decided, rows = (neighbourhood.favourable, neighbourhood.own), contingency.tally()
        of_rows = [answers.astype(np.int64) for answers in decided]
        of_cells = [contingency.tally(favourable) for favourable in of_rows]
        rule_sets = search(np.vstack([rows, *of_cells]))
    over_neighbours, observed = (
        Answers(
            counted_estimates(
                both_sides(
                    rule_sets.sums[[0, 1 + index]], np.array([len(table), of_rows[index].sum()])
                ),
                draws=asked,
            ),
            rows * asked,
            of_cells[index],
            asked,
            of_rows[index],
        )
        for index, asked in enumerate((neighbourhood.size, draws))
    )
    queries, by_feature = neighbourhood.queries, neighbourhood.by_feature
    return Outcome(rule_sets, over_neighbours, observed, queries, by_feature)


def audit_texts_exactly(
    predictions: SharedPredictions,
    texts: Texts,
    mentions: Mentions,
    rule_sets: TermRuleSets,
    *,
    paired: PairedIntervals,
    draws: int = 1,
    clock: Clock,
    progress: Progress | None = None,
    clusters: Clusters | None = None,
) -> TextOutcome:
    """Find every group's rates from all its seeds and all texts."""
    total = len(texts) + int(rule_sets.rows().sum())
    done = 0

    def step(portion: int) -> None:
        if progress is not None:
            progress(done + portion, total)

    with clock.phase("predictions of the texts"):
        answers = predictions.decide(texts.texts, progress=step)
        done += len(texts)
    groups = len(rule_sets)
    favourable_in = np.zeros(groups, dtype=np.int64)
    comparisons = Comparisons(rule_sets, paired, clusters)
    replacer = Replacer(texts.texts, mentions)
    kept: list[NDArray[Any]] = []
    with clock.phase("predictions of the variants"):
        for category_set in rule_sets.category_sets:
            variants = ask_variants(
                predictions, replacer, category_set, category_set.rows, progress=step
            )
            done += variants.size
            kept.append(_means(variants, draws))
            place = slice(category_set.first, category_set.first + variants.shape[1])
            favourable_in[place] = variants.sum(axis=0)
            if len(variants) and min(category_set.shape) > 1:
                sizes = comparisons.cluster_sizes(category_set)
                sums = pair_sums(kept[-1], category_set.shape, cluster_sizes=sizes)
                comparisons.add(category_set, sums, seeds=len(category_set.rows))
    rows_in = rule_sets.rows()
    once = np.ones(len(texts), dtype=np.int64)
    rows_out = len(texts) - containing_all(mentions, rule_sets, once)
    favourable = int(answers.sum())
    favourable_out = favourable - containing_all(mentions, rule_sets, answers.astype(np.int64))
    estimates = counted_estimates(
        np.array([rows_in, rows_out, favourable_in, favourable_out], dtype=np.int64), draws=draws
    )
    return TextOutcome(
        estimates,
        comparisons.result(),
        asked=len(texts) * draws,
        favourable=favourable,
        accuracy=_accuracy(texts, answers, draws),
        known=KnownAnswers(_means(answers, draws), tuple(kept), mentions.contains()),
    )


def _means(answers: NDArray[Any], draws: int) -> NDArray[Any]:
    """Return each text's mean answer; of one answer that is the answer itself."""
    return answers if draws == 1 else answers / draws


def _accuracy(texts: Texts, answers: NDArray[Any], draws: int) -> float | None:
    if texts.labels is None:
        return None
    labels = texts.labels == texts.specification.label.favourable
    right = np.where(labels, answers, draws - answers.astype(np.int64))
    return float(right.sum() / (len(labels) * draws))
