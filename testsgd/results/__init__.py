"""Results: one object a capability, every view of it rendered from one summary."""

from testsgd.results.audit_result import FORMATS, AuditResult, check_formats
from testsgd.results.certification_result import (
    CERTIFICATION_FORMATS,
    CertificationResult,
    check_certification_formats,
)
from testsgd.results.comparison_result import ComparisonResult
from testsgd.results.document_result import DOCUMENT_FORMATS, DocumentResult, check_document_formats
from testsgd.results.files import FILE_NAMES
from testsgd.results.mitigation_result import MitigationResult
from testsgd.results.monitor_result import MonitorResult
from testsgd.results.saved import read_result
from testsgd.results.shield_result import ShieldResult, SimulationResult

__all__ = [
    "CERTIFICATION_FORMATS",
    "DOCUMENT_FORMATS",
    "FILE_NAMES",
    "FORMATS",
    "AuditResult",
    "CertificationResult",
    "ComparisonResult",
    "DocumentResult",
    "MitigationResult",
    "MonitorResult",
    "ShieldResult",
    "SimulationResult",
    "check_certification_formats",
    "check_document_formats",
    "check_formats",
    "read_result",
]
