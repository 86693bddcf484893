"""A play between a classifier and the groups that it treats differently.

In each round the groups with the largest differences in selection rate get weights, and a
classifier is fitted to examples whose costs count errors and these differences. A cost is what it
adds if a row gets the favourable label: with a negative one the row is an example of this label,
else one of the other, and its weight is the cost's size. The sums over groups are contractions of
the lattice of rule sets; no matrix of groups and rows is ever made.

References
----------
Freund and Schapire, Game theory, on-line prediction and boosting, COLT 1996.
Kearns, Neel, Roth and Wu, Preventing fairness gerrymandering, ICML 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testsgd.rules import Contingency, FrequentRuleSets, default_depth, mine

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Groups whose differences are this much smaller have a weight smaller by the factor e.
TEMPERATURE = 0.02


@dataclass(frozen=True)
class ComparedGroups:
    """Groups with enough rows on both sides, and their differences in selection rate."""

    rule_sets: FrequentRuleSets
    contingency: Contingency
    counted: Bools  # The rows that are compared; shape (rows,).

    @classmethod
    def of(
        cls,
        contingency: Contingency,
        counted: Bools,
        *,
        min_rows: int,
        max_rules: int | None = None,
    ) -> ComparedGroups:
        """Find all groups that have enough of the counted rows inside and outside."""
        rule_sets = mine(
            contingency,
            contingency.tally(counted.astype(np.int64))[None],
            min_count=min_rows,
            min_outside=min_rows,
            max_features=max_rules or default_depth(contingency.axes),
        )
        return cls(rule_sets, contingency, counted)

    def __len__(self) -> int:
        return len(self.rule_sets)

    @cached_property
    def inside(self) -> Floats:
        """How many rows each group has; shape (groups,)."""
        return np.asarray(self.rule_sets.sums[0], dtype=np.float64)

    @cached_property
    def outside(self) -> Floats:
        """How many rows the complement of each group has; shape (groups,)."""
        rows = self.contingency.tally(self.counted.astype(np.int64))[None]
        return np.asarray(self.rule_sets.totals(self.contingency, rows)[0] - self.inside)

    def differences(self, decisions: Floats | Bools) -> Floats:
        """Return each group's selection rate less that of its complement.

        `decisions` are those of all rows, or several of them, shape (q, rows); shares are allowed.
        The differences have the shape (q, groups).
        """
        rows = np.atleast_2d(decisions) * self.counted
        cell_of_row, cells = self.contingency.cell_of_row, self.contingency.cells
        selected = np.stack([np.bincount(cell_of_row, each, minlength=cells) for each in rows])
        inside = self.rule_sets.sums_of(self.contingency, selected)
        together = self.rule_sets.totals(self.contingency, selected)
        return np.asarray(inside / self.inside - (together - inside) / self.outside)

    def sums(self, quantities: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sum whole numbers of rows, shape (q, rows), over each group, and with its complement.

        Both sums have the shape (q, groups).
        """
        by_cell = np.stack([self.contingency.tally(each * self.counted) for each in quantities])
        inside = np.rint(self.rule_sets.sums_of(self.contingency, by_cell)).astype(np.int64)
        return inside, np.asarray(self.rule_sets.totals(self.contingency, by_cell))

    def derivative(self, weights: Floats) -> Floats:
        """Return what a row's decision adds to the weighed sum of differences; shape (cells,).

        A group's difference grows by ``1 / inside`` with each selected row in it, and shrinks by
        ``1 / outside`` with each in its complement.
        """
        outside = weights / self.outside
        both = (weights / self.inside + outside)[None]
        added = self.rule_sets.cell_sums(self.contingency, both)[0]
        universes = self.rule_sets.universes
        of_universes = np.bincount(self.rule_sets.universe, outside, minlength=len(universes))
        if len(universes) == 1:
            return np.asarray(added - of_universes[0])
        return np.asarray(added - of_universes @ universes.members(self.contingency))


def group_weights(differences: Floats, *, temperature: float = TEMPERATURE) -> Floats:
    """Return signed weights of groups, exponential in their differences.

    Their sizes sum to 1 at most: a group counts once with each sign, and the two are set off.

    Examples
    --------
    >>> group_weights(np.array([0.3, -0.3, 0.0])).round(2)
    array([ 0.5, -0.5,  0. ])
    """
    sizes = np.abs(differences)
    most = sizes.max(initial=0.0)
    with_sign = np.exp((sizes - most) / temperature)
    against = np.exp((-sizes - most) / temperature)
    total = (with_sign + against).sum()
    return np.asarray(np.sign(differences) * (with_sign - against) / total)


def decision_costs(favourable: Bools, shares: Floats, of_groups: Floats) -> Floats:
    """Return what it costs to give each row the favourable label; shape (rows,).

    Parameters
    ----------
    favourable : numpy.ndarray of bool, shape (rows,)
        The labels.
    shares : numpy.ndarray of shape (rows,)
        How much an error counts for each row; they sum to 1.
    of_groups : numpy.ndarray of shape (rows,)
        What the label adds to the differences of groups.

    Examples
    --------
    >>> labels, shares = np.array([True, False]), np.array([0.5, 0.5])
    >>> decision_costs(labels, shares, np.array([0.75, 0.0]))
    array([0.25, 0.5 ])
    """
    return np.asarray(np.where(favourable, -shares, shares) + of_groups)


def cost_examples(costs: Floats) -> tuple[Bools, Floats]:
    """Return labels and weights whose weighed errors are the costs; the weights' mean is 1.

    Examples
    --------
    >>> cost_examples(np.array([-0.3, 0.1]))
    (array([ True, False]), array([1.5, 0.5]))
    """
    sizes = np.abs(costs)
    return costs < 0, sizes / sizes.mean()
