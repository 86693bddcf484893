"""The summaries of a shield and of a simulation as JSON text, their schemas, and reading them."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.reading import (
    SCHEMAS,
    load_schema,
    read_document,
    schema_text,
    write_document,
)
from testsgd.reporting.shielding.simulation_summary import SCHEMA_NAME as SIMULATION_SCHEMA_NAME
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import SCHEMA_NAME, ShieldSummary

SHIELD_SCHEMA_FILE = SCHEMAS / "shield-1.json"
SIMULATION_SCHEMA_FILE = SCHEMAS / "shield-simulation-1.json"


def render_shield_json(summary: ShieldSummary) -> str:
    """Write the summary of a synthesis as JSON text."""
    return write_document(summary)


def render_simulation_json(summary: SimulationSummary) -> str:
    """Write the summary of a simulation as JSON text."""
    return write_document(summary)


def read_shield_summary(text: str, *, where: str = "result") -> ShieldSummary:
    """Read the summary of a synthesis back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_shield_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    ShieldSummary

    Raises
    ------
    ResultError
        If the text is no summary of a synthesis, or one of another version.
    """
    return read_document(
        text,
        ShieldSummary,
        schema=SCHEMA_NAME,
        what="a synthesis",
        again="synthesise the shield again",
        where=where,
    )


def read_simulation_summary(text: str, *, where: str = "result") -> SimulationSummary:
    """Read the summary of a simulation back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_simulation_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    SimulationSummary

    Raises
    ------
    ResultError
        If the text is no summary of a simulation, or one of another version.
    """
    return read_document(
        text,
        SimulationSummary,
        schema=SIMULATION_SCHEMA_NAME,
        what="a simulation",
        again="run the simulation again",
        where=where,
    )


def shield_schema() -> dict[str, Any]:
    """Give the JSON Schema of the summary of a synthesis, as shipped in the package.

    Examples
    --------
    >>> shield_schema()["properties"]["schema"]["const"]
    'testsgd.shield/1'
    """
    return load_schema(SHIELD_SCHEMA_FILE)


def simulation_schema() -> dict[str, Any]:
    """Give the JSON Schema of the summary of a simulation, as shipped in the package.

    Examples
    --------
    >>> simulation_schema()["properties"]["schema"]["const"]
    'testsgd.shield-simulation/1'
    """
    return load_schema(SIMULATION_SCHEMA_FILE)


def generate_shield_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(ShieldSummary, SCHEMA_NAME)


def generate_simulation_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(SimulationSummary, SIMULATION_SCHEMA_NAME)
