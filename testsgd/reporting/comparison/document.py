"""The summary of a comparison as JSON text, and its schema."""

from __future__ import annotations

from testsgd.reporting.comparison.summary import SCHEMA_NAME, ComparisonSummary
from testsgd.reporting.document_kind import DocumentKind

COMPARISON_DOCUMENT = DocumentKind(
    ComparisonSummary,
    SCHEMA_NAME,
    what="a comparison",
    again="run the comparison again",
)
"""The document of a comparison."""
