"""The first groups of an audit and its rates by feature, drawn with matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from testsgd.auditing.report import wording
from testsgd.auditing.report.summary import AuditSummary, CellRate, FeatureRates, GroupSummary
from testsgd.errors import MissingExtraError
from testsgd.report.formatting import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GROUPS = 10
_FEATURES = 6
_VALUES = 20
# Characters of a name, and of each of its lines.
_NAME = 90
_NAME_LINE = 45
# Inches for each line of a chart, and for what is around it.
_LINE = 0.32
_AROUND = 1.1


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
    try:
        from testsgd.auditing.report.shown_figure import ShownFigure
    except ImportError as error:
        raise MissingExtraError("matplotlib", extra="plot", purpose="drawing a result") from error

    groups = wording.findings(summary)[:_GROUPS]
    features = [
        FeatureRates(feature=feature.feature, cells=_drawn(feature))
        for feature in summary.charts.features
        if _drawn(feature)
    ][:_FEATURES]
    # Rules of several features stand in two lines, which need the room of more than one value.
    lines = [1.5 * max(len(groups), 1), *(len(feature.cells) for feature in features)]
    heights = [_AROUND + _LINE * number for number in lines]
    figure = ShownFigure(figsize=(8, sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_groups(panels[0], groups, summary.data.label.outcome)
    for panel, feature in zip(panels[1:], features, strict=True):
        _draw_rates(panel, feature, summary.overall_rate)
    return figure


def _drawn(feature: FeatureRates) -> list[CellRate]:
    """Return the first values of a feature that have a rate."""
    return [cell for cell in feature.cells if cell.rate is not None][:_VALUES]


def _draw_groups(panel: Axes, groups: list[GroupSummary], outcome: str | None) -> None:
    """Draw the differences of groups, in points, the first group at the top.

    `outcome` says whether the label is a benefit or a harm: groups that are worse off are orange.
    """
    panel.axvline(0, color="0.5", linewidth=0.8)
    differences = [group.difference for group in groups]
    sign = {"benefit": -1, "harm": 1}.get(outcome or "", 0)
    worse_off = [sign * difference > 0 for difference in differences]
    colours = ["tab:orange" if worse else "tab:blue" for worse in worse_off]
    intervals = [group.confidence_interval for group in groups]
    _draw_dots(panel, differences, intervals, colours=colours)
    _name_lines(panel, [group.text for group in groups])
    panel.set_xlabel(
        "percentage points; orange: worse off" if any(worse_off) else "percentage points"
    )
    panel.set_title("Largest differences from everybody else", loc="left")


def _draw_rates(panel: Axes, feature: FeatureRates, overall: float | None) -> None:
    """Draw the rates of a feature's values, in per cent, beside the overall rate."""
    if overall is not None:
        panel.axvline(100 * overall, color="0.5", linewidth=0.8)
    rates = [cell.rate for cell in feature.cells if cell.rate is not None]
    intervals = [cell.confidence_interval for cell in feature.cells]
    _draw_dots(panel, rates, intervals, colours=["tab:blue"] * len(rates))
    _name_lines(panel, [cell.label for cell in feature.cells])
    panel.set_xlabel("rate, per cent; the line is the overall rate")
    panel.set_title(_text(feature.feature), loc="left")


def _draw_dots(
    panel: Axes, shares: list[float], intervals: list[Any], *, colours: list[str]
) -> None:
    """Draw shares in per cent as dots, and their intervals, where there are any, as lines."""
    for line, (share, interval, colour) in enumerate(zip(shares, intervals, colours, strict=True)):
        if interval is not None:
            ends = [100 * end for end in interval]
            panel.plot(ends, [line, line], color=colour, linewidth=1.5)
        panel.plot([100 * share], [line], color=colour, marker="o", linestyle="none")


def _name_lines(panel: Axes, names: list[str]) -> None:
    panel.set_yticks(range(len(names)), [_text(name) for name in names])
    panel.set_ylim(len(names) - 0.5 if names else 0.5, -0.5)


def _text(name: str) -> str:
    """Return a name in lines to draw: matplotlib would take dollar signs for formulas."""
    lines = textwrap.wrap(shorten(name, _NAME), _NAME_LINE, break_on_hyphens=False)
    return "\n".join(lines).replace("$", r"\$")
