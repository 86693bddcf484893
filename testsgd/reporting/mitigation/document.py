"""The summary of a mitigation as JSON text, and its schema."""

from __future__ import annotations

from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.mitigation.summary import SCHEMA_NAME, MitigationSummary

MITIGATION_DOCUMENT = DocumentKind(
    MitigationSummary,
    SCHEMA_NAME,
    what="a mitigation",
    again="run the mitigation again",
)
"""The document of a mitigation."""
