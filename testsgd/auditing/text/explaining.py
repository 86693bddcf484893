"""What each term adds to a group's difference, and which of its terms suffice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.explaining import Explanation, RuleShare, shapley_shares, simplest_subset
from testsgd.rules import RuleSet
from testsgd.rules.text import CategorySet, TermRuleSets

Floats = NDArray[np.float64]


def explain_term_groups(
    estimates: Estimates, rule_sets: TermRuleSets, groups: Sequence[int]
) -> dict[int, Explanation]:
    """Explain groups of texts.

    Some of a group's terms are a group too: if enough texts mention all categories, enough mention
    some of them. So what every subset of the terms does is known already.

    Parameters
    ----------
    estimates : Estimates
        All groups' rates.
    rule_sets : TermRuleSets
        All groups; see :attr:`testsgd.rules.text.TermRuleSets.complete`.
    groups : sequence of int
        Those to explain.

    Returns
    -------
    dict of int to Explanation
        Without contrasts and conditional scores, for which texts have no features. A group one of
        whose parts got no samples is left out.

    References
    ----------
    Shapley, L. S. (1953), A value for n-person games.
    """
    by_categories = {one.categories: one for one in rule_sets.category_sets}
    found = {}
    for group in groups:
        parts = term_subsets(rule_sets, by_categories, group)
        differences = np.zeros(len(parts) + 1)
        differences[1:] = estimates.difference[parts]
        if np.isnan(differences).any():
            continue
        rules = rule_sets.rule_set(group).rules
        simplest = simplest_subset(differences)
        found[group] = Explanation(
            tuple(map(RuleShare, rules, shapley_shares(differences))),
            RuleSet(tuple(rule for bit, rule in enumerate(rules) if simplest >> bit & 1)),
            float(differences[simplest]),
            (),
            None,
        )
    return found


def term_subsets(
    rule_sets: TermRuleSets, by_categories: dict[tuple[int, ...], CategorySet], group: int
) -> NDArray[np.intp]:
    """Give the group of each subset of a group's terms but of none.

    Parameters
    ----------
    rule_sets : TermRuleSets
        All groups.
    by_categories : dict
        Their sets of categories.
    group : int
        The group.

    Returns
    -------
    numpy.ndarray of int
        Bit i of a place, counted from 1, says that the group's term i is in.
    """
    categories = rule_sets.category_sets[rule_sets.set_of(group)].categories
    terms = rule_sets.chosen(group)
    places = []
    for subset in range(1, 1 << len(terms)):
        bits = [bit for bit in range(len(terms)) if subset >> bit & 1]
        part = by_categories[tuple(categories[bit] for bit in bits)]
        place = np.ravel_multi_index([terms[bit] for bit in bits], part.shape)
        places.append(part.first + int(place))
    return np.array(places, dtype=np.intp)
