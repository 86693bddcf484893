"""Stability: how often a group would be found again, had the file held other people.

The bootstrap of the intervals is drawn once more: each sample moves the values of all groups, and
they are ranked anew. It is no guarantee: the samples are drawn from the rows that luck was in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.bootstrap import (
    Draws,
    Effects,
    Noise,
    Singles,
    Wholes,
    noises_of,
    value_variance,
)
from testsgd.metrics.cells import MetricCells
from testsgd.metrics.comparison import Compared
from testsgd.metrics.definitions import Floats
from testsgd.metrics.in_threads import of_each
from testsgd.metrics.parameters import OVERALL, REST, Measure
from testsgd.metrics.search import MetricFindings, complements_of
from testsgd.metrics.sides import Sides
from testsgd.rules import FrequentRuleSets
from testsgd.scoring import NearCopies, near_copies, normal_quantile

# How many groups are looked for, and among how many of each sample.
_STABLE_GROUPS = 10
# Near copies of the first groups may fill the top of a sample's ranking.
_LOOKED_AT = 200
# If samples have more groups in front than these, pairs are compared within each sample alone.
_MOST_PAIRED = 2_000
_IN_FRONT = 64
# Bootstrap samples, if they are quick: a share then has a standard error of 3.5 points at most.
_SAMPLES = 200
# More numbers than these, of groups, cells and metrics, take longer than a few seconds.
_MOST_NUMBERS = 1 << 20


def affordable(groups: int, cells: int, metrics: int) -> int:
    """Return how many bootstrap samples to draw if nothing is asked for: 200, or 0 if that is slow.

    Examples
    --------
    >>> affordable(5_000, 100, 5), affordable(500_000, 10_000, 5)
    (200, 0)
    """
    return _SAMPLES if metrics * (groups + _STABLE_GROUPS * cells) <= _MOST_NUMBERS else 0


def found_again(
    cells: MetricCells,
    rule_sets: FrequentRuleSets,
    metrics: Sequence[MetricFindings],
    *,
    reference: str,
    overlap: float,
    samples: int,
    seed: int,
) -> list[dict[int, float]]:
    """Return, for each metric, the shares of samples in which its first groups come back.

    These are the first ten that are no near copies of one before. A group comes back if it, or a
    near copy of it, is among the first ten of the sample that are none. Keys are groups, those that
    are significant; there is none if `samples` is 0.
    """
    shares: list[dict[int, float]] = [{} for _ in metrics]
    if samples == 0:
        return shares
    for number, noise in enumerate(noises_of(cells)):
        # Where nothing is significant there is nothing to be found again.
        significant = {
            metric: metrics[metric]
            for metric in noise.metrics
            if metrics[metric].compared.significant.any()
        }
        if not significant:
            continue
        groups = _with_references(list(significant.values()))
        part = rule_sets.take(groups)
        moved = {
            metric: _MovedGroups.of(
                found,
                groups,
                noise,
                noise.metrics.index(metric),
                Wholes.of(part, cells.contingency, all_others=reference == OVERALL),
            )
            for metric, found in significant.items()
        }
        draws = Draws.of(noise, part, cells.contingency, samples=samples, seed=[seed, 7, number])
        of_blocks = draws.of_each_block(partial(_orders_of_block, draws, list(moved.values())))
        searches = [
            _SampledOrders(looked_for=_looked_for(found), orders=np.concatenate(orders))
            for found, orders in zip(
                significant.values(), zip(*of_blocks, strict=True), strict=True
            )
        ]
        copies = near_copies(
            rule_sets.member_lookup(cells.contingency),
            cells.rows,
            overlap=overlap,
            with_complements=reference == REST,
            complements=complements_of(cells, rule_sets),
        )
        found_shares = of_each(partial(_shares_found, copies, groups=len(rule_sets)), searches)
        for metric, search, of_groups in zip(significant, searches, found_shares, strict=True):
            shares[metric] = dict(zip(search.looked_for.tolist(), of_groups.tolist(), strict=True))
    return shares


def _orders_of_block(
    draws: Draws, moved: Sequence[_MovedGroups], start: int
) -> list[NDArray[np.intp]]:
    """Return the first groups of each sample of a block, for each metric."""
    drawn, sums = draws.block(start)
    return [of_metric.orders(drawn, sums) for of_metric in moved]


def _looked_for(found: MetricFindings) -> NDArray[np.intp]:
    """Return the first groups that are no near copies, of these the significant ones."""
    first = np.array(found.no_near_copies[:_STABLE_GROUPS], dtype=np.intp)
    return first[found.compared.significant[first]]


def _with_references(metrics: Sequence[MetricFindings]) -> NDArray[np.intp]:
    """Return the judged groups of metrics, and those that they are compared with, sorted."""
    groups = np.unique(np.concatenate([found.ranking for found in metrics]))
    references = np.concatenate([found.reference_group[groups] for found in metrics])
    return np.union1d(groups, references[references >= 0])


@dataclass(frozen=True, kw_only=True)
class _SampledOrders:
    """The groups of a metric that are looked for, and the first groups of each sample."""

    looked_for: NDArray[np.intp]  # Shape (wanted,).
    orders: NDArray[np.intp]  # The first groups in their order, then -1; shape (samples, first).


def _shares_found(copies: NearCopies, search: _SampledOrders, groups: int) -> Floats:
    """Return the shares of orders with a group, or a near copy, among the first distinct ones.

    `groups` is the number of all groups; the result has the shape (wanted,).
    """
    seen = np.zeros(groups, dtype=bool)
    seen[search.looked_for] = True
    seen[search.orders[search.orders >= 0]] = True
    if np.count_nonzero(seen) > _MOST_PAIRED:
        return _shares_found_apart(copies, search)
    # The next distinct group of every order is found at once, so each pair is compared only once.
    pairs = _PairsSeen(copies, seen)
    orders = pairs.column_of[search.orders]
    remaining = search.orders >= 0
    # The rows of the pairs of the distinct groups of each order; -1 where there are no more.
    rows = np.full((len(orders), _STABLE_GROUPS), -1, dtype=np.intp)
    for index in range(_STABLE_GROUPS):
        unfinished = np.flatnonzero(remaining.any(axis=1))
        first = remaining[unfinished].argmax(axis=1)
        rows[unfinished, index] = pairs.rows(orders[unfinished, first])
        near = pairs.table[rows[unfinished, index][:, None], orders[unfinished]]
        remaining[unfinished] &= ~near
    of_distinct = rows[:, :, None]
    is_copy = (of_distinct >= 0) & pairs.table[of_distinct, pairs.column_of[search.looked_for]]
    shares: Floats = is_copy.any(axis=1).mean(axis=0)
    return shares


class _PairsSeen:
    """A table of which groups are near copies of each other, filled row by row when needed."""

    def __init__(self, copies: NearCopies, seen: NDArray[np.bool_]) -> None:
        self._groups = np.flatnonzero(seen)
        self._copies = copies(self._groups)
        self._row_of = np.full(len(self._groups), -1, dtype=np.intp)
        # The column of each group that is seen.
        self.column_of = np.cumsum(seen) - 1
        self.table = np.zeros((0, len(self._groups)), dtype=bool)

    def rows(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of groups, given their columns, and compare those not seen before."""
        new = np.unique(columns[self._row_of[columns] < 0])
        if len(new):
            self._row_of[new] = len(self.table) + np.arange(len(new))
            self.table = np.vstack([self.table, self._copies(self._groups[new])])
        return self._row_of[columns]


def _shares_found_apart(copies: NearCopies, search: _SampledOrders) -> Floats:
    """Return the shares of a metric whose samples have many groups in front."""
    times_found = np.zeros(len(search.looked_for))
    for order in search.orders:
        front = order[order >= 0][:_IN_FRONT]
        distinct = front[_first_distinct(np.arange(len(front)), copies(front)(front))]
        times_found += copies(distinct)(search.looked_for).any(axis=1)
    return times_found / len(search.orders)


def _first_distinct(order: NDArray[np.intp], are_near: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first groups of an order that are no near copies of one before them."""
    kept: list[int] = []
    while len(order) and len(kept) < _STABLE_GROUPS:
        kept.append(int(order[0]))
        order = order[~are_near[order[0], order]]
    return np.array(kept, dtype=np.intp)


@dataclass(frozen=True, kw_only=True)
class _MovedValues:
    """Values of groups, and the effects of random quantities on them."""

    value: Singles  # Shape (groups,); 0 where no row counts.
    effects: Singles  # What a unit of each quantity does, shape (q, groups).

    @classmethod
    def of(cls, sides: Sides, top: Floats, bottom: Floats) -> _MovedValues:
        """Return the values of sides; `top` and `bottom` (q,): what a unit adds to their sums."""
        counts = sides.denominator > 0
        value = np.nan_to_num(sides.value)
        effects = top[:, None] - value * bottom[:, None]
        return cls(
            value=value.astype(np.float32),
            effects=(effects / np.where(counts, sides.denominator, 1)).astype(np.float32),
        )

    @cached_property
    def inside(self) -> Effects:
        """The effects of sums over groups."""
        return Effects.of(self.effects)

    def moved(self, sums: Singles) -> Singles:
        """Return the values with sums (q, samples, groups) added, shape (samples, groups)."""
        moved = self.inside.contracted(sums)
        moved += self.value
        return moved

    def moved_by_others(self, drawn: Singles, sums: Singles, wholes: Wholes) -> Singles:
        """Return the values moved by the rows outside groups; `sums` are those inside.

        Shapes: `drawn` (q, samples, cells), `sums` (q, samples, groups); result (samples, groups).
        """
        moved = wholes.effects(drawn, self.effects)
        moved += self.value
        moved -= self.inside.contracted(sums)
        return moved

    def minus_others(self, outside: _MovedValues) -> _MovedValues:
        """Return the differences from the values of the rows outside groups.

        What the sums inside a group do to both values; those of the whole are left to be taken off.
        """
        return _MovedValues(
            value=self.value - outside.value, effects=self.effects + outside.effects
        )

    def moved_alike(self, everything: Singles) -> Singles:
        """Return the values moved by sums (q, samples), the same for every group."""
        moved: Singles = self.value + everything.T @ self.effects
        return moved


@dataclass(frozen=True, kw_only=True)
class _MovedGroups:
    """Groups of a metric, whose values random sums move; arrays of shape (groups,)."""

    groups: NDArray[np.intp]
    measure: Measure
    inside: _MovedValues
    outside: _MovedValues
    # How far the lower confidence bound is below the effect; infinitely far if not judged.
    margin: Singles
    # By how much a difference from all rows is less than that from the others.
    share_of_others: Singles
    # The cells of the one group that all are compared with; None if they are not.
    reference_cells: NDArray[np.bool_] | None
    # Which of these groups each is compared with; None if that is no group.
    reference_index: NDArray[np.intp] | None
    # What groups and their complements are of together.
    wholes: Wholes

    @classmethod
    def of(
        cls,
        found: MetricFindings,
        groups: NDArray[np.intp],
        noise: Noise,
        place: int,
        wholes: Wholes,
    ) -> _MovedGroups:
        """Return the groups of a metric, which is the noise's metric at a place."""
        compared = found.compared
        index = None
        if compared.chosen:
            references = found.reference_group[groups]
            # The index of groups that are not judged is never used.
            index = np.minimum(np.searchsorted(groups, references), len(groups) - 1)
        inside = compared.inside.take(groups)
        outside = compared.outside.take(groups)
        error = _standard_errors(inside, outside, compared.measure)
        judged = compared.judged[groups]
        top = noise.numerators[place]
        bottom = noise.denominators[place]
        return cls(
            groups=groups,
            measure=compared.measure,
            inside=_MovedValues.of(inside, top, bottom),
            outside=_MovedValues.of(outside, top, bottom),
            margin=np.where(judged, normal_quantile(1 - compared.error) * error, np.inf).astype(
                np.float32
            ),
            share_of_others=np.where(judged, _share_of_others(compared, inside), 1).astype(
                np.float32
            ),
            reference_cells=found.reference_cells,
            reference_index=index,
            wholes=wholes,
        )

    def orders(self, drawn: Singles, sums: Singles) -> NDArray[np.intp]:
        """Return the first groups of each sample, those with the largest lower bounds first.

        Shape (samples, first); -1 where there are no more groups.
        """
        bounds = self._sizes(drawn, sums)
        bounds -= self.margin
        bounds *= self.share_of_others
        first = _largest(bounds)
        judged = np.isfinite(np.take_along_axis(bounds, first, axis=1))
        return np.where(judged, self.groups[first], -1)

    @cached_property
    def _differences(self) -> _MovedValues:
        """The differences from the complements."""
        return self.inside.minus_others(self.outside)

    def _sizes(self, drawn: Singles, sums: Singles) -> Singles:
        """Return the sizes of differences, or those of the logarithms of ratios."""
        of_others = self.reference_index is None and self.reference_cells is None
        if self.measure == "difference" and of_others:
            # By one contraction of the sums, not by one of each of the two values.
            differences = self._differences.moved(sums)
            differences -= self.wholes.effects(drawn, self.outside.effects)
            return np.abs(differences, out=differences)
        values = self.inside.moved(sums)
        references = self._references(values, drawn, sums)
        if self.measure == "ratio":
            values = np.log(np.maximum(values, 1e-12))
            references = np.log(np.maximum(references, 1e-12))
        effects: Singles = np.abs(values - references)
        return effects

    def _references(self, values: Singles, drawn: Singles, sums: Singles) -> Singles:
        """Return the moved values of what groups are compared with, shape (samples, groups)."""
        if self.reference_index is not None:
            return values[:, self.reference_index]
        if self.reference_cells is None:
            return self.outside.moved_by_others(drawn, sums, self.wholes)
        return self.outside.moved_alike(drawn[:, :, self.reference_cells].sum(axis=2))


def _standard_errors(inside: Sides, outside: Sides, measure: Measure) -> Floats:
    """Return the standard errors of the effects."""
    first = value_variance(inside)
    second = value_variance(outside)
    if measure == "ratio":
        first = first / np.maximum(inside.value, 1e-12) ** 2
        second = second / np.maximum(outside.value, 1e-12) ** 2
    return np.sqrt(first + second)


def _share_of_others(compared: Compared, inside: Sides) -> Floats:
    """Return the ratio of the difference from all rows to that from the others, (groups,)."""
    if compared.whole is None or compared.measure == "ratio":
        return np.ones(len(inside.counted))
    others: Floats = 1 - inside.denominator / compared.whole.denominator[0]
    return others


def _largest(bounds: Singles) -> NDArray[np.intp]:
    """Return the places of the largest numbers of each row, the largest first, (samples, first)."""
    candidates = _candidates(bounds)
    order = np.argsort(-np.take_along_axis(bounds, candidates, axis=1), axis=1, kind="stable")
    return np.take_along_axis(candidates, order, axis=1)


def _candidates(bounds: Singles) -> NDArray[np.intp]:
    """Return the places of the largest numbers of each row, in any order, (samples, first)."""
    samples, groups = bounds.shape
    if groups <= _LOOKED_AT:
        return np.broadcast_to(np.arange(groups), bounds.shape)
    # Numbers are parted in a fraction of the time that their places take.
    last = groups - _LOOKED_AT
    least = np.partition(bounds, last, axis=1)[:, last]
    places = np.flatnonzero(bounds >= least[:, None])
    if len(places) == samples * _LOOKED_AT:
        candidates: NDArray[np.intp] = places.reshape(samples, _LOOKED_AT) % groups
        return candidates
    # Some are equal to the last one.
    return np.argpartition(-bounds, _LOOKED_AT, axis=1)[:, :_LOOKED_AT]
