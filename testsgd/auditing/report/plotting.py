"""The first groups of an audit and its rates by feature, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testsgd.auditing.report import wording
from testsgd.auditing.report.summary import AuditSummary, CellRate, FeatureRates, GroupSummary
from testsgd.report.plotting import Ends, draw_dots, drawn_text, name_lines, panels_of_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GROUPS = 10
_FEATURES = 6
_VALUES = 20


def plot_audit(summary: AuditSummary) -> Figure:
    """Draw the differences of the first groups, and the rates by feature, with their intervals.

    Parameters
    ----------
    summary : AuditSummary
        What was found.

    Returns
    -------
    matplotlib.figure.Figure
        It is no figure of pyplot, so that nothing keeps it open.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    groups = wording.findings(summary)[:_GROUPS]
    features = [
        FeatureRates(feature=feature.feature, cells=_drawn(feature))
        for feature in summary.charts.features
        if _drawn(feature)
    ][:_FEATURES]
    # Rules of several features stand in two lines, which need the room of more than one value.
    lines = [1.5 * max(len(groups), 1), *(len(feature.cells) for feature in features)]
    figure, panels = panels_of_lines(lines)
    _draw_groups(panels[0], groups, summary)
    for panel, feature in zip(panels[1:], features, strict=True):
        _draw_rates(panel, feature, summary.overall_rate)
    return figure


def _drawn(feature: FeatureRates) -> list[CellRate]:
    """Return the first values of a feature that have a rate."""
    return [cell for cell in feature.cells if cell.rate is not None][:_VALUES]


def _draw_groups(panel: Axes, groups: list[GroupSummary], summary: AuditSummary) -> None:
    """Draw the differences of groups, in points, the first group at the top.

    Groups that are worse off are orange, where the label is known to be a benefit or a harm.
    """
    outcome = summary.data.label.outcome
    panel.axvline(0, color="0.5", linewidth=0.8)
    differences = [group.difference for group in groups]
    sign = {"benefit": -1, "harm": 1}.get(outcome or "", 0)
    worse_off = [sign * difference > 0 for difference in differences]
    colours = ["tab:orange" if worse else "tab:blue" for worse in worse_off]
    intervals = [_in_per_cent(group.confidence_interval) for group in groups]
    draw_dots(panel, [100 * item for item in differences], intervals, colours=colours)
    name_lines(panel, [group.text for group in groups])
    panel.set_xlabel(
        "percentage points; orange: worse off" if any(worse_off) else "percentage points"
    )
    order = f"\nby {wording.ranked_by(summary)}" if len(groups) > 1 else ""
    panel.set_title(f"Largest differences from everybody else{order}", loc="left")


def _draw_rates(panel: Axes, feature: FeatureRates, overall: float | None) -> None:
    """Draw the rates of a feature's values, in per cent, beside the overall rate."""
    if overall is not None:
        panel.axvline(100 * overall, color="0.5", linewidth=0.8)
    rates = [100 * cell.rate for cell in feature.cells if cell.rate is not None]
    intervals = [_in_per_cent(cell.confidence_interval) for cell in feature.cells]
    draw_dots(panel, rates, intervals, colours=["tab:blue"] * len(rates))
    name_lines(panel, [cell.label for cell in feature.cells])
    panel.set_xlabel("rate, per cent; the line is the overall rate")
    panel.set_title(drawn_text(feature.feature), loc="left")


def _in_per_cent(interval: tuple[float, float] | None) -> Ends:
    return None if interval is None else (100 * interval[0], 100 * interval[1])
