"""The monitor at run time: events in, alerts out, and how the stream stands."""

from __future__ import annotations

from testsgd.monitoring.running.monitor import Monitor
from testsgd.monitoring.running.status import (
    ComparisonStatus,
    GroupStatus,
    MonitorStatus,
    Standing,
)

__all__ = ["ComparisonStatus", "GroupStatus", "Monitor", "MonitorStatus", "Standing"]
