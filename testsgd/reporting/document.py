"""The summary of an audit as JSON text, and its schema."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.audit_layout import audit_layout
from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.summary import SCHEMA_NAME, AuditSummary

AUDIT_DOCUMENT = DocumentKind(
    AuditSummary, SCHEMA_NAME, what="an audit", again="run the audit again", layout=audit_layout
)
"""The document of an audit."""


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of an audit's summary, as shipped in the package.

    Examples
    --------
    >>> summary_schema()["properties"]["schema"]["const"]
    'testsgd.audit/1'
    """
    return AUDIT_DOCUMENT.schema()
