"""The report of a monitor as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from testsgd.report.formatting import count, moment, plural
from testsgd.reporting.grid import Grid, grid_markdown
from testsgd.reporting.markup import cells, escape, folded, table
from testsgd.reporting.monitoring import grids
from testsgd.reporting.monitoring.notes import monitoring_notes, promises
from testsgd.reporting.monitoring.particulars import monitoring_particulars
from testsgd.reporting.monitoring.phrases import STATUS_NAMES, property_of
from testsgd.reporting.monitoring.summary import MonitoringSummary

TEXT_LIMIT = 160

# So many comparisons have a table of their groups, and so many alerts and windows a row.
COMPARISONS = 6
ROWS = 50


def render_monitoring_markdown(summary: MonitoringSummary) -> str:
    """Write what a monitor saw as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : MonitoringSummary
        What it saw; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The outcome comes first; details are folded away, drawings are left out.
    """
    version = escape(summary.versions.get("testsgd", ""))
    blocks = [
        f"## Monitor: {escape(summary.name)}",
        f"**{escape(summary.verdict.headline)}**",
        f"{STATUS_NAMES[summary.verdict.status]}.",
        "\n".join(f"- {escape(told)}" for told in summary.verdict.sentences),
        *_comparisons(summary),
        *_alerts(summary),
        "### What was counted, and what was not",
        _table(grids.stream_grid(summary.stream)),
        "### What is promised, and what is not",
        *(f"**{escape(note.term)}.** {escape(note.text)}" for note in promises(summary)),
        *folded(
            "Specification and stream",
            [
                table([escape(one.title), ""], [cells(fact) for fact in one.facts])
                for one in monitoring_particulars(summary)
            ],
        ),
        *folded(
            "What the numbers mean",
            [f"**{escape(note.term)}.** {escape(note.text)}" for note in monitoring_notes(summary)],
        ),
        f"*testsgd {version}, {escape(moment(summary.created))}. The drawings are in the HTML "
        "report.*",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _comparisons(summary: MonitoringSummary) -> list[str]:
    if not summary.comparisons:
        return []
    blocks = ["### Comparisons", _table(grids.comparisons_grid(summary))]
    for one in summary.comparisons[:COMPARISONS]:
        known = property_of(summary, one)
        groups = grids.groups_grid(
            one, known, prior=grids.prior_counts(summary), window=summary.settings.window
        )
        blocks += [f"**{escape(groups.label)}**", _table(groups)]
        if one.windows:
            last = one.windows[-ROWS:]
            blocks += folded(
                f"The last {plural(len(last), 'window')}", [_table(grids.windows_grid(last))]
            )
    left = len(summary.comparisons) - COMPARISONS
    if left > 0:
        blocks.append(f"The groups of {plural(left, 'further comparison')} are in the JSON result.")
    return blocks


def _alerts(summary: MonitoringSummary) -> list[str]:
    if not summary.alerts:
        return []
    left = max(0, len(summary.alerts) - ROWS) + summary.alerts_left_out
    more = [f"{count(left)} more are not listed."] if left else []
    return folded(
        f"Alerts of this run: {count(len(summary.alerts) + summary.alerts_left_out)}",
        [_table(grids.alerts_grid(summary.alerts[:ROWS])), *more],
    )


def _table(grid: Grid) -> str:
    return grid_markdown(grid, TEXT_LIMIT, about=True)
