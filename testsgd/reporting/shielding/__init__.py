"""Reporting of shields: a summary of a synthesis, one of a simulation, and their views."""

from testsgd.reporting.shielding.document import SHIELD_DOCUMENT, SIMULATION_DOCUMENT
from testsgd.reporting.shielding.html import render_shield_html, render_simulation_html
from testsgd.reporting.shielding.markdown import (
    render_shield_markdown,
    render_simulation_markdown,
)
from testsgd.reporting.shielding.parts import ShieldVerdict
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary

__all__ = [
    "SHIELD_DOCUMENT",
    "SIMULATION_DOCUMENT",
    "ShieldSummary",
    "ShieldVerdict",
    "SimulationSummary",
    "render_shield_html",
    "render_shield_markdown",
    "render_simulation_html",
    "render_simulation_markdown",
]
