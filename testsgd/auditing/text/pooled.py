"""Pooled sampling of texts: draws that groups share, and further ones for the uncertain groups.

The draws from all texts are shared by all groups, each using those that lack one of its terms. The
draws of seeds are shared by the groups of one category set: each seed drawn is asked about with the
terms of every one of them, so that their comparison is paired. No text is asked about twice.

The stopping rule is looked at again and again, so by default its margin is that of a confidence
sequence, as in :mod:`testsgd.auditing.pooled`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Counts, Estimates, drawn_estimates
from testsgd.auditing.text.answers import ask_variants, containing_all
from testsgd.auditing.text.outcome import Comparisons, TextAudit, TextOutcome
from testsgd.sampling.text import Replacer

# The pool is shared by all groups, so it may be larger than the draws of any one of them: then most
# of the error margin is left to the side whose samples are dear.
_POOL_FACTOR = 5
# The pool grows while its side takes more than this share of a group's error margin.
_POOL_SHARE = 1 / 3
# Texts that are known are drawn again without a query. More draws narrow no margin that one sees,
# and sums of 64 bits must hold them.
_MOST_DRAWS = 2**40


def sample_texts_pooled(audit: TextAudit, budget: int) -> TextOutcome:
    """Estimate all groups from draws that they share, those that the budget suffices for."""
    texts = audit.texts
    mentions = audit.mentions
    predictions = audit.predictions
    rule_sets = audit.rule_sets
    parameters = audit.parameters
    pool = _Pool(audit)
    seeds = _Seeds(audit, budget)
    once = np.ones(len(texts), dtype=np.int64)
    rows_out = len(texts) - containing_all(mentions, rule_sets, once)

    def look() -> Estimates:
        """Return the estimates from all draws so far, with the stopping rule applied."""
        favourable = np.where(pool.answers, pool.weights, 0)
        samples_out, favourable_out = (
            weights.sum() - containing_all(mentions, rule_sets, weights)
            for weights in (pool.weights, favourable)
        )
        tallies = np.vstack([seeds.samples, samples_out, seeds.favourable, favourable_out])
        return drawn_estimates(rule_sets.rows(), rows_out, tallies, parameters)

    # How many draws it takes is not known before; there are no more than these.
    predictions.report_to(audit.counter("asking about draws, of the most allowed", budget))
    least = parameters.min_samples + 1
    # Of a small budget most is left to the seeds.
    pool.draw(max(1, min(_POOL_FACTOR * least, (budget - predictions.asked) // 3)))
    for index in range(len(rule_sets.category_sets)):
        seeds.draw(index, least)
    estimates = look()
    more = True
    while more:
        uncertain = ~estimates.decided & (seeds.samples > 0)
        # Where the pool takes a large part of a margin, doubling it helps all groups at once.
        of_pool = rates.margin_outside(estimates, parameters)
        too_small = of_pool > _POOL_SHARE * parameters.error_margin
        more = bool((too_small & uncertain).any()) and pool.size < _MOST_DRAWS
        more = more and predictions.asked + pool.new <= budget
        if more:
            pool.draw(pool.size)
        else:
            # Seeds decide no group whose margin is too wide by the pool's part alone.
            uncertain &= of_pool < parameters.error_margin
        for index in range(len(rule_sets.category_sets)):
            more |= seeds.draw_further(index, uncertain)
        estimates = look()
    return TextOutcome(
        estimates, seeds.comparisons.result, asked=pool.size, favourable=pool.favourable
    )


class _Pool:
    """Draws from all texts, with repetition."""

    def __init__(self, audit: TextAudit) -> None:
        self._predictions = audit.predictions
        self._texts = audit.texts.texts
        self._generator = np.random.default_rng([audit.parameters.seed, 1])
        self.weights = np.zeros(audit.size, dtype=np.int64)
        self.answers = np.zeros(audit.size, dtype=bool)

    def draw(self, count: int) -> None:
        """Draw `count` texts and ask about those that were not drawn before."""
        drawn = _draw_evenly(self._generator, len(self._texts), count)
        new = np.flatnonzero((drawn > 0) & (self.weights == 0))
        self.answers[new] = self._predictions.decide(self._texts[row] for row in new)
        self.weights += drawn

    @property
    def size(self) -> int:
        """Draws so far."""
        return int(self.weights.sum())

    @property
    def new(self) -> int:
        """Texts that doubling the draws may meet for the first time, at most."""
        return min(self.size, int((self.weights == 0).sum()))

    @property
    def favourable(self) -> int:
        """Draws so far that got the favourable label."""
        return int(self.weights[self.answers].sum())


class _Seeds:
    """Draws of seeds, with repetition, for the groups of one category set after another."""

    def __init__(self, audit: TextAudit, budget: int) -> None:
        self._predictions = audit.predictions
        self._replacer = Replacer(audit.texts.texts, audit.mentions)
        self._sets = audit.rule_sets.category_sets
        self._budget = budget
        # Each category set has its own stream: its draws do not depend on which others there are.
        self._generators = [
            np.random.default_rng([audit.parameters.seed, 2, *item.categories])
            for item in self._sets
        ]
        self._draws = [0] * len(self._sets)
        self._known = [np.zeros(len(item.rows), dtype=bool) for item in self._sets]
        self.samples = np.zeros(len(audit.rule_sets), dtype=np.int64)
        self.favourable = np.zeros(len(audit.rule_sets), dtype=np.int64)
        self.comparisons = Comparisons(audit)

    def draw(self, index: int, count: int) -> None:
        """Draw `count` seeds for all groups of a category set, or none if the budget is short."""
        groups = np.arange(len(self._sets[index]))
        if (drawn := self._ask(index, groups, count)) is not None:
            self.comparisons.add(self._sets[index], *drawn)

    def draw_further(self, index: int, uncertain: NDArray[np.bool_]) -> bool:
        """Double the draws of the uncertain groups of a category set; False if none was made."""
        first = self._sets[index].first
        groups = np.flatnonzero(uncertain[first : first + len(self._sets[index])])
        return len(groups) > 0 and self._ask(index, groups, self._draws[index]) is not None

    def _ask(
        self, index: int, groups: NDArray[np.intp], count: int
    ) -> tuple[NDArray[np.bool_], Counts, NDArray[np.intp]] | None:
        """Draw `count` seeds and ask about each with the terms of some groups of a category set.

        Returned are the answers (seeds, groups), how often each seed was drawn (seeds,), and the
        places of the seeds; None if the budget is short.
        """
        category_set = self._sets[index]
        if not len(category_set.rows) or count > _MOST_DRAWS:
            return None
        weights = _draw_evenly(self._generators[index], len(category_set.rows), count)
        different = np.flatnonzero(weights)
        # Groups that are uncertain now were so before: what was asked for them is known.
        new = int((~self._known[index][different]).sum())
        if self._predictions.asked + new * len(groups) > self._budget:
            return None
        self._known[index][different] = True
        weights = weights[different]
        answers = ask_variants(
            self._predictions, self._replacer, category_set, category_set.rows[different], groups
        )
        self._draws[index] += count
        self.samples[category_set.first + groups] += count
        self.favourable[category_set.first + groups] += weights @ answers
        return answers, weights, different


def _draw_evenly(generator: np.random.Generator, candidates: int, count: int) -> Counts:
    """Return how often each candidate is drawn, with repetition; shape (candidates,)."""
    drawn: Counts = generator.multinomial(count, np.full(candidates, 1 / candidates))
    return drawn
