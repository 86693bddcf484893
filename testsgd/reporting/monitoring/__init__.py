"""Reporting of a monitor: one summary of what it saw, and its views."""

from testsgd.reporting.monitoring.document import MONITORING_DOCUMENT
from testsgd.reporting.monitoring.summary import MonitoringSummary, MonitorVerdict
from testsgd.reporting.monitoring.verdict import monitoring_verdict

__all__ = [
    "MONITORING_DOCUMENT",
    "MonitorVerdict",
    "MonitoringSummary",
    "monitoring_verdict",
]
