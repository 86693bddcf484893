"""Stability: how often a group would be found again, had the file held other people.

The bootstrap of the intervals is drawn once more: each sample moves the values of all groups, and
they are ranked anew. It is no guarantee: the samples are drawn from the rows that luck was in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.bootstrap import Draws, Noise, Singles, noises_of, value_variance
from testsgd.metrics.cells import MetricCells
from testsgd.metrics.comparison import Compared
from testsgd.metrics.definitions import Floats
from testsgd.metrics.in_threads import of_each
from testsgd.metrics.search import MetricFindings, overlaps_of
from testsgd.metrics.sides import Sides
from testsgd.rules import FrequentRuleSets
from testsgd.scoring import Overlaps, normal_quantile

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
    """Return, for each metric, in which share of samples its first distinct groups come back.

    A group comes back if it, or a near copy of it, is among the first ten distinct groups of the
    sample. Nothing is said of a metric without a significant group.
    """
    shares: list[dict[int, float]] = [{} for _ in metrics]
    if samples == 0:
        return shares
    for number, noise in enumerate(noises_of(cells)):
        # Where nothing is significant there is nothing to be found again.
        some = {
            metric: metrics[metric]
            for metric in noise.metrics
            if metrics[metric].compared.significant.any()
        }
        if not some:
            continue
        groups = _with_references(list(some.values()))
        part = rule_sets.take(groups)
        moved = {
            metric: _MovedGroups.of(found, groups, noise, noise.metrics.index(metric))
            for metric, found in some.items()
        }
        draws = Draws.of(noise, part, cells.contingency, samples=samples, seed=[seed, 7, number])
        of_blocks = of_each(partial(_orders_of_block, draws, list(moved.values())), draws.starts)
        searches = [
            _SampledOrders(looked_for=_looked_for(found), orders=np.concatenate(orders))
            for found, orders in zip(some.values(), zip(*of_blocks, strict=True), strict=True)
        ]
        found_shares = _shares_found(
            overlaps_of(cells, rule_sets, reference), searches, overlap=overlap
        )
        for metric, search, of_groups in zip(some, searches, found_shares, strict=True):
            shares[metric] = dict(zip(search.looked_for.tolist(), of_groups.tolist(), strict=True))
    return shares


def _orders_of_block(
    draws: Draws, moved: Sequence[_MovedGroups], start: int
) -> list[NDArray[np.intp]]:
    """Return the first groups of each sample of a block, for each metric."""
    drawn, sums = draws.block(start)
    return [of_metric.orders(drawn, sums) for of_metric in moved]


def _looked_for(found: MetricFindings) -> NDArray[np.intp]:
    """Return the first distinct groups that are significant."""
    first = np.array(found.distinct[:_STABLE_GROUPS], dtype=np.intp)
    return first[found.compared.significant[first]]


def _with_references(metrics: Sequence[MetricFindings]) -> NDArray[np.intp]:
    """Return the judged groups of some metrics, and those that they are compared with."""
    groups = np.unique(np.concatenate([found.ranking for found in metrics]))
    references = np.concatenate([found.reference_group[groups] for found in metrics])
    return np.union1d(groups, references[references >= 0])


@dataclass(frozen=True, kw_only=True)
class _SampledOrders:
    """The groups of a metric that are looked for, and the first groups of each sample."""

    looked_for: NDArray[np.intp]  # Shape (wanted,).
    orders: NDArray[np.intp]  # The first groups in their order, then -1; shape (samples, first).

    @property
    def groups(self) -> NDArray[np.intp]:
        """All of them, each once."""
        every = np.unique(np.concatenate([self.looked_for, self.orders.ravel()]))
        return every[every >= 0]


def _shares_found(
    overlaps: Overlaps, searches: Sequence[_SampledOrders], *, overlap: float
) -> list[Floats]:
    """Return in which share of orders groups, or near copies, are among the first distinct ones."""
    few = [len(search.groups) <= _MOST_PAIRED for search in searches]
    together = [search for search, has_few in zip(searches, few, strict=True) if has_few]
    at_once = iter(_shares_found_together(overlaps, together, overlap=overlap))
    return [
        next(at_once) if has_few else _shares_found_apart(overlaps, search, overlap=overlap)
        for search, has_few in zip(searches, few, strict=True)
    ]


def _shares_found_together(
    overlaps: Overlaps, searches: Sequence[_SampledOrders], *, overlap: float
) -> list[Floats]:
    """Return the shares of all metrics, whose samples have much the same groups in front.

    The next distinct group of every order is found at once, so each pair is compared only once.
    """
    if not searches:
        return []
    pairs = _NearCopies(
        overlaps, np.unique(np.concatenate([search.groups for search in searches])), overlap
    )
    # Orders in columns of the pairs; what is no group is left out from the beginning.
    orders = pairs.columns(np.concatenate([search.orders for search in searches]))
    left = np.concatenate([search.orders for search in searches]) >= 0
    ends = np.cumsum([len(search.orders) for search in searches])
    found = [np.zeros((len(search.orders), len(search.looked_for)), bool) for search in searches]
    for _ in range(_STABLE_GROUPS):
        some = np.flatnonzero(left.any(axis=1))
        if not len(some):
            break
        first = orders[some, left[some].argmax(axis=1)]
        rows = pairs.rows(first)
        left[some] &= ~pairs.table[rows[:, None], orders[some]]
        for search, again, end in zip(searches, found, ends, strict=True):
            start = end - len(search.orders)
            of_metric = (start <= some) & (some < end)
            wanted = pairs.columns(search.looked_for)
            again[some[of_metric] - start] |= pairs.table[rows[of_metric][:, None], wanted]
    return [again.mean(axis=0) for again in found]


class _NearCopies:
    """Which of some groups are near copies of each other, of those that were asked for."""

    def __init__(self, overlaps: Overlaps, groups: NDArray[np.intp], overlap: float) -> None:
        self._groups = groups
        self._overlaps = overlaps
        self._overlap = overlap
        self._row_of = np.full(len(groups), -1, dtype=np.intp)
        self.table = np.zeros((0, len(groups)), dtype=bool)

    def columns(self, groups: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of groups."""
        return np.searchsorted(self._groups, groups)

    def rows(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of groups, given their columns, and compare those not seen before."""
        new = np.unique(columns[self._row_of[columns] < 0])
        if len(new):
            shares = self._overlaps(self._groups[new], self._groups)
            self._row_of[new] = len(self.table) + np.arange(len(new))
            self.table = np.vstack([self.table, shares >= self._overlap])
        return self._row_of[columns]


def _shares_found_apart(overlaps: Overlaps, search: _SampledOrders, *, overlap: float) -> Floats:
    """Return the shares of a metric whose samples have many groups in front."""
    found = np.zeros(len(search.looked_for))
    for order in search.orders:
        front = order[order >= 0][:_IN_FRONT]
        are_near = overlaps(front, front) >= overlap
        again = front[_first_distinct(np.arange(len(front)), are_near)]
        found += (overlaps(search.looked_for, again) >= overlap).any(axis=1)
    return found / len(search.orders)


def _first_distinct(order: NDArray[np.intp], are_near: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first groups of an order that are no near copies of one before them."""
    kept: list[int] = []
    while len(order) and len(kept) < _STABLE_GROUPS:
        kept.append(int(order[0]))
        order = order[~are_near[order[0], order]]
    return np.array(kept, dtype=np.intp)


@dataclass(frozen=True, kw_only=True)
class _MovedGroups:
    """The judged groups of a metric, whose values random sums move; arrays of shape (groups,)."""

    groups: NDArray[np.intp]
    compared: Compared
    inside: Sides
    outside: Sides
    noise: Noise
    place: int  # Which of the noise's metrics it is.
    # The cells of the one group that all are compared with; None if they are not.
    reference_cells: NDArray[np.bool_] | None
    # Which of these groups each is compared with; None if that is no group.
    reference_index: NDArray[np.intp] | None

    @classmethod
    def of(
        cls, found: MetricFindings, groups: NDArray[np.intp], noise: Noise, place: int
    ) -> _MovedGroups:
        compared, index = found.compared, None
        if compared.chosen:
            references = found.reference_group[groups]
            # Of groups that are not judged nothing is asked, whatever they are compared with.
            index = np.minimum(np.searchsorted(groups, references), len(groups) - 1)
        return cls(
            groups=groups,
            compared=compared,
            inside=compared.inside.take(groups),
            outside=compared.outside.take(groups),
            noise=noise,
            place=place,
            reference_cells=found.reference_cells,
            reference_index=index,
        )

    def orders(self, drawn: Singles, sums: Singles) -> NDArray[np.intp]:
        """Return the first groups of each sample, those with the largest lower bounds first.

        Shape (samples, first); -1 where there are no more groups.
        """
        spread = normal_quantile(1 - self.compared.error) * self._spread()
        values = self.inside.value + self._moves(self.inside, sums)
        effects = self._effects(values, self._references(values, drawn, sums))
        bounds = (effects - spread) * self._share_of_others()
        bounds = np.where(self.compared.judged[self.groups], bounds, -np.inf)
        first = _largest(bounds)
        judged = np.isfinite(np.take_along_axis(bounds, first, axis=1))
        return np.where(judged, self.groups[first], -1)

    def _references(self, values: Floats, drawn: Singles, sums: Singles) -> Floats:
        """Return the moved values of what groups are compared with, shape (samples, groups)."""
        if self.reference_index is not None:
            return values[:, self.reference_index]
        if self.reference_cells is None:
            others = drawn.sum(axis=2)[:, :, None] - sums
        else:
            others = drawn[:, :, self.reference_cells].sum(axis=2)[:, :, None]
        return self.outside.value + self._moves(self.outside, others)

    def _moves(self, sides: Sides, sums: Singles) -> Floats:
        """Return how far random sums (q, samples, groups) move values, shape (samples, groups)."""
        tops = weighted_sum(self.noise.numerators[self.place], sums)
        bottoms = weighted_sum(self.noise.denominators[self.place], sums)
        counts = sides.denominator > 0
        moves: Floats = (tops - sides.value * bottoms) / np.where(counts, sides.denominator, 1)
        return moves

    def _effects(self, values: Floats, references: Floats) -> Floats:
        """Return the sizes of differences, or those of the logarithms of ratios."""
        if self.compared.measure == "difference":
            differences: Floats = np.abs(values - references)
            return differences
        effects: Floats = np.abs(
            np.log(np.maximum(values, 1e-12)) - np.log(np.maximum(references, 1e-12))
        )
        return effects

    def _spread(self) -> Floats:
        """Return the standard errors of the effects."""
        first, second = value_variance(self.inside), value_variance(self.outside)
        if self.compared.measure == "ratio":
            first = first / np.maximum(self.inside.value, 1e-12) ** 2
            second = second / np.maximum(self.outside.value, 1e-12) ** 2
        return np.sqrt(first + second)

    def _share_of_others(self) -> Floats | float:
        """Return by how much a difference from all rows is less than that from the others."""
        whole = self.compared.whole
        if whole is None or self.compared.measure == "ratio":
            return 1.0
        others: Floats = 1 - self.inside.denominator / whole.denominator[0]
        return others


def weighted_sum(weights: Floats, sums: Singles) -> Singles:
    """Return the sum of quantities (q, samples, groups) by their weights (q,).

    There are so few quantities that a product of matrices takes longer, above all on a busy
    machine, where its threads wait for each other.
    """
    total: Singles = np.zeros(sums.shape[1:], dtype=np.float32)
    for weight, of_quantity in zip(weights.astype(np.float32), sums, strict=True):
        if weight == 1:
            total += of_quantity
        elif weight != 0:
            total += weight * of_quantity
    return total


def _largest(bounds: Floats) -> NDArray[np.intp]:
    """Return where the largest numbers of each row are, the largest first."""
    if bounds.shape[1] > _LOOKED_AT:
        some = np.argpartition(-bounds, _LOOKED_AT, axis=1)[:, :_LOOKED_AT]
    else:
        some = np.broadcast_to(np.arange(bounds.shape[1]), bounds.shape)
    order = np.argsort(-np.take_along_axis(bounds, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
