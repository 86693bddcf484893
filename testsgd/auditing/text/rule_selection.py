"""The fewest sets of terms that explain how answers about texts differ between groups.

Forward selection as for rows (:mod:`testsgd.auditing.rule_selection`). What is explained is the
effect of each group, weighted by its seeds; a set of terms explains the effects of all groups that
contain its terms. Groups over the same categories share a constant.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.auditing.rule_selection import CellTable, ExplainingRule, select_rules
from testsgd.rules import TermRuleSets


class TermSelection:
    """Forward selection among sets of terms; `variances` of their effects (groups,)."""

    def __init__(self, rule_sets: TermRuleSets, variances: Floats, critical: float) -> None:
        self._rule_sets = rule_sets
        self._variances = variances
        self._critical = critical
        self._contained = _containment(rule_sets)

    def select(
        self, effects: Floats, seeds: Floats, order: NDArray[np.intp]
    ) -> tuple[ExplainingRule, ...]:
        """Choose the groups whose terms explain the effects (groups,) of all, weighted by seeds."""
        known = ~np.isnan(effects)
        weights = np.where(known, seeds, 0.0)
        basis = []
        for category_set in self._rule_sets.category_sets:
            inside = np.zeros(len(effects))
            inside[category_set.first : category_set.first + len(category_set)] = 1
            if size := float(weights @ inside):
                basis.append(inside / np.sqrt(size))
        return select_rules(
            CellTable(
                weights,
                np.where(known, effects, 0.0),
                variances=np.where(known, self._variances, 0.0),
            ),
            lambda quantities: (self._contained @ quantities.T).T,
            self._members,
            self._rule_sets.rule_counts(),
            order[known[order]],
            critical=self._critical,
            basis=basis,
        )

    def _members(self, group: int) -> NDArray[np.bool_]:
        members = np.zeros(self._contained.shape[1], dtype=bool)
        members[self._contained[[group]].indices] = True
        return members


def _containment(rule_sets: TermRuleSets) -> Any:
    """Return which groups contain all terms of which, as a sparse matrix (groups, groups)."""
    # Imported here: a tenth of a second.
    from scipy.sparse import coo_array

    first = {item.categories: (item.first, item.shape) for item in rule_sets.category_sets}
    rows = []
    columns = []
    for item in rule_sets.category_sets:
        groups = np.arange(item.first, item.first + len(item))
        terms = np.unravel_index(groups - item.first, item.shape)
        for size in range(1, len(item.categories) + 1):
            for part in itertools.combinations(range(len(item.categories)), size):
                smaller = tuple(item.categories[index] for index in part)
                if smaller not in first:
                    continue
                start, shape = first[smaller]
                rows.append(start + np.ravel_multi_index([terms[at] for at in part], shape))
                columns.append(groups)
    size = len(rule_sets)
    nothing = np.zeros(0, dtype=np.intp)
    at = (np.concatenate([nothing, *rows]), np.concatenate([nothing, *columns]))
    return coo_array((np.ones(len(at[0])), at), shape=(size, size)).tocsr()
