"""Stability of groups of texts: how often one would be found again, had there been other texts.

The texts are drawn anew, with replacement, many times. Every answer is known, so the rates of all
groups in a sample are products of how often each text was drawn with the answers. It is no
guarantee, as for rows (:mod:`testsgd.auditing.stability`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.stability import (
    MOST_NUMBERS,
    SECONDS_A_SEARCH,
    STABLE_GROUPS,
    samples_in_time,
    shares_found,
)
from testsgd.auditing.text.answers import KnownAnswers, other_means
from testsgd.auditing.text.findings import SeedOverlaps
from testsgd.auditing.text.rule_selection import TermSelection
from testsgd.scoring import rank_groups

# What a sample takes for each text, answer and group, measured with one thread.
_SECONDS_A_TEXT = 1e-7
_SECONDS_AN_ANSWER = 5e-10
_SECONDS_A_GROUP = 1e-6


def affordable_of_texts(texts: int, answers: int, groups: int) -> int:
    """Return how many bootstrap samples take no longer than about ten seconds, as for rows."""
    each = SECONDS_A_SEARCH + _SECONDS_A_TEXT * texts
    each += _SECONDS_AN_ANSWER * answers + _SECONDS_A_GROUP * groups
    return samples_in_time(each)


def term_stability(
    known: KnownAnswers,
    difference: Floats,
    rules: Sequence[int],
    parameters: AuditParameters,
    *,
    selection: TermSelection,
    judged: NDArray[np.bool_],
    min_count: int,
    samples: int,
) -> dict[int, float]:
    """Return the share of bootstrap samples in which each group, or a near copy, is found again.

    The groups are the first ten of `rules`. Shapes: `difference`, `judged` (groups,). About
    categories of which only a sample has enough texts nothing was asked.

    Near copies are judged by the seeds as they are, and the sample's differences.
    """
    looked_for = np.asarray(rules[:STABLE_GROUPS], dtype=np.intp)
    if samples == 0 or len(looked_for) == 0:
        return {}
    rule_sets = known.rule_sets
    counts = known.rule_sets.rule_counts()
    seeds = SeedOverlaps(rule_sets, len(known.texts))
    by_terms = parameters.rank_by == "counterfactual"

    def overlaps(item: Sample) -> Floats:
        """Measure overlaps of the groups with those that a sample chooses, (groups, chosen)."""
        enough = (item.rows_in >= min_count) & ~np.isnan(item.difference)
        usable = np.flatnonzero(enough & judged)
        order = rank_groups(
            np.abs(item.difference[usable]),
            item.rows_in[usable],
            counts[usable],
            np.ones(len(usable), dtype=bool),
        )
        reselected = selection.select(
            np.where(enough, item.difference, np.nan),
            item.rows_in.astype(np.float64),
            usable[order],
        )
        chosen = np.array([rule.group for rule in reselected], dtype=np.intp)
        return seeds.between(difference, item.difference)(looked_for, chosen)

    drawn = resampled(known, by_terms=by_terms, samples=samples, seed=parameters.seed)
    return shares_found(looked_for, map(overlaps, drawn), parameters.overlap)


@dataclass(frozen=True)
class Sample:
    """What a bootstrap sample of the texts shows of each group, arrays of shape (groups,)."""

    rows_in: Counts  # Seeds, as often as they were drawn
    difference: Floats  # The difference that groups are ranked by; NaN if one side is empty


def resampled(known: KnownAnswers, *, by_terms: bool, samples: int, seed: int) -> Iterator[Sample]:
    """Yield bootstrap samples of the texts, or of their clusters, drawn with replacement.

    Each is what a multinomial draw of the units shows. By terms, the difference is the mean of what
    a group's terms change in its seeds; otherwise it is the rate inside minus that outside.
    """
    texts = len(known.texts)
    groups = len(known.rule_sets)
    clusters = known.clusters
    generator = np.random.default_rng([seed, 7])
    together = max(1, MOST_NUMBERS // max(texts, groups, 1))
    units = texts if clusters is None else len(clusters)
    chances = np.full(units, 1 / units)
    for start in range(0, samples, together):
        size = min(together, samples - start)
        # Whole numbers below 2**24 are exact, and their product is fast.
        drawn = generator.multinomial(units, chances, size=size).astype(np.float32)
        if clusters is not None:
            drawn = drawn[:, clusters.of_row]
        everything = drawn.sum(axis=1, dtype=np.float64)[:, None]
        rows_in = np.zeros((size, groups), dtype=np.int64)
        differences = np.full((size, groups), np.nan)
        favourable = drawn @ known.texts.astype(np.float32)
        for category_set, variants in known.of_sets():
            index = slice(category_set.first, category_set.first + len(category_set))
            of_seeds = drawn[:, category_set.rows]
            seeds = of_seeds.sum(axis=1, dtype=np.float64)[:, None]
            rows_in[:, index] = seeds
            if by_terms:
                if min(category_set.shape) > 1:
                    gain = variants - other_means(variants.astype(np.float64), category_set.shape)
                    differences[:, index] = _rate(of_seeds @ gain, seeds)
                continue
            inside = known.inside(category_set)
            own = known.texts[category_set.rows][:, None]
            favourable_out = favourable[:, None] - _times(of_seeds, inside * own)
            rate_out = _rate(favourable_out, everything - _times(of_seeds, inside))
            differences[:, index] = _rate(_times(of_seeds, variants), seeds) - rate_out
        yield from map(Sample, rows_in, differences)


def _times(drawn: NDArray[np.float32], answers: NDArray[Any]) -> Floats:
    """Sum answers over the texts drawn, in each sample."""
    sums: Floats = (drawn @ answers.astype(np.float32)).astype(np.float64)
    return sums


def _rate(favourable: Floats, rows: Floats) -> Floats:
    rates: Floats = np.where(rows > 0, favourable / np.maximum(rows, 1), np.nan)
    return rates
