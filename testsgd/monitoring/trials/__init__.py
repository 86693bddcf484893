"""From events to trials: what is said of one person, joined, in the order it becomes known."""

from __future__ import annotations

from testsgd.monitoring.trials.book import TrialBook
from testsgd.monitoring.trials.counters import Counters
from testsgd.monitoring.trials.event import Event, EventReader
from testsgd.monitoring.trials.moments import ONE_MOMENT, UNIT_NAMES, Unit, iso_text, shown
from testsgd.monitoring.trials.timeline import Arrival, DeadLetter, Fate, Timeline
from testsgd.monitoring.trials.trial import Step, Trial

__all__ = [
    "ONE_MOMENT",
    "UNIT_NAMES",
    "Arrival",
    "Counters",
    "DeadLetter",
    "Event",
    "EventReader",
    "Fate",
    "Step",
    "Timeline",
    "Trial",
    "TrialBook",
    "Unit",
    "iso_text",
    "shown",
]
