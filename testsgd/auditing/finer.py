"""A second look at sensitive numbers, with finer cuts than those of the search.

What happens to people of one age alone is thinned in a bin of ten ages. So after the search every
number is cut as finely as its rows allow, and the ranges between these cuts are compared with their
complements, alone and together with one rule over another sensitive feature. There are many more of
them, so a tenth of the error is for this look, shared among all of them (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.compared_rates import ComparedRates, surest
from testsgd.auditing.estimates import Floats
from testsgd.data import Table, quantile_edges
from testsgd.rules import (
    Axis,
    FrequentRuleSets,
    IntervalAxis,
    RuleSet,
    candidate_count,
    lay_out,
    mine,
)

# A whole number has a bin a value, if it has no more; other numbers have as many bins at most.
_MOST_BINS = 100
# Rule sets of one number; with more, it is looked at alone.
_MOST_RULE_SETS = 250_000
# The share of the error that this look gets.
_SHARE_OF_ERROR = 0.1
# Answers of models that draw are shares of a row; the sums of the lattice are whole numbers.
_PARTS = 1000


@dataclass(frozen=True, kw_only=True)
class FinerGroup:
    """A group described by finer cuts of a number."""

    rule_set: RuleSet
    rates: ComparedRates


@dataclass(frozen=True, kw_only=True)
class FinerSearch:
    """What a second look with finer cuts found."""

    features: tuple[str, ...]  # The numbers that were cut more finely.
    bins: tuple[int, ...]  # Into how many bins each was.
    compared: int
    confidence: float  # With which all intervals hold at once.
    first: FinerGroup | None  # The group with the largest lower bound; None if none was compared.


def search_finer(
    table: Table,
    axes: Sequence[Axis],
    favourable: Floats,
    *,
    min_rows: int,
    confidence: float,
) -> FinerSearch | None:
    """Look at the sensitive numbers of a table again, with finer cuts.

    Parameters
    ----------
    table : Table
        The rows.
    axes : sequence of Axis
        The sensitive features as they were searched.
    favourable : numpy.ndarray of float64, shape (rows,)
        The share of favourable answers about each row.
    min_rows : int
        Fewest rows on each side of a group.
    confidence : float
        That of the audit.

    Returns
    -------
    FinerSearch or None
        None if no number can be cut more finely than it was.
    """
    quantities = np.array([np.ones(len(table)), favourable])
    groups = FinerGroups.of(table, axes, quantities, min_rows=min_rows)
    if groups is None:
        return None
    rows, answers = np.eye(2)
    return groups.search(rows, answers, confidence=confidence)


@dataclass(frozen=True, kw_only=True)
class FinerGroups:
    """The groups by finer cuts of each number, with sums from which rates of them follow.

    The groups are mined only once, however many rates are compared.
    """

    axes: tuple[IntervalAxis, ...]  # The numbers as they are cut more finely.
    rule_sets: tuple[FrequentRuleSets, ...]  # The groups by each of them.
    # Sums over the groups, and over their complements, shape (2, q, groups).
    sums: tuple[Floats, ...]
    min_rows: int

    @classmethod
    def of(
        cls,
        table: Table,
        axes: Sequence[Axis],
        quantities: Floats | NDArray[np.bool_],
        *,
        min_rows: int,
    ) -> FinerGroups | None:
        """Return the groups with enough rows on each side; None if no number can be cut finer.

        `quantities`, shape (q, rows), are what is summed, from 0 to 1 for each row; the rest is as
        for :func:`search_finer`.
        """
        finer = {
            index: cut
            for index, axis in enumerate(axes)
            if (cut := finely_cut(table, axis)) is not None
        }
        if not finer:
            return None
        looked = [
            _groups(table, axes, index, axis, quantities, min_rows=min_rows)
            for index, axis in finer.items()
        ]
        return cls(
            axes=tuple(finer.values()),
            rule_sets=tuple(rule_sets for rule_sets, _ in looked),
            sums=tuple(sums for _, sums in looked),
            min_rows=min_rows,
        )

    def search(self, counted: Floats, favourable: Floats, *, confidence: float) -> FinerSearch:
        """Return the group that a rate is surest to differ in, of those with enough counted rows.

        Parameters
        ----------
        counted, favourable : numpy.ndarray of float64, shape (q,)
            What a unit of each quantity adds to the rows that count, and to the favourable answers.
        confidence : float
            That of the audit.

        Returns
        -------
        FinerSearch
            Its error, a tenth of the audit's, is shared among the groups compared (Bonferroni).
        """
        error = (1 - confidence) * _SHARE_OF_ERROR
        of_rate = np.array([counted, favourable])
        # Counted and favourable rows inside, then those outside, shape (4, groups).
        sides = [(of_rate @ sums).reshape(4, -1) for sums in self.sums]
        judged = [
            np.flatnonzero((rows_in >= self.min_rows) & (rows_out >= self.min_rows))
            for rows_in, _, rows_out, _ in sides
        ]
        compared = sum(len(groups) for groups in judged)
        found = [
            FinerGroup(rule_set=rule_sets.rule_set(int(groups[place])), rates=rates)
            for rule_sets, of_groups, groups in zip(self.rule_sets, sides, judged, strict=True)
            if len(groups)
            for place, rates in surest(
                of_groups.take(groups, axis=1), error=error / compared, most=1
            )
        ]
        return FinerSearch(
            features=tuple(axis.feature for axis in self.axes),
            bins=tuple(axis.bins for axis in self.axes),
            compared=compared,
            confidence=1 - error,
            first=min(found, key=lambda group: group.rates.order, default=None),
        )


def finely_cut(table: Table, axis: Axis) -> IntervalAxis | None:
    """Return a number cut as finely as its rows allow; None for a category or if no finer."""
    if not isinstance(axis, IntervalAxis):
        return None
    numbers = table.numbers(axis.feature)
    known = numbers[~np.isnan(numbers)]
    if len(known) == 0 or known.min() == known.max():
        return None
    whole = table.specification.features[axis.feature].type == "integer"
    edges = tuple(quantile_edges(known, whole=whole, bins=_MOST_BINS))
    if len(edges) - 1 <= axis.bins:
        return None
    return replace(axis, edges=edges)


def _groups(
    table: Table,
    axes: Sequence[Axis],
    index: int,
    finer: IntervalAxis,
    quantities: Floats | NDArray[np.bool_],
    *,
    min_rows: int,
) -> tuple[FrequentRuleSets, Floats]:
    """Return the groups by one number's finer cuts, with sums of quantities (q, rows).

    The sums are those of the groups, and of their complements, shape (2, q, groups).
    """
    all_axes: list[Axis] = [finer, *(axis for place, axis in enumerate(axes) if place != index)]
    depth = 2 if candidate_count(all_axes, 2) <= _MOST_RULE_SETS else 1
    if depth == 1:
        all_axes = [finer]
    contingency = lay_out(table, all_axes)
    parts = [contingency.tally(np.rint(_PARTS * each).astype(np.int64)) for each in quantities]
    of_cells = np.array([contingency.tally(), *parts])
    rule_sets = mine(
        contingency, of_cells, min_count=min_rows, min_outside=min_rows, max_features=depth
    )
    kept = np.zeros(len(rule_sets), dtype=bool)
    for chosen, subset, rules in rule_sets.by_subset(np.arange(len(rule_sets))):
        # That the number is missing is no finer cut of it; its rule is the last one.
        if 0 in subset:
            kept[chosen] = rules[0] < finer.rule_count - finer.has_missing
    groups = rule_sets.take(np.flatnonzero(kept))
    sums = np.empty((2, len(quantities), len(groups)))
    sums[0] = groups.sums[1:]
    np.subtract(groups.totals(contingency, of_cells)[1:], groups.sums[1:], out=sums[1])
    sums /= _PARTS
    return groups, sums
