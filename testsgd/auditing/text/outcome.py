"""What the three ways of finding the rates of texts have in common, and their paired intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates, Floats
from testsgd.auditing.outcome import Audit
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import KnownAnswers, PairSums, SharedPredictions, pair_sums
from testsgd.auditing.text.findings import Counterfactual
from testsgd.data.text import Texts
from testsgd.models.text import TextModel
from testsgd.rules.text import CategorySet, Generated, Mentions, TermRuleSets
from testsgd.scoring import Clusters, independent_rows, paired_interval, paired_tails_interval


@dataclass(frozen=True, kw_only=True)
class TextAudit(Audit[TextModel]):
    """What is to be audited of texts, and how."""

    texts: Texts  # The texts
    mentions: Mentions  # The sensitive terms in them
    clusters: Clusters  # Texts that are one unit: equal, nearly equal, or known variants of one
    rule_sets: TermRuleSets  # The groups to ask about, all those of their categories
    variants: int  # Texts that can be generated for them
    # The groups that were asked for, if not all; the others are only needed to judge them
    given: NDArray[np.intp] | None = None
    # What of all texts was generated from templates; None if that was not looked at
    generated: Generated | None = None

    @property
    def size(self) -> int:
        """How many texts there are."""
        return len(self.texts)

    @property
    def repeated(self) -> Clusters | None:
        """The clusters; None if every text is alone."""
        return self.clusters if self.clusters.repeated else None

    @property
    def queries(self) -> int:
        """Queries of an exact audit, at most: texts and variants."""
        return (len(self.texts) + self.variants) * self.parameters.draws

    @cached_property
    def predictions(self) -> SharedPredictions:
        """The model's answers so far."""
        return SharedPredictions(self.model.model, jobs=self.jobs, draws=self.parameters.draws)

    @property
    def paired_confidence(self) -> float:
        """The confidence of each interval of a paired difference."""
        groups = None if self.given is None else len(self.given)
        return paired_confidence(self.rule_sets, self.parameters, groups=groups)


def paired_confidence(
    rule_sets: TermRuleSets, parameters: AuditParameters, *, groups: int | None = None
) -> float:
    """Return the confidence of each paired interval, if need be by Bonferroni's inequality."""
    if parameters.guarantee != "simultaneous":
        return parameters.confidence
    if groups is None:
        groups = sum(len(item) for item in rule_sets.category_sets if min(item.shape) > 1)
    return 1 - (1 - parameters.confidence) / max(1, groups)


@dataclass(frozen=True)
class TextOutcome:
    """Rates of all groups, however they were found, with the attributes of TextFindings."""

    estimates: Estimates
    counterfactual: Counterfactual | None
    asked: int
    favourable: int
    accuracy: float | None = None
    known: KnownAnswers | None = None
    drawn: int = 0  # Questions of independent sampling, which remembers nothing


class Comparisons:
    """Collects the paired comparisons, one category set after another.

    `result`: what was collected; groups that were not compared have no seeds and NaN.
    """

    def __init__(self, audit: TextAudit) -> None:
        self._audit, self._confidence = audit, audit.paired_confidence
        groups = len(audit.rule_sets)
        seeds = np.zeros(groups, dtype=np.int64)
        independent = np.zeros(groups)
        rate_with, rate_other, low, high = np.full((4, groups), np.nan)
        self.result = Counterfactual(seeds, rate_with, rate_other, low, high, independent)

    def add(
        self,
        category_set: CategorySet,
        answers: NDArray[Any],
        weights: Counts | None = None,
        drawn: NDArray[np.intp] | None = None,
    ) -> None:
        """Compare answers (seeds, groups of the set) about seeds, all or those drawn."""
        if min(category_set.shape) < 2 or not len(answers):
            return
        of_all = sizes = None
        if self._audit.repeated is not None:
            of_all = self._audit.clusters.take(category_set.rows).size_of_row
            sizes = of_all if drawn is None else of_all[drawn]
        sums = pair_sums(answers, category_set.shape, weights, sizes)
        total = len(answers) if weights is None else int(weights.sum())
        mean = (sums.with_terms - sums.other) / total
        size = sums.sizes / total
        rows = independent_pairs(sums, total, len(category_set.rows), of_all)
        # Where seeds were drawn, both the seeds and the draws vary, so sizes add like resistances.
        pairs = rows if weights is None else 1 / (1 / rows + 1 / total)
        groups = slice(category_set.first, category_set.first + len(size))
        result = self.result
        result.seeds[groups], result.independent[groups] = len(answers), rows
        result.rate_with[groups] = sums.with_terms / total
        result.rate_other[groups] = sums.other / total
        if self._audit.parameters.guarantee == "simultaneous":
            # For many at once a normal interval is too narrow if few pairs differ, all one way.
            ends = paired_tails_interval(mean, size, pairs, 1 - self._confidence)
        else:
            ends = paired_interval(mean, sums.squares / total, pairs, self._confidence)
        result.low[groups], result.high[groups] = ends


def independent_pairs(
    sums: PairSums, total: int, seeds: int, cluster_sizes: Counts | None
) -> Floats:
    """Return how many independent pairs the seeds are worth, of some of whom there are copies.

    A seed counts once, however many variants or draws of it there are; of copies as many as gains
    and losses are worth at least. `cluster_sizes` (seeds,): those of all seeds; None: no copies.
    """
    mean = (sums.with_terms - sums.other) / total
    size = sums.sizes / total
    rows: Floats = np.full(len(size), float(seeds))
    if cluster_sizes is None:
        return rows
    everything = cluster_sizes.sum()
    gains, losses = (
        independent_rows(
            rows, everything, rows * part, everything * of_clusters / sums.cluster_sizes
        )
        for part, of_clusters in (
            ((size + mean) / 2, sums.cluster_gains),
            ((size - mean) / 2, sums.cluster_losses),
        )
    )
    return np.minimum(gains, losses)
