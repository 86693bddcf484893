"""Stability: how often a group would be found again if the file had other rows.

The rows are drawn anew, with replacement, and the whole search is done again, many times. It is no
guarantee: the samples are drawn from the same rows in which the group was found.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.auditing.rule_selection import (
    ExplainingRule,
    LeftOut,
    Members,
    cell_table,
    selection_steps,
)
from testsgd.rules import Contingency, FrequentRuleSets, SampleMining, SampleRuleSets
from testsgd.scoring import member_overlaps, rank_groups

# How many groups are looked for, and among how many of each bootstrap sample.
STABLE_GROUPS = 10

# Bootstrap samples, if they are quick: a share then has a standard error of 3.5 points at most.
_SAMPLES = 200
# From fewer its standard error may be above 7 points, and it says little.
_FEWEST_SAMPLES = 50
# What a sample takes, for each candidate and for each cell: measured with one thread by
# python -m benchmarks.stability_seconds, when samples were searched one by one. Together they take
# less. The numbers stay, as they decide how many samples are drawn.
SECONDS_A_SEARCH = 2e-3
_SECONDS_A_CANDIDATE = 5e-7
_SECONDS_A_CELL = 1e-5
_MOST_SECONDS = 10
# Numbers in memory at once: how often texts were drawn, differences and sums of groups.
MOST_NUMBERS = 1 << 22
# Arrays of a number for each group that a sample's search holds.
_ARRAYS = 16


def affordable(candidates: int, cells: int) -> int:
    """Return how many bootstrap samples take no more than ten seconds; 0 if fewer than 50."""
    return samples_in_time(seconds_a_sample(candidates, cells))


def samples_in_time(seconds: float) -> int:
    """Return how many samples to draw if each takes `seconds`; 0 if they are fewer than 50."""
    samples = min(_SAMPLES, int(_MOST_SECONDS / seconds))
    return samples if samples >= _FEWEST_SAMPLES else 0


def seconds_a_sample(candidates: int, cells: int) -> float:
    """Return about how many seconds a bootstrap sample takes, by candidate groups and cells."""
    return SECONDS_A_SEARCH + _SECONDS_A_CANDIDATE * candidates + _SECONDS_A_CELL * cells


def group_stability(
    contingency: Contingency,
    row_favourable: NDArray[np.integer],
    answers: int,
    rule_sets: FrequentRuleSets,
    rules: Sequence[int],
    *,
    min_count: int,
    min_outside: int | None = None,
    max_features: int,
    overlap: float,
    critical: float,
    samples: int,
    seed: int,
) -> dict[int, float]:
    """Return the share of bootstrap samples in which each group, or a near copy, is found again.

    At least `min_outside` rows, by default `min_count`, are outside of a group that is searched.
    The groups are the first ten of `rules`. A group and its complement count as one. Shapes:
    `row_favourable`, how many of the `answers` answers about each row are favourable (n,). Rows of
    the same cell and with equally many favourable answers are alike, so their numbers are drawn
    from a multinomial distribution, which is the same as drawing rows.

    See Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 6; Meinshausen and
    Buehlmann (2010), Stability selection, Journal of the Royal Statistical Society B 72.
    """
    looked_for = np.asarray(rules[:STABLE_GROUPS], dtype=np.intp)
    if samples == 0 or len(looked_for) == 0:
        return {}
    wanted = rule_sets.members(looked_for, contingency)
    wanted_complements = rule_sets.complement_members(looked_for, contingency)
    rows = contingency.tally()
    least_outside = min_count if min_outside is None else min_outside
    mining = SampleMining(contingency, max_features=max_features)

    @cache
    def members(place: int) -> Members:
        inside: Members = mining.rule_sets.members(np.array([place]), contingency)[0]
        return inside

    rule_counts = mining.rule_sets.rule_counts()
    left_out = LeftOut.of(mining.rule_sets, contingency)
    sums_of = mining.rule_sets.repeated_sums(contingency, np.float64)

    def search(sample: Counts, groups: SampleRuleSets) -> _Search:
        """Begin the search for the rules that explain a sample's differences.

        Shapes: `sample`, rows and favourable answers (2, cells).
        """
        # Without the cells that no row is in, which say nothing of rates.
        present = np.flatnonzero(sample[0])
        rows, favourable = sample[:, present]
        rows_in, favourable_in = groups.sums
        inside = favourable_in / (rows_in * answers)
        rows_together, together = mining.rule_sets.totals(contingency, sample)[:, groups.places]
        outside = (together - favourable_in) / ((rows_together - rows_in) * answers)
        counts = rule_counts[groups.places]
        decided = np.ones(len(groups.places), dtype=bool)
        steps = selection_steps(
            cell_table(rows, rows * answers, favourable),
            lambda group: members(int(groups.places[group]))[present],
            counts,
            rank_groups(np.abs(inside - outside), rows_in, counts, decided),
            critical=critical,
            left_out=None if left_out is None else left_out.take(groups.places, present),
        )
        return _Search(groups, contingency.cells, present, steps)

    def overlaps(chosen: NDArray[np.intp]) -> Floats:
        """Measure overlaps of the groups with those at the places `chosen`: (groups, chosen)."""
        both = np.vstack([wanted, mining.rule_sets.members(chosen, contingency)])
        complements = None
        if left_out is not None:
            of_chosen = mining.rule_sets.complement_members(chosen, contingency)
            complements = np.vstack([wanted_complements, of_chosen]).__getitem__
        measured = member_overlaps(
            both.__getitem__, rows, with_complements=True, complements=complements
        )
        indices = np.arange(len(both))
        return measured(indices[: len(wanted)], indices[len(wanted) :])

    def sample_overlaps() -> Iterator[Floats]:
        """Yield the overlaps of the groups with those that each bootstrap sample chooses."""
        drawn = _bootstrap(contingency, row_favourable, samples, seed)
        together = max(1, MOST_NUMBERS // (_ARRAYS * max(1, len(mining.rule_sets))))
        while batch := list(itertools.islice(drawn, together)):
            mined = mining.mine(batch, min_count=min_count, min_outside=least_outside)
            searches = [search(*item) for item in zip(batch, mined, strict=True)]
            yield from map(overlaps, _searched(searches, sums_of))

    return shares_found(looked_for, sample_overlaps(), overlap)


@dataclass(frozen=True)
class _Search:
    """The search for explaining rules in one bootstrap sample."""

    groups: SampleRuleSets
    cells: int
    present: NDArray[np.intp]  # The cells that the sample has rows in
    steps: Generator[Floats, Floats, tuple[ExplainingRule, ...]]


def _searched(
    searches: Sequence[_Search], sums_of: Callable[[Floats], Floats]
) -> list[NDArray[np.intp]]:
    """Run searches together, step by step; return the places of the groups that each chose.

    `sums_of` sums quantities (q, cells) over all groups (q, groups). What all searches want summed
    is summed at once: of a sample alone, the calls would take longer than the sums.
    """
    chosen = [np.zeros(0, dtype=np.intp) for _ in searches]
    answers: dict[int, Floats | None] = dict.fromkeys(range(len(searches)))
    while answers:
        wanted: dict[int, Floats] = {}
        for index, answer in answers.items():
            search = searches[index]
            try:
                quantities = search.steps.send(answer)  # type: ignore[arg-type]  # None begins it
            except StopIteration as ended:
                rules = np.array([rule.group for rule in ended.value], dtype=np.intp)
                chosen[index] = search.groups.places[rules]
                continue
            wanted[index] = np.zeros((len(quantities), search.cells))
            wanted[index][:, search.present] = quantities
        if not wanted:
            break
        sums = sums_of(np.concatenate(list(wanted.values())))
        ends = np.cumsum([len(quantities) for quantities in wanted.values()])[:-1]
        answers = {
            index: part[:, searches[index].groups.places]
            for index, part in zip(wanted, np.split(sums, ends), strict=True)
        }
    return chosen


def shares_found(
    looked_for: NDArray[np.intp], overlaps: Iterable[Floats], least: float
) -> dict[int, float]:
    """Return the share of samples in which each group overlaps with a group that was chosen.

    Each item of `overlaps` is of one sample, shape (groups, chosen groups); an overlap of at least
    `least` counts.
    """
    shares = np.mean([np.any(overlap >= least, axis=1) for overlap in overlaps], axis=0)
    return dict(zip(looked_for.tolist(), shares.tolist(), strict=True))


def _bootstrap(
    contingency: Contingency, row_favourable: NDArray[np.integer], samples: int, seed: int
) -> Iterator[Counts]:
    """Yield bootstrap samples of the rows: rows and favourable answers by cell, (2, cells)."""
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
