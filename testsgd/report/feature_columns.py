"""Tables of groups in which each sensitive feature has a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from testsgd.report.summaries import RuleSummary


def with_feature_columns(
    frame: pd.DataFrame,
    rules_of_groups: Iterable[Sequence[RuleSummary]],
    features: Sequence[str],
    *,
    first: Sequence[str],
    measured: Sequence[str],
) -> pd.DataFrame:
    """Return a table of groups with a column for each feature that rules are about.

    Parameters
    ----------
    frame : data frame, a row a group
        The groups.
    rules_of_groups : iterable of sequence of RuleSummary
        The rules of each row's group, in the order of the rows.
    features : sequence of str
        The features, or the categories of terms.
    first : sequence of str
        The columns of the frame before those of the features.
    measured : sequence of str
        The columns of the frame behind them.

    Returns
    -------
    data frame, a row a group
        A feature's column holds a tuple of values, or an interval as people write it; None where no
        rule is about it. A feature that is called as another column is has " (feature)" behind its
        name.

    Examples
    --------
    >>> rule = RuleSummary(feature="sex", values=["f"], text="sex = f")
    >>> groups = pd.DataFrame({"text": ["sex = f"], "rows": [30]})
    >>> with_feature_columns(
    ...     groups, [[rule]], ["sex", "age"], first=["text"], measured=["rows"]
    ... ).values.tolist()
    [['sex = f', ('f',), None, 30]]
    """
    values: dict[str, list[Any]] = {feature: [] for feature in features}
    for rules in rules_of_groups:
        of_feature = {rule.feature: _described(rule) for rule in rules}
        for feature in features:
            values[feature].append(of_feature.get(feature))
    known = [*first, *measured]
    columns: dict[str, Any] = {name: frame[name] for name in first}
    for feature in features:
        name = feature
        while name in known or name in columns:
            name += " (feature)"
        # As objects: pandas would write None as NaN in a column of texts.
        columns[name] = pd.Series(values[feature], index=frame.index, dtype=object)
    return pd.DataFrame(columns | {name: frame[name] for name in measured})


def _described(rule: RuleSummary) -> tuple[str, ...] | str:
    """Return the values of a rule, or an interval as people write it."""
    return rule.text if rule.values is None else tuple(rule.values)
