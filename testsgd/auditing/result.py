"""The result of an audit: one object, every view of it rendered from one summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pandas as pd

from testsgd.auditing.findings import Findings
from testsgd.auditing.report.frames import groups_frame, summary_frame, write_csv, write_parquet
from testsgd.auditing.report.layout import audit_layout
from testsgd.auditing.report.notebook import notebook_blocks
from testsgd.auditing.report.summary import SCHEMA_NAME, AuditSummary, Verdict
from testsgd.errors import ParameterError
from testsgd.io import import_pyarrow
from testsgd.report.blocks import Block
from testsgd.report.documents import DocumentKind
from testsgd.report.exporters import EXPORTERS, Exporter
from testsgd.report.results import DocumentResult
from testsgd.report.short_form import one_line


class AuditResult(DocumentResult[AuditSummary]):
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
        """The fewest groups that explain how the rates differ, in the order of the ranking."""
        groups = self.groups
        return groups[groups["distinct"].astype(bool)]

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
        self.check_formats(formats)
        for name in formats:
            if self.findings is None and name not in EXPORTERS:
                raise ParameterError(
                    f"{name!r} holds all groups, a saved result only the top ones",
                    where="format",
                    remedy="run the audit again with that format",
                )
        return super().write(folder, formats)

    def notebook_blocks(self) -> Sequence[Block]:
        """Return what a notebook shows below the key figures: first groups, rates by feature."""
        return notebook_blocks(self.summary)

    def __repr__(self) -> str:
        return one_line(f"<AuditResult of {self.summary.data.name!r}: {self.verdict.headline}>")
