"""Monitors: fairness over a stream of decisions, and an alert when it is lost.

A :class:`MonitorSpecification` says what is compared and when that is too much; a :class:`Monitor`
takes the events. What the events say of one person is joined to a trial.
"""

from testsgd.monitoring.judging import Alert, AlertedGroup, TrajectoryPoint, WindowStatus
from testsgd.monitoring.running import (
    ComparisonStatus,
    GroupStatus,
    Monitor,
    MonitorStatus,
    Standing,
)
from testsgd.monitoring.specification import MonitoredProperty, MonitorSpecification
from testsgd.monitoring.trials import DeadLetter

__all__ = [
    "Alert",
    "AlertedGroup",
    "ComparisonStatus",
    "DeadLetter",
    "GroupStatus",
    "Monitor",
    "MonitorSpecification",
    "MonitorStatus",
    "MonitoredProperty",
    "Standing",
    "TrajectoryPoint",
    "WindowStatus",
]
