"""Results: one object a capability, every view of it rendered from one summary."""

from testsgd.results.audit_result import FORMATS, AuditResult, check_formats
from testsgd.results.files import FILE_NAMES
from testsgd.results.mitigation_result import (
    MITIGATION_FORMATS,
    MitigationResult,
    check_mitigation_formats,
)
from testsgd.results.saved import read_result

__all__ = [
    "FILE_NAMES",
    "FORMATS",
    "MITIGATION_FORMATS",
    "AuditResult",
    "MitigationResult",
    "check_formats",
    "check_mitigation_formats",
    "read_result",
]
