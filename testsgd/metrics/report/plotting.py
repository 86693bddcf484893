"""The distinct groups of each metric, and the metrics by feature, drawn with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from testsgd.metrics.parameters import Measure
from testsgd.metrics.report.summary import (
    ComparedGroup,
    FeatureMetrics,
    MetricsSummary,
    MetricSummary,
    ValueOfCell,
)
from testsgd.report.plotting import Ends, draw_dots, drawn_text, name_lines, panels_of_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GROUPS = 10
_METRICS = 6
_FEATURES = 6
_VALUES = 20
# Lines that dots of several metrics spread over, around the middle of their line.
_SPREAD = 0.5


def plot_metrics(summary: MetricsSummary) -> Figure:
    """Draw the distinct groups' effects, and all metrics by feature, with their intervals.

    Parameters
    ----------
    summary : MetricsSummary
        What was found.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    metrics = summary.metrics[:_METRICS]
    groups = [_drawn_groups(metric) for metric in metrics]
    by_feature = [
        panel
        for feature in summary.features[:_FEATURES]
        for panel in _panels_of_feature(feature, metrics)
    ]
    # Rules of several features stand in two lines, which need the room of more than one value.
    lines = [
        *(1.5 * max(len(of_metric), 1) for of_metric in groups),
        *(float(len(panel.labels)) for panel in by_feature),
    ]
    figure, panels = panels_of_lines(lines)
    for place, metric in enumerate(metrics):
        _draw_groups(panels[place], groups[place], metric, summary.parameters.measure)
    for panel, of_feature in zip(panels[len(metrics) :], by_feature, strict=True):
        _draw_values(panel, of_feature)
    return figure


@dataclass(frozen=True)
class _FeaturePanel:
    """Metrics of one unit over the values of one feature; `values[i][j]`: metric i, value j."""

    feature: str
    labels: list[str]
    metrics: list[MetricSummary]
    values: list[list[ValueOfCell]]


def _panels_of_feature(
    feature: FeatureMetrics, metrics: list[MetricSummary]
) -> list[_FeaturePanel]:
    """Return a panel for all metrics in per cent, and one for each metric of other numbers."""
    shares = [metric for metric in metrics if metric.scale != "number"]
    numbers = [[metric] for metric in metrics if metric.scale == "number"]
    panels = []
    for together in [shares, *numbers]:
        names = [metric.name for metric in together]
        cells = [
            cell
            for cell in feature.cells
            if any(item.value is not None for item in cell.metrics if item.metric in names)
        ][:_VALUES]
        if cells:
            values = [
                [item for cell in cells for item in cell.metrics if item.metric == name]
                for name in names
            ]
            labels = [cell.label for cell in cells]
            panels.append(_FeaturePanel(feature.feature, labels, together, values))
    return panels


def _drawn_groups(metric: MetricSummary) -> list[ComparedGroup]:
    """Return the first distinct groups of a metric that have an effect."""
    distinct = [group for group in metric.groups if group.distinct and group.effect is not None]
    return distinct[:_GROUPS]


def _draw_groups(
    panel: Axes, groups: list[ComparedGroup], metric: MetricSummary, measure: Measure
) -> None:
    """Draw the differences or ratios of groups, the first group at the top."""
    in_points = measure == "difference" and metric.scale != "number"
    factor = 100 if in_points else 1
    panel.axvline(1 if measure == "ratio" else 0, color="0.5", linewidth=0.8)
    effects = [factor * (group.effect or 0.0) for group in groups]
    intervals: list[Ends] = []
    for group, effect in zip(groups, effects, strict=True):
        low, high = group.confidence_interval
        # Of an interval without an upper end the lower part is drawn.
        intervals.append((factor * low, effect if high is None else factor * high))
    draw_dots(panel, effects, intervals, colours=["tab:blue"] * len(groups))
    name_lines(panel, [group.text for group in groups])
    panel.set_xlabel("percentage points" if in_points else measure)
    panel.set_title(drawn_text(f"{metric.title}: {measure}s of the first groups"), loc="left")


def _draw_values(panel: Axes, of_feature: _FeaturePanel) -> None:
    """Draw metrics over the values of a feature, each in a colour of its own."""
    number = len(of_feature.metrics)
    for place, (metric, values) in enumerate(
        zip(of_feature.metrics, of_feature.values, strict=True)
    ):
        factor = 1 if metric.scale == "number" else 100
        colour = f"C{place}"
        middle = (place + 0.5) / number - 0.5
        known = [(line, item) for line, item in enumerate(values) if item.value is not None]
        for line, item in known:
            ends = item.confidence_interval
            draw_dots(
                panel,
                [factor * (item.value or 0.0)],
                [None if ends is None else (factor * ends[0], factor * ends[1])],
                colours=[colour],
                offset=line + _SPREAD * middle,
            )
        panel.plot([], [], color=colour, marker="o", label=drawn_text(metric.title))
    name_lines(panel, of_feature.labels)
    in_per_cent = of_feature.metrics[0].scale != "number"
    panel.set_xlabel("per cent" if in_per_cent else of_feature.metrics[0].title.lower())
    panel.set_title(drawn_text(of_feature.feature), loc="left")
    if number > 1:
        panel.legend(fontsize="small")
