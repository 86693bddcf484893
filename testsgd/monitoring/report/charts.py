"""What a monitor's report draws: how rates and the bias went, and the biases of windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testsgd.fairness.wording import bias_text, bound_text
from testsgd.monitoring.report.summary import (
    AlertSummary,
    CoursePoint,
    MonitoredComparison,
    MonitoringSummary,
    PropertySummary,
)
from testsgd.monitoring.report.wording import (
    alert_place,
    comparison_title,
    estimates_differ,
    property_of,
)
from testsgd.report.blocks import Figure
from testsgd.report.charts import Area, Bar, Flag, Line, Plane, Span, Threshold, Tone
from testsgd.report.formatting import count, number, percent, plural, sentence, shorten
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
_CLIPPED = " The first trials, whose rates jump, run out of the drawing."
_BELOW = "Trials that were counted"
_RATES_HEIGHT = 13.0
_BIAS_HEIGHT = 8.0


def course_figure(summary: MonitoringSummary, comparison: MonitoredComparison) -> Figure | None:
    """Draw how the rates of a comparison went and, below them, the bias, on one scale of trials.

    With tumbling windows the bias begins anew with every window, and is not drawn. None if there
    are fewer than two moments.
    """
    points, last = comparison.course, _last(comparison)
    if len(points) < 2:
        return None
    settled = [point for point in points if point.trials >= _FIRST * last]
    title = f"over {plural(last, 'trial')}: {comparison_title(comparison)}"
    if summary.settings.window == "tumbling":
        rates = _rates_plane(summary, comparison, settled, ())
        caption = sentence(_rates_caption(rates))
        return Figure(f"Rates {title}", (rates,), f"{caption}{_CLIPPED * _runs_out(rates)}")
    bias = _bias_plane(summary, comparison, settled)
    rates = _rates_plane(summary, comparison, settled, bias.flags, above=True)
    caption = f"Above: {_rates_caption(rates)}. Below: {_bias_caption(bias)}."
    clipped = _runs_out(rates) or _runs_out(bias)
    return Figure(f"Rates and bias {title}", (rates, bias), f"{caption}{_CLIPPED * clipped}")


def windows_figure(comparison: MonitoredComparison, known: PropertySummary) -> Figure | None:
    """Draw the biases of tumbling windows; None without windows."""
    windows = comparison.windows
    if not windows:
        return None
    first, last = windows[0].window, windows[-1].window
    half = 0.5 if last - first >= _GAPS else 0.5 - _GAP / 2
    above = sum(window.above for window in windows)
    bars = (
        Bar(
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
        title=f"Bias of {plural(len(windows), 'window')}, {count(above)} above the bound",
        across=count_scale(first - 0.5, last + 0.5),
        upwards=_bias_scale([window.estimate for window in windows], 1.25 * known.bound),
        name="Bias of each window",
        below="Window",
        bars=tuple(bars),
        thresholds=(Threshold(known.bound),),
        height=_BIAS_HEIGHT,
    )
    caption = (
        "One bar a window, in their order; orange is above the bound. Dashed: the bound "
        f"{bound_text(known)}."
    )
    return Figure(f"Bias of each window: {comparison_title(comparison)}", (plane,), caption)


def _rates_plane(
    summary: MonitoringSummary,
    comparison: MonitoredComparison,
    settled: Sequence[CoursePoint],
    flags: Sequence[Flag],
    above: bool = False,
) -> Plane:
    """Draw the rates of the groups; `above` another plane, whose axis across serves both."""
    last, prior = _last(comparison), estimates_differ(summary)
    return Plane(
        title=f"Rates of the groups over {plural(last, 'trial')}: {comparison_title(comparison)}",
        across=count_scale(0, last),
        upwards=_rate_scale(comparison, settled),
        name=f"Rates of the groups, per cent{', as estimated' * prior}"
        f"{'' if above else '; all trials so far'}",
        below=None if above else _BELOW,
        flags=tuple(Flag(flag.at) for flag in flags),
        lines=_lines(comparison),
        height=_RATES_HEIGHT,
    )


def _bias_plane(
    summary: MonitoringSummary, comparison: MonitoredComparison, settled: Sequence[CoursePoint]
) -> Plane:
    """Draw the bias with the bound and, at the right end, where it lies by evidence."""
    known, last = property_of(summary, comparison), _last(comparison)
    alerts = _alerts_of(comparison, summary.alerts)
    trials = _trials_at(alerts, comparison.course, sliding=summary.settings.window == "sliding")
    interval = None
    if comparison.low is not None and comparison.high is not None:
        interval = (comparison.low, comparison.high)
    biases = [point.bias for point in settled] + [alert.bias for alert in alerts]
    across = count_scale(0, last)
    upwards = _bias_scale([*biases, *(interval or ())], 1.5 * known.bound)
    low, high = known.bound, upwards.high
    corners = (across.low, low), (across.high, low), (across.high, high), (across.low, high)
    name, end = f"bound {bound_text(known)}", bias_text(comparison.estimate)
    return Plane(
        title=f"Bias over {plural(last, 'trial')}: at the end {end}, {name}",
        across=across,
        upwards=upwards,
        name="Bias",
        below=_BELOW,
        areas=(Area(corners, "less"),),
        spans=_spans(comparison, alerts, trials),
        flags=_flags(alerts, trials),
        lines=(Line(tuple((point.trials, point.bias) for point in comparison.course), "ink"),),
        thresholds=(Threshold(known.bound, name),),
        interval=interval,
        height=_BIAS_HEIGHT,
    )


def _last(comparison: MonitoredComparison) -> int:
    """Return how many trials had been counted at the end of the course."""
    return comparison.course[-1].trials if comparison.course else 0


def _alerts_of(
    comparison: MonitoredComparison, alerts: Sequence[AlertSummary]
) -> list[AlertSummary]:
    """Return a comparison's alerts; its first may be from before this run."""
    title = comparison.property, comparison.conditions
    own = [alert for alert in alerts if (alert.property, alert.conditions) == title]
    if comparison.first_alert is not None and comparison.first_alert not in own:
        own.insert(0, comparison.first_alert)
    return own


def _trials_at(
    alerts: Sequence[AlertSummary], points: Sequence[CoursePoint], *, sliding: bool
) -> list[float] | None:
    """Return after how many trials alerts came; None if that is not known.

    In a sliding window an alert counts the trials of the window, and only its time tells when it
    came.
    """
    if not sliding:
        return [float(alert.trials) for alert in alerts]
    timed = [(point.time, point.trials) for point in points if point.time is not None]
    times = [alert.time for alert in alerts if alert.time is not None]
    if not timed or len(times) < len(alerts):
        return None
    known, trials = zip(*timed, strict=True)
    return [float(at) for at in np.interp(times, known, trials)]


def _flags(alerts: Sequence[AlertSummary], trials: Sequence[float] | None) -> tuple[Flag, ...]:
    """Mark where alerts were raised; none if there are many."""
    flags = [
        Flag(at, f"Alert raised {alert_place(alert)}, bias {bias_text(alert.bias)}")
        for alert, at in zip(alerts, trials or (), strict=trials is not None)
        if alert.alert == "raised"
    ]
    return tuple(flags) if len(flags) <= _FLAGS else ()


def _spans(
    comparison: MonitoredComparison,
    alerts: Sequence[AlertSummary],
    trials: Sequence[float] | None,
) -> tuple[Span, ...]:
    """Return from where to where alerts held; nothing if not all of them are known."""
    raised = sum(alert.alert == "raised" for alert in alerts)
    if trials is None or raised < comparison.alerts:
        return ()
    ends: list[tuple[float, float]] = []
    start: float | None = None
    for alert, at in zip(alerts, trials, strict=True):
        if alert.alert == "raised":
            start = at if start is None else start
        elif start is not None:
            ends.append((start, at))
            start = None
    if start is not None:
        ends.append((start, float(_last(comparison))))
    return tuple(
        Span(low, high, f"In alert from {count(round(low))} to {plural(round(high), 'trial')}")
        for low, high in ends
    )


def _rate_scale(comparison: MonitoredComparison, settled: Sequence[CoursePoint]) -> Scale:
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


def _lines(comparison: MonitoredComparison) -> tuple[Line, ...]:
    """Draw the rate of each group; the two that are farthest apart last, above all others."""
    tones: dict[str | None, Tone] = {}
    if comparison.highest != comparison.lowest:
        tones = {comparison.highest: "more", comparison.lowest: "less"}
    lines = []
    for index, group in enumerate(comparison.groups):
        points = [(point.trials, point.estimates[index]) for point in comparison.course]
        if points[-1][1] != group.estimate:
            # Windows may have moved on since the last trial.
            points.append((_last(comparison), group.estimate))
        name = f"{shorten(group.name, _NAME_LENGTH)} {percent(group.estimate)}"
        lines.append(Line(tuple(points), tones.get(group.name, "soft"), name))
    return tuple(sorted(lines, key=lambda line: line.tone != "soft"))


def _runs_out(plane: Plane) -> bool:
    low, high = plane.upwards.low - 1e-9, plane.upwards.high + 1e-9
    values = (value for line in plane.lines for _, value in line.points)
    return any(not low <= value <= high for value in values if value is not None)


def _rates_caption(rates: Plane) -> str:
    if any(line.tone == "more" for line in rates.lines):
        return "blue has the highest rate now, orange the lowest"
    return "the rate" if len(rates.lines) == 1 else "the rates"


def _bias_caption(bias: Plane) -> str:
    marked = (
        "the bias by these rates",
        f"dashed, the {bias.thresholds[0].name}",
        *(("triangles, alerts",) if bias.flags else ()),
        *(("orange at the upper edge, in alert",) if bias.spans else ()),
        *(("at the right end, where the bias lies by evidence",) if bias.interval else ()),
    )
    return "; ".join(marked)
