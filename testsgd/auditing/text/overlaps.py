"""How much groups of texts overlap: for telling findings from near copies of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.rules.text import TermRuleSets
from testsgd.scoring import Overlaps

Floats = NDArray[np.float64]


def seed_overlaps(rule_sets: TermRuleSets, difference: Floats, texts: int) -> Overlaps:
    """Measure how much groups of texts tell the same story.

    Variants with different terms are never the same text, so texts cannot be compared as rows of a
    table are. Two groups that share a term and differ from the rest in the same direction overlap
    by Jaccard's index of their seeds; other groups do not overlap.

    Parameters
    ----------
    rule_sets : TermRuleSets
        The groups.
    difference : numpy.ndarray of float64, shape (groups,)
        By whose sign two groups differ in the same direction.
    texts : int
        Number of texts.

    Returns
    -------
    callable
        For :func:`testsgd.scoring.distinct_groups`.
    """
    return SeedOverlaps(rule_sets, texts).between(difference)


class SeedOverlaps:
    """The same for any differences, such as those of bootstrap samples.

    Parameters
    ----------
    rule_sets : TermRuleSets
        The groups.
    texts : int
        Number of texts.
    """

    def __init__(self, rule_sets: TermRuleSets, texts: int) -> None:
        self._rule_sets = rule_sets
        self._shares = _seed_shares(rule_sets, texts)
        self._bounds = np.cumsum((0, *rule_sets.terms.sizes))
        sets = rule_sets.category_sets
        self._firsts = np.array([one.first for one in sets], dtype=np.intp)

    def between(self, difference: Floats, others: Floats | None = None) -> Overlaps:
        """Give the overlaps of groups with these differences and those with others.

        Parameters
        ----------
        difference : numpy.ndarray of float64, shape (groups,)
            By whose sign two groups differ in the same direction.
        others : numpy.ndarray of float64, shape (groups,), optional
            The differences of the second group of each two, if it is from another sample.
        """
        second = difference if others is None else others

        def overlaps(groups: NDArray[np.intp], compared: NDArray[np.intp]) -> Floats:
            sets, terms = self._features(groups)
            other_sets, other_terms = self._features(compared)
            alike = np.sign(difference[groups])[:, None] == np.sign(second[compared])
            shared = terms @ other_terms.T > 0
            both: Floats = np.where(shared & alike, self._shares[np.ix_(sets, other_sets)], 0.0)
            return both

        return overlaps

    def _features(self, groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
        """Give each group's category set and its terms as a 0/1 matrix."""
        places = self._rule_sets.places(groups)
        sets = np.searchsorted(self._firsts, places, side="right") - 1
        terms = np.zeros((len(groups), int(self._bounds[-1])))
        for number in np.unique(sets):
            one = self._rule_sets.category_sets[number]
            chosen = np.flatnonzero(sets == number)
            of_each = np.unravel_index(places[chosen] - one.first, one.shape)
            for category, term in zip(one.categories, of_each, strict=True):
                terms[chosen, self._bounds[category] + term] = 1
        return sets, terms


def _seed_shares(rule_sets: TermRuleSets, texts: int) -> Floats:
    """Give Jaccard's index of the seeds of every two category sets; 0 where neither has seeds."""
    sets = rule_sets.category_sets
    inside = np.zeros((len(sets), texts))
    for place, category_set in enumerate(sets):
        inside[place, category_set.rows] = 1
    both = inside @ inside.T
    sizes = inside.sum(axis=1)
    shares: Floats = both / np.maximum(sizes[:, None] + sizes - both, 1)
    return shares
