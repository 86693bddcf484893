"""The result of a comparison: what several methods find on one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testsgd.comparison.report.layout import comparison_layout
from testsgd.comparison.report.summary import SCHEMA_NAME, ComparisonSummary, ComparisonVerdict
from testsgd.comparison.report.verdict import without_times
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

if TYPE_CHECKING:
    from testsgd.comparison.outcome import Comparison


class ComparisonResult(DocumentResult[ComparisonSummary]):
    """The result of a comparison; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : ComparisonSummary
        The document.
    comparison : Comparison, optional
        What it was made from; a result that was read back from JSON has none.

    Attributes
    ----------
    summary : ComparisonSummary
        As given.
    comparison : Comparison or None
        As given.
    """

    document: ClassVar = DocumentKind(
        ComparisonSummary,
        SCHEMA_NAME,
        what="a comparison",
        again="run the comparison again",
        layout=comparison_layout,
        reword=without_times,
    )

    def __init__(self, summary: ComparisonSummary, comparison: Comparison | None = None) -> None:
        super().__init__(summary)
        self.comparison = comparison

    @property
    def verdict(self) -> ComparisonVerdict:
        """The outcome in words; its exit code is always 0."""
        return self.summary.verdict

    def __repr__(self) -> str:
        name = self.summary.data.name
        return one_line(f"<ComparisonResult of {name!r}: {self.verdict.headline}>")
