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
    [found] = search_finer_for_each(
        table, axes, [favourable], min_rows=min_rows, confidence=confidence
    )
    return found


def search_finer_for_each(
    table: Table,
    axes: Sequence[Axis],
    answers: Sequence[Floats],
    *,
    min_rows: int,
    confidence: float,
) -> list[FinerSearch | None]:
    """Look again for each of several kinds of answers about the same rows, each by itself.

    The groups are the same for all of them, so they are only searched once. `answers` are shares of
    favourable answers about each row, shape (rows,) each; the rest is as for :func:`search_finer`.
    """
    finer = [finely_cut(table, axis) for axis in axes]
    kept = [index for index, axis in enumerate(finer) if axis is not None]
    if not kept:
        return [None] * len(answers)
    error = (1 - confidence) * _SHARE_OF_ERROR
    looked = [
        _groups(table, axes, index, finer[index], answers, min_rows=min_rows) for index in kept
    ]
    compared = sum(len(rule_sets) for rule_sets, _ in looked)
    error_of_each = error / max(1, compared)
    found: list[FinerSearch | None] = []
    for kind in range(len(answers)):
        groups = [
            group
            for rule_sets, together in looked
            for group in _surest(rule_sets, together, kind, error=error_of_each)
        ]
        found.append(
            FinerSearch(
                features=tuple(axes[index].feature for index in kept),
                bins=tuple(axis.bins for axis in finer if axis is not None),
                compared=compared,
                confidence=1 - error,
                first=min(groups, key=lambda group: group.rates.order, default=None),
            )
        )
    return found


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
    finer: IntervalAxis | None,
    answers: Sequence[Floats],
    *,
    min_rows: int,
) -> tuple[FrequentRuleSets, Floats]:
    """Return the groups by one number's finer cuts, and the sums of them and their complements.

    The sums are of rows, and then of favourable answers of each kind, in thousandths of a row.
    """
    assert finer is not None
    all_axes: list[Axis] = [finer, *(axis for place, axis in enumerate(axes) if place != index)]
    depth = 2 if candidate_count(all_axes, 2) <= _MOST_RULE_SETS else 1
    if depth == 1:
        all_axes = [finer]
    contingency = lay_out(table, all_axes)
    favourable = [
        contingency.tally(np.rint(_PARTS * of_rows).astype(np.int64)) for of_rows in answers
    ]
    quantities = np.array([contingency.tally(), *favourable])
    rule_sets = mine(
        contingency, quantities, min_count=min_rows, min_outside=min_rows, max_features=depth
    )
    kept = np.zeros(len(rule_sets), dtype=bool)
    for chosen, subset, rules in rule_sets.by_subset(np.arange(len(rule_sets))):
        # That the number is missing is no finer cut of it; its rule is the last one.
        if 0 in subset:
            kept[chosen] = rules[0] < finer.rule_count - finer.has_missing
    groups = rule_sets.take(np.flatnonzero(kept))
    return groups, groups.totals(contingency, quantities).astype(np.float64)


def _surest(
    rule_sets: FrequentRuleSets, together: Floats, kind: int, *, error: float
) -> list[FinerGroup]:
    """Return the group with the largest lower confidence bound; none without groups.

    `kind` is the place of the answers that count; `together` the sums of groups and complements.
    """
    if not len(rule_sets):
        return []
    # Rows, and the answers of this kind.
    counted = [0, 1 + kind]
    inside = rule_sets.sums[counted].astype(np.float64)
    sums = np.vstack([inside, together[counted] - inside])
    sums[[1, 3]] /= _PARTS
    return [
        FinerGroup(rule_set=rule_sets.rule_set(group), rates=rates)
        for group, rates in surest(sums, error=error, most=1)
    ]
