"""Auditing: the groups that a model treats differently, by how much, and how surely."""

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.run import Progress, run_audit

__all__ = [
    "AuditParameters",
    "Estimates",
    "Findings",
    "Progress",
    "TableFindings",
    "run_audit",
]
