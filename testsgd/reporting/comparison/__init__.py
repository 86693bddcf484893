"""Reporting of comparisons: one summary, and every view rendered from it."""

from testsgd.reporting.comparison.document import COMPARISON_DOCUMENT
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
]
