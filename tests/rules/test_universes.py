"""A rule on a number never counts missing among its complement's members."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rules import plain_complement, plain_rule_sets, tables

from testsgd.rules import lay_out, mine, sensitive_axes


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 3))
def test_groups_and_complements_are_those_counted_row_by_row(table, least):
    contingency = lay_out(table, sensitive_axes(table))
    rows = contingency.tally()[None]
    found = mine(contingency, rows, min_count=least, min_outside=least, max_features=3)
    groups = np.arange(len(found))
    inside = found.members(groups, contingency)[:, contingency.cell_of_row]
    outside = found.complement_members(groups, contingency)[:, contingency.cell_of_row]
    totals = found.totals(contingency, rows)[0]
    plain = plain_rule_sets(table, 3)
    for group in groups.tolist():
        rule_set = found.rule_set(group)
        complement = plain_complement(table, rule_set, plain[rule_set])
        assert np.array_equal(inside[group], plain[rule_set])
        assert np.array_equal(outside[group], complement)
        assert np.array_equal(rule_set.complement(table), complement)
        assert totals[group] - found.sums[0, group] == complement.sum()
    # Each pair of a group and its complement with enough rows is there once.
    sides = {
        (rows.tobytes(), complement.tobytes())
        for rule_set, rows in plain.items()
        if rows.sum() >= least
        and (complement := plain_complement(table, rule_set, rows)).sum() >= least
    }
    listed = [(a.tobytes(), b.tobytes()) for a, b in zip(inside, outside, strict=True)]
    assert len(listed) == len(set(listed))
    assert set(listed) == sides
