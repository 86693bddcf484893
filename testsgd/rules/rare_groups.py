"""Small groups: combinations of single values or bins that too few rows have, and who is in them.

Of a small combination every narrower one is small too, so only the widest are listed: those all of
whose parts, taken with one feature less, are frequent.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.rules.axes import IntervalAxis
from testsgd.rules.contingency import Contingency, Counts, feature_subsets
from testsgd.rules.mining import FrequentRuleSets
from testsgd.rules.rule import IntervalRule, RuleSet
from testsgd.rules.universes import Universes

# A bin with a larger share of the rows is coarse.
_MOST_IN_A_BIN = 0.5
# With a larger share of the rows of a bin a value is nearly the only one in it.
_NEARLY_ALL = 0.95
# Groups whose members are looked up together: with some thousand combinations a few megabytes.
_GROUPS_AT_ONCE = 512
# Combinations of single values of more features are of a few people each, and there are very many.
_MOST_VALUES = 3


@dataclass(frozen=True)
class SmallGroup:
    """Combination of single values with too few rows to be judged."""

    rule_set: RuleSet  # The combination.
    count: int  # Its rows or texts.


@dataclass(frozen=True)
class CoarseBin:
    """Bin of a number that more than half of the rows are in."""

    text: str  # The bin as a rule.
    share: float  # Its share of all rows.
    feature: str = ""  # The number.
    # Whether nearly all rows of the bin have the same value, so that other bins tell no more.
    one_value: bool = False


@dataclass(frozen=True)
class Unjudged:
    """Counts of the rows that no judged group isolates, and what makes the groups coarse."""

    # Combinations of values of all sensitive features that occur; of texts, of categories.
    combinations: int
    unjudged: int  # Those that no judged group isolates.
    rows: int  # Rows in these.
    # Sensitive features that no group could be described by.
    features: tuple[str, ...] = ()
    coarse_bins: tuple[CoarseBin, ...] = ()


def unjudged_rows(
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    *,
    min_count: int,
    max_features: int,
    max_dilution: float,
    min_outside: int | None = None,
    rows: Counts | None = None,
    table: Table | None = None,
) -> Unjudged:
    """Count the rows whose combination of sensitive values no judged group isolates.

    A combination is isolated if

    - `min_count` rows share the values of `max_features` of its features, or of three if that is
      less, and as many rows do not: so these values are a judged group;
    - there is a judged group with all of its rows, and at most `max_dilution` times as many: in a
      larger one what happens to these rows would hardly show. More features make combinations
      smaller, and more of them unjudged.

    Parameters
    ----------
    contingency : Contingency
        The combinations.
    rule_sets : FrequentRuleSets
        The judged groups, the first of whose quantities is the number of rows.
    min_count : int
        Fewest rows on each side of a judged group.
    max_features : int
        Most rules in a rule set.
    max_dilution : float
        How many times the rows of a combination a group may have that judges it.
    min_outside : int, optional
        Fewest rows outside of a judged group, if not `min_count` as well.
    rows : numpy.ndarray of int64, shape (cells,), optional
        How many there are of each combination, if not those of the contingency table.
    table : Table, optional
        The rows, to say of which bins nearly all rows have the same value.

    Returns
    -------
    Unjudged
    """
    rows = contingency.tally() if rows is None else rows
    depth = min(max_features, _MOST_VALUES)
    least_outside = min_count if min_outside is None else min_outside
    judged = _with_judged_values(
        contingency, rows, min_count=min_count, min_outside=least_outside, max_features=depth
    )
    judged &= _within_groups(contingency, rule_sets, rows, max_dilution)
    unjudged = (rows > 0) & ~judged
    return Unjudged(
        int((rows > 0).sum()),
        int(unjudged.sum()),
        int(rows[unjudged].sum()),
        features=_undescribed_features(contingency, rows, min_count, least_outside),
        coarse_bins=_coarse_bins(contingency, rows, table),
    )


def _with_judged_values(
    contingency: Contingency, rows: Counts, *, min_count: int, min_outside: int, max_features: int
) -> NDArray[np.bool_]:
    """Return the combinations some of whose values are a judged group, shape (cells,).

    The values are those of `max_features` of the features that have rules, or of all of these.
    """
    axes = [index for index, axis in enumerate(contingency.axes) if axis.rule_count]
    judged = np.zeros(contingency.cells, dtype=bool)
    described = [
        np.array([axis.cell_rule(cell) is not None for cell in range(len(axis.labels))])
        for axis in contingency.axes
    ]
    longest = min(max_features, len(axes))
    universes = Universes(contingency.axes, max(1, longest))
    totals = universes.totals(contingency, rows[None])[0]
    for subset in itertools.combinations(axes, longest) if axes else ():
        joint, sums = contingency.marginal(subset, rows[None])
        cells = np.unravel_index(joint, contingency.shape(subset))
        total = totals[universes.of_cells(subset, cells)]
        enough = (sums[0] >= min_count) & (total - sums[0] >= min_outside)
        for axis, cell in zip(subset, cells, strict=True):
            enough &= described[axis][cell]
        codes = np.ravel_multi_index(
            tuple(contingency.coordinates[:, axis] for axis in subset), contingency.shape(subset)
        )
        judged |= enough[np.searchsorted(joint, codes)]
    return judged


def _within_groups(
    contingency: Contingency, rule_sets: FrequentRuleSets, rows: Counts, max_dilution: float
) -> NDArray[np.bool_]:
    """Return the combinations within a group that is not too large for them, shape (cells,)."""
    judged = np.zeros(contingency.cells, dtype=bool)
    by_size = np.argsort(rule_sets.sums[0], kind="stable")
    sizes = rule_sets.sums[0][by_size]
    left = np.flatnonzero(rows)
    # Small groups first: they isolate most, and what is left then is too small for larger ones.
    for start in range(0, len(by_size), _GROUPS_AT_ONCE):
        part = slice(start, start + _GROUPS_AT_ONCE)
        left = left[max_dilution * rows[left] >= sizes[start]]
        if len(left) == 0:
            break
        inside = rule_sets.members(by_size[part], contingency.of_cells(left))
        near = sizes[part, None] <= max_dilution * rows[left]
        of_left = (inside & near).any(axis=0)
        judged[left[of_left]] = True
        left = left[~of_left]
    return judged


def _undescribed_features(
    contingency: Contingency, rows: Counts, min_count: int, min_outside: int
) -> tuple[str, ...]:
    """Return the features none of whose rules has enough rows on both sides."""
    universes = Universes(contingency.axes, 1)
    totals = universes.totals(contingency, rows[None])[0]
    undescribed = []
    for index, axis in enumerate(contingency.axes):
        total = totals[universes.of_rules((index,), [np.arange(axis.rule_count)])]
        of_rules = axis.contract(contingency.dense((index,), rows[None]), 1)[0]
        if not ((of_rules >= min_count) & (total - of_rules >= min_outside)).any():
            undescribed.append(axis.feature)
    return tuple(undescribed)


def _coarse_bins(
    contingency: Contingency, rows: Counts, table: Table | None
) -> tuple[CoarseBin, ...]:
    """Return the bins of numbers that more than half of the rows are in."""
    coarse = []
    for index, axis in enumerate(contingency.axes):
        if not isinstance(axis, IntervalAxis) or axis.bins < 2:
            continue
        of_cells = contingency.dense((index,), rows[None])[0]
        fullest = int(np.argmax(of_cells))
        rule = axis.cell_rule(fullest)
        share = float(of_cells[fullest] / max(1, rows.sum()))
        if isinstance(rule, IntervalRule) and share > _MOST_IN_A_BIN:
            one_value = table is not None and _has_one_value(rule, table)
            coarse.append(CoarseBin(rule.text, share, axis.feature, one_value))
    return tuple(coarse)


def _has_one_value(rule: IntervalRule, table: Table) -> bool:
    """Return whether nearly all rows of a bin have the same value."""
    values = table.numbers(rule.feature)[rule.matches(table)]
    _, times = np.unique(values, return_counts=True)
    return bool(times.max(initial=0) >= _NEARLY_ALL * len(values))


def small_groups(
    contingency: Contingency, *, min_count: int, max_features: int
) -> list[SmallGroup]:
    """Return the widest combinations of single values that occur in fewer than `min_count` rows.

    Of a small combination every narrower one is small too. So a combination is listed only if none
    of its parts, taken with one feature less, is small.

    Parameters
    ----------
    contingency : Contingency
        The combinations of sensitive values that occur.
    min_count : int
        Fewest rows of a group that can be judged.
    max_features : int
        Most features in a combination; more than three are never combined.

    Returns
    -------
    list of SmallGroup
        Those of one feature first, then of two and so on; of equally many the largest first.
    """
    rows = contingency.tally()[None, :]
    small: set[tuple[tuple[int, int], ...]] = set()
    groups: list[SmallGroup] = []
    for subset in feature_subsets(contingency.axes, min(max_features, _MOST_VALUES)):
        joint, sums = contingency.marginal(subset, rows)
        few = np.flatnonzero(sums[0] < min_count)
        coordinates = np.column_stack(np.unravel_index(joint[few], contingency.shape(subset)))
        for index, cells in zip(few, coordinates, strict=True):
            combination = tuple(zip(subset, (int(cell) for cell in cells), strict=True))
            parts = [combination[:i] + combination[i + 1 :] for i in range(len(combination))]
            if any(part in small for part in parts if part):
                small.add(combination)
                continue
            rules = [contingency.axes[axis].cell_rule(cell) for axis, cell in combination]
            known = tuple(rule for rule in rules if rule is not None)
            if len(known) == len(rules):
                small.add(combination)
                groups.append(SmallGroup(RuleSet(known), int(sums[0, index])))
    return widest_first(groups)


def widest_first(groups: list[SmallGroup]) -> list[SmallGroup]:
    """Sort groups by their number of rules; of equally many the largest first."""
    return sorted(
        groups, key=lambda group: (len(group.rule_set.rules), -group.count, group.rule_set.text)
    )
