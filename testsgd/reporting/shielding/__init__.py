"""Reporting of shields: a summary of a synthesis, one of a simulation, and their views."""

from testsgd.reporting.shielding.document import (
    SHIELD_SCHEMA_FILE,
    SIMULATION_SCHEMA_FILE,
    generate_shield_schema,
    generate_simulation_schema,
    read_shield_summary,
    read_simulation_summary,
    render_shield_json,
    render_simulation_json,
    shield_schema,
    simulation_schema,
)
from testsgd.reporting.shielding.html import render_shield_html, render_simulation_html
from testsgd.reporting.shielding.markdown import (
    render_shield_markdown,
    render_simulation_markdown,
)
from testsgd.reporting.shielding.parts import ShieldVerdict
from testsgd.reporting.shielding.simulation_summary import (
    SCHEMA_NAME as SIMULATION_SCHEMA_NAME,
)
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import SCHEMA_NAME as SHIELD_SCHEMA_NAME
from testsgd.reporting.shielding.summary import ShieldSummary

__all__ = [
    "SHIELD_SCHEMA_FILE",
    "SHIELD_SCHEMA_NAME",
    "SIMULATION_SCHEMA_FILE",
    "SIMULATION_SCHEMA_NAME",
    "ShieldSummary",
    "ShieldVerdict",
    "SimulationSummary",
    "generate_shield_schema",
    "generate_simulation_schema",
    "read_shield_summary",
    "read_simulation_summary",
    "render_shield_html",
    "render_shield_json",
    "render_shield_markdown",
    "render_simulation_html",
    "render_simulation_json",
    "render_simulation_markdown",
    "shield_schema",
    "simulation_schema",
]
