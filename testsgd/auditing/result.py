"""The result of an audit: one object, every view of it rendered from one summary."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.report.frames import groups_frame, summary_frame, write_csv, write_parquet
from testsgd.auditing.report.layout import audit_layout
from testsgd.auditing.report.summary import SCHEMA_NAME, AuditSummary, Verdict
from testsgd.errors import ParameterError
from testsgd.io import import_pyarrow
from testsgd.report.audit_results import AuditDocumentResult
from testsgd.report.blocks import Block
from testsgd.report.documents import DocumentKind
from testsgd.report.exporters import EXPORTERS, Exporter, check_formats
from testsgd.report.formatting import one_line
from testsgd.report.summaries import RuleSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class AuditResult(AuditDocumentResult[AuditSummary]):
    """The result of an audit; every view of it is rendered from one summary.

    Attributes
    ----------
    summary : AuditSummary
        The document.
    findings : Findings or None
        What it was made from; a result that was read back from JSON has none.
    """

    document: ClassVar = DocumentKind(
        AuditSummary, SCHEMA_NAME, what="an audit", again="run the audit again", layout=audit_layout
    )
    # The last two hold all groups, so they are written from the findings.
    exporters: ClassVar = {
        **EXPORTERS,
        "csv": Exporter("groups.csv", write=lambda result, path: write_csv(result.findings, path)),
        "parquet": Exporter(
            "groups.parquet",
            write=lambda result, path: write_parquet(result.findings, path),
            check=import_pyarrow,
        ),
    }

    def __init__(self, summary: AuditSummary, findings: Findings | None = None) -> None:
        super().__init__(summary)
        self.findings = findings

    @property
    def verdict(self) -> Verdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def groups(self) -> pd.DataFrame:
        """All frequent groups by rank; of a result read back from JSON, those it holds."""
        if self.findings is not None:
            return groups_frame(self.findings)
        return summary_frame(self.summary)

    @property
    def distinct(self) -> pd.DataFrame:
        """The first groups that are different people; of texts those that explain differences."""
        groups = self.groups
        return groups[groups["distinct"].astype(bool)]

    def to_frame(self) -> pd.DataFrame:
        """Return the groups as a table, with the value of each sensitive feature in a column.

        Returns
        -------
        data frame, a row a group
            By rank: ``rank``, ``text``, then a column a feature (for texts: a category of terms),
            then ``n_in``, the rates ``rate_in`` and ``rate_out``, the base rates
            ``base_rate_in`` and ``base_rate_out``, ``difference``, ``ci_low``, ``ci_high``,
            ``lower_confidence_bound``, ``decided`` and ``distinct``. A feature's column holds a
            tuple of values, or an interval as people write it; None where no rule is about it. Of a
            result read back from JSON, the groups it holds. A feature that is called as another
            column is has " (feature)" behind its name.

        Examples
        --------
        >>> import testsgd
        >>> groups = testsgd.audit(None, None, "demo").to_frame()
        >>> groups.loc[0, ["gender", "race", "age"]].tolist()
        [('female',), ('Black',), '40 <= age < 60']
        """
        # Loaded by those who look at a result, not by every command.
        from testsgd.auditing.report.feature_frames import findings_by_features, summary_by_features

        features = [item.name for item in self.summary.data.features if item.sensitive]
        if self.findings is not None:
            return findings_by_features(self.findings, features)
        return summary_by_features(self.summary, features)

    def by_feature(self) -> pd.DataFrame:
        """Return the selection rate of each value of each sensitive feature, as a table.

        Returns
        -------
        data frame, a row a value
            With the columns ``feature``, ``value``, ``n``, ``rate``, ``ci_low``, ``ci_high`` and
            ``base_rate``. Each interval is of its own rate, by itself; for texts, values are terms.

        Examples
        --------
        >>> import testsgd
        >>> rates = testsgd.audit(None, None, "demo").by_feature()
        >>> rates.loc[:1, ["feature", "value", "n"]].values.tolist()
        [['gender', 'female', 10137], ['gender', 'male', 9863]]
        """
        from testsgd.auditing.report.feature_frames import rates_by_feature

        return rates_by_feature(self.summary)

    def plot(self) -> Figure:
        """Draw the differences of the first groups, and the rates by feature, with their intervals.

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
        >>> result = testsgd.audit(None, None, "demo")
        >>> figure = result.plot()  # doctest: +SKIP
        >>> figure.savefig("audit.png")  # doctest: +SKIP
        """
        from testsgd.auditing.report.plotting import plot_audit

        return plot_audit(self.summary)

    def mask(self, rank: int, data: Any) -> NDArray[np.bool_]:
        """Return which rows of a table are in the group of some rank.

        Other than :meth:`testsgd.auditing.GroupSummary.mask` it knows which values were joined, if
        the result was not read back from JSON.

        Parameters
        ----------
        rank : int
            The group's place in the ranking.
        data : data frame, n rows
            A pandas, polars or Arrow table with a column for each feature of the group's rules; of
            an audit of texts a list or a series of texts.

        Returns
        -------
        numpy.ndarray of bool, shape (n,)

        Raises
        ------
        ParameterError
            If the result holds no group of this rank.
        DataError
            If a column is missing, or has texts where a rule is about numbers.

        Examples
        --------
        >>> import testsgd
        >>> people = testsgd.generate_demo(seed=0)
        >>> int(testsgd.audit(None, people, "demo").mask(1, people).sum())
        1479
        """
        from testsgd.auditing.report.membership import rules_mask, texts_mask

        if self.summary.terms is not None:
            return texts_mask(self._rules_of_rank(rank), data, self.summary.terms.as_listed())
        # Only where the values were guessed, rows still have those that were joined.
        joined_by = None
        if isinstance(self.findings, TableFindings) and self.findings.table.inferred:
            joined_by = self.findings.table.specification
        return rules_mask(self._rules_of_rank(rank), data, joined_by=joined_by)

    def _rules_of_rank(self, rank: int) -> Sequence[RuleSummary]:
        from testsgd.auditing.report.feature_frames import rules_of_group

        if self.findings is not None:
            ranking = self.findings.ranking
            if isinstance(rank, Integral) and 1 <= rank <= len(ranking):
                return rules_of_group(self.findings, int(ranking[rank - 1]))
        for group in self.summary.groups:
            if group.rank == rank:
                return group.rules
        raise ParameterError(
            f"there is no group of rank {rank!r} in the result",
            where="rank",
            remedy="choose a rank of the table that to_frame() returns",
        )

    def write(self, folder: str | Path, formats: Sequence[str] = tuple(EXPORTERS)) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        "csv" and "parquet" hold all frequent groups, so a result that was read from JSON has
        neither.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of {"html", "md", "json", "csv", "parquet"}
            Which views.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown, or it takes all groups and the result was read from JSON.
        """
        if self.findings is None:
            for name in formats:
                if name in self.exporters and name not in EXPORTERS:
                    raise ParameterError(
                        f"{name!r} holds all groups, a saved result only the top ones",
                        where="format",
                        remedy="run the audit again with that format",
                    )
            check_formats(formats, EXPORTERS)
        return super().write(folder, formats)

    def notebook_blocks(self) -> Sequence[Block]:
        """Return what a notebook shows below the key figures: first groups, rates by feature."""
        from testsgd.auditing.report.notebook import notebook_blocks

        return notebook_blocks(self.summary)

    def __repr__(self) -> str:
        return one_line(f"<AuditResult of {self.summary.data.name!r}: {self.verdict.headline}>")
