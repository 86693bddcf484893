"""The document of a mitigation: its summary as JSON text, its schema, and its report."""

from __future__ import annotations

from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.mitigation.layout import mitigation_layout
from testsgd.reporting.mitigation.summary import SCHEMA_NAME, MitigationSummary

MITIGATION_DOCUMENT = DocumentKind(
    MitigationSummary,
    SCHEMA_NAME,
    what="a mitigation",
    again="run the mitigation again",
    layout=mitigation_layout,
)
"""The document of a mitigation."""
