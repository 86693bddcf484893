"""Runs with and without a shield, many at once."""

from __future__ import annotations

from testsgd.shielding.simulation.outcome import Simulation, joined
from testsgd.shielding.simulation.period import Events
from testsgd.shielding.simulation.runs import replay_events, simulate

__all__ = [
    "Events",
    "Simulation",
    "joined",
    "replay_events",
    "simulate",
]
