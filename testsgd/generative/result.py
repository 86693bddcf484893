"""The result of an assessment of a generative model."""

from __future__ import annotations

from typing import ClassVar

from testsgd.generative.report.layout import generative_layout
from testsgd.generative.report.summary import SCHEMA_NAME, GenerativeSummary, GenerativeVerdict
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult


class GenerativeResult(DocumentResult[GenerativeSummary]):
    """How groups appear among the outputs of a generative model.

    Parameters
    ----------
    summary : GenerativeSummary
        The document, of which every view is rendered.
    """

    document: ClassVar = DocumentKind(
        GenerativeSummary,
        SCHEMA_NAME,
        what="an assessment of a generative model",
        again="assess the outputs again",
        layout=generative_layout,
    )

    @property
    def verdict(self) -> GenerativeVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    def __repr__(self) -> str:
        return one_line(f"<GenerativeResult {self.summary.name!r}: {self.verdict.headline}>")
