"""The document of a comparison: its summary as JSON text, its schema, and its report."""

from __future__ import annotations

from testsgd.reporting.comparison.layout import layout
from testsgd.reporting.comparison.summary import SCHEMA_NAME, ComparisonSummary
from testsgd.reporting.document_kind import DocumentKind

COMPARISON_DOCUMENT = DocumentKind(
    ComparisonSummary,
    SCHEMA_NAME,
    what="a comparison",
    again="run the comparison again",
    layout=layout,
)
"""The document of a comparison."""
