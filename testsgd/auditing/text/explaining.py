"""What explains how groups of texts differ, and what each term adds to a group's difference.

The effects of all sets of terms over the same categories are compared with each other, weighted by
their seeds: a set of terms explains the effects of all sets that contain it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates, Floats
from testsgd.auditing.explaining import Explanation, explanation_of
from testsgd.auditing.rule_selection import CellTable, ExplainingRule, select_rules
from testsgd.rules.text import TermRuleSets


def explain_term_groups(
    estimates: Estimates, rule_sets: TermRuleSets, groups: Sequence[int]
) -> dict[int, Explanation]:
    """Explain groups of texts, but for those one of whose parts got no samples.

    Some of a group's terms are a frequent group too, so what every subset of them does is known.
    Texts have no features that could go with a group.
    """
    by_categories = {item.categories: item for item in rule_sets.category_sets}
    explained = {}
    for group in groups:
        categories = rule_sets.category_sets[rule_sets.set_of(group)].categories
        terms = rule_sets.chosen(group)
        # Of each subset of the terms but of none, in the order of its bits.
        differences = np.zeros(1 << len(terms))
        for subset in range(1, len(differences)):
            bits = [bit for bit in range(len(terms)) if subset >> bit & 1]
            part = by_categories[tuple(categories[bit] for bit in bits)]
            index = np.ravel_multi_index([terms[bit] for bit in bits], part.shape)
            differences[subset] = estimates.difference[part.first + int(index)]
        if not np.isnan(differences).any():
            explained[group] = explanation_of(rule_sets.rule_set(group), differences)
    return explained


class TermSelection:
    """Forward selection among sets of terms.

    `variances` (groups,) are those of the effects in samples of texts like these.
    """

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
    rows, columns = [], []
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
