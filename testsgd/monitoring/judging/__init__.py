"""Judging: where trials are counted, how far groups are apart, and when that is an alert."""

from __future__ import annotations

from testsgd.monitoring.judging.alert import Alert, AlertedGroup, Given
from testsgd.monitoring.judging.comparison import Comparison, WindowStatus
from testsgd.monitoring.judging.property_judge import PropertyJudge
from testsgd.monitoring.judging.trajectory import TrajectoryPoint

__all__ = [
    "Alert",
    "AlertedGroup",
    "Comparison",
    "Given",
    "PropertyJudge",
    "TrajectoryPoint",
    "WindowStatus",
]
