"""The report of a monitor as a single HTML file: it asks for no other file and runs no script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from testsgd.report.formatting import count, plural
from testsgd.reporting import mitigation
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.grid import Grid
from testsgd.reporting.monitoring import drawings, grids, phrases
from testsgd.reporting.monitoring.drawings import Course
from testsgd.reporting.monitoring.notes import monitoring_notes, promises
from testsgd.reporting.monitoring.particulars import monitoring_particulars
from testsgd.reporting.monitoring.summary import (
    MonitoredComparison,
    MonitoringSummary,
    PropertySummary,
)
from testsgd.reporting.monitoring.window_drawing import WindowBars, window_bars
from testsgd.reporting.pages import page_environment

# Longer tables are folded away.
OPEN_ROWS = 12

# So many comparisons are drawn, the most alarming ones; all are in the table.
DRAWN = 12

# So many alerts, and so many windows, have a row.
ROWS = 200

_TEMPLATES = Path(__file__).parent / "templates"
# Tables are drawn as those of a mitigation.
_PIECES = Path(mitigation.__file__).parent / "templates"


@dataclass(frozen=True)
class _Shown:
    """A comparison with its drawings and tables."""

    comparison: MonitoredComparison
    known: PropertySummary
    title: str
    standing: str
    course: Course | None
    bars: WindowBars | None
    groups_title: str
    groups: Grid
    windows: Grid
    windows_left_out: int


def render_monitoring_html(summary: MonitoringSummary) -> str:
    """Write what a monitor saw as a self-contained HTML document.

    Parameters
    ----------
    summary : MonitoringSummary
        What it saw; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    shown = [_shown(summary, one) for one in summary.comparisons[:DRAWN]]
    return (
        page_environment(_TEMPLATES, _PIECES)
        .get_template("monitoring.html.j2")
        .render(
            summary=summary,
            stream=summary.stream,
            phrases=phrases,
            bias_text=bias_text,
            status=phrases.STATUS_NAMES[summary.verdict.status],
            shown=shown,
            comparisons=grids.comparisons_grid(summary),
            alerts=grids.alerts_grid(summary.alerts[:ROWS]),
            alerts_title=_alerts_title(summary),
            alerts_not_shown=max(0, len(summary.alerts) - ROWS) + summary.alerts_left_out,
            came=grids.stream_grid(summary.stream),
            open_rows=OPEN_ROWS,
            promises=promises(summary),
            particulars=monitoring_particulars(summary),
            notes=monitoring_notes(summary),
        )
    )


def _alerts_title(summary: MonitoringSummary) -> str:
    cleared = sum(one.alert == "cleared" for one in summary.alerts)
    raised = plural(len(summary.alerts) - cleared, "alert")
    return f"{raised} raised and {count(cleared)} cleared" if cleared else f"{raised} raised"


def _shown(summary: MonitoringSummary, one: MonitoredComparison) -> _Shown:
    known = phrases.property_of(summary, one)
    return _Shown(
        comparison=one,
        known=known,
        title=phrases.comparison_title(one),
        standing=phrases.standing_name(one, known),
        course=drawings.course(one, known, summary.alerts, summary.settings.window),
        bars=window_bars(one, known),
        groups_title=f"Groups{grids.part_counted(summary.settings.window)}",
        groups=grids.groups_grid(
            one, known, prior=grids.prior_counts(summary), window=summary.settings.window
        ),
        windows=grids.windows_grid(one.windows[-ROWS:]),
        windows_left_out=max(0, len(one.windows) - ROWS),
    )
