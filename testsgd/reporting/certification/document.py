"""The summary of a certification as JSON text, and its schema."""

from __future__ import annotations

from testsgd.reporting.certification.summary import SCHEMA_NAME, CertificationSummary
from testsgd.reporting.document_kind import DocumentKind

CERTIFICATION_DOCUMENT = DocumentKind(
    CertificationSummary,
    SCHEMA_NAME,
    what="a certification",
    again="run the certification again",
)
"""The document of a certification."""
