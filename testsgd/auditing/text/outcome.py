"""What the three ways of finding the rates of texts have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.text.answers import Floats, KnownAnswers, PairSums
from testsgd.auditing.text.findings import Counterfactual
from testsgd.auditing.text.paired import PairedIntervals
from testsgd.rules.text import CategorySet, TermRuleSets


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
    """

    def __init__(self, rule_sets: TermRuleSets, paired: PairedIntervals) -> None:
        self._paired = paired
        groups = len(rule_sets)
        self._seeds = np.zeros(groups, dtype=np.int64)
        self._rates: Floats = np.full((2, groups), np.nan)
        self._ends: Floats = np.full((2, groups), np.nan)

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
        rows = len(category_set.rows)
        pairs = rows if draws is None else 1 / (1 / rows + 1 / draws)
        low, high = self._paired(
            (sums.with_terms - sums.other) / total,
            sums.squares / total,
            sums.sizes / total,
            np.full(len(sums.sizes), float(pairs)),
        )
        self._ends[0, groups], self._ends[1, groups] = low, high

    def result(self) -> Counterfactual:
        """Give what was collected; groups that were not compared have no seeds and NaN."""
        return Counterfactual(self._seeds, *self._rates, *self._ends)
