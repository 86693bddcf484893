"""The result of an audit of metrics: one object, every view of it rendered from one summary."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.schema import DatasetSpecification
from testsgd.errors import ParameterError
from testsgd.metrics.report.frames import (
    findings_by_features,
    findings_frame,
    group_rules,
    summary_by_features,
    summary_frame,
    values_frame,
)
from testsgd.metrics.report.layout import metrics_layout
from testsgd.metrics.report.summary import SCHEMA_NAME, MetricsSummary, MetricsVerdict
from testsgd.metrics.search import MetricsFindings
from testsgd.report.audit_results import AuditDocumentResult
from testsgd.report.blocks import Block
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.summaries import RuleSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class MetricsResult(AuditDocumentResult[MetricsSummary]):
    """The result of an audit of metrics; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : MetricsSummary
        The document.
    findings : MetricsFindings, optional
        What it was made from; a result that was read back from JSON has none.
    joined_by : DatasetSpecification, optional
        The description by which rare values of the rows were joined under one name.

    Attributes
    ----------
    summary : MetricsSummary
        As given.
    findings : MetricsFindings or None
        As given.
    joined_by : DatasetSpecification or None
        As given.
    """

    document: ClassVar = DocumentKind(
        MetricsSummary,
        SCHEMA_NAME,
        what="an audit of metrics",
        again="run the audit again",
        layout=metrics_layout,
    )
    of_others: ClassVar = {
        name: f"an audit of metrics is not written as {name}, only one of a single rate is"
        for name in ("csv", "parquet")
    }

    def __init__(
        self,
        summary: MetricsSummary,
        findings: MetricsFindings | None = None,
        *,
        joined_by: DatasetSpecification | None = None,
    ) -> None:
        super().__init__(summary)
        self.findings = findings
        self.joined_by = joined_by

    @property
    def verdict(self) -> MetricsVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def groups(self) -> pd.DataFrame:
        """A row for each metric and group by rank: all groups, or those that a saved result holds.

        The columns are metric, rank, text, rows, counted, value, reference_counted,
        reference_value, effect, ci_low, ci_high, lower_bound, significant and distinct.
        """
        if self.findings is None:
            return summary_frame(self.summary)
        return findings_frame(self.findings)

    @property
    def distinct(self) -> pd.DataFrame:
        """The first groups of each metric that are no near copies of one before."""
        groups = self.groups
        return groups[groups["distinct"].astype(bool)]

    def to_frame(self) -> pd.DataFrame:
        """Return the groups as a table, with the value of each sensitive feature in a column.

        Returns
        -------
        data frame, a row a metric and group
            By metric and rank: ``metric``, ``rank``, ``text``, then a column a feature, then the
            other columns of :attr:`groups`. A feature's column holds a tuple of values, or an
            interval as people write it; None where no rule is about it. Of a result read back from
            JSON, the groups it holds. A feature that is called as another column is has
            " (feature)" behind its name.

        Examples
        --------
        >>> import testsgd
        >>> people = testsgd.generate_demo(seed=0)
        >>> result = testsgd.audit_metrics(
        ...     people["granted"], sensitive_features=people[["gender", "age"]]
        ... )
        >>> groups = result.to_frame()
        >>> groups.loc[0, ["metric", "gender"]].tolist()
        ['selection_rate', ('female',)]
        """
        features = [item.name for item in self.summary.data.features if item.sensitive]
        if self.findings is not None:
            return findings_by_features(self.findings, features)
        return summary_by_features(self.summary, features)

    def by_feature(self) -> pd.DataFrame:
        """Return each metric of each value of each sensitive feature, as a table.

        Returns
        -------
        data frame, a row a value and metric
            With the columns ``feature``, ``value``, ``n``, ``metric``, ``counted`` (rows that the
            metric counts), ``rate`` (the metric of these rows), ``ci_low`` and ``ci_high``. Each
            interval is of its own rate, by itself; NaN where fewer than five rows count. A result
            that an earlier version saved has no rows.

        Examples
        --------
        >>> import testsgd
        >>> people = testsgd.generate_demo(seed=0)
        >>> result = testsgd.audit_metrics(
        ...     people["granted"], sensitive_features=people[["gender"]]
        ... )
        >>> result.by_feature()[["feature", "value", "metric"]].values.tolist()
        [['gender', 'female', 'selection_rate'], ['gender', 'male', 'selection_rate']]
        """
        return values_frame(self.summary)

    def plot(self) -> Figure:
        """Draw the distinct groups' differences or ratios, and all metrics by feature.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it to a file. No window is opened.

        Raises
        ------
        MissingExtraError
            Without matplotlib, which the extra ``plot`` installs.

        Examples
        --------
        >>> import testsgd
        >>> people = testsgd.generate_demo(seed=0)
        >>> result = testsgd.audit_metrics(
        ...     people["granted"], sensitive_features=people[["gender"]]
        ... )
        >>> figure = result.plot()  # doctest: +SKIP
        >>> figure.savefig("metrics.png")  # doctest: +SKIP
        """
        # Loaded by those who look at a result, not by every command.
        from testsgd.metrics.report.plotting import plot_metrics

        return plot_metrics(self.summary)

    def mask(self, rank: int, data: Any, *, metric: str | None = None) -> NDArray[np.bool_]:
        """Return which rows of a table are in the group of some rank.

        Other than :meth:`testsgd.metrics.ComparedGroup.mask` it knows which values were joined, if
        the result was not read back from JSON.

        Parameters
        ----------
        rank : int
            The group's place in the ranking of the metric.
        data : data frame, n rows
            A pandas, polars or Arrow table with a column for each feature of the group's rules.
        metric : str, optional
            The metric by whose ranking; if not given, the first.

        Returns
        -------
        numpy.ndarray of bool, shape (n,)

        Raises
        ------
        ParameterError
            If the result has no such metric, or holds no group of this rank.
        DataError
            If a column is missing, or has texts where a rule is about numbers.

        Examples
        --------
        >>> people = pd.DataFrame({"sex": ["f", "f", "m"] * 100})
        >>> import testsgd
        >>> result = testsgd.audit_metrics(
        ...     ["yes", "no", "yes"] * 100, sensitive_features=people
        ... )
        >>> int(result.mask(1, people).sum())
        200
        """
        from testsgd.auditing.report.membership import rules_mask

        rules = self._rules_of_rank(rank, self._index_of(metric))
        return rules_mask(rules, data, joined_by=self.joined_by)

    def _index_of(self, metric: str | None) -> int:
        names = [item.name for item in self.summary.metrics]
        if metric is None:
            return 0
        if metric not in names:
            raise ParameterError(
                f"there is no metric {metric!r} in the result",
                where="metric",
                remedy=f"choose one of {', '.join(names)}",
            )
        return names.index(metric)

    def _rules_of_rank(self, rank: int, metric: int) -> Sequence[RuleSummary]:
        if self.findings is not None:
            ranking = self.findings.metrics[metric].ranking
            if isinstance(rank, Integral) and 1 <= rank <= len(ranking):
                return group_rules(self.findings, int(ranking[rank - 1]))
        for group in self.summary.metrics[metric].groups:
            if group.rank == rank:
                return group.rules
        raise ParameterError(
            f"there is no group of rank {rank!r} in the result",
            where="rank",
            remedy="choose a rank of the table that to_frame() returns",
        )

    def notebook_blocks(self) -> Sequence[Block]:
        """Return what a notebook shows below the key figures: first groups, metrics by feature."""
        from testsgd.metrics.report.tables import notebook_blocks

        return notebook_blocks(self.summary)

    def __repr__(self) -> str:
        return one_line(f"<MetricsResult of {self.summary.data.name!r}: {self.verdict.headline}>")
