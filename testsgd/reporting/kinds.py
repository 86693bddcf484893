"""Every kind of document that the package writes."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.certification.document import CERTIFICATION_DOCUMENT
from testsgd.reporting.comparison.document import COMPARISON_DOCUMENT
from testsgd.reporting.document import AUDIT_DOCUMENT
from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.mitigation.document import MITIGATION_DOCUMENT
from testsgd.reporting.monitoring.document import MONITORING_DOCUMENT
from testsgd.reporting.shielding.document import SHIELD_DOCUMENT, SIMULATION_DOCUMENT

DOCUMENTS: tuple[DocumentKind[Any], ...] = (
    AUDIT_DOCUMENT,
    MITIGATION_DOCUMENT,
    COMPARISON_DOCUMENT,
    CERTIFICATION_DOCUMENT,
    SHIELD_DOCUMENT,
    SIMULATION_DOCUMENT,
    MONITORING_DOCUMENT,
)
"""Every kind of document, that of an audit first."""
