"""Reporting of shields: a summary of a synthesis, one of a simulation, and their views."""

from testsgd.reporting.shielding.document import SHIELD_DOCUMENT, SIMULATION_DOCUMENT
from testsgd.reporting.shielding.parts import ShieldVerdict
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary

__all__ = [
    "SHIELD_DOCUMENT",
    "SIMULATION_DOCUMENT",
    "ShieldSummary",
    "ShieldVerdict",
    "SimulationSummary",
]
