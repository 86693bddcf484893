"""The true difference of every rule set of a population, by adding up its cells."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from testsgd.rules import Axis, FrequentRuleSets, RuleSet, feature_subsets
from testsgd.truth.populations import Estimand, Population

Floats = NDArray[np.float64]

_NOBODY = 1e-12


class Truth:
    """What is true of a population's groups.

    Rates are counted from that of the first cell, so that where no cell differs, no group does to
    the last digit.

    Parameters
    ----------
    population : Population
        Whose groups.
    estimand : {"observed", "neighbourhood"}
        What is compared: the people as they are, or the means over their neighbours.

    Examples
    --------
    >>> from testsgd.truth import population
    >>> truth = Truth(population("intersection"), "observed")
    >>> (group,) = population("intersection").planted
    >>> round(truth.share(group), 3), round(truth.difference(group), 3)
    (0.07, -0.25)
    """

    def __init__(self, population: Population, estimand: Estimand) -> None:
        self.population = population
        rates = population.rates(estimand)
        self._masses = population.masses
        self._gains = population.masses * (rates - rates.flat[0])
        axes = tuple(trait.axis for trait in population.traits)
        self._axes = axes
        self._differences = [
            self._of_subset(axes, subset)
            for subset in feature_subsets(axes, population.max_features)
        ]

    @property
    def largest(self) -> float:
        """The largest size of any group's true difference."""
        return max(float(np.nanmax(np.abs(of_subset))) for of_subset in self._differences)

    def share(self, group: RuleSet) -> float:
        """Give the share of people in a group."""
        return float(self._masses[self._selection(group)].sum())

    def difference(self, group: RuleSet) -> float:
        """Give a group's true difference: the rate inside minus that outside."""
        chosen = self._selection(group)
        share, gain = float(self._masses[chosen].sum()), float(self._gains[chosen].sum())
        return gain / share - (float(self._gains.sum()) - gain) / (1 - share)

    def differences(self, groups: FrequentRuleSets) -> Floats:
        """Give the true differences of an audit's groups, in their order.

        They are read off arrays that hold all of them; only where a value of a feature does not
        occur in the audit's rows are its rule sets others, and added up one by one.
        """
        if groups.axes != self._axes or len(groups.subsets) != len(self._differences):
            return np.array([self.difference(groups.rule_set(g)) for g in range(len(groups))])
        differences = np.zeros(len(groups))
        for index, of_subset in enumerate(self._differences):
            chosen = groups.subset == index
            differences[chosen] = of_subset[groups.place[chosen]]
        return differences

    def _selection(self, group: RuleSet) -> tuple[NDArray[np.intp], ...]:
        rules = {rule.feature: rule for rule in group.rules}
        parts = [
            np.flatnonzero(trait.inside(rules[trait.name]))
            if trait.name in rules
            else np.arange(len(trait.shares))
            for trait in self.population.traits
        ]
        return np.ix_(*parts)

    def _of_subset(self, axes: tuple[Axis, ...], subset: tuple[int, ...]) -> Floats:
        """Give the differences of all rule sets over some features, in the lattice's order."""
        others = tuple(axis for axis in range(len(axes)) if axis not in subset)
        share, gain = self._masses.sum(axis=others), self._gains.sum(axis=others)
        for place, axis in enumerate(subset):
            matrix = axes[axis].matrix.astype(np.float64)
            share, gain = (
                np.moveaxis(np.tensordot(matrix, sums, axes=(1, place)), 0, place)
                for sums in (share, gain)
            )
        total = float(self._gains.sum())
        # Nobody is on one side: there is no difference.
        share = np.where((share > _NOBODY) & (share < 1 - _NOBODY), share, np.nan)
        return np.ravel(gain / share - (total - gain) / (1 - share))


@lru_cache
def truth_of(population: Population, estimand: Estimand) -> Truth:
    """Return the truth of a population, worked out once a process."""
    return Truth(population, estimand)
