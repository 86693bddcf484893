"""Geometry of the drawings of a certification; the templates draw them.

As in an audit's report, positions are per cent of the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.report.formatting import percent, share
from testsgd.report.scales import Scale, Tick, linear_scale, position
from testsgd.reporting.certification.figures import at_least, at_most, between, proved_texts
from testsgd.reporting.certification.summary import (
    CertificationSummary,
    MomentSummary,
    RegionSummary,
)

# From so large a ratio of the last to the first time on, time is drawn on a logarithmic scale.
_LOGARITHMIC = 30.0

# Nothing shorter than this part of the whole time is drawn.
_SHORTEST = 1e-4


@dataclass(frozen=True)
class Stack:
    """Three parts of one bar: proved fair from the left, proved unfair at the right end.

    Where the unfair part is estimated to begin lies in the interval at `likely`, if there is one.
    """

    fair: float
    undecided: float
    unfair: float
    title: str
    likely: tuple[float, float] | None = None

    @property
    def unfair_start(self) -> float:
        """Where the part that is proved unfair begins."""
        return position(100 - self.unfair)


@dataclass(frozen=True)
class Spread:
    """The interval of an estimate, on a bar of the undecided part alone."""

    at: float
    start: float
    width: float
    title: str


@dataclass(frozen=True)
class RegionBar:
    """A region's unfairness as shares of the domain: proved, estimated by sampling, possible.

    The `likely` part is the beginning of the `undecided` one.
    """

    region: RegionSummary
    unfair: float
    likely: float
    undecided: float
    value: str
    title: str


@dataclass(frozen=True)
class OverTime:
    """Outlines of the areas of proved shares over time, on a drawing of 100 by 100.

    `fair` is the area below, `unfair` the one above; what is between is undecided.
    """

    ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    fair: str
    unfair: str
    logarithmic: bool
    title: str


def proved_stack(summary: CertificationSummary) -> Stack:
    """Place the three shares of the domain."""
    proved, texts, found = summary.proved, proved_texts(summary.proved), summary.estimated
    fair, unfair = position(100 * proved.certified), position(100 * proved.falsified)
    title = (
        f"Proved fair: at least {texts.certified}; proved unfair: at least {texts.falsified}; "
        f"undecided: at most {texts.undecided}"
    )
    likely = None
    if found is not None:
        low, high = between(found.domain_unfair_low, found.domain_unfair_high)
        title += f"; unfair, estimated by sampling: {low} to {high}"
        start = position(100 - 100 * found.domain_unfair_high)
        likely = (start, position(100 - 100 * found.domain_unfair_low - start))
    return Stack(fair, position(max(0.0, 100 - fair - unfair)), unfair, title, likely)


def estimated_spread(summary: CertificationSummary) -> Spread | None:
    """Place the samples' interval on a bar of the undecided part; None without samples."""
    found = summary.estimated
    if found is None:
        return None
    low, high = between(found.low, found.high)
    return Spread(
        at=position(100 * found.unfair / found.samples),
        start=position(100 * found.low),
        width=position(100 * (found.high - found.low)),
        title=f"Estimated unfair share of the undecided part: {low} to {high}, "
        f"{share(found.confidence)} confidence",
    )


def region_bars(regions: Sequence[RegionSummary]) -> tuple[Scale, tuple[RegionBar, ...]]:
    """Place what is unfair or undecided in each region, as shares of the domain.

    Parameters
    ----------
    regions : sequence of RegionSummary
        The regions.

    Returns
    -------
    scale : Scale
        From zero.
    bars : tuple of RegionBar
    """
    highest = max((region.falsified + region.undecided for region in regions), default=0.0)
    scale = linear_scale(0.0, min(highest, 1.0), count=4)
    return scale, tuple(_region_bar(region, scale) for region in regions)


def _region_bar(region: RegionSummary, scale: Scale) -> RegionBar:
    both = scale.place(region.falsified + region.undecided)
    unfair = scale.place(region.falsified)
    said = (
        f"of the domain, proved unfair: at least {at_least(region.falsified, 2)}, undecided: at "
        f"most {at_most(region.undecided, 2)}"
    )
    likely = 0.0
    if region.unfair_estimate is not None:
        found = region.undecided * region.unfair_estimate
        likely = position(scale.place(region.falsified + found) - unfair)
        said += f", of which {percent(region.unfair_estimate)} is unfair by the samples in it"
    return RegionBar(region, unfair, likely, position(both - unfair), percent(region.share), said)


def over_time(moments: Sequence[MomentSummary]) -> OverTime | None:
    """Outline the proved shares over time.

    Parameters
    ----------
    moments : sequence of MomentSummary
        The shares over time, ascending.

    Returns
    -------
    OverTime or None
        None if there are fewer than three moments that differ. What is proved stays proved, so each
        share keeps its level until the next moment.
    """
    if len({moment.seconds for moment in moments if moment.seconds > 0}) < 3:
        return None
    last = moments[-1].seconds
    first = max(min(one.seconds for one in moments if one.seconds > 0), _SHORTEST * last)
    logarithmic = last / first > _LOGARITHMIC

    def place(seconds: float) -> float:
        if logarithmic:
            return 100 * math.log(max(seconds, first) / first) / math.log(last / first)
        return 100 * seconds / last

    return OverTime(
        ticks=tuple(
            Tick(position(place(at)), f"{at:g} s") for at in _times(first, last, logarithmic)
        ),
        y_ticks=linear_scale(0.0, 1.0, count=5).ticks,
        fair=_area([(place(one.seconds), 100 - 100 * one.certified) for one in moments], 100),
        unfair=_area([(place(one.seconds), 100 * one.falsified) for one in moments], 0),
        logarithmic=logarithmic,
        title="Shares proved fair and unfair over time",
    )


def _area(corners: Sequence[tuple[float, float]], ground: int) -> str:
    """Outline the area between steps and the ground, which is a height of the drawing."""
    path = [f"M{corners[0][0]:.2f} {ground}V{corners[0][1]:.2f}"]
    path += [f"H{x:.2f}V{y:.2f}" for x, y in corners[1:]]
    return f"{''.join(path)}V{ground}Z"


def _times(first: float, last: float, logarithmic: bool) -> list[float]:
    """Choose round times between two."""
    if not logarithmic:
        scale = linear_scale(0.0, last, count=5)
        step = (scale.high - scale.low) / (len(scale.ticks) - 1)
        return [step * place for place in range(len(scale.ticks)) if step * place <= last]
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    tens = [10.0**power for power in powers]
    known = [at for at in tens if first <= at <= last]
    if len(known) < 3:
        known = [m * ten for ten in tens for m in (1, 3) if first <= m * ten <= last]
    return known
