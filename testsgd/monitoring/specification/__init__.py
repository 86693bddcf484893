"""The document that says what a monitor watches over, and how events are read."""

from __future__ import annotations

from testsgd.monitoring.specification.document import MonitorSpecification
from testsgd.monitoring.specification.durations import duration_text, seconds_in
from testsgd.monitoring.specification.parts import (
    EstimatePart,
    EventsPart,
    EvidencePart,
    GroupsPart,
    TimePart,
    TrialsPart,
    WindowPart,
)
from testsgd.monitoring.specification.properties import (
    MonitoredProperty,
    PropertyPart,
    allows_evidence,
)

__all__ = [
    "EstimatePart",
    "EventsPart",
    "EvidencePart",
    "GroupsPart",
    "MonitorSpecification",
    "MonitoredProperty",
    "PropertyPart",
    "TimePart",
    "TrialsPart",
    "WindowPart",
    "allows_evidence",
    "duration_text",
    "seconds_in",
]
