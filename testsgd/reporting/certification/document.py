"""The document of a certification: its summary as JSON text, its schema, and its report."""

from __future__ import annotations

from testsgd.reporting.certification.layout import certification_layout
from testsgd.reporting.certification.summary import SCHEMA_NAME, CertificationSummary
from testsgd.reporting.document_kind import DocumentKind

CERTIFICATION_DOCUMENT = DocumentKind(
    CertificationSummary,
    SCHEMA_NAME,
    what="a certification",
    again="run the certification again",
    layout=certification_layout,
)
"""The document of a certification."""
