"""Small random tables, and rules over them worked out row by row in plain pandas.

Nothing here uses the axes, the lattice or the mining: it is what they are compared with.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from testsgd.data import Table, specification_from_mapping
from testsgd.rules import IntervalRule, RuleSet, ValueRule

LETTERS = ("d", "a", "c", "b")  # declared in an order that is not the alphabet's


def make_table(features, columns):
    """Build a table without the checks, so that one row or one value is possible."""
    specification = specification_from_mapping(
        {
            "dataset": {"name": "small"},
            "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                name: {**feature, "sensitive": True} for name, feature in features.items()
            },
        }
    )
    frame = pd.DataFrame(columns)
    missing = {name: int(frame[name].isna().sum()) for name in features}
    return Table(specification, frame, None, missing)


@st.composite
def tables(draw, most_features=3, most_cells=3, most_rows=20):
    """Draw a table of categorical and continuous features, some cells missing."""
    rows = draw(st.integers(1, most_rows))
    features, columns = {}, {}
    for place in range(draw(st.integers(1, most_features))):
        name = f"f{place}"
        cells = draw(st.integers(1, most_cells))
        if draw(st.booleans()):
            values = LETTERS[:cells]
            features[name] = {"type": "categorical", "values": list(values)}
            choices, kind = st.sampled_from([*values, None]), object
        else:
            # The limits themselves are drawn often, for a row at a limit belongs above it.
            edges = [0.1 * edge for edge in range(cells + 1)]
            features[name] = {"type": "decimal", "range": [0, edges[-1]], "edges": edges}
            choices, kind = st.sampled_from([*edges, 0.05, 0.15, edges[-1] * 0.99, None]), float
            choices = choices.filter(lambda number, top=edges[-1]: number is None or number <= top)
        cells_drawn = draw(st.lists(choices, min_size=rows, max_size=rows))
        columns[name] = pd.Series(cells_drawn, dtype=kind)
    return make_table(features, columns)


def plain_rules(table, name):
    """List the rules over one feature, each with the rows that satisfy it."""
    feature, column = table.specification.features[name], table.frame[name]
    if feature.type == "categorical":
        return list(_value_rules(name, column, feature.values))
    return list(_interval_rules(name, column, feature.edges))


def _value_rules(name, column, declared):
    present = [value for value in declared if (column == value).any()]
    if column.isna().any():
        present.append("missing")
    for size in range(1, len(present)):
        for values in itertools.combinations(present, size):
            rows = column.isin([value for value in values if value != "missing"])
            if "missing" in values:
                rows |= column.isna()
            yield ValueRule(name, values), rows.to_numpy()


def _interval_rules(name, column, edges):
    bins = len(edges) - 1
    for start, stop in itertools.combinations(range(bins + 1), 2):
        if stop - start == bins:
            continue
        rows = column.notna()
        if start > 0:
            rows &= column >= edges[start]
        if stop < bins:
            rows &= column < edges[stop]
        low = None if start == 0 else edges[start]
        high = None if stop == bins else edges[stop]
        yield IntervalRule(name, low, high), rows.to_numpy()
    if column.isna().any():
        yield ValueRule(name, ("missing",)), column.isna().to_numpy()


def plain_rule_sets(table, max_features):
    """Give every rule set of at most so many features, with the rows that satisfy it."""
    rules = {name: plain_rules(table, name) for name in table.specification.sensitive}
    found = {}
    for size in range(1, max_features + 1):
        for names in itertools.combinations(rules, size):
            for chosen in itertools.product(*(rules[name] for name in names)):
                rows = np.logical_and.reduce([rows for _, rows in chosen])
                found[RuleSet(tuple(rule for rule, _ in chosen))] = rows
    return found


def plain_complement(table, rule_set, rows):
    """Give the rows that are not in a group, without those with a missing number it goes by."""
    outside = ~rows
    for rule in rule_set.rules:
        if isinstance(rule, IntervalRule):
            outside &= table.frame[rule.feature].notna().to_numpy()
    return outside
