"""Groups within slices of other features: what happens to women, but only of high incomes.

Over all rows a difference within a slice is thinned by the rows outside of it, and differences of
opposite signs in two slices cancel. So each group is compared with its complement within every
value or bin of features that are not sensitive, and within pairs of these. The intervals of all
these comparisons hold at once, by Bonferroni's correction for their number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.compared_rates import (
    ComparedRates,
    compared_rates,
    differences_of,
    normal_bounds,
)
from testsgd.auditing.conditional import check_other_features
from testsgd.auditing.estimates import Counts, Floats
from testsgd.data import MISSING, DatasetSpecification, Table, quantile_edges
from testsgd.rules import Contingency, FrequentRuleSets, IntervalAxis, Rule, RuleSet, ValueRule
from testsgd.scoring import error_quantile

AUTO = "auto"
"""Stands for all features that are not sensitive."""

# A number is cut at its quintiles.
_BINS = 5
# A categorical feature is cut into its most frequent values.
_MOST_VALUES = 20
# Comparisons of groups within slices; more take longer than the audit itself.
_MOST_COMPARED = 20_000_000
# Sums held at once, 16 megabytes.
_SUMS_AT_ONCE = 1 << 21
# Groups whose intervals are computed: those whose differences are largest by a normal margin.
_MOST_EXACT = 2000


@dataclass(frozen=True, kw_only=True)
class WithinSlice:
    """A group within the slice in which it differs most from its complement."""

    group: int
    slice: RuleSet
    rates: ComparedRates


@dataclass(frozen=True, kw_only=True)
class SliceSearch:
    """The groups with the slices in which they differ most, and how many were compared."""

    features: tuple[str, ...]
    slices: int  # Slices in which some group was compared.
    depth: int  # Features that a slice is of, at most.
    compared: int  # Groups and slices with enough rows on both sides.
    error: float  # Two-sided error rate of each interval.
    # Each group within its own slice, those with the largest lower confidence bounds first.
    found: tuple[WithinSlice, ...]
    largest: float | None  # The largest difference of all; None if there was nothing to compare.

    @property
    def largest_bound(self) -> float:
        """The largest lower confidence bound."""
        return max((item.rates.lower_bound for item in self.found), default=0.0)


def features_within(names: Sequence[str], specification: DatasetSpecification) -> tuple[str, ...]:
    """Return the features to look within; for ``auto`` all that are not sensitive.

    Raises
    ------
    ParameterError
        If a feature is not there, or is sensitive.
    """
    if tuple(names) == (AUTO,) and AUTO not in specification.features:
        return tuple(specification.insensitive)
    check_other_features(names, specification, where="within")
    return tuple(names)


def search_slices(
    table: Table,
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    favourable: Floats,
    *,
    features: Sequence[str],
    min_rows: int,
    confidence: float,
) -> SliceSearch:
    """Find for each group the slice in which it differs most from its complement.

    Slices are single values of categorical features, the most frequent 20, and fifths of numbers;
    then pairs of these from two features, while no more than 20 million comparisons come of it.

    Parameters
    ----------
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    rule_sets : FrequentRuleSets
        The groups.
    favourable : numpy.ndarray of float64, shape (rows,)
        The share of favourable answers about each row.
    features : sequence of str
        Features that are not sensitive.
    min_rows : int
        Fewest rows of a slice on each side of a group.
    confidence : float
        With which all intervals hold at once.

    Returns
    -------
    SliceSearch
    """
    cuts = [_cut(table, name) for name in features]
    slices, depth = _slices(cuts, groups=len(rule_sets), min_rows=min_rows)
    # The number of comparisons is known at the end; until then the margin is that of all.
    error = (1 - confidence) / max(1, len(slices) * len(rule_sets))
    best = _Best.start(len(rule_sets), margin=error_quantile(error))
    step = max(1, _SUMS_AT_ONCE // max(1, 2 * len(rule_sets)))
    for first in range(0, len(slices), step):
        batch = slices[first : first + step]
        quantities = _by_slice(cuts, batch, contingency, favourable)
        inside, together = (
            sums.reshape(2, len(batch), -1)
            for sums in (
                rule_sets.sums_of(contingency, quantities),
                rule_sets.totals(contingency, quantities),
            )
        )
        best.look_at(first, inside, together, min_rows=min_rows)
    error = (1 - confidence) / max(1, best.compared)
    within = sorted(
        best.findings(slices, error=error), key=lambda item: (*item.rates.order, item.group)
    )
    return SliceSearch(
        features=tuple(features),
        slices=best.slices,
        depth=depth,
        compared=best.compared,
        error=error,
        found=tuple(within),
        largest=best.largest if best.compared else None,
    )


@dataclass(frozen=True)
class _Cut:
    """A feature cut into parts: the rule of each, and the part that each row is in."""

    rules: tuple[Rule, ...]
    part_of_row: NDArray[np.intp]  # -1 for rows in none.

    @property
    def rows(self) -> Counts:
        """The number of rows of each part, shape (parts,)."""
        part = self.part_of_row[self.part_of_row >= 0]
        return np.bincount(part, minlength=len(self.rules)).astype(np.int64)


@dataclass(frozen=True)
class _Slice:
    """One part of one feature, or one part of each of two."""

    parts: tuple[tuple[int, int], ...]  # Which cut, and which of its parts.
    rule_set: RuleSet


def _cut(table: Table, name: str) -> _Cut:
    """Cut a feature into fifths, or into its most frequent values."""
    feature = table.specification.features[name]
    if not feature.continuous:
        codes = table.codes(name).astype(np.int64)
        values = [*(feature.values or ()), MISSING]  # The code of missing values is -1.
        counts = np.bincount(codes + 1, minlength=len(values))
        most = [code for code in np.argsort(-counts, kind="stable")[:_MOST_VALUES] if counts[code]]
        part_of_code = np.full(len(values), -1, dtype=np.intp)
        part_of_code[most] = np.arange(len(most))
        rules = tuple(ValueRule(name, (values[int(code) - 1],)) for code in most)
        return _Cut(rules, part_of_code[codes + 1])
    numbers = table.numbers(name)
    known = numbers[~np.isnan(numbers)]
    if len(known) == 0:
        return _Cut((), np.full(len(table), -1, dtype=np.intp))
    edges: tuple[float, ...] = (float(known.min()),) * 2
    if known.min() < known.max():
        whole = feature.type == "integer"
        edges = tuple(quantile_edges(known, whole=whole, bins=_BINS))
    axis = IntervalAxis(name, edges, has_missing=bool(len(known) < len(numbers)))
    cells = axis.cells(table)
    described = [axis.cell_rule(cell) for cell in range(len(axis.labels))]
    part_of_cell = np.full(len(described), -1, dtype=np.intp)
    kept = [cell for cell, rule in enumerate(described) if rule is not None]
    part_of_cell[kept] = np.arange(len(kept))
    return _Cut(tuple(rule for rule in described if rule is not None), part_of_cell[cells])


def _slices(cuts: Sequence[_Cut], *, groups: int, min_rows: int) -> tuple[list[_Slice], int]:
    """Return the slices with enough rows for two sides, and of how many features they are."""
    single = [
        _Slice(((index, part),), RuleSet((cut.rules[part],)))
        for index, cut in enumerate(cuts)
        for part in np.flatnonzero(cut.rows >= 2 * min_rows).tolist()
        if len(cut.rules) > 1
    ]
    pairs: list[_Slice] = []
    for first, second in itertools.combinations(single, 2):
        (cut, part), (other, other_part) = first.parts[0], second.parts[0]
        if cut == other:
            continue
        if (len(single) + len(pairs)) * groups > _MOST_COMPARED:
            return single, 1
        both = (cuts[cut].part_of_row == part) & (cuts[other].part_of_row == other_part)
        if both.sum() >= 2 * min_rows:
            rules = (*first.rule_set.rules, *second.rule_set.rules)
            pairs.append(_Slice((*first.parts, *second.parts), RuleSet(rules)))
    return [*single, *pairs], min(2, len({parts.parts[0][0] for parts in single}))


def _rows_of(cuts: Sequence[_Cut], item: _Slice) -> NDArray[np.bool_]:
    """Return which rows are in a slice."""
    inside = np.ones(len(cuts[0].part_of_row), dtype=bool)
    for cut, part in item.parts:
        inside &= cuts[cut].part_of_row == part
    return inside


def _by_slice(
    cuts: Sequence[_Cut],
    slices: Sequence[_Slice],
    contingency: Contingency,
    favourable: Floats,
) -> Floats:
    """Sum rows, and favourable answers, of each slice by sensitive cell: (2 * slices, cells)."""
    sums = np.zeros((2, len(slices), contingency.cells))
    for index, item in enumerate(slices):
        rows = np.flatnonzero(_rows_of(cuts, item))
        cells = contingency.cell_of_row[rows]
        sums[0, index] = np.bincount(cells, minlength=contingency.cells)
        sums[1, index] = np.bincount(cells, favourable[rows], minlength=contingency.cells)
    return sums.reshape(2 * len(slices), -1)


@dataclass
class _Best:
    """The slice of each group with the largest bound of its difference, of those looked at."""

    margin: float  # Standard errors that are taken away.
    bound: Floats  # The difference less these; shape (groups,).
    slice_of_group: NDArray[np.intp]
    sums: Floats  # Rows and favourable answers inside, then outside; shape (4, groups).
    compared: int = 0
    slices: int = 0
    largest: float = 0.0

    @classmethod
    def start(cls, groups: int, *, margin: float) -> _Best:
        """Return the state before the first slice."""
        return cls(
            margin=margin,
            bound=np.full(groups, -np.inf),
            slice_of_group=np.full(groups, -1, dtype=np.intp),
            sums=np.zeros((4, groups)),
        )

    def look_at(self, first: int, inside: Floats, together: Floats, *, min_rows: int) -> None:
        """Compare all groups within a batch of slices, of which the first has the number `first`.

        Shapes: `inside`, rows and favourable answers of the groups, and `together`, those of the
        groups and their complements (2, slices, groups).
        """
        for index, (rows_in, yes_in) in enumerate(zip(*inside, strict=True)):
            rows_out = together[0, index] - rows_in
            yes_out = np.maximum(together[1, index] - yes_in, 0.0)
            enough = (rows_in >= min_rows) & (rows_out >= min_rows)
            if not enough.any():
                continue
            self.slices += 1
            self.compared += int(enough.sum())
            self._note(first + index, np.array([rows_in, yes_in, rows_out, yes_out]), enough)

    def _note(self, index: int, sums: Floats, enough: NDArray[np.bool_]) -> None:
        """Keep a slice for the groups whose bound is larger in it than in those before.

        Shapes: `sums` (4, groups), `enough`, where both sides have enough rows (groups,). The bound
        is the size of the difference less `margin` standard errors.
        """
        of_groups = sums[:, enough]
        self.largest = max(self.largest, float(np.abs(differences_of(of_groups)).max()))
        bound = normal_bounds(of_groups, margin=self.margin)
        groups = np.flatnonzero(enough)
        better = bound > self.bound[groups]
        chosen = groups[better]
        self.bound[chosen] = bound[better]
        self.slice_of_group[chosen] = index
        self.sums[:, chosen] = sums[:, chosen]

    def findings(self, slices: Sequence[_Slice], *, error: float) -> Iterator[WithinSlice]:
        """Yield the groups with the largest bounds, at most 2000, with exact intervals."""
        order = np.argsort(-self.bound, kind="stable")[:_MOST_EXACT]
        groups = order[self.slice_of_group[order] >= 0]
        rates = compared_rates(self.sums[:, groups], error=error)
        for group, compared in zip(groups.tolist(), rates, strict=True):
            chosen = slices[int(self.slice_of_group[group])].rule_set
            yield WithinSlice(group=group, slice=chosen, rates=compared)
