"""Results: one object a capability, every view of it rendered from one summary."""

from testsgd.results.audit_result import FORMATS, AuditResult, check_formats
from testsgd.results.comparison_result import (
    COMPARISON_FORMATS,
    ComparisonResult,
    check_comparison_formats,
)
from testsgd.results.files import FILE_NAMES
from testsgd.results.mitigation_result import (
    MITIGATION_FORMATS,
    MitigationResult,
    check_mitigation_formats,
)
from testsgd.results.saved import read_result

__all__ = [
    "COMPARISON_FORMATS",
    "FILE_NAMES",
    "FORMATS",
    "MITIGATION_FORMATS",
    "AuditResult",
    "ComparisonResult",
    "MitigationResult",
    "check_comparison_formats",
    "check_formats",
    "check_mitigation_formats",
    "read_result",
]
