"""The reports of a shield as single HTML files: they ask for no other file and run no script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testsgd.reporting import mitigation
from testsgd.reporting.pages import page_environment
from testsgd.reporting.shielding import drawings, grids, phrases
from testsgd.reporting.shielding.notes import shield_notes, simulation_notes
from testsgd.reporting.shielding.particulars import shield_particulars, simulation_particulars
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary

# Longer tables are folded away.
OPEN_ROWS = 12

_TEMPLATES = Path(__file__).parent / "templates"
# Tables are drawn as those of a mitigation.
_PIECES = Path(mitigation.__file__).parent / "templates"


def render_shield_html(summary: ShieldSummary) -> str:
    """Write a synthesis as a self-contained HTML document.

    Parameters
    ----------
    summary : ShieldSummary
        The synthesis; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    return _rendered(
        "shield.html.j2",
        summary,
        made=summary.synthesis,
        particulars=shield_particulars(summary),
        notes=shield_notes(summary),
    )


def render_simulation_html(summary: SimulationSummary) -> str:
    """Write a simulation as a self-contained HTML document.

    Parameters
    ----------
    summary : SimulationSummary
        The simulation; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    return _rendered(
        "simulation.html.j2",
        summary,
        biases=drawings.biases(summary),
        marks=drawings.period_marks(summary),
        sides=grids.sides_grid(summary),
        costs=grids.cost_grid(summary),
        periods=grids.periods_grid(summary),
        particulars=simulation_particulars(summary),
        notes=simulation_notes(summary),
    )


def _rendered(template: str, summary: ShieldSummary | SimulationSummary, **own: Any) -> str:
    """Fill a template with what both pages have, and with what only this one has."""
    return (
        page_environment(_TEMPLATES, _PIECES)
        .get_template(template)
        .render(
            summary=summary,
            bound=summary.bound,
            phrases=phrases,
            status=phrases.STATUS_NAMES[summary.verdict.status],
            inputs=grids.inputs_grid(summary.inputs),
            open_rows=OPEN_ROWS,
            **own,
        )
    )
