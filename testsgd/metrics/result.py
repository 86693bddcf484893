"""The result of an audit of metrics: one object, every view of it rendered from one summary."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd

from testsgd.metrics.report.layout import metrics_layout
from testsgd.metrics.report.summary import SCHEMA_NAME, MetricsSummary, MetricsVerdict
from testsgd.metrics.search import MetricsFindings
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult


class MetricsResult(DocumentResult[MetricsSummary]):
    """The result of an audit of metrics; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : MetricsSummary
        The document.
    findings : MetricsFindings, optional
        What it was made from; a result that was read back from JSON has none.

    Attributes
    ----------
    summary : MetricsSummary
        As given.
    findings : MetricsFindings or None
        As given.
    """

    document: ClassVar = DocumentKind(
        MetricsSummary,
        SCHEMA_NAME,
        what="an audit of metrics",
        again="run the audit again",
        layout=metrics_layout,
    )

    def __init__(self, summary: MetricsSummary, findings: MetricsFindings | None = None) -> None:
        super().__init__(summary)
        self.findings = findings

    @property
    def verdict(self) -> MetricsVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def groups(self) -> pd.DataFrame:
        """A row for each metric and group by rank: all groups, or those that a saved result holds.

        The columns are metric, rank, text, rows, counted, value, reference_counted,
        reference_value, effect, ci_low, ci_high, lower_bound and significant.
        """
        if self.findings is None:
            return _of_summary(self.summary)
        return pd.concat(_of_findings(self.findings), ignore_index=True)

    def __repr__(self) -> str:
        return one_line(f"<MetricsResult of {self.summary.data.name!r}: {self.verdict.headline}>")


def _of_findings(findings: MetricsFindings) -> list[pd.DataFrame]:
    """Return a table of all judged groups for each metric, by rank."""
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
                }
            )
        )
    return tables


def _of_summary(summary: MetricsSummary) -> pd.DataFrame:
    """Return a table of the groups of each metric that a summary holds."""
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
        }
        for metric in summary.metrics
        for group in metric.groups
    ]
    return pd.DataFrame(rows)
