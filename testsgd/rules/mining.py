"""Frequent rule sets: those with enough people, each group of rows described once.

Two rule sets that select the same rows are one group. They are recognised by a fingerprint: every
cell of the contingency table gets a random 64-bit number, and the lattice sums these like anything
else, modulo 2**64. Equal rows give equal sums; that among ten million rule sets two of different
rows do so too has a chance of three in a million, and they are told apart all the same unless they
have equally many rows. Where numbers are missing, rule sets that select the same rows may have
different complements; then they are two groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.rules.axes import Axis, Number
from testsgd.rules.contingency import (
    Contingency,
    Counts,
    candidate_count,
    cell_sums,
    decode,
    feature_subsets,
    rule_set_at,
    rule_set_sums,
)
from testsgd.rules.rule import RuleSet
from testsgd.rules.universes import Universes

_FINGERPRINT_SEED = 1986
# What the fingerprint of a universe is multiplied by, before that of the group is added.
_MIXING = np.int64(6364136223846793005)

Real = TypeVar("Real", np.float32, np.float64)

# Up to this number of cells, and of members of groups (16 MB), a product is quicker.
_FEW_CELLS = 128
_MOST_MEMBERS = 1 << 22
# Fingerprints in a table of hashes at once, some 50 MB; more are sorted, in less room.
_MOST_HASHED = 1 << 20


@dataclass(frozen=True)
class FrequentRuleSets:
    """Groups of people that enough rows are in, each with its simplest description.

    A group is a set of rows. Of the rule sets that select the same rows, with the same complement,
    one describes the group: that with fewest rules, then fewest values, then the widest intervals.
    Groups are numbered from 0. :func:`mine` finds them.
    """

    axes: tuple[Axis, ...]  # The sensitive features.
    subsets: tuple[tuple[int, ...], ...]  # Subsets of the features.
    subset: NDArray[np.int32]  # Which subset each group's rules are over; shape (groups,).
    position: Counts  # Its index among the rule sets of that subset; shape (groups,).
    sums: Counts  # The quantities' sums over each group's rows; shape (q, groups).
    candidates: int  # Rule sets that were looked at.
    frequent: int  # Those with enough rows inside and outside, before equal ones were joined.

    def __len__(self) -> int:
        return len(self.subset)

    def rule_set(self, group: int) -> RuleSet:
        """Return a group's description."""
        return rule_set_at(self.axes, self.subsets[self.subset[group]], int(self.position[group]))

    def texts(self, groups: NDArray[np.intp]) -> NDArray[np.object_]:
        """Return the descriptions of many groups, joined from those of single rules."""
        texts = np.empty(len(groups), dtype=object)
        written = [
            np.array([axis.rule(index).text for index in range(axis.rule_count)], dtype=object)
            for axis in self.axes
        ]
        for chosen, subset, rules in self.by_subset(groups):
            joined = written[subset[0]][rules[0]]
            for axis, rule in zip(subset[1:], rules[1:], strict=True):
                joined = joined + " and " + written[axis][rule]
            texts[chosen] = joined
        return texts

    def by_subset(
        self, groups: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], tuple[int, ...], tuple[NDArray[np.intp], ...]]]:
        """Yield the groups over each subset, as places in `groups`, and their rule of each axis."""
        subset_of = self.subset[groups]
        for index in np.flatnonzero(np.bincount(subset_of)).tolist():
            subset = self.subsets[index]
            chosen = np.flatnonzero(subset_of == index)
            yield chosen, subset, decode(self.axes, subset, self.position[groups[chosen]])

    def take(self, groups: NDArray[np.intp]) -> FrequentRuleSets:
        """Return the chosen groups, in the order given."""
        return replace(
            self,
            subset=self.subset[groups],
            position=self.position[groups],
            sums=self.sums.take(groups, axis=1),
        )

    def over(self, contingency: Contingency, quantities: Counts) -> FrequentRuleSets:
        """Return the same groups with quantities (q, cells) summed over another table."""
        sums = np.zeros((len(quantities), len(self)), dtype=np.int64)
        for group in range(len(self)):
            members = self.members(np.array([group]), contingency)[0]
            sums[:, group] = quantities[:, members].sum(axis=1)
        return replace(self, sums=sums)

    def sums_of(self, contingency: Contingency, quantities: NDArray[Any]) -> NDArray[Any]:
        """Sum quantities (q, cells) over all groups (q, groups), by one contraction.

        Sums of single-precision numbers are such numbers, all others are of float64.
        """
        kind = np.float32 if quantities.dtype == np.float32 else np.float64
        return self._summed(contingency, quantities, np.dtype(kind))

    def cell_sums(
        self, contingency: Contingency, numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum numbers of groups (q, groups) over the groups that hold each cell (q, cells).

        It is the transpose of :meth:`sums_of`: the sum of ``sums_of(contingency, x) * y`` is that
        of ``x * cell_sums(contingency, y)``. Groups whose numbers are all zero cost nothing.
        """
        counted = np.flatnonzero(numbers.any(axis=0))
        if contingency.cells <= _FEW_CELLS and contingency.cells * len(counted) <= _MOST_MEMBERS:
            return numbers[:, counted] @ self.members(counted, contingency).astype(np.float64)
        sums = np.zeros((len(numbers), contingency.cells))
        counted = counted[np.lexsort((self.position[counted], self.subset[counted]))]
        starts = np.searchsorted(self.subset[counted], np.arange(len(self.subsets) + 1))
        for subset, first, last in zip(self.subsets, starts, starts[1:], strict=False):
            if first < last:
                groups = counted[first:last]
                sums += cell_sums(contingency, subset, self.position[groups], numbers[:, groups])
        return sums

    def repeated_sums(
        self, contingency: Contingency, kind: type[Real]
    ) -> Callable[[NDArray[Real]], NDArray[Real]]:
        """Return a function that sums quantities (q, cells) over all groups (q, groups).

        It is for sums that are taken again and again, of the type `kind`. Of few cells a product
        with the groups' members takes a fifth of the time of a contraction.
        """
        if contingency.cells > _FEW_CELLS or contingency.cells * len(self) > _MOST_MEMBERS:
            return partial(self.sums_of, contingency)
        members = self.members(np.arange(len(self)), contingency).T.astype(kind)

        def product(quantities: NDArray[Real]) -> NDArray[Real]:
            sums: NDArray[Real] = quantities @ members
            return sums

        return product

    def sums_of_some(
        self, contingency: Contingency
    ) -> Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]]:
        """Return a function that sums quantities (q, cells) over n of the groups (q, n).

        It is for sums that are taken again and again. Of few cells they are a product with the
        members of these groups, and the fewer groups there are, the less time it takes.
        """
        if contingency.cells > _FEW_CELLS or contingency.cells * len(self) > _MOST_MEMBERS:

            def contracted(
                quantities: NDArray[np.float64], groups: NDArray[np.intp]
            ) -> NDArray[np.float64]:
                sums: NDArray[np.float64] = self.sums_of(contingency, quantities)[:, groups]
                return sums

            return contracted
        members = self.member_lookup(contingency)

        def product(
            quantities: NDArray[np.float64], groups: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            # The product of matrices that both lie in memory row by row takes half of the time.
            sums: NDArray[np.float64] = (
                members(groups).astype(np.float64) @ np.ascontiguousarray(quantities.T)
            ).T
            return sums

        return product

    def _summed(
        self, contingency: Contingency, quantities: NDArray[Any], kind: np.dtype[Any]
    ) -> NDArray[Any]:
        """Return the sums of quantities (q, cells) over all groups (q, groups), of type `kind`."""
        sums = np.zeros((len(quantities), len(self)), dtype=kind)
        order = np.arange(len(self))
        subset_steps = np.diff(self.subset.astype(np.int64))
        position_steps = np.diff(self.position)
        if ((subset_steps < 0) | ((subset_steps == 0) & (position_steps < 0))).any():
            order = np.lexsort((self.position, self.subset))
        subsets = self.subset[order]
        indices = self.position[order]
        starts = np.searchsorted(subsets, np.arange(len(self.subsets) + 1))
        max_features = max(map(len, self.subsets), default=1)
        for block in rule_set_sums(contingency, quantities, max_features):
            first = starts[block.subset]
            last = starts[block.subset + 1]
            limits = (block.first, block.first + block.sums.shape[1])
            low, high = first + np.searchsorted(indices[first:last], limits)
            sums[:, order[low:high]] = block.sums[:, indices[low:high] - block.first]
        return sums

    @cached_property
    def universes(self) -> Universes:
        """The rows that groups are compared within."""
        return Universes(self.axes, max(map(len, self.subsets), default=1))

    @cached_property
    def universe(self) -> NDArray[np.intp]:
        """Which of these rows each group is compared within; shape (groups,)."""
        universe = np.zeros(len(self), dtype=np.intp)
        if len(self.universes) > 1:
            for chosen, subset, rules in self.by_subset(np.arange(len(self))):
                universe[chosen] = self.universes.of_rules(subset, rules)
        return universe

    def totals(self, contingency: Contingency, quantities: NDArray[Number]) -> NDArray[Number]:
        """Sum quantities (q, cells) over each group and its complement, shape (q, groups)."""
        of_universes = self.universes.totals(contingency, quantities)
        if len(self.universes) == 1:
            return np.broadcast_to(of_universes, (len(quantities), len(self)))
        return of_universes[:, self.universe]

    def rule_counts(self) -> Counts:
        """Return the number of rules of each group, shape (groups,)."""
        sizes = np.array([len(subset) for subset in self.subsets], dtype=np.int64)
        return sizes[self.subset]

    def members(self, groups: NDArray[np.intp], contingency: Contingency) -> NDArray[np.bool_]:
        """Return which cells belong to each group, shape (groups, cells)."""
        inside = np.ones((len(groups), contingency.cells), dtype=bool)
        matrices = [axis.matrix.astype(bool) for axis in self.axes]
        for chosen, subset, rules in self.by_subset(groups):
            for axis, rule in zip(subset, rules, strict=True):
                cells = contingency.coordinates[:, axis]
                inside[chosen] &= matrices[axis][rule][:, cells]
        return inside

    def member_lookup(
        self, contingency: Contingency
    ) -> Callable[[NDArray[np.intp]], NDArray[np.bool_]]:
        """Return a function that does what :meth:`members` does, for groups asked for repeatedly.

        Of few groups and cells the members of all groups are kept.
        """
        if contingency.cells * len(self) > _MOST_MEMBERS:
            return partial(self.members, contingency=contingency)
        everything = self.members(np.arange(len(self)), contingency)

        def kept_members(groups: NDArray[np.intp]) -> NDArray[np.bool_]:
            return everything.take(groups, axis=0)

        return kept_members

    def complement_members(
        self, groups: NDArray[np.intp], contingency: Contingency
    ) -> NDArray[np.bool_]:
        """Return which cells belong to the complement of each group, shape (groups, cells).

        Cells in which a number is missing that a group has an interval of belong to neither.
        """
        outside = ~self.members(groups, contingency)
        if len(self.universes) > 1:
            outside &= self.universes.members(contingency)[self.universe[groups]]
        return outside


# Their counts and indices take some GB.
_MOST_FREQUENT = 40_000_000


def mine(
    contingency: Contingency,
    quantities: Counts,
    *,
    min_count: int,
    min_outside: int = 1,
    max_features: int,
) -> FrequentRuleSets:
    """Return the rule sets that enough rows satisfy, with quantities summed over their rows.

    A frequent rule set has at least `min_count` rows inside and `min_outside` outside, and at most
    `max_features` rules. Rule sets that select the same rows, with the same complement, are one
    group.

    Parameters
    ----------
    contingency : Contingency
        The combinations of sensitive values that occur.
    quantities : numpy.ndarray of int64, shape (q, cells)
        What is summed over the rows of each group. The first must be the number of rows.
    min_count : int
        Fewest rows inside.
    min_outside : int
        Fewest rows outside.
    max_features : int
        Most rules in a rule set.

    Returns
    -------
    FrequentRuleSets

    Raises
    ------
    ParameterError
        If there are more of them than 40 million.

    References
    ----------
    Zhang et al., TestSGD, section 4.1 and Algorithm 1.

    Examples
    --------
    >>> from testsgd.rules import CategoryAxis
    >>> axes = (CategoryAxis("sex", ("f", "m"), (0, 1)),)
    >>> cells = np.array([[0], [1]], dtype=np.int16)
    >>> contingency = Contingency(axes, cells, np.array([0, 0, 1, 1, 1], dtype=np.int32))
    >>> groups = mine(contingency, contingency.tally()[None], min_count=2, max_features=1)
    >>> [groups.rule_set(group).text for group in range(len(groups))], groups.sums.tolist()
    (['sex = f', 'sex = m'], [[2, 3]])
    """
    axes = contingency.axes
    subsets = feature_subsets(axes, max_features)
    universes = Universes(axes, max_features)
    with_marks = np.vstack([quantities, _marks(contingency.cells)])
    totals = universes.totals(contingency, with_marks)

    # Begun with empty ones, should there be no rule sets at all.
    subset_parts = [np.zeros(0, np.int32)]
    place_parts = [np.zeros(0, np.int64)]
    sum_parts = [np.zeros((len(with_marks), 0), np.int64)]
    found = 0
    for block in rule_set_sums(contingency, with_marks, max_features):
        counts = block.sums[0]
        total = totals[0, universes.of_block(block, subsets[block.subset])]
        kept = np.flatnonzero(
            (counts >= max(min_count, 1)) & (total - counts >= max(min_outside, 1))
        )
        found += len(kept)
        if found > _MOST_FREQUENT:
            raise ParameterError(
                f"more than {_MOST_FREQUENT:,} rule sets of up to {max_features} rules have enough "
                "rows",
                where="max_features",
                remedy="give fewer rules in a rule set, fewer sensitive features or bins, or more "
                "rows for a group (min_rows)",
                name="max_features",
            )
        subset_parts.append(np.full(len(kept), block.subset, dtype=np.int32))
        place_parts.append(block.first + kept.astype(np.int64))
        sum_parts.append(block.sums[:, kept])
    everything = FrequentRuleSets(
        axes,
        subsets,
        np.concatenate(subset_parts),
        np.concatenate(place_parts),
        np.concatenate(sum_parts, axis=1),
        candidate_count(axes, max_features),
        sum(len(part) for part in subset_parts),
    )
    del sum_parts
    marks = everything.sums[-1]
    if len(universes) > 1:
        # Rule sets of the same rows have the same complement if all rows of both are the same.
        marks = marks + _MIXING * totals[-1, everything.universe]
    groups = everything.take(_one_of_equal(everything, marks))
    return replace(groups, sums=groups.sums[:-1])


@dataclass(frozen=True)
class SampleRuleSets:
    """Rule sets that are frequent in a sample, each group of its rows once."""

    places: NDArray[np.intp]  # Which of all rule sets they are, ascending; shape (groups,).
    sums: Counts  # The quantities' sums over each group's rows; shape (q, groups).


class SampleMining:
    """Mining of many samples of the same rows, which finds in each what :func:`mine` would find.

    Rule sets that select the same cells are equal in every sample. So these are joined only once,
    and a sample's search looks at the others.

    Parameters
    ----------
    contingency : Contingency
        The combinations that occur in the rows.
    max_features : int
        Most rules in a rule set.
    """

    def __init__(self, contingency: Contingency, *, max_features: int) -> None:
        rows = contingency.tally()[None]
        self.contingency = contingency
        self.rule_sets = mine(contingency, rows, min_count=1, max_features=max_features)
        self._marks = _marks(contingency.cells)
        self._complexity = _complexity(self.rule_sets)

    def mine(
        self, samples: Sequence[Counts], *, min_count: int, min_outside: int
    ) -> list[SampleRuleSets]:
        """Return the frequent rule sets of each sample.

        A cell that none of a sample's rows is in does not tell rule sets apart.

        Parameters
        ----------
        samples : sequence of numpy.ndarray of int64, shape (q, cells)
            The quantities of each sample by cell. The first of them is the number of rows.
        min_count, min_outside : int
            Fewest rows inside and outside, as for :func:`mine`.

        Returns
        -------
        list of SampleRuleSets
            One a sample, in their order.
        """
        with_marks = [
            np.vstack([sample, np.where(sample[0] > 0, self._marks, 0)]) for sample in samples
        ]
        stacked = np.concatenate(with_marks)
        sums = self.rule_sets._summed(self.contingency, stacked, stacked.dtype)
        mined = []
        for sample, of_sample in zip(with_marks, np.split(sums, len(samples)), strict=True):
            counts = of_sample[0]
            totals = self.rule_sets.totals(self.contingency, sample)
            enough = (counts >= max(min_count, 1)) & (totals[0] - counts >= max(min_outside, 1))
            places = np.flatnonzero(enough)
            # If every cell has rows, no two rule sets are equal.
            if not sample[0].all():
                marks = of_sample[-1]
                if len(self.rule_sets.universes) > 1:
                    marks = marks + _MIXING * totals[-1]
                places = _simplest_of_equal(counts[places], marks[places], self._complexity[places])
            mined.append(SampleRuleSets(places, of_sample[:-1, places]))
        return mined


def _marks(cells: int) -> Counts:
    """Return the random number of each cell, of which fingerprints are sums."""
    generator = np.random.default_rng(_FINGERPRINT_SEED)
    limits = np.iinfo(np.int64)
    return generator.integers(limits.min, limits.max, cells, endpoint=True)


def _one_of_equal(rule_sets: FrequentRuleSets, marks: Counts) -> NDArray[np.intp]:
    """Return the places of the simplest of all rule sets that select the same rows, ascending.

    `marks` are their fingerprints, shape (groups,).
    """
    if len(marks) > _MOST_HASHED:
        return _simplest_of_equal(rule_sets.sums[0], marks, _complexity(rule_sets))
    # Most have a fingerprint of their own, and need not be ordered.
    repeated = np.flatnonzero(pd.Series(marks).duplicated(keep=False))
    equal = rule_sets.take(repeated)
    simplest = _simplest_of_equal(equal.sums[0], marks[repeated], _complexity(equal))
    kept = np.ones(len(marks), dtype=bool)
    kept[repeated] = False
    kept[repeated[simplest]] = True
    return np.flatnonzero(kept)


def _simplest_of_equal(counts: Counts, marks: Counts, keys: Counts) -> NDArray[np.intp]:
    """Return the place of the simplest of all rule sets that select the same rows, ascending.

    `counts` and `marks` are the number of rows and the fingerprint of each rule set, shape (n,);
    `keys` are those of :func:`_complexity`, which end with the place.
    """
    if len(keys) == 0:
        return np.zeros(0, dtype=np.intp)
    order = np.argsort(marks)
    marks = marks[order]
    counts = counts[order]
    starts = np.flatnonzero(np.r_[True, (marks[1:] != marks[:-1]) | (counts[1:] != counts[:-1])])
    best = np.minimum.reduceat(keys[order], starts)
    return np.sort(best & 0xFFFFFFFF)


def _complexity(rule_sets: FrequentRuleSets) -> Counts:
    """Return a key (groups,) that orders by rules, values, width (widest first), then by place."""
    keys = rule_sets.rule_counts() << 20
    for chosen, subset, rules in rule_sets.by_subset(np.arange(len(rule_sets))):
        values, widths = np.zeros((2, len(chosen)), dtype=np.int64)
        for axis, rule in zip(subset, rules, strict=True):
            values += rule_sets.axes[axis].value_counts[rule]
            widths += rule_sets.axes[axis].widths[rule]
        keys[chosen] += (np.minimum(values, 511) << 11) + (2047 - np.minimum(widths, 2047))
    return (keys << 32) + np.arange(len(keys))
