"""What the three ways of finding the rates of texts have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.auditing.estimates import Counts, Estimates
from testsgd.auditing.text.answers import Floats, KnownAnswers, PairSums
from testsgd.auditing.text.findings import Counterfactual
from testsgd.auditing.text.paired import PairedIntervals
from testsgd.rules.text import CategorySet, TermRuleSets
from testsgd.scoring import Clusters, independent_rows


@dataclass(frozen=True)
class TextOutcome:
    """Rates of all groups, however they were found.

    The attributes are those of TextFindings; `known` are the single answers, None if samples were
    drawn.
    """

    estimates: Estimates
    counterfactual: Counterfactual | None
    asked: int
    favourable: int
    accuracy: float | None = None
    known: KnownAnswers | None = None


class Comparisons:
    """Collects the paired comparisons, one category set after another.

    Parameters
    ----------
    rule_sets : TermRuleSets
        The groups.
    paired : PairedIntervals
        Computes their intervals.
    clusters : Clusters, optional
        Texts that are one unit.
    """

    def __init__(
        self, rule_sets: TermRuleSets, paired: PairedIntervals, clusters: Clusters | None = None
    ) -> None:
        self._paired = paired
        self._clusters = clusters
        groups = len(rule_sets)
        self._seeds = np.zeros(groups, dtype=np.int64)
        self._rates: Floats = np.full((2, groups), np.nan)
        self._ends: Floats = np.full((2, groups), np.nan)
        self._independent: Floats = np.zeros(groups)

    def add(
        self, category_set: CategorySet, sums: PairSums, *, seeds: int, draws: int | None = None
    ) -> None:
        """Take down the sums of one category set.

        Parameters
        ----------
        category_set : CategorySet
            The category set.
        sums : PairSums
            Sums over the seeds, or over draws of them.
        seeds : int
            Different seeds that were compared.
        draws : int, optional
            Draws, if the sums are over draws from the seeds.
        """
        total = seeds if draws is None else draws
        groups = slice(category_set.first, category_set.first + len(sums.with_terms))
        self._seeds[groups] = seeds
        self._rates[0, groups] = sums.with_terms / total
        self._rates[1, groups] = sums.other / total
        # A seed counts once, however many variants or draws of it there are; where seeds were
        # drawn, both the seeds and the draws vary, so sizes add like resistances.
        rows = self._independent_seeds(category_set, sums, total)
        self._independent[groups] = rows
        pairs = rows if draws is None else 1 / (1 / rows + 1 / draws)
        low, high = self._paired(
            (sums.with_terms - sums.other) / total,
            sums.squares / total,
            sums.sizes / total,
            pairs,
        )
        self._ends[0, groups], self._ends[1, groups] = low, high

    def cluster_sizes(self, category_set: CategorySet) -> Counts | None:
        """Return how many seeds are in each seed's cluster; None if all are alone."""
        if self._clusters is None:
            return None
        return self._clusters.take(category_set.rows).size_of_row

    def _independent_seeds(self, category_set: CategorySet, sums: PairSums, total: int) -> Floats:
        """Return the independent seeds of each group: what gains and losses are worth at least."""
        rows = np.full(len(sums.sizes), float(len(category_set.rows)))
        sizes = self.cluster_sizes(category_set)
        if sizes is None:
            return rows
        mean, size = (sums.with_terms - sums.other) / total, sums.sizes / total
        worth = [
            independent_rows(
                rows, sizes.sum(), rows * part, sizes.sum() * of_clusters / sums.cluster_sizes
            )
            for part, of_clusters in (
                ((size + mean) / 2, sums.cluster_gains),
                ((size - mean) / 2, sums.cluster_losses),
            )
        ]
        return np.minimum(*worth)

    def result(self) -> Counterfactual:
        """Give what was collected; groups that were not compared have no seeds and NaN."""
        (rate_with, rate_other), (low, high) = self._rates, self._ends
        return Counterfactual(self._seeds, rate_with, rate_other, low, high, self._independent)
