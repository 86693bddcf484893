"""Groups with their features as columns, and rates by the values of features, as data frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from testsgd.auditing.findings import Findings
from testsgd.auditing.report.base_rates import group_base_rates
from testsgd.auditing.report.frames import groups_frame, summary_frame
from testsgd.auditing.report.summary import AuditSummary
from testsgd.report.feature_columns import with_feature_columns
from testsgd.report.summaries import RuleSummary

_FIRST = ("rank", "text")
_MEASURED = (
    *("n_in", "rate_in", "rate_out", "base_rate_in", "base_rate_out"),
    *("difference", "ci_low", "ci_high", "lower_confidence_bound"),
    *("decided", "distinct"),
)

# Groups whose members are looked up at once.
_CHUNK = 5_000

RATE_COLUMNS = ("feature", "value", "n", "rate", "ci_low", "ci_high", "base_rate")


def findings_by_features(findings: Findings, features: Sequence[str]) -> pd.DataFrame:
    """List all groups by rank, with a column for each feature that rules are about.

    Parameters
    ----------
    findings : Findings
        What an audit found.
    features : sequence of str
        The sensitive features, or the categories of terms.

    Returns
    -------
    data frame, a row a group
    """
    groups = np.asarray(findings.ranking, dtype=np.intp)
    rates = [
        group_base_rates(findings, groups[start : start + _CHUNK])
        for start in range(0, len(groups), _CHUNK)
    ]
    inside = np.concatenate([of_groups for of_groups, _ in rates]) if rates else np.zeros(0)
    outside = np.concatenate([of_others for _, of_others in rates]) if rates else np.zeros(0)
    frame = groups_frame(findings).assign(base_rate_in=inside, base_rate_out=outside)
    rules = (rules_of_group(findings, group) for group in groups.tolist())
    return with_feature_columns(frame, rules, features, first=_FIRST, measured=_MEASURED)


def rules_of_group(findings: Findings, group: int) -> list[RuleSummary]:
    """Return the rules that describe a group, which is given by its place in the findings."""
    return [RuleSummary.model_validate(rule.to_json()) for rule in findings.rule_set(group).rules]


def summary_by_features(summary: AuditSummary, features: Sequence[str]) -> pd.DataFrame:
    """List the groups that a summary holds, with the columns of :func:`findings_by_features`."""
    frame = summary_frame(summary).assign(
        base_rate_in=[_number(group.base_rate_in) for group in summary.groups],
        base_rate_out=[_number(group.base_rate_out) for group in summary.groups],
    )
    rules = (group.rules for group in summary.groups)
    return with_feature_columns(frame, rules, features, first=_FIRST, measured=_MEASURED)


def rates_by_feature(summary: AuditSummary) -> pd.DataFrame:
    """List the rate of each value of each feature, or of each term, with its interval.

    Parameters
    ----------
    summary : AuditSummary
        What an audit found.

    Returns
    -------
    data frame
        A row a value, with the columns `RATE_COLUMNS`; NaN where something is not known. For terms
        without what is known of none of them.
    """
    rows = []
    for feature in summary.charts.features:
        for cell in feature.cells:
            low, high = cell.confidence_interval or (np.nan, np.nan)
            known = (_number(cell.rate), low, high, _number(cell.base_rate))
            rows.append((feature.feature, cell.label, cell.n, *known))
    frame = pd.DataFrame(rows, columns=list(RATE_COLUMNS))
    if summary.data.kind == "texts":
        frame = frame.drop(columns=[name for name in RATE_COLUMNS[4:] if frame[name].isna().all()])
    return frame


def _number(value: float | None) -> float:
    return np.nan if value is None else value
