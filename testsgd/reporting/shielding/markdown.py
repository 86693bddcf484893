"""The reports of a shield as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import moment
from testsgd.reporting.grid import Grid, grid_markdown
from testsgd.reporting.markup import cells, escape, folded, table
from testsgd.reporting.particulars import Section
from testsgd.reporting.shielding.grids import cost_grid, inputs_grid, periods_grid, sides_grid
from testsgd.reporting.shielding.notes import shield_notes, simulation_notes
from testsgd.reporting.shielding.particulars import shield_particulars, simulation_particulars
from testsgd.reporting.shielding.parts import ShieldVerdict
from testsgd.reporting.shielding.phrases import STATUS_NAMES
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary

TEXT_LIMIT = 160


def render_shield_markdown(summary: ShieldSummary) -> str:
    """Write a synthesis as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : ShieldSummary
        The synthesis; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away.
    """
    return _joined(
        f"## Shield: {escape(summary.bound.name)}",
        *_verdict(summary.verdict),
        *_details(
            "Specification, distribution and synthesis",
            shield_particulars(summary),
            inputs_grid(summary.inputs),
        ),
        *_notes(shield_notes(summary)),
        _foot(summary),
    )


def render_simulation_markdown(summary: SimulationSummary) -> str:
    """Write a simulation as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : SimulationSummary
        The simulation; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away, pictures are left out.
    """
    periods = (
        ["### Period by period", _table(periods_grid(summary))] if len(summary.periods) > 1 else []
    )
    return _joined(
        f"## Simulation of a shield: {escape(summary.bound.name)}",
        *_verdict(summary.verdict),
        "### Runs without the shield and with it",
        _table(sides_grid(summary)),
        "### Changes and what they cost",
        _table(cost_grid(summary)),
        *periods,
        *_details(
            "Shield, distribution and settings",
            simulation_particulars(summary),
            inputs_grid(summary.inputs),
        ),
        *_notes(simulation_notes(summary)),
        _foot(summary),
    )


def _joined(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"


def _verdict(verdict: ShieldVerdict) -> tuple[str, ...]:
    return (
        f"**{escape(verdict.headline)}**",
        f"{STATUS_NAMES[verdict.status]}.",
        "\n".join(f"- {escape(told)}" for told in verdict.sentences),
    )


def _details(title: str, sections: tuple[Section, ...], inputs: Grid) -> list[str]:
    facts = [table([one.title, ""], [cells(fact) for fact in one.facts]) for one in sections]
    return folded(title, [*facts, _table(inputs)])


def _notes(notes: tuple[Note, ...]) -> list[str]:
    return folded(
        "What these numbers mean, and what they do not",
        [f"**{escape(note.term)}.** {escape(note.text)}" for note in notes],
    )


def _foot(summary: ShieldSummary | SimulationSummary) -> str:
    version = escape(summary.versions.get("testsgd", ""))
    drawn = " The drawings are in the HTML report." * isinstance(summary, SimulationSummary)
    return f"*testsgd {version}, {escape(moment(summary.created))}.{drawn}*"


def _table(grid: Grid) -> str:
    return grid_markdown(grid, TEXT_LIMIT, about=True)
