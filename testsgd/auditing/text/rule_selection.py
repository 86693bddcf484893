"""The fewest sets of terms that explain how groups of texts differ.

If a model dislikes one word, it differs for every set of terms with that word. The effects of all
sets over the same categories are compared with each other, weighted by their seeds: a set of terms
explains the effects of all sets that contain it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.rule_selection import CellTable, ExplainingRule, select_rules
from testsgd.rules.text import TermRuleSets

Floats = NDArray[np.float64]


class TermSelection:
    """Forward selection among sets of terms.

    Parameters
    ----------
    rule_sets : TermRuleSets
        All groups of some sets of categories.
    """

    def __init__(self, rule_sets: TermRuleSets) -> None:
        self._rule_sets = rule_sets
        self._contained = _containment(rule_sets)

    def select(
        self,
        effects: Floats,
        seeds: Floats,
        variances: Floats,
        order: NDArray[np.intp],
        *,
        critical: float,
    ) -> tuple[ExplainingRule, ...]:
        """Choose the groups whose terms explain the effects of all.

        Parameters
        ----------
        effects : numpy.ndarray of float64, shape (groups,)
            What is to be explained, such as counterfactual effects; NaN where it is not known.
        seeds : numpy.ndarray of float64, shape (groups,)
            Weights.
        variances : numpy.ndarray of float64, shape (groups,)
            Of the effects, in samples of texts like these.
        order : numpy.ndarray of int
            The groups that may be chosen, best first.
        critical : float
            How many standard errors a group's part must be away from none.

        Returns
        -------
        tuple of ExplainingRule
            In the order in which they were chosen. Only effects of sets over the same categories
            are compared, as the texts of other categories are others.
        """
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
                variances=np.where(known, variances, 0.0),
            ),
            lambda quantities: (self._contained @ quantities.T).T,
            self._members,
            self._rule_sets.rule_counts(),
            order[known[order]],
            critical=critical,
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

    first = {one.categories: (one.first, one.shape) for one in rule_sets.category_sets}
    rows, columns = [], []
    for one in rule_sets.category_sets:
        groups = np.arange(one.first, one.first + len(one))
        terms = np.unravel_index(groups - one.first, one.shape)
        for size in range(1, len(one.categories) + 1):
            for part in itertools.combinations(range(len(one.categories)), size):
                smaller = tuple(one.categories[place] for place in part)
                if smaller not in first:
                    continue
                start, shape = first[smaller]
                rows.append(start + np.ravel_multi_index([terms[at] for at in part], shape))
                columns.append(groups)
    size = len(rule_sets)
    nothing = np.zeros(0, dtype=np.intp)
    at = (np.concatenate([nothing, *rows]), np.concatenate([nothing, *columns]))
    return coo_array((np.ones(len(at[0])), at), shape=(size, size)).tocsr()
