"""Stability: how often a group would be found again, had the file held other people.

The rows are drawn anew, with replacement, and the whole search is done again, many times. It is no
guarantee: the samples are drawn from the rows that luck was in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts
from testsgd.auditing.rule_selection import cell_table, select_rules
from testsgd.rules import Contingency, FrequentRuleSets, mine
from testsgd.scoring import member_overlaps, rank_groups

# How many groups are looked for, and among how many of each bootstrap sample.
STABLE_GROUPS = 10

# Bootstrap samples, if they are quick: a share then has a standard error of 3.5 points at most.
_SAMPLES = 200
# From fewer its standard error may be above 7 points, and it says little.
_FEWEST_SAMPLES = 50
# What a sample takes at least, for each candidate and for each cell: measured with one thread by
# python -m benchmarks.stability_seconds.
_SECONDS = 2e-3
_SECONDS_A_CANDIDATE = 5e-7
_SECONDS_A_CELL = 1e-5
_MOST_SECONDS = 10


def affordable(candidates: int, cells: int) -> int:
    """Return how many bootstrap samples take no more than ten seconds; 0 if fewer than 50."""
    return samples_in_time(seconds_a_sample(candidates, cells))


def samples_in_time(seconds: float) -> int:
    """Return how many samples to draw if each takes so long; 0 if they would be too few."""
    samples = min(_SAMPLES, int(_MOST_SECONDS / seconds))
    return samples if samples >= _FEWEST_SAMPLES else 0


def seconds_a_sample(candidates: int, cells: int) -> float:
    """Return about how many seconds a bootstrap sample takes."""
    return _SECONDS + _SECONDS_A_CANDIDATE * candidates + _SECONDS_A_CELL * cells


def group_stability(
    contingency: Contingency,
    row_favourable: NDArray[np.integer],
    answers: int,
    rule_sets: FrequentRuleSets,
    rules: Sequence[int],
    *,
    min_count: int,
    max_features: int,
    overlap: float,
    critical: float,
    samples: int,
    seed: int,
) -> dict[int, float]:
    """Return in which share of bootstrap samples groups, or near copies, are found again.

    The groups are the first ten of `rules`; everybody else counts as a group. Shapes:
    `row_favourable` (n,). Rows of the same cell and with equally many favourable answers cannot be
    told apart, so their numbers are drawn from a multinomial distribution, which is the same as
    drawing rows.

    See Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 6; Meinshausen and
    Buehlmann (2010), Stability selection, Journal of the Royal Statistical Society B 72.
    """
    looked_for = np.asarray(rules[:STABLE_GROUPS], dtype=np.intp)
    if samples == 0 or len(looked_for) == 0:
        return {}
    wanted = rule_sets.members(looked_for, contingency)
    rows = contingency.tally()
    times = np.zeros(len(looked_for), dtype=np.int64)

    def search(sample: Counts) -> NDArray[np.bool_]:
        """Return which cells belong to each rule that explains a sample's differences."""
        # Without the cells that nobody is in, so that rule sets that differ in these only are
        # equal.
        present = sample[0] > 0
        within = replace(contingency, coordinates=contingency.coordinates[present])
        known = sample[:, present]
        rows, favourable = known
        groups = mine(
            within, known, min_count=min_count, min_outside=min_count, max_features=max_features
        )
        rows_in, favourable_in = groups.sums
        inside = favourable_in / (rows_in * answers)
        outside = (favourable.sum() - favourable_in) / ((rows.sum() - rows_in) * answers)
        counts, decided = groups.rule_counts(), np.ones(len(groups), dtype=bool)
        rules = select_rules(
            cell_table(rows, rows * answers, favourable),
            lambda quantities: groups.sums_of(within, quantities),
            lambda group: groups.members(np.array([group]), within)[0],
            counts,
            rank_groups(np.abs(inside - outside), rows_in, counts, decided),
            critical=critical,
        )
        chosen = np.array([rule.group for rule in rules], dtype=np.intp)
        return groups.members(chosen, contingency)

    for sample in _bootstrap(contingency, row_favourable, samples, seed):
        selected = search(sample)
        shares = np.maximum(
            _overlaps(wanted, selected, rows),
            # A group and everybody else are one finding, if they are so on both sides.
            np.minimum(_overlaps(~wanted, selected, rows), _overlaps(wanted, ~selected, rows)),
        )
        times += np.any(shares >= overlap, axis=1)
    return dict(zip(looked_for.tolist(), (times / samples).tolist(), strict=True))


def _overlaps(
    first: NDArray[np.bool_], second: NDArray[np.bool_], rows: Counts
) -> NDArray[np.float64]:
    """Return Jaccard's index of all pairs of groups, shape (first, second)."""
    both = np.vstack([first, second])
    indices = np.arange(len(both))
    return member_overlaps(both.__getitem__, rows)(indices[: len(first)], indices[len(first) :])


def _bootstrap(
    contingency: Contingency, row_favourable: NDArray[np.integer], samples: int, seed: int
) -> Iterator[Counts]:
    """Draw samples of the rows; give each cell's rows and their favourable answers."""
    step = int(row_favourable.max()) + 1
    pairs, counts = np.unique(
        contingency.cell_of_row.astype(np.int64) * step + row_favourable, return_counts=True
    )
    cell, favourable = np.divmod(pairs, step)
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    total = int(counts.sum())
    generator = np.random.default_rng(seed)
    for _ in range(samples):
        drawn = generator.multinomial(total, counts / total)
        yield np.add.reduceat(np.vstack([drawn, drawn * favourable]), starts, axis=1)
