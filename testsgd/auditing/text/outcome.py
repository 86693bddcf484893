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
from testsgd.auditing.text.answers import KnownAnswers, SharedPredictions, pair_sums
from testsgd.auditing.text.findings import Counterfactual
from testsgd.data.text import Texts
from testsgd.models.text import TextModel
from testsgd.rules.text import CategorySet, Mentions, TermRuleSets
from testsgd.scoring import Clusters, clopper_pearson, independent_rows, paired_interval

_ANGLES = 7


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
    def paired(self) -> PairedIntervals:
        """How the intervals of paired differences are computed."""
        groups = None if self.given is None else len(self.given)
        return paired_intervals(self.rule_sets, self.parameters, groups=groups)


@dataclass(frozen=True)
class PairedIntervals:
    """How the intervals of paired differences are computed."""

    confidence: float  # Of each interval
    # Take them from the binomial distribution, see :func:`paired_tails_interval`, and not from the
    # normal, see :func:`testsgd.scoring.paired_interval`
    tails: bool

    def __call__(
        self, mean: Floats, mean_square: Floats, mean_size: Floats, pairs: Floats
    ) -> tuple[Floats, Floats]:
        """Compute intervals from the means of differences, of their squares and their sizes."""
        if self.tails:
            return paired_tails_interval(mean, mean_size, pairs, 1 - self.confidence)
        return paired_interval(mean, mean_square, pairs, self.confidence)


def paired_intervals(
    rule_sets: TermRuleSets, parameters: AuditParameters, *, groups: int | None = None
) -> PairedIntervals:
    """Choose the paired intervals by what the audit is to guarantee.

    A simultaneous guarantee is for all of them at once, by Bonferroni's inequality. Then each is
    one of 99.9% or more, where a normal interval is too narrow if few pairs differ, all in one
    direction.
    """
    if parameters.guarantee != "simultaneous":
        return PairedIntervals(parameters.confidence, tails=False)
    if groups is None:
        groups = sum(len(item) for item in rule_sets.category_sets if min(item.shape) > 1)
    return PairedIntervals(1 - (1 - parameters.confidence) / max(1, groups), tails=True)


def paired_tails_interval(
    mean: Floats, mean_size: Floats, pairs: Floats, error: float
) -> tuple[Floats, Floats]:
    """Compute intervals for means of differences within pairs, with exact tails.

    The mean difference is that of the gains less that of the losses. Each varies no more than a
    rate over as many yes/no answers. A pair that gains does not lose, so the two stray in opposite
    directions: as :func:`testsgd.scoring.exact_difference`, with the errors of the two on the
    ellipse of their correlation instead of a circle.

    See Zou and Donner (2008), Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27, for correlated estimates; the largest sum over the ellipse
    is ours.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr, ndtri

    gain, loss = np.maximum(mean_size + mean, 0) / 2, np.maximum(mean_size - mean, 0) / 2
    # With a pair more that gains and one that loses, so that no correlation seems to be 0.
    gains, losses = ((part * pairs + 1) / (pairs + 2) for part in (gain, loss))
    opposed = np.sqrt(gains * losses / ((1 - gains) * (1 - losses)))
    widest = np.arccos(np.minimum(opposed, 1))
    quantile = -ndtri(error / 2)
    below = above = np.zeros(len(mean))
    for part in np.linspace(0, 1, _ANGLES):
        of_gain = 2 * ndtr(-quantile * np.cos(part * widest))
        of_loss = 2 * ndtr(-quantile * np.cos((1 - part) * widest))
        low_gain, high_gain = clopper_pearson(gain * pairs, pairs, of_gain)
        low_loss, high_loss = clopper_pearson(loss * pairs, pairs, of_loss)
        below = np.maximum(below, (gain - low_gain) + (high_loss - loss))
        above = np.maximum(above, (high_gain - gain) + (loss - low_loss))
    # The largest sum may lie between two of the points.
    between = 1 / np.cos(np.pi / 4 / (_ANGLES - 1))
    return np.maximum(mean - between * below, -1), np.minimum(mean + between * above, 1)


@dataclass(frozen=True)
class TextOutcome:
    """Rates of all groups, however they were found, with the attributes of TextFindings."""

    estimates: Estimates
    counterfactual: Counterfactual | None
    asked: int
    favourable: int
    accuracy: float | None = None
    known: KnownAnswers | None = None


class Comparisons:
    """Collects the paired comparisons, one category set after another.

    `result`: what was collected; groups that were not compared have no seeds and NaN.
    """

    def __init__(self, audit: TextAudit) -> None:
        self._paired, self._clusters = audit.paired, audit.repeated
        groups = len(audit.rule_sets)
        seeds, independent = np.zeros(groups, dtype=np.int64), np.zeros(groups)
        rate_with, rate_other, low, high = np.full((4, groups), np.nan)
        self.result = Counterfactual(seeds, rate_with, rate_other, low, high, independent)

    def add(
        self,
        category_set: CategorySet,
        answers: NDArray[Any],
        weights: Counts | None = None,
        drawn: NDArray[np.intp] | None = None,
    ) -> None:
        """Compare the answers about seeds, all of them or those drawn, so often each.

        Shapes: `answers` (seeds, groups of the set); `weights`, `drawn` (seeds,).
        """
        if min(category_set.shape) < 2 or not len(answers):
            return
        of_all = sizes = None
        if self._clusters is not None:
            of_all = self._clusters.take(category_set.rows).size_of_row
            sizes = of_all if drawn is None else of_all[drawn]
        sums = pair_sums(answers, category_set.shape, weights, sizes)
        total = len(answers) if weights is None else int(weights.sum())
        mean, size = (sums.with_terms - sums.other) / total, sums.sizes / total
        # A seed counts once, however many variants or draws of it there are; of copies as many as
        # gains and losses are worth at least.
        rows: Floats = np.full(len(size), float(len(category_set.rows)))
        if of_all is not None:
            everything = of_all.sum()
            gains, losses = (
                independent_rows(
                    rows, everything, rows * part, everything * of_clusters / sums.cluster_sizes
                )
                for part, of_clusters in (
                    ((size + mean) / 2, sums.cluster_gains),
                    ((size - mean) / 2, sums.cluster_losses),
                )
            )
            rows = np.minimum(gains, losses)
        # Where seeds were drawn, both the seeds and the draws vary, so sizes add like resistances.
        pairs = rows if weights is None else 1 / (1 / rows + 1 / total)
        groups = slice(category_set.first, category_set.first + len(size))
        result = self.result
        result.seeds[groups], result.independent[groups] = len(answers), rows
        result.rate_with[groups] = sums.with_terms / total
        result.rate_other[groups] = sums.other / total
        result.low[groups], result.high[groups] = self._paired(
            mean, sums.squares / total, size, pairs
        )
