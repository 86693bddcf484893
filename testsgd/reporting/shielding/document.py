"""The summaries of a synthesis and of a simulation as JSON text, and their schemas."""

from __future__ import annotations

from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.shielding.layout import shield_layout, simulation_layout
from testsgd.reporting.shielding.simulation_summary import SCHEMA_NAME as SIMULATION_SCHEMA_NAME
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import SCHEMA_NAME, ShieldSummary

SHIELD_DOCUMENT = DocumentKind(
    ShieldSummary,
    SCHEMA_NAME,
    what="a synthesis",
    again="synthesise the shield again",
    layout=shield_layout,
)
"""The document of a synthesis."""

SIMULATION_DOCUMENT = DocumentKind(
    SimulationSummary,
    SIMULATION_SCHEMA_NAME,
    what="a simulation",
    again="run the simulation again",
    layout=simulation_layout,
)
"""The document of a simulation."""
