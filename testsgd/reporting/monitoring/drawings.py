"""Geometry of the drawings of a monitor's report; the templates draw them.

As in an audit's report, positions are per cent of the drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from testsgd.report.formatting import percent, plural, shorten
from testsgd.report.scales import Scale, Tick, linear_scale, position
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.monitoring.phrases import alert_place, comparison_title, threshold_of
from testsgd.reporting.monitoring.scales import bias_scale, count_ticks, down
from testsgd.reporting.monitoring.summary import (
    AlertSummary,
    CoursePoint,
    MonitoredComparison,
    PropertySummary,
)

# Rates of a few trials jump between 0 and 1: this first part of the trials makes no scale.
_FIRST = 0.05

# More alerts than this are spans and no marks.
_MARKS = 8

# Names beside lines keep at least this distance, in per cent of the height.
_BESIDE = 9.0

# So many lines have their names beside them.
_NAMED = 6

_NAME_LENGTH = 16


@dataclass(frozen=True)
class Line:
    """The rate of a group over the trials: an outline on a drawing of 100 by 100.

    `label_y` is where its name stands, None if there is no room for it.
    """

    kind: Literal["high", "low", "other"]
    path: str
    end: float | None
    label: str
    label_y: float | None


@dataclass(frozen=True)
class AlertMark:
    """Where an alert was raised."""

    x: float
    title: str


@dataclass(frozen=True)
class AlertSpan:
    """From where to where a comparison was in alert."""

    x: float
    width: float
    title: str


@dataclass(frozen=True)
class Course:
    """Two drawings above each other with one scale across: the rates, and the bias.

    With tumbling windows there is no bias: it begins anew with every window.
    """

    x_ticks: tuple[Tick, ...]
    rate_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    bias_ticks: tuple[Tick, ...]
    bias_path: str
    threshold: float
    threshold_name: str
    interval: tuple[float, float] | None
    alerts: tuple[AlertMark, ...]
    spans: tuple[AlertSpan, ...]
    with_bias: bool
    clipped: bool
    rates_title: str
    bias_title: str


def course(
    one: MonitoredComparison,
    known: PropertySummary,
    alerts: Sequence[AlertSummary],
    window: Literal["all", "tumbling", "sliding"],
) -> Course | None:
    """Draw how the rates and the bias of a comparison went.

    Parameters
    ----------
    one : MonitoredComparison
        The comparison.
    known : PropertySummary
        Its property.
    alerts : sequence of AlertSummary
        Those of the run; others than this comparison's are left out.
    window : {"all", "tumbling", "sliding"}
        Which trials are compared.

    Returns
    -------
    Course or None
        None if there are fewer than two moments.
    """
    points = one.course
    if len(points) < 2:
        return None
    last = points[-1].trials
    own = [] if window == "tumbling" else _own(one, alerts)
    places = _places(own, points, sliding=window == "sliding")
    across = Scale(0.0, float(last), ())
    settled = [point for point in points if point.trials >= _FIRST * last]
    rates = _rate_scale(settled)
    shown = [point.bias for point in settled] + [alert.bias for alert in own]
    shown += [] if one.high is None else [one.high]
    biases = bias_scale([*shown, 1.5 * known.threshold], known.threshold)
    clipped = any(
        not rates.low - 1e-9 <= rate <= rates.high + 1e-9
        for point in points
        for rate in point.estimates
        if rate is not None
    ) or (window != "tumbling" and any(point.bias > biases.high + 1e-9 for point in points))
    title = comparison_title(one)
    return Course(
        x_ticks=count_ticks(last),
        rate_ticks=rates.ticks,
        lines=_lines(one, across, rates),
        bias_ticks=biases.ticks,
        bias_path=_path([(across.share(p.trials), _height(p.bias, biases)) for p in points]),
        threshold=down(known.threshold, biases),
        threshold_name=f"threshold {threshold_of(known)}",
        interval=None
        if one.low is None or one.high is None
        else (down(one.high, biases), down(one.low, biases)),
        alerts=_marks(own, places, across),
        spans=_spans(one, own, places, across),
        with_bias=window != "tumbling",
        clipped=clipped,
        rates_title=f"Rates of the groups over {plural(last, 'trial')}: {title}",
        bias_title=f"Bias over {plural(last, 'trial')}: at the end {bias_text(one.estimate)}, "
        f"threshold {threshold_of(known)}",
    )


def _own(one: MonitoredComparison, alerts: Sequence[AlertSummary]) -> list[AlertSummary]:
    """Choose a comparison's alerts; its first may be from before this run."""
    own = [a for a in alerts if a.property == one.property and a.given == one.given]
    if one.first_alert is not None and one.first_alert not in own:
        own.insert(0, one.first_alert)
    return own


def _places(
    own: Sequence[AlertSummary], points: Sequence[CoursePoint], *, sliding: bool
) -> list[float] | None:
    """Give after how many trials alerts came; None if that is not known.

    In a sliding window an alert counts the trials of the window, and only its time tells when it
    came.
    """
    if not sliding:
        return [float(alert.trials) for alert in own]
    timed = [(point.time, point.trials) for point in points if point.time is not None]
    times = [alert.time for alert in own if alert.time is not None]
    if not timed or len(times) < len(own):
        return None
    known, trials = zip(*timed, strict=True)
    return [float(place) for place in np.interp(times, known, trials)]


def _marks(
    own: Sequence[AlertSummary], places: Sequence[float] | None, across: Scale
) -> tuple[AlertMark, ...]:
    marks = [
        AlertMark(
            across.place(place), f"Alert raised {alert_place(alert)}, bias {bias_text(alert.bias)}"
        )
        for alert, place in zip(own, places or (), strict=places is not None)
        if alert.alert == "raised"
    ]
    return tuple(marks) if len(marks) <= _MARKS else ()


def _spans(
    one: MonitoredComparison,
    own: Sequence[AlertSummary],
    places: Sequence[float] | None,
    across: Scale,
) -> tuple[AlertSpan, ...]:
    """Say from where to where alerts held; nothing if not all of them are known."""
    if places is None or sum(alert.alert == "raised" for alert in own) < one.alerts:
        return ()
    spans: list[AlertSpan] = []
    start: float | None = None
    for alert, place in zip(own, places, strict=True):
        if alert.alert == "raised":
            start = place if start is None else start
        elif start is not None:
            spans.append(_span(start, place, across))
            start = None
    if start is not None:
        spans.append(_span(start, across.high, across))
    return tuple(spans)


def _span(start: float, end: float, across: Scale) -> AlertSpan:
    low, high = across.place(start), across.place(end)
    width = max(position(high - low), 0.3)
    title = f"In alert from {plural(round(start), 'trial')} to {plural(round(end), 'trial')}"
    return AlertSpan(min(low, 100 - width), width, title)


def _rate_scale(points: Sequence[CoursePoint]) -> Scale:
    rates = [rate for point in points for rate in point.estimates if rate is not None] or [0.0, 1.0]
    low, high = min(rates), max(rates)
    # So close rates are no picture of large differences.
    room = max(0.0, 0.1 - (high - low)) / 2
    scale = linear_scale(max(low - room, 0.0), min(high + room, 1.0), count=4)
    return Scale(scale.low, min(scale.high, 1.0), scale.ticks)


def _lines(one: MonitoredComparison, across: Scale, rates: Scale) -> tuple[Line, ...]:
    lines = []
    for place, group in enumerate(one.groups):
        known = [
            (across.share(point.trials), _height(point.estimates[place], rates))
            for point in one.course
        ]
        end = None if group.estimate is None else down(group.estimate, rates)
        kind: Literal["high", "low", "other"] = "other"
        if len(one.groups) > 1 and one.highest != one.lowest:
            kind = {one.highest: "high", one.lowest: "low"}.get(group.name, "other")  # type: ignore[assignment]
        label = f"{shorten(group.name, _NAME_LENGTH)} {percent(group.estimate)}"
        lines.append(Line(kind, _path(known), end, label, None))
    placed = _labels(lines)
    # The two that are farthest apart are drawn last, above all others.
    order = sorted(range(len(lines)), key=lambda place: lines[place].kind != "other")
    return tuple(
        Line(line.kind, line.path, line.end, line.label, placed.get(place))
        for place in order
        for line in [lines[place]]
    )


def _labels(lines: Sequence[Line]) -> dict[int, float]:
    """Place the names beside the lines' ends, moved apart; of many lines, those of the extremes."""
    named = [place for place, line in enumerate(lines) if line.end is not None]
    if len(named) > _NAMED:
        named = [place for place in named if lines[place].kind != "other"]
    named.sort(key=lambda place: lines[place].end or 0.0)
    heights = [lines[place].end or 0.0 for place in named]
    for place in range(1, len(heights)):
        heights[place] = max(heights[place], heights[place - 1] + _BESIDE)
    if heights and heights[-1] > 100:
        heights[-1] = 100.0
        for place in range(len(heights) - 2, -1, -1):
            heights[place] = min(heights[place], heights[place + 1] - _BESIDE)
    return {place: position(height) for place, height in zip(named, heights, strict=True)}


def _path(points: Sequence[tuple[float, float | None]]) -> str:
    """Outline a line through points, with gaps where there is no value."""
    path, drawn = [], False
    for x, y in points:
        if y is not None:
            path.append(f"{'L' if drawn else 'M'}{100 * x:.2f} {y:.2f}")
        drawn = y is not None
    return "".join(path)


def _height(value: float | None, scale: Scale) -> float | None:
    """Place a value from the top; beyond the scale it lies outside of the drawing."""
    if value is None:
        return None
    share = (value - scale.low) / (scale.high - scale.low)
    return 100 - 100 * min(max(share, -1.0), 2.0)
