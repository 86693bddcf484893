"""The summary of a mitigation as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from testsgd.reporting.grid import Grid
from testsgd.reporting.mitigation import drawings, grids, phrases
from testsgd.reporting.mitigation.answers import answers
from testsgd.reporting.mitigation.notes import mitigation_notes
from testsgd.reporting.mitigation.particulars import mitigation_particulars
from testsgd.reporting.mitigation.summary import MitigationSummary, TargetSpread, TargetSummary
from testsgd.reporting.pages import page_environment
from testsgd.reporting.vocabulary import words_for

# Longer tables, and more targets or groups than these, are folded away.
OPEN_ROWS = 12
OPEN_TARGETS = 4
OPEN_SHIFTS = 5

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class _Target:
    """A target with what is drawn of it."""

    target: TargetSummary
    spread: TargetSpread
    rows: tuple[drawings.GapRows, drawings.GapRows]
    grid: Grid


def render_mitigation_html(summary: MitigationSummary) -> str:
    """Write a mitigation as a self-contained HTML document.

    Parameters
    ----------
    summary : MitigationSummary
        The mitigation; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    words = words_for(summary.data.kind)
    scale = drawings.gap_scale(summary.targets)
    change = summary.all_rows
    groups = [*change.worst, *change.risen]
    return (
        page_environment(_TEMPLATES)
        .get_template("mitigation.html.j2")
        .render(
            summary=summary,
            words=words,
            data=summary.data,
            label=summary.data.label,
            status=phrases.STATUS_NAMES[summary.verdict.status],
            answers=answers(summary),
            targets=[
                _Target(
                    target,
                    spread,
                    drawings.gap_rows(target, scale, words.many, kept=summary.kept_run is not None),
                    grids.target_grid(target, summary),
                )
                for target, spread in zip(summary.targets, summary.spreads, strict=True)
            ],
            gap_scale=scale,
            target_scale=(target_scale := drawings.shift_scale(summary.targets)),
            target_shifts=drawings.shifts(summary.targets, target_scale),
            trade_off=drawings.trade_off(summary),
            runs=grids.runs_grid(summary),
            candidates=grids.candidates_grid(summary),
            group_scale=(group_scale := drawings.shift_scale(groups)),
            worst=drawings.shifts(change.worst, group_scale),
            risen=drawings.shifts(change.risen, group_scale),
            worst_grid=grids.groups_grid(change, "Largest differences after", risen=False),
            risen_grid=grids.groups_grid(change, "Differences that grew", risen=True),
            held_out_worst=grids.groups_grid(
                summary.held_out, f"Largest differences, held-out {words.many}", risen=False
            ),
            held_out_risen=grids.groups_grid(
                summary.held_out, f"Differences that grew, held-out {words.many}", risen=True
            ),
            comparisons=grids.comparisons_grid(summary),
            curves=grids.curves_grid(summary),
            paying=grids.paying_grid(summary),
            parts=grids.parts_grid(summary),
            samples=grids.samples_grid(summary),
            open_rows=OPEN_ROWS,
            open_targets=OPEN_TARGETS,
            open_shifts=OPEN_SHIFTS,
            particulars=mitigation_particulars(summary),
            notes=mitigation_notes(summary),
            accuracy=phrases.accuracy,
            budget=phrases.budget,
            estimated=phrases.estimated(summary.split),
            refused=any(
                not one.allowed and phrases.within(one, summary.settings.max_accuracy_drop)
                for one in summary.candidates
            ),
            spread_scores=phrases.spread_scores,
        )
    )
