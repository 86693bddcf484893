"""Reporting of mitigations: one summary, and every view rendered from it."""

from testsgd.reporting.mitigation.document import MITIGATION_DOCUMENT
from testsgd.reporting.mitigation.summary import (
    MitigationSummary,
    MitigationVerdict,
)
from testsgd.reporting.mitigation.verdict import mitigation_verdict

__all__ = [
    "MITIGATION_DOCUMENT",
    "MitigationSummary",
    "MitigationVerdict",
    "mitigation_verdict",
]
