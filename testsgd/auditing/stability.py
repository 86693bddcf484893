"""Stability: how often a group would be found again, had the file held other people.

The rows are drawn anew, with replacement, many times; each time the whole search is done again, and
the first distinct groups are looked for among what it finds. A group that comes first by luck comes
back less often. It is no guarantee: the samples are drawn from the rows that luck was in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts
from testsgd.rules import Contingency, FrequentRuleSets, mine
from testsgd.scoring import block_of, distinct_groups, member_overlaps, rank_groups

# How many groups are looked for, and among how many of each bootstrap sample.
STABLE_GROUPS = 10

# Bootstrap samples, if they are quick: a share then has a standard error of 3.5 points at most.
_SAMPLES = 200
# From fewer its standard error may be above 7 points, and it says little.
_FEWEST_SAMPLES = 50
# Measured with one thread: what a sample takes at least, for each candidate and for each cell.
_SECONDS = 5e-3
_SECONDS_A_CANDIDATE = 2e-7
_SECONDS_A_CELL = 1.2e-5
_MOST_SECONDS = 10

_NEAR_BLOCKS = 4


def affordable(candidates: int, cells: int) -> int:
    """Give how many bootstrap samples take no longer than about ten seconds.

    Parameters
    ----------
    candidates : int
        Rule sets that the sensitive features allow.
    cells : int
        Combinations of sensitive values that occur.

    Returns
    -------
    int
        200, or fewer, but 0 if it were fewer than 50.

    Examples
    --------
    >>> affordable(5_000, 80), affordable(19_000_000, 1_800)
    (200, 0)
    """
    each = _SECONDS + _SECONDS_A_CANDIDATE * candidates + _SECONDS_A_CELL * cells
    samples = min(_SAMPLES, int(_MOST_SECONDS / each))
    return samples if samples >= _FEWEST_SAMPLES else 0


def group_stability(
    contingency: Contingency,
    row_favourable: NDArray[np.integer],
    answers: int,
    rule_sets: FrequentRuleSets,
    distinct: Sequence[int],
    *,
    min_count: int,
    max_features: int,
    overlap: float,
    samples: int,
    seed: int,
) -> dict[int, float]:
    """Find how often groups are found again in bootstrap samples of the rows.

    Parameters
    ----------
    contingency : Contingency
        The rows' sensitive cells.
    row_favourable : numpy.ndarray of int, shape (n,)
        How many of each row's answers are favourable.
    answers : int
        Answers a row.
    rule_sets : FrequentRuleSets
        The groups that were found in the rows.
    distinct : sequence of int
        Those among them that are no near copies of one before, best first.
    min_count : int
        Fewest rows of a frequent rule set.
    max_features : int
        Most rules in a rule set.
    overlap : float
        Jaccard overlap from which two groups count as one finding.
    samples : int
        How many bootstrap samples to draw.
    seed : int
        Same seed, same samples.

    Returns
    -------
    dict of int to float
        For each of the first ten groups of `distinct` the share of the samples in which it, or a
        group that overlaps with it enough, is among the first ten distinct groups. Empty if there
        are no samples.

    Notes
    -----
    Rows of the same cell and with equally many favourable answers cannot be told apart, so the
    numbers of these are drawn, in ascending order of cell and answers, from a multinomial
    distribution. That is the same as drawing rows.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 6; Meinshausen and
    Buehlmann (2010), Stability selection, Journal of the Royal Statistical Society B 72, for the
    share of samples in which a finding returns.
    """
    looked_for = np.asarray(distinct[:STABLE_GROUPS], dtype=np.intp)
    if samples == 0 or len(looked_for) == 0:
        return {}
    wanted = rule_sets.members(looked_for, contingency)
    rows = contingency.tally()
    times = np.zeros(len(looked_for), dtype=np.int64)
    for sample in _bootstrap(contingency, row_favourable, samples, seed):
        found = _first_distinct(
            contingency,
            sample,
            answers,
            min_count=min_count,
            max_features=max_features,
            overlap=overlap,
        )
        both = np.vstack([wanted, found])
        places = np.arange(len(both))
        overlaps = member_overlaps(both.__getitem__, rows)
        shares = overlaps(places[: len(wanted)], places[len(wanted) :])
        times += np.any(shares >= overlap, axis=1)
    return dict(zip(looked_for.tolist(), (times / samples).tolist(), strict=True))


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


def _first_distinct(
    contingency: Contingency,
    sample: Counts,
    answers: int,
    *,
    min_count: int,
    max_features: int,
    overlap: float,
) -> NDArray[np.bool_]:
    """Search a sample; say which cells belong to each of its first distinct groups."""
    # Without the cells that nobody is in, so that rule sets that differ in these only are equal.
    present = sample[0] > 0
    within = replace(contingency, coordinates=contingency.coordinates[present])
    sample = sample[:, present]
    groups = mine(within, sample, min_count=min_count, max_features=max_features)
    rows_in, favourable_in = groups.sums
    rows, favourable = (int(total) for total in sample.sum(axis=1))
    rate_in = favourable_in / (rows_in * answers)
    rate_out = (favourable - favourable_in) / ((rows - rows_in) * answers)
    order = rank_groups(
        np.abs(rate_in - rate_out),
        rows_in,
        groups.rule_counts(),
        np.ones(len(groups), dtype=bool),
    )
    block = block_of(within.cells)
    # Most often all ten are in the first blocks, whose members are asked for again and again.
    near = order[: _NEAR_BLOCKS * block]
    best = groups.members(near, within)
    place = np.full(len(groups), -1)
    place[near] = np.arange(len(near))

    def members(some: NDArray[np.intp]) -> NDArray[np.bool_]:
        places = place[some]
        return best[places] if (places >= 0).all() else groups.members(some, within)

    first = distinct_groups(
        order,
        member_overlaps(members, sample[0]),
        overlap=overlap,
        limit=STABLE_GROUPS,
        block=block,
    )
    return groups.members(np.array(first, dtype=np.intp), contingency)
