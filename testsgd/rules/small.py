"""Small groups: combinations of single values or bins that too few rows have.

Of a small combination every narrower one is small too, so only the widest are listed: those all of
whose parts, taken with one feature less, are frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.rules.contingency import Contingency
from testsgd.rules.lattice import feature_subsets
from testsgd.rules.rule import RuleSet


@dataclass(frozen=True)
class SmallGroup:
    """A combination of single values with too few rows to be judged."""

    rule_set: RuleSet
    count: int


def small_groups(
    contingency: Contingency, *, min_count: int, max_features: int
) -> list[SmallGroup]:
    """List the widest combinations of single values that occur in fewer than `min_count` rows.

    Parameters
    ----------
    contingency : Contingency
        The sensitive features' combinations.
    min_count : int
        Fewest rows of a frequent rule set.
    max_features : int
        Most features combined.

    Returns
    -------
    list of SmallGroup
        Those of one feature first, then of two and so on; of equally many the largest first.
    """
    rows = contingency.tally()[None, :]
    small: set[tuple[tuple[int, int], ...]] = set()
    found: list[SmallGroup] = []
    for subset in feature_subsets(contingency.axes, max_features):
        joint, sums = contingency.marginal(subset, rows)
        few = np.flatnonzero(sums[0] < min_count)
        coordinates = np.column_stack(np.unravel_index(joint[few], contingency.shape(subset)))
        for place, cells in zip(few, coordinates, strict=True):
            combination = tuple(zip(subset, (int(cell) for cell in cells), strict=True))
            parts = [combination[:i] + combination[i + 1 :] for i in range(len(combination))]
            if any(part in small for part in parts if part):
                small.add(combination)
                continue
            rules = [contingency.axes[axis].cell_rule(cell) for axis, cell in combination]
            known = [rule for rule in rules if rule is not None]
            if len(known) < len(rules):
                continue
            small.add(combination)
            found.append(SmallGroup(RuleSet(tuple(known)), int(sums[0, place])))
    return sorted(
        found,
        key=lambda group: (len(group.rule_set.rules), -group.count, group.rule_set.text),
    )
