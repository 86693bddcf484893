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
    shares = _seed_shares(rule_sets, texts)
    bounds = np.cumsum((0, *rule_sets.terms.sizes))

    def features(groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
        """Give each group's category set and its terms as a 0/1 matrix."""
        sets = np.array([rule_sets.set_of(int(group)) for group in groups], dtype=np.intp)
        terms = np.zeros((len(groups), int(bounds[-1])))
        for place, group in enumerate(groups):
            categories = rule_sets.category_sets[sets[place]].categories
            for category, term in zip(categories, rule_sets.chosen(int(group)), strict=True):
                terms[place, bounds[category] + term] = 1
        return sets, terms

    def overlaps(groups: NDArray[np.intp], others: NDArray[np.intp]) -> Floats:
        (sets, terms), (other_sets, other_terms) = features(groups), features(others)
        alike = np.sign(difference[groups])[:, None] == np.sign(difference[others])
        shared = terms @ other_terms.T > 0
        both: Floats = np.where(shared & alike, shares[np.ix_(sets, other_sets)], 0.0)
        return both

    return overlaps


def _seed_shares(rule_sets: TermRuleSets, texts: int) -> Floats:
    """Give Jaccard's index of the seeds of every two category sets."""
    sets = rule_sets.category_sets
    inside = np.zeros((len(sets), texts))
    for place, category_set in enumerate(sets):
        inside[place, category_set.rows] = 1
    both = inside @ inside.T
    sizes = inside.sum(axis=1)
    shares: Floats = both / (sizes[:, None] + sizes - both)
    return shares
