"""Groups by metrics, and metrics by the values of features, as data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from testsgd.auditing.report.summarise import rule_summary
from testsgd.metrics.report.summary import MetricsSummary
from testsgd.metrics.search import MetricsFindings
from testsgd.report.feature_columns import with_feature_columns
from testsgd.report.summaries import RuleSummary

_FIRST = ("metric", "rank", "text")
_MEASURED = (
    *("rows", "counted", "value", "reference_counted", "reference_value"),
    *("effect", "ci_low", "ci_high", "lower_bound", "significant", "distinct"),
)

GROUP_COLUMNS = (*_FIRST, *_MEASURED)

VALUE_COLUMNS = ("feature", "value", "n", "metric", "counted", "rate", "ci_low", "ci_high")


def findings_frame(findings: MetricsFindings) -> pd.DataFrame:
    """List all judged groups of each metric by rank, with the columns `GROUP_COLUMNS`."""
    tables = []
    for found in findings.metrics:
        compared = found.compared
        ranking = found.ranking
        low, high = compared.intervals(ranking)
        tables.append(
            pd.DataFrame(
                {
                    "metric": found.metric.name,
                    "rank": np.arange(1, len(ranking) + 1),
                    "text": findings.rule_sets.texts(ranking),
                    "rows": findings.rule_sets.sums[0, ranking],
                    "counted": compared.counted[ranking].astype(np.int64),
                    "value": compared.value[ranking],
                    "reference_counted": compared.counted_reference[ranking].astype(np.int64),
                    "reference_value": compared.reference[ranking],
                    "effect": compared.effect[ranking],
                    "ci_low": low,
                    "ci_high": high,
                    "lower_bound": compared.lower_bound[ranking],
                    "significant": compared.significant[ranking],
                    "distinct": np.isin(ranking, found.distinct),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def summary_frame(summary: MetricsSummary) -> pd.DataFrame:
    """List the groups of each metric that a summary holds, with the columns `GROUP_COLUMNS`."""
    rows = [
        {
            "metric": metric.name,
            "rank": group.rank,
            "text": group.text,
            "rows": group.rows,
            "counted": group.counted,
            "value": group.value,
            "reference_counted": group.reference_counted,
            "reference_value": group.reference_value,
            "effect": np.inf if group.effect is None else group.effect,
            "ci_low": group.confidence_interval[0],
            "ci_high": np.inf
            if group.confidence_interval[1] is None
            else group.confidence_interval[1],
            "lower_bound": group.lower_confidence_bound,
            "significant": group.significant,
            "distinct": group.distinct,
        }
        for metric in summary.metrics
        for group in metric.groups
    ]
    return pd.DataFrame(rows, columns=list(GROUP_COLUMNS))


def findings_by_features(findings: MetricsFindings, features: list[str]) -> pd.DataFrame:
    """List all judged groups of each metric, with a column for each of some features."""
    # A group is judged by several metrics; its rules are written once.
    known: dict[int, list[RuleSummary]] = {}

    def rules_of(group: int) -> list[RuleSummary]:
        if group not in known:
            known[group] = group_rules(findings, group)
        return known[group]

    rules = (rules_of(group) for found in findings.metrics for group in found.ranking.tolist())
    frame = findings_frame(findings)
    return with_feature_columns(frame, rules, features, first=_FIRST, measured=_MEASURED)


def summary_by_features(summary: MetricsSummary, features: list[str]) -> pd.DataFrame:
    """List the groups that a summary holds, with the columns of :func:`findings_by_features`."""
    rules = (group.rules for metric in summary.metrics for group in metric.groups)
    frame = summary_frame(summary)
    return with_feature_columns(frame, rules, features, first=_FIRST, measured=_MEASURED)


def group_rules(findings: MetricsFindings, group: int) -> list[RuleSummary]:
    """Return the rules that describe a group, which is given by its place in the findings."""
    return [rule_summary(rule) for rule in findings.rule_sets.rule_set(group).rules]


def values_frame(summary: MetricsSummary) -> pd.DataFrame:
    """List each metric of each value of each feature with its interval.

    Returns
    -------
    data frame
        A row a value and metric, with the columns `VALUE_COLUMNS`; NaN where something is not
        known.
    """
    rows = []
    for feature in summary.features:
        for cell in feature.cells:
            for item in cell.metrics:
                low, high = item.confidence_interval or (np.nan, np.nan)
                rate = np.nan if item.value is None else item.value
                of_cell = (feature.feature, cell.label, cell.n)
                rows.append((*of_cell, item.metric, item.counted, rate, low, high))
    return pd.DataFrame(rows, columns=list(VALUE_COLUMNS))
