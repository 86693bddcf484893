"""Reporting of comparisons: one summary, and every view rendered from it."""

from testsgd.reporting.comparison.document import COMPARISON_DOCUMENT
from testsgd.reporting.comparison.html import render_comparison_html
from testsgd.reporting.comparison.markdown import render_comparison_markdown
from testsgd.reporting.comparison.summary import (
    ComparisonSummary,
    ComparisonVerdict,
)
from testsgd.reporting.comparison.verdict import comparison_verdict

__all__ = [
    "COMPARISON_DOCUMENT",
    "ComparisonSummary",
    "ComparisonVerdict",
    "comparison_verdict",
    "render_comparison_html",
    "render_comparison_markdown",
]
