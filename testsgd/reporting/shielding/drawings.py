"""Geometry of the drawings of a shield's reports; the templates draw them.

As in an audit's report, positions are per cent of the drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from testsgd.report.formatting import count, percent, plural
from testsgd.report.scales import Scale, Tick, linear_scale, position
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.shielding.phrases import (
    threshold_text,
)
from testsgd.reporting.shielding.simulation_summary import BiasBin, SideSummary, SimulationSummary

# Nothing that is there is drawn thinner or lower than this.
_LEAST = 0.6

# Heights that differ by no more than this are drawn on one scale.
_ALIKE = 3.0


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram; `y` counts from the top."""

    x: float
    width: float
    y: float
    height: float
    above: bool
    title: str


@dataclass(frozen=True)
class Histogram:
    """Runs by their bias, with or without the shield."""

    name: str
    share: str
    bars: tuple[Bar, ...]
    y_ticks: tuple[Tick, ...]
    median: float
    title: str


@dataclass(frozen=True)
class Biases:
    """Two histograms above each other, on one scale, with the threshold across both."""

    scale: Scale
    threshold: float
    threshold_name: str
    left: bool
    alike: bool
    histograms: tuple[Histogram, ...]


@dataclass(frozen=True)
class PeriodMark:
    """Shares of fair runs at the end of a period, without the shield and with it."""

    period: int
    without: float
    shielded: float
    title: str


_SIDES: tuple[Callable[[BiasBin], int], ...] = (
    lambda one: one.without,
    lambda one: one.shielded,
)


def biases(summary: SimulationSummary) -> Biases:
    """Draw how the bias at the end of the runs is distributed.

    Parameters
    ----------
    summary : SimulationSummary
        The simulation.

    Returns
    -------
    Biases
        With a shield nearly all runs may have one bias; then each histogram has its own height.
    """
    widest = max(one.high for one in summary.bins)
    drawn = linear_scale(0.0, max(widest, 1e-3), count=6)
    scale = Scale(
        drawn.low,
        drawn.high,
        tuple(Tick(tick.at, _bias_tick(tick, drawn)) for tick in drawn.ticks),
    )
    at = scale.place(summary.bound.threshold)
    most = [max(runs(one) for one in summary.bins) for runs in _SIDES]
    alike = max(most) <= _ALIKE * min(most)
    highest = [max(most) if alike else one for one in most]
    return Biases(
        scale=scale,
        threshold=at,
        threshold_name=f"threshold {threshold_text(summary.bound)}",
        left=at > 70,
        alike=alike,
        histograms=(
            _histogram(
                "Without the shield", summary, scale, summary.without, _SIDES[0], highest[0]
            ),
            _histogram("With it", summary, scale, summary.shielded, _SIDES[1], highest[1]),
        ),
    )


def _histogram(
    name: str,
    summary: SimulationSummary,
    scale: Scale,
    side: SideSummary,
    runs: Callable[[BiasBin], int],
    most: int,
) -> Histogram:
    all_runs = summary.settings.runs
    y_scale = linear_scale(0.0, most / all_runs, count=3)
    bars = []
    for one in summary.bins:
        if not runs(one):
            continue
        x, end = scale.place(one.low), scale.place(one.high)
        height = max(y_scale.place(runs(one) / all_runs), _LEAST)
        bars.append(
            Bar(
                x=x,
                width=max(position(end - x), _LEAST),
                y=position(100 - height),
                height=height,
                above=one.above,
                title=f"{plural(runs(one), 'run')} with a bias {_extent(one)}",
            )
        )
    ended = sum(runs(one) for one in summary.bins if one.above)
    when = " after the last period" if summary.settings.periods > 1 else ""
    share = f"{percent(ended / all_runs) if ended else 'none'} above the threshold{when}"
    return Histogram(
        name=name,
        share=share,
        bars=tuple(bars),
        y_ticks=y_scale.ticks,
        median=scale.place(side.median),
        title=f"{name}: {count(ended)} of {plural(all_runs, 'run')} ended above the threshold; "
        f"the run in the middle has a bias of {bias_text(side.median)}",
    )


def period_marks(summary: SimulationSummary) -> tuple[PeriodMark, ...]:
    """Draw the shares of runs within the threshold, period by period; nothing of a single one."""
    runs = summary.settings.runs
    if len(summary.periods) < 2:
        return ()
    marks = []
    for one in summary.periods:
        without, shielded = 1 - one.above_without / runs, 1 - one.above_shielded / runs
        marks.append(
            PeriodMark(
                period=one.period,
                without=position(100 * without),
                shielded=position(100 * shielded),
                title=f"Period {one.period}: within the threshold {percent(without)} without the "
                f"shield, {percent(shielded)} with it",
            )
        )
    return tuple(marks)


def _extent(one: BiasBin) -> str:
    if one.low == one.high:
        return f"of {bias_text(one.low)}"
    return f"above {bias_text(one.low)}, up to {bias_text(one.high)}"


def _bias_tick(tick: Tick, scale: Scale) -> str:
    value = scale.low + (scale.high - scale.low) * tick.at / 100
    return f"{round(value, 6):.3g}"
