"""The result of a comparison: what several methods find on one model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.reporting import (
    ComparisonSummary,
    ComparisonVerdict,
    read_comparison_summary,
    render_comparison_html,
    render_comparison_json,
    render_comparison_markdown,
)
from testsgd.results.files import check_known, read_source, write_views

if TYPE_CHECKING:
    from testsgd.comparison import Comparison

COMPARISON_FORMATS = ("html", "md", "json")


class ComparisonResult:
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

    def __init__(self, summary: ComparisonSummary, comparison: Comparison | None = None) -> None:
        self.summary = summary
        self.comparison = comparison

    @property
    def verdict(self) -> ComparisonVerdict:
        """The outcome in words; its exit code is always 0."""
        return self.summary.verdict

    def to_json(self) -> str:
        """Give the summary as JSON text, after the schema ``testsgd.comparison/1``."""
        return render_comparison_json(self.summary)

    def to_html(self) -> str:
        """Give the report as one self-contained HTML page."""
        return render_comparison_html(self.summary)

    def to_markdown(self) -> str:
        """Give the report as Markdown."""
        return render_comparison_markdown(self.summary)

    @classmethod
    def from_json(cls, source: str | Path) -> ComparisonResult:
        """Read a result back.

        Parameters
        ----------
        source : str or path-like
            JSON text, or the path of a file that holds it.

        Returns
        -------
        ComparisonResult

        Raises
        ------
        ResultError
            If it is no result of a comparison.
        """
        text, where = read_source(source)
        return cls(read_comparison_summary(text, where=where))

    def write(self, folder: str | Path, formats: Sequence[str] = COMPARISON_FORMATS) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of {"html", "md", "json"}
            Which views.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown.
        """
        check_comparison_formats(formats)
        texts = {"html": self.to_html, "md": self.to_markdown, "json": self.to_json}
        return write_views(folder, formats, texts, {})

    def __repr__(self) -> str:
        return f"<ComparisonResult of {self.summary.data.name!r}: {self.verdict.headline}>"


def check_comparison_formats(formats: Sequence[str]) -> None:
    """Raise an error if a format of reports is unknown."""
    check_known(formats, COMPARISON_FORMATS)
