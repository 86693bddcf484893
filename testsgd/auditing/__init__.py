"""Auditing: the groups that a model treats differently, by how much, and how surely."""

from testsgd.auditing.compare import AuditComparison, compare_audits, worst_groups
from testsgd.auditing.estimates import Estimates
from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.given import GroupMeasure, measure_groups
from testsgd.auditing.parameters import DRAWS, AuditParameters
from testsgd.auditing.run import Progress, run_audit

__all__ = [
    "DRAWS",
    "AuditComparison",
    "AuditParameters",
    "Estimates",
    "Findings",
    "GroupMeasure",
    "Progress",
    "TableFindings",
    "compare_audits",
    "measure_groups",
    "run_audit",
    "worst_groups",
]
