"""What makes up the difference of a group of texts: what each of its terms adds to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.explaining import Explanation, explanation_of
from testsgd.rules import TermRuleSets


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
