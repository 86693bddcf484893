"""Exact mode for texts: everything is asked about once, and all rates follow.

Every seed is asked about with the terms of every rule set, and all texts as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, counted_estimates
from testsgd.auditing.outcome import accuracy_of
from testsgd.auditing.text.answers import KnownAnswers, ask_variants, containing_all
from testsgd.auditing.text.outcome import Comparisons, TextAudit, TextOutcome
from testsgd.sampling.text import Replacer


def audit_texts_exactly(audit: TextAudit) -> TextOutcome:
    """Find every group's rates from all its seeds and all texts."""
    texts = audit.texts
    mentions = audit.mentions
    rule_sets = audit.rule_sets
    predictions = audit.predictions
    draws = audit.parameters.draws
    total = len(texts) + int(rule_sets.rows().sum())
    done = 0
    tell = audit.phase("asking about texts and variants")

    def step(portion: int) -> None:
        if tell is not None:
            tell(done + portion, total)

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
