"""The summary of a monitor as JSON text, and its schema."""

from __future__ import annotations

from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.monitoring.layout import monitoring_layout
from testsgd.reporting.monitoring.summary import SCHEMA_NAME, MonitoringSummary

MONITORING_DOCUMENT = DocumentKind(
    MonitoringSummary,
    SCHEMA_NAME,
    what="a monitor",
    again="run the monitor again",
    layout=monitoring_layout,
)
"""The document of a monitor."""
