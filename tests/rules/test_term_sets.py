"""Frequent sets of terms, by counting every combination of categories."""

from __future__ import annotations

import itertools
import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.data.text import SensitiveTerms, Term, TermCategory
from testsgd.errors import ParameterError
from testsgd.rules import (
    CategoryRule,
    RuleSet,
    TermRule,
    find_mentions,
    frequent_term_sets,
    small_category_sets,
)


def list_of_terms(sizes):
    """Make a list with so many terms in each category: a0, a1, ..., b0, ..."""
    return SensitiveTerms(
        "letters",
        "these tests",
        tuple(
            TermCategory(f"category {letter}", tuple(Term(f"{letter}{i}") for i in range(size)))
            for letter, size in zip("abcdefgh", sizes, strict=False)
        ),
    )


def written(terms, presence, seed=0):
    """Write texts that mention the categories they should, by any of their terms."""
    generator = np.random.default_rng(seed)
    return [
        " ".join(
            generator.choice([term.name for term in category.terms])
            for category, mentioned in zip(terms.categories, row, strict=True)
            if mentioned
        )
        for row in presence
    ]


@st.composite
def searches(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    rows = st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes))
    presence = draw(st.lists(rows, max_size=25))
    return list_of_terms(sizes), presence, draw(st.integers(0, 8)), draw(st.integers(1, 4))


def seeds_of(presence, categories):
    return [row for row, mentioned in enumerate(presence) if all(mentioned[c] for c in categories)]


def every_set(terms, max_features):
    for size in range(1, max_features + 1):
        yield from itertools.combinations(range(len(terms.sizes)), size)


@settings(max_examples=150)
@given(searches())
def test_frequent_sets_are_those_of_a_count(search):
    terms, presence, min_count, max_features = search
    # Not in the strategy: what it imports when first called uses the module random.
    mentions = find_mentions(written(terms, presence), terms)
    found = frequent_term_sets(mentions, min_count=min_count, max_features=max_features)
    expected = []
    for categories in every_set(terms, max_features):
        seeds = seeds_of(presence, categories)
        if len(seeds) >= max(min_count, 1):
            expected.append((categories, seeds))
    assert [(each.categories, each.rows.tolist()) for each in found.category_sets] == expected
    groups = [
        (place, chosen, len(seeds), categories)
        for place, (categories, seeds) in enumerate(expected)
        for chosen in itertools.product(*(range(terms.sizes[c]) for c in categories))
    ]
    assert len(found) == found.frequent == len(groups)
    assert found.candidates == sum(
        math.prod(terms.sizes[c] for c in categories)
        for categories in every_set(terms, max_features)
    )
    assert found.rows().tolist() == [seeds for _, _, seeds, _ in groups]
    assert found.rule_counts().tolist() == [len(chosen) for _, chosen, _, _ in groups]
    for group, (place, chosen, _, categories) in enumerate(groups):
        assert found.set_of(group) == place
        assert found.chosen(group) == chosen
        assert found.category_sets[place].first <= group
        assert found.rule_set(group) == RuleSet(
            tuple(
                TermRule(terms.categories[c].name, terms.categories[c].terms[term].name)
                for c, term in zip(categories, chosen, strict=True)
            )
        )


@given(searches())
def test_small_sets_are_those_of_the_definition(search):
    terms, presence, min_count, max_features = search
    mentions = find_mentions(written(terms, presence), terms)
    names = terms.names
    count = {c: len(seeds_of(presence, c)) for c in every_set(terms, max_features)}
    few = max(min_count, 1)
    expected = {
        RuleSet(tuple(CategoryRule(names[c]) for c in categories)): number
        for categories, number in count.items()
        if number < few
        and all(
            count[part] >= few
            for part in itertools.combinations(categories, len(categories) - 1)
            if part
        )
    }
    found = small_category_sets(mentions, min_count=min_count, max_features=max_features)
    assert {group.rule_set: group.count for group in found} == expected
    keys = [(len(group.rule_set.rules), -group.count, group.rule_set.text) for group in found]
    assert keys == sorted(keys)


@pytest.mark.parametrize("texts", [*range(1, 60), 997, 1492, 50_000])
def test_set_with_exactly_enough_texts_is_frequent(texts):
    # The share that mlxtend wants is a quotient; no rounding of it may cost or give a text.
    terms = list_of_terms([1])
    for seeds in {1, texts // 3, texts // 2, texts} - {0}:
        mentions = find_mentions(["a0"] * seeds + ["x"] * (texts - seeds), terms)
        assert len(frequent_term_sets(mentions, min_count=seeds, max_features=1)) == 1
        assert len(frequent_term_sets(mentions, min_count=seeds + 1, max_features=1)) == 0


def test_numbers_of_groups_out_of_range():
    terms = list_of_terms([2])
    found = frequent_term_sets(find_mentions(["a0"], terms), min_count=1, max_features=3)
    assert len(found) == 2
    for group in (-1, 2):
        with pytest.raises(IndexError, match=f"group {group} of 2"):
            found.rule_set(group)


def test_many_categories_in_every_text():
    # One path in the tree of FP-growth, which has 2 to the 8th subsets if nothing limits it.
    terms = list_of_terms([1] * 8)
    mentions = find_mentions(written(terms, [[True] * 8]), terms)
    found = frequent_term_sets(mentions, min_count=1, max_features=2)
    assert [len(each.categories) for each in found.category_sets] == [1] * 8 + [2] * 28


def test_too_many_rule_sets_are_refused():
    terms = list_of_terms([220] * 3)
    mentions = find_mentions(written(terms, [[True] * 3]), terms)
    assert len(frequent_term_sets(mentions, min_count=1, max_features=2)) == 3 * (220 + 220**2)
    with pytest.raises(ParameterError, match=r"10,793,860 frequent rule sets are too many"):
        frequent_term_sets(mentions, min_count=1, max_features=3)


def test_import_of_mlxtend_leaves_the_filters_of_warnings(monkeypatch):
    # By itself it has every DeprecationWarning of the process shown.
    for name in [name for name in sys.modules if name.partition(".")[0] == "mlxtend"]:
        monkeypatch.delitem(sys.modules, name)
    terms = list_of_terms([1])
    before = list(warnings.filters)
    frequent_term_sets(find_mentions(["a0"], terms), min_count=1, max_features=1)
    assert "mlxtend" in sys.modules
    assert warnings.filters == before
