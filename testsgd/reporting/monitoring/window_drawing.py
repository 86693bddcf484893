"""Geometry of the drawing of tumbling windows; the templates draw it."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.report.formatting import count, plural
from testsgd.report.scales import Tick, position
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.monitoring.phrases import threshold_of
from testsgd.reporting.monitoring.scales import bias_scale, down, whole_numbers_between
from testsgd.reporting.monitoring.summary import MonitoredComparison, PropertySummary


@dataclass(frozen=True)
class WindowBar:
    """A window's bias; `y` counts from the top."""

    x: float
    width: float
    y: float
    height: float
    above: bool
    title: str


@dataclass(frozen=True)
class WindowBars:
    """The biases of windows, one after the other, with the threshold across."""

    bars: tuple[WindowBar, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    threshold: float
    threshold_name: str
    title: str


def window_bars(one: MonitoredComparison, known: PropertySummary) -> WindowBars | None:
    """Draw the biases of tumbling windows.

    Parameters
    ----------
    one : MonitoredComparison
        The comparison.
    known : PropertySummary
        Its property.

    Returns
    -------
    WindowBars or None
        None without windows.
    """
    windows = one.windows
    if not windows:
        return None
    first, number = windows[0].window, windows[-1].window - windows[0].window + 1
    scale = bias_scale(
        [*(window.estimate for window in windows), 1.25 * known.threshold], known.threshold
    )
    width = 100 / number
    gap = 0.0 if number > 150 else 0.18 * width
    bars = []
    for window in windows:
        height = max(100 - down(window.estimate, scale), 0.6)
        bars.append(
            WindowBar(
                x=round((window.window - first) * width + gap / 2, 3),
                width=round(width - gap, 3),
                y=position(100 - height),
                height=position(height),
                above=window.above,
                title=f"Window {count(window.window)}: bias {bias_text(window.estimate)} of "
                f"{plural(window.trials, 'trial')}",
            )
        )
    above = sum(window.above for window in windows)
    return WindowBars(
        bars=tuple(bars),
        x_ticks=tuple(
            Tick(position((at - first + 0.5) * width), count(at))
            for at in whole_numbers_between(first, windows[-1].window)
        ),
        y_ticks=scale.ticks,
        threshold=down(known.threshold, scale),
        threshold_name=f"threshold {threshold_of(known)}",
        title=f"Bias of {plural(len(windows), 'window')}, {count(above)} above the threshold",
    )
