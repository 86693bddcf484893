"""What makes up the difference of a group of texts: what each of its terms adds to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testsgd.auditing.estimates import Floats
from testsgd.auditing.explaining import Explanation, explanation_of
from testsgd.rules import TermRuleSets


def explain_term_groups(
    differences: Floats, rule_sets: TermRuleSets, groups: Sequence[int]
) -> dict[int, Explanation]:
    """Explain groups of texts, but for those one of whose parts has no difference.

    `differences` are those of all groups of the rule sets, shape (groups,), NaN where one is not
    known. Some of a group's terms are a frequent group too, so what every subset of them does is
    known. Texts have no features that could go with a group.
    """
    by_categories = {item.categories: item for item in rule_sets.category_sets}
    explained = {}
    for group in groups:
        categories = rule_sets.category_sets[rule_sets.set_of(group)].categories
        terms = rule_sets.chosen(group)
        # Of each subset of the terms but of none, in the order of its bits.
        of_subsets = np.zeros(1 << len(terms))
        for subset in range(1, len(of_subsets)):
            bits = [bit for bit in range(len(terms)) if subset >> bit & 1]
            part = by_categories[tuple(categories[bit] for bit in bits)]
            index = np.ravel_multi_index([terms[bit] for bit in bits], part.shape)
            of_subsets[subset] = differences[part.first + int(index)]
        if not np.isnan(of_subsets).any():
            explained[group] = explanation_of(rule_sets.rule_set(group), of_subsets)
    return explained
