"""Small groups: combinations of single values or bins that too few rows have, and who is in them.

Of a small combination every narrower one is small too, so only the widest are listed: those all of
whose parts, taken with one feature less, are frequent.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from testsgd.rules.axes import IntervalAxis
from testsgd.rules.contingency import Contingency, Counts, feature_subsets
from testsgd.rules.rule import RuleSet

# A bin with a larger share of the rows is coarse.
_MOST_IN_A_BIN = 0.5
# Of more features most combinations are of a few people, and say little of who is not judged.
_MOST_COMBINED = 3


def combined_features(depth: int) -> int:
    """Return how many features make the combinations by which it is said who is not judged.

    Examples
    --------
    >>> combined_features(2), combined_features(5)
    (2, 3)
    """
    return min(depth, _MOST_COMBINED)


@dataclass(frozen=True)
class SmallGroup:
    """A combination of single values with too few rows to be judged."""

    rule_set: RuleSet
    count: int


@dataclass(frozen=True)
class CoarseBin:
    """A bin of a number that more than half of the rows are in."""

    text: str
    share: float  # Of all rows.


@dataclass(frozen=True)
class Unjudged:
    """Whom no judged group isolates."""

    # Combinations of single values of as many features as a rule set may have that occur.
    combinations: int
    unjudged: int  # Those that too few rows have, or too few do not have, or that no rule set says.
    rows: int  # Rows all of whose combinations are unjudged.
    # Sensitive features that no group could be described by.
    features: tuple[str, ...] = ()
    coarse_bins: tuple[CoarseBin, ...] = ()


def unjudged_rows(
    contingency: Contingency,
    *,
    min_count: int,
    max_features: int,
    rows: Counts | None = None,
) -> Unjudged:
    """Count the rows all of whose combinations of single values cannot be judged.

    A row has one combination for every choice of `max_features` of the sensitive features that have
    rules (of all of them, if there are fewer). It cannot be judged if fewer than `min_count` rows
    have it, or do not have it, or if no rule says it: a missing number is in no interval. `rows` is
    how many there are in each cell (cells,), if not those of the contingency table.
    """
    rows = contingency.tally() if rows is None else rows
    total = int(rows.sum())
    # A feature of one value, or of one bin, says nothing.
    axes = [index for index, axis in enumerate(contingency.axes) if axis.rule_count]
    longest = min(max_features, len(axes))
    judged = np.zeros(contingency.cells, dtype=bool)
    said = [
        np.array([axis.cell_rule(cell) is not None for cell in range(len(axis.labels))])
        for axis in contingency.axes
    ]
    combinations = unjudged = 0
    for subset in itertools.combinations(axes, longest) if axes else ():
        joint, sums = contingency.marginal(subset, rows[None])
        enough = (sums[0] >= min_count) & (total - sums[0] >= min_count)
        cells = np.unravel_index(joint, contingency.shape(subset))
        for axis, cell in zip(subset, cells, strict=True):
            enough &= said[axis][cell]
        combinations += len(joint)
        unjudged += int((~enough).sum())
        codes = np.ravel_multi_index(
            tuple(contingency.coordinates[:, axis] for axis in subset), contingency.shape(subset)
        )
        judged |= enough[np.searchsorted(joint, codes)]
    return Unjudged(
        combinations,
        unjudged,
        int(rows[~judged].sum()),
        features=_undescribed_features(contingency, rows, min_count),
        coarse_bins=_coarse_bins(contingency, rows),
    )


def _undescribed_features(
    contingency: Contingency, rows: Counts, min_count: int
) -> tuple[str, ...]:
    """Return the features none of whose rules has enough rows on both sides."""
    total = int(rows.sum())
    found = []
    for index, axis in enumerate(contingency.axes):
        of_rules = axis.contract(contingency.dense((index,), rows[None]), 1)[0]
        if not ((of_rules >= min_count) & (total - of_rules >= min_count)).any():
            found.append(axis.feature)
    return tuple(found)


def _coarse_bins(contingency: Contingency, rows: Counts) -> tuple[CoarseBin, ...]:
    """Return the bins of numbers that more than half of the rows are in."""
    found = []
    for index, axis in enumerate(contingency.axes):
        if not isinstance(axis, IntervalAxis) or axis.bins < 2:
            continue
        of_cells = contingency.dense((index,), rows[None])[0]
        fullest = int(np.argmax(of_cells))
        rule, share = axis.cell_rule(fullest), float(of_cells[fullest] / max(1, rows.sum()))
        if rule is not None and share > _MOST_IN_A_BIN:
            found.append(CoarseBin(rule.text, share))
    return tuple(found)


def small_groups(
    contingency: Contingency, *, min_count: int, max_features: int
) -> list[SmallGroup]:
    """List the widest combinations of single values that occur in fewer than `min_count` rows.

    Those of one feature first, then of two and so on; of equally many the largest first.
    """
    rows = contingency.tally()[None, :]
    small: set[tuple[tuple[int, int], ...]] = set()
    groups: list[SmallGroup] = []
    for subset in feature_subsets(contingency.axes, max_features):
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
