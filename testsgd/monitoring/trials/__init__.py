"""From events to trials: what is said of one person, joined, in the order it becomes known."""

from __future__ import annotations

from testsgd.monitoring.trials.book import TrialBook
from testsgd.monitoring.trials.counters import Counters
from testsgd.monitoring.trials.event import ONE_MOMENT, Event, EventReader, seconds_of
from testsgd.monitoring.trials.trial import Step, Trial

__all__ = [
    "ONE_MOMENT",
    "Counters",
    "Event",
    "EventReader",
    "Step",
    "Trial",
    "TrialBook",
    "seconds_of",
]
