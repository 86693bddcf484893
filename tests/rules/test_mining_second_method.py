"""Mining again, by another program: mlxtend's Apriori and FP-growth over columns of rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.frequent_patterns import apriori, fpgrowth
from plain_rules import plain_complement, plain_rules, tables

from testsgd.rules import RuleSet, lay_out, mine, sensitive_axes

METHODS = [apriori, fpgrowth]


def frequent_rule_sets(method, table, min_count, max_features):
    """Find the frequent rule sets as itemsets of one-hot columns, with the rows of both sides."""
    rules = [
        (name, rule, rows)
        for name in table.specification.sensitive
        for rule, rows in plain_rules(table, name)
    ]
    if not rules or min_count > len(table):
        return {}
    columns = pd.DataFrame({place: rows for place, (_, _, rows) in enumerate(rules)})
    # A little below the smallest share wanted: 3/9 and 0.333... must not differ by rounding.
    share = (min_count - 0.5) / len(table)
    found = {}
    for items in method(columns, min_support=share, max_len=max_features)["itemsets"]:
        chosen = [rules[item] for item in sorted(items)]
        names = [name for name, _, _ in chosen]
        # Two rules over one feature are no rule set.
        if len(set(names)) == len(names):
            rows = np.logical_and.reduce([rows for _, _, rows in chosen])
            rule_set = RuleSet(tuple(rule for _, rule, _ in chosen))
            outside = plain_complement(table, rule_set, rows)
            if outside.any():
                sides = tuple(np.flatnonzero(rows)), tuple(np.flatnonzero(outside))
                found[frozenset(rule_set.rules)] = sides
    return found


@settings(max_examples=30)
@given(tables(), st.integers(1, 6), st.integers(1, 3), st.sampled_from(METHODS))
def test_frequent_groups_are_those_that_mlxtend_finds(table, min_count, max_features, method):
    expected = frequent_rule_sets(method, table, min_count, max_features)
    contingency = lay_out(table, sensitive_axes(table))
    found = mine(
        contingency,
        contingency.tally()[None, :],
        min_count=min_count,
        max_features=max_features,
    )
    assert found.frequent == len(expected)
    groups = [expected[frozenset(found.rule_set(group).rules)] for group in range(len(found))]
    assert len(groups) == len(set(groups))
    assert set(groups) == set(expected.values())
    assert found.sums[0].tolist() == [len(rows) for rows, _ in groups]
