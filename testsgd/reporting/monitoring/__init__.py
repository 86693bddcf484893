"""Reporting of a monitor: one summary of what it saw, and its views."""

from testsgd.reporting.monitoring.document import MONITORING_DOCUMENT
from testsgd.reporting.monitoring.html import render_monitoring_html
from testsgd.reporting.monitoring.markdown import render_monitoring_markdown
from testsgd.reporting.monitoring.summary import MonitoringSummary, MonitorVerdict
from testsgd.reporting.monitoring.verdict import monitoring_verdict

__all__ = [
    "MONITORING_DOCUMENT",
    "MonitorVerdict",
    "MonitoringSummary",
    "monitoring_verdict",
    "render_monitoring_html",
    "render_monitoring_markdown",
]
