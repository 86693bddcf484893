"""Frequent sets of terms: rule sets over texts.

The support of a rule set counts the texts that have a term of each of its categories, whichever. So
all rule sets over the same categories are frequent or none is: frequent sets of categories are
searched for, and each stands for all choices of one term a category.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.text import SensitiveTerms
from testsgd.errors import ParameterError
from testsgd.rules.rare_groups import SmallGroup, widest_first
from testsgd.rules.rule import RuleSet
from testsgd.rules.text.matching import Mentions
from testsgd.rules.text.term_rule import CategoryRule, TermRule

# The paper's list has some thousands.
MOST_RULE_SETS = 10_000_000


@dataclass(frozen=True)
class CategorySet:
    """Set of categories that enough texts mention together."""

    categories: tuple[int, ...]  # Places of the categories, ascending.
    # The seed texts: those with a term of each of these categories, ascending.
    rows: NDArray[np.int64]
    first: int  # The first of its groups.
    shape: tuple[int, ...]  # The number of terms of each category.

    def __len__(self) -> int:
        """Count the groups: ways to choose one term of each category."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class TermRuleSets:
    """Frequent rule sets over texts: one term of each category of a frequent set of categories.

    The groups of a set of categories are numbered one after the other, the last category's term
    changing fastest. Only the sets of categories are kept; a group is computed from its number.
    """

    terms: SensitiveTerms  # The terms.
    # The frequent sets of categories, by their number of categories, then by their places.
    category_sets: tuple[CategorySet, ...]
    candidates: int  # Rule sets that the terms allow.
    frequent: int  # Those that are frequent.
    # Which of the groups of `category_sets` these are, if not all; see :meth:`take`; shape
    # (groups,).
    kept: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return self._all if self.kept is None else len(self.kept)

    @property
    def complete(self) -> bool:
        """True if these are all groups of the sets of categories, numbered as there."""
        return self.kept is None

    def take(self, groups: NDArray[np.intp]) -> TermRuleSets:
        """Return the chosen groups, in the order given."""
        return replace(self, kept=self.places(groups))

    def places(self, groups: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers that groups have among all those of the sets of categories."""
        return groups if self.kept is None else self.kept[groups]

    def rule_set(self, group: int) -> RuleSet:
        """Return a group's description."""
        categories = self.category_sets[self.set_of(group)].categories
        rules = []
        for index, term in zip(categories, self.chosen(group), strict=True):
            category = self.terms.categories[index]
            rules.append(TermRule(category.name, category.terms[term].name))
        return RuleSet(tuple(rules))

    def set_of(self, group: int) -> int:
        """Return the place in `category_sets` of a group's categories."""
        return bisect_right(self._firsts, self._place(group)) - 1

    def chosen(self, group: int) -> tuple[int, ...]:
        """Return the term of each category of a group, as its place in the category."""
        category_set = self.category_sets[self.set_of(group)]
        index = self._place(group) - category_set.first
        return tuple(int(term) for term in np.unravel_index(index, category_set.shape))

    def rule_counts(self) -> NDArray[np.int64]:
        """Count the rules of each group, shape (groups,)."""
        return self._spread([len(category_set.categories) for category_set in self.category_sets])

    def rows(self) -> NDArray[np.int64]:
        """Count the seed texts of each group, shape (groups,)."""
        return self._spread([len(category_set.rows) for category_set in self.category_sets])

    @cached_property
    def _firsts(self) -> list[int]:
        return [category_set.first for category_set in self.category_sets]

    @cached_property
    def _all(self) -> int:
        return sum(len(category_set) for category_set in self.category_sets)

    def _place(self, group: int) -> int:
        if not 0 <= group < len(self):
            raise IndexError(f"group {group} of {len(self)}")
        return group if self.kept is None else int(self.kept[group])

    def _spread(self, numbers: list[int]) -> NDArray[np.int64]:
        spread = np.repeat(
            np.array(numbers, dtype=np.int64),
            [len(category_set) for category_set in self.category_sets],
        )
        return spread if self.kept is None else spread[self.kept]


def frequent_term_sets(mentions: Mentions, *, min_count: int, max_features: int) -> TermRuleSets:
    """Return the rule sets over texts whose categories enough texts mention together.

    A set of categories is frequent if in at least `min_count` texts, and in one at least, each of
    its categories is mentioned and can be replaced by one term.

    Parameters
    ----------
    mentions : Mentions
        The sensitive terms in the texts.
    min_count : int
        Fewest texts.
    max_features : int
        Most categories in a rule set.

    Returns
    -------
    TermRuleSets

    Raises
    ------
    ParameterError
        If there are more than ten million frequent rule sets.

    References
    ----------
    Zhang et al., TestSGD, section 4.1, equation 3.

    Examples
    --------
    >>> from testsgd.data.text import SensitiveTerms, Term, TermCategory
    >>> from testsgd.rules.text import find_mentions
    >>> age = TermCategory("age", (Term("old"), Term("young")))
    >>> faith = TermCategory("faith", (Term("hindu"), Term("sikh")))
    >>> texts = ["an old sikh man", "a young hindu woman", "an old man"]
    >>> mentions = find_mentions(texts, SensitiveTerms("some", "made up", (age, faith)))
    >>> groups = frequent_term_sets(mentions, min_count=2, max_features=2)
    >>> len(groups), groups.rule_set(0).text, groups.rows().tolist()
    (8, '“old”', [3, 3, 2, 2, 2, 2, 2, 2])
    """
    categories = _frequent_categories(mentions.replaceable(), max(min_count, 1), max_features)
    sets = _category_sets(mentions, categories)
    frequent = sum(len(item) for item in sets)
    if frequent > MOST_RULE_SETS:
        raise ParameterError(
            f"{frequent:,} frequent rule sets are too many",
            where=f"terms “{mentions.terms.name}”",
            remedy="combine fewer categories (--max-features), or use a shorter list of terms",
            rule_sets=frequent,
        )
    candidates = _candidates(mentions.terms.sizes, max_features)
    return TermRuleSets(mentions.terms, sets, candidates, frequent)


def term_sets_over(mentions: Mentions, rule_sets: TermRuleSets) -> TermRuleSets:
    """Return the same rule sets over other texts.

    They are kept even if fewer of these texts mention their categories. What changes are the seed
    texts of each set of categories.

    Parameters
    ----------
    mentions : Mentions
        The sensitive terms in the other texts.
    rule_sets : TermRuleSets
        The rule sets.

    Returns
    -------
    TermRuleSets
    """
    categories = [item.categories for item in rule_sets.category_sets]
    return replace(rule_sets, category_sets=_category_sets(mentions, categories))


def _category_sets(mentions: Mentions, sets: Sequence[tuple[int, ...]]) -> tuple[CategorySet, ...]:
    """Find the seed texts of sets of categories, and number their groups."""
    seeds = mentions.replaceable()
    sizes = mentions.terms.sizes
    category_sets: list[CategorySet] = []
    first = 0
    for categories in sets:
        rows = np.flatnonzero(seeds[:, categories].all(axis=1)).astype(np.int64)
        category_sets.append(
            CategorySet(categories, rows, first, tuple(sizes[at] for at in categories))
        )
        first += len(category_sets[-1])
    return tuple(category_sets)


def _candidates(sizes: tuple[int, ...], max_features: int) -> int:
    """Count the ways to choose one term each from at most `max_features` categories."""
    ways = [1] + [0] * max_features
    for size in sizes:
        for count in range(max_features, 0, -1):
            ways[count] += size * ways[count - 1]
    return sum(ways[1:])


def _frequent_categories(
    presence: NDArray[np.bool_], min_count: int, max_features: int
) -> list[tuple[int, ...]]:
    """Find the sets of categories that at least `min_count` texts mention together."""
    texts = len(presence)
    if min_count > texts or max_features < 1:
        return []
    with warnings.catch_warnings():
        # The import changes the process's filters.
        from mlxtend.frequent_patterns import fpgrowth
    # Half a text below the fewest: whichever way the share is rounded, no set is lost or won.
    itemsets = fpgrowth(
        pd.DataFrame(presence), min_support=(min_count - 0.5) / texts, max_len=max_features
    )
    sets = (tuple(sorted(int(index) for index in itemset)) for itemset in itemsets["itemsets"])
    return sorted(sets, key=lambda categories: (len(categories), categories))


def small_category_sets(
    mentions: Mentions, *, min_count: int, max_features: int
) -> list[SmallGroup]:
    """Return the widest sets of categories that fewer than `min_count` texts mention together.

    Of a small set every set with one category more is small too. So only those are listed all of
    whose parts, taken with one category less, are frequent. A category that no text mentions is
    listed, too.

    Parameters
    ----------
    mentions : Mentions
        The sensitive terms in the texts.
    min_count : int
        Fewest texts of a set that is not small.
    max_features : int
        Most categories in a set.

    Returns
    -------
    list of SmallGroup
        Those of one category first, then of two and so on; of equally many the largest first.
    """
    presence = mentions.replaceable()
    names = mentions.terms.names
    groups: list[SmallGroup] = []
    for categories, count in _just_small(presence, max(min_count, 1), max_features):
        rules = tuple(CategoryRule(names[category]) for category in categories)
        groups.append(SmallGroup(RuleSet(rules), count))
    return widest_first(groups)


def _just_small(
    presence: NDArray[np.bool_], min_count: int, max_features: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the small sets of categories whose parts are all frequent, with their number of texts.

    They are found by adding one category at a time to frequent sets.
    """
    frequent: set[tuple[int, ...]] = {()}
    for _ in range(max_features):
        candidates = {
            (*wide, more)
            for wide in frequent
            for more in range(max(wide, default=-1) + 1, presence.shape[1])
        }
        larger = set()
        for chosen in sorted(candidates):
            parts = (chosen[:index] + chosen[index + 1 :] for index in range(len(chosen)))
            if not all(part in frequent for part in parts):
                continue
            count = int(presence[:, chosen].all(axis=1).sum())
            if count >= min_count:
                larger.add(chosen)
            else:
                yield chosen, count
        frequent = larger
