"""The figures of a monitor's report: rates and bias over trials, and the biases of windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testsgd.fairness.wording import bias_text, bound_text
from testsgd.monitoring.report import wording
from testsgd.monitoring.report.summary import AlertSummary, MonitoredComparison, MonitoringSummary
from testsgd.report import charts
from testsgd.report.blocks import Figure
from testsgd.report.charts import Plane
from testsgd.report.formatting import count, number, percent, plural, shorten
from testsgd.report.scales import Scale, count_scale, linear_scale

# Rates of a few trials jump between 0 and 1: this first part of the trials makes no scale.
_FIRST = 0.05
# More alerts than this are spans and no flags.
_FLAGS = 8
# Longer names of groups are cut where a line ends.
_NAME_LENGTH = 14
# Bars of more windows stand without gaps.
_GAPS = 150
_GAP = 0.18
_BELOW = "Trials that were counted"
_BIAS_HEIGHT = 8.0
# Alerts, and after how many trials they came; None if that is not known.
Placed = list[tuple[AlertSummary, float | None]]


def course_figure(summary: MonitoringSummary, comparison: MonitoredComparison) -> Figure | None:
    """Draw the rates of a comparison and, but for tumbling windows, the bias below; or nothing."""
    if len(comparison.course) < 2:
        return None
    planes: tuple[Plane, ...] = (_rates_plane(summary, comparison, None),)
    name = "Rates"
    about = "The rates of the groups; blue the highest now, orange the lowest."
    if summary.settings.window != "tumbling":
        bias = _bias_plane(summary, comparison)
        planes = (_rates_plane(summary, comparison, bias), bias)
        name = "Rates and bias"
        about = (
            "Above: the rates of the groups; blue the highest now, orange the lowest. Below: the "
            "bias by these rates. Dashed: the bound. Triangles: alerts. Orange at the upper edge: "
            "in alert. At the right end: where the bias lies by evidence."
        )
    last = plural(_last(comparison), "trial")
    where = wording.comparison_title(comparison)
    caption = f"{about} The first trials, whose rates jump, may run out of the drawing."
    return Figure(f"{name} over {last}: {where}", planes, caption)


def windows_figure(summary: MonitoringSummary, comparison: MonitoredComparison) -> Figure | None:
    """Draw the biases of tumbling windows; None without windows."""
    windows = comparison.windows
    known = wording.property_of(summary, comparison)
    if not windows:
        return None
    first, last = windows[0].window, windows[-1].window
    half = 0.5 if last - first >= _GAPS else 0.5 - _GAP / 2
    above = count(sum(window.above for window in windows))
    bars = (
        charts.Bar(
            window.window - half,
            window.window + half,
            window.estimate,
            f"Window {count(window.window)}: bias {bias_text(window.estimate)} of "
            f"{plural(window.trials, 'trial')}",
            "less" if window.above else "more",
        )
        for window in windows
    )
    plane = Plane(
        title=f"Bias of {plural(len(windows), 'window')}, {above} above the bound",
        across=count_scale(first - 0.5, last + 0.5),
        upwards=_bias_scale([window.estimate for window in windows], 1.25 * known.bound),
        name="Bias of each window",
        below="Window",
        bars=tuple(bars),
        thresholds=(charts.Threshold(known.bound),),
        height=_BIAS_HEIGHT,
    )
    caption = "One bar a window, in their order; orange is above the bound. Dashed: the bound "
    title = f"Bias of each window: {wording.comparison_title(comparison)}"
    return Figure(title, (plane,), f"{caption}{bound_text(known)}.")


def _rates_plane(
    summary: MonitoringSummary, comparison: MonitoredComparison, bias: Plane | None
) -> Plane:
    """Draw the rates of the groups, above the plane of the bias, whose axis across serves both."""
    last = _last(comparison)
    prior = wording.has_prior(summary)
    title = wording.comparison_title(comparison)
    return Plane(
        title=f"Rates of the groups over {plural(last, 'trial')}: {title}",
        across=count_scale(0, last),
        upwards=_rate_scale(comparison),
        name=f"Rates of the groups, per cent{', as estimated' * prior}"
        f"{'' if bias else '; all trials so far'}",
        below=None if bias else _BELOW,
        flags=tuple(charts.Flag(flag.at) for flag in bias.flags) if bias else (),
        lines=_lines(comparison),
        height=13.0,
    )


def _bias_plane(summary: MonitoringSummary, comparison: MonitoredComparison) -> Plane:
    """Draw the bias with the bound and, at the right end, where it lies by evidence."""
    known = wording.property_of(summary, comparison)
    last = _last(comparison)
    alerts = _placed(summary, comparison)
    interval = None
    if comparison.low is not None and comparison.high is not None:
        interval = (comparison.low, comparison.high)
    biases = [point.bias for point in comparison.course if point.trials >= _FIRST * last]
    biases += [alert.bias for alert, _ in alerts]
    flags = [
        charts.Flag(at, f"Alert raised {wording.alert_place(alert)}, bias {bias_text(alert.bias)}")
        for alert, at in alerts
        if alert.alert == "raised" and at is not None
    ]
    across = count_scale(0, last)
    upwards = _bias_scale([*biases, *(interval or ())], 1.5 * known.bound)
    low, high = known.bound, upwards.high
    corners = (across.low, low), (across.high, low), (across.high, high), (across.low, high)
    name = f"bound {bound_text(known)}"
    end = bias_text(comparison.estimate)
    line = tuple((point.trials, point.bias) for point in comparison.course)
    return Plane(
        title=f"Bias over {plural(last, 'trial')}: at the end {end}, {name}",
        across=across,
        upwards=upwards,
        name="Bias",
        below=_BELOW,
        areas=(charts.Area(corners, "less"),),
        spans=_spans(comparison, alerts),
        flags=tuple(flags) if len(flags) <= _FLAGS else (),
        lines=(charts.Line(line, "ink"),),
        thresholds=(charts.Threshold(known.bound, name),),
        interval=interval,
        height=_BIAS_HEIGHT,
    )


def _last(comparison: MonitoredComparison) -> int:
    """Return how many trials had been counted at the end of the course."""
    return comparison.course[-1].trials if comparison.course else 0


def _placed(summary: MonitoringSummary, comparison: MonitoredComparison) -> Placed:
    """Return a comparison's alerts, the first perhaps from before this run, and where they came.

    In a sliding window an alert counts the trials of the window, and only its time tells that.
    """
    key = (comparison.property, comparison.conditions)
    first = comparison.first_alert
    alerts = [alert for alert in summary.alerts if (alert.property, alert.conditions) == key]
    if first is not None and first not in alerts:
        alerts.insert(0, first)
    if summary.settings.window != "sliding":
        return [(alert, float(alert.trials)) for alert in alerts]
    timed = [(point.time, point.trials) for point in comparison.course if point.time is not None]
    times = [alert.time for alert in alerts if alert.time is not None]
    if not timed or len(times) < len(alerts):
        return [(alert, None) for alert in alerts]
    moments, trials = zip(*timed, strict=True)
    return list(zip(alerts, np.interp(times, moments, trials).tolist(), strict=True))


def _spans(comparison: MonitoredComparison, alerts: Placed) -> tuple[charts.Span, ...]:
    """Return the spans of trials in alert; none if not all alerts are known."""
    ends = [(alert.alert, at) for alert, at in alerts if at is not None]
    if sum(kind == "raised" for kind, _ in ends) < comparison.alerts:
        return ()
    spans: list[charts.Span] = []
    start: float | None = None
    for kind, at in [*ends, ("cleared", float(_last(comparison)))]:
        if kind == "raised":
            start = at if start is None else start
        elif start is not None:
            title = f"In alert from {count(round(start))} to {plural(round(at), 'trial')}"
            spans.append(charts.Span(start, at, title))
            start = None
    return tuple(spans)


def _rate_scale(comparison: MonitoredComparison) -> Scale:
    settled = [point for point in comparison.course if point.trials >= _FIRST * _last(comparison)]
    estimates = [rate for point in settled for rate in point.estimates]
    estimates += [group.estimate for group in comparison.groups]
    rates = [rate for rate in estimates if rate is not None] or [0.0, 1.0]
    low, high = min(rates), max(rates)
    # So close rates are no picture of large differences.
    room = max(0.0, 0.1 - (high - low)) / 2
    scale = linear_scale(max(low - room, 0.0), min(high + room, 1.0), count=4)
    return Scale(scale.low, min(scale.high, 1.0), scale.ticks)


def _bias_scale(biases: Sequence[float], room: float) -> Scale:
    """Return a scale of biases from zero that has these on it, and some room."""
    return linear_scale(0.0, min(max([*biases, room, 0.01]), 1.0), count=4, write=number)


def _lines(comparison: MonitoredComparison) -> tuple[charts.Line, ...]:
    """Draw the rate of each group; the two that are farthest apart last, above all others."""
    tones: dict[str | None, charts.Tone] = {}
    if comparison.highest != comparison.lowest:
        tones = {comparison.highest: "more", comparison.lowest: "less"}
    lines = []
    for index, group in enumerate(comparison.groups):
        points = [(point.trials, point.estimates[index]) for point in comparison.course]
        if points[-1][1] != group.estimate:
            # Windows may have moved on since the last trial.
            points.append((_last(comparison), group.estimate))
        name = f"{shorten(group.name, _NAME_LENGTH)} {percent(group.estimate)}"
        lines.append(charts.Line(tuple(points), tones.get(group.name, "soft"), name))
    return tuple(sorted(lines, key=lambda line: line.tone != "soft"))
