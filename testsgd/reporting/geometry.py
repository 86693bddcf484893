"""Geometry of the report's charts; the templates draw them.

Positions are per cent of the drawing, so that a chart fits any width while its text and its marks
keep their size: on a phone a picture that is scaled down as a whole cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from testsgd.report.formatting import interval, points, size_points, tick_points
from testsgd.report.scales import Scale, linear_scale, position
from testsgd.reporting.summary import (
    CounterfactualSummary,
    FeatureRates,
    GroupSummary,
)

Side = Literal["less", "more"]


@dataclass(frozen=True)
class Whisker:
    """A dot with its intervals, on a scale of signed differences."""

    at: float
    start: float
    width: float
    margin_start: float
    margin_width: float
    side: Side
    title: str


def difference_scale(groups: Iterable[GroupSummary]) -> Scale:
    """Make the one scale on which all differences of the top groups are drawn.

    Parameters
    ----------
    groups : iterable of GroupSummary
        The groups; their intervals, their margins, their rules, alone and added up, and their terms
        alone fit on the scale.

    Returns
    -------
    Scale
        Zero is on it, with room on both sides, so that the direction is seen at once.
    """
    values = [-0.01, 0.01]
    for group in groups:
        values += [*group.interval, group.difference - group.margin]
        values.append(group.difference + group.margin)
        values += [part.difference for part in group.rules_alone if part.difference is not None]
        values += [] if group.counterfactual is None else group.counterfactual.interval
        values += partial_sums(group)
    return linear_scale(max(min(values), -1.0), min(max(values), 1.0), count=5, write=tick_points)


def partial_sums(group: GroupSummary) -> list[float]:
    """Give what the first rules of a group add up to, one after the other."""
    shares = group.explanation.shares if group.explanation else []
    return list(accumulate(one.share for one in shares))


def whisker(group: GroupSummary, scale: Scale) -> Whisker:
    """Place a group's difference, its sampling margin and its population interval.

    Parameters
    ----------
    group : GroupSummary
        The group.
    scale : Scale
        From :func:`difference_scale`.

    Returns
    -------
    Whisker
    """
    low, high = (scale.place(end) for end in group.interval)
    margin_low = scale.place(group.difference - group.margin)
    margin_high = scale.place(group.difference + group.margin)
    title = f"{points(group.difference)}; population interval {interval(group.interval)}"
    if not group.exact:
        title += f"; sampling margin {size_points(group.margin)}"
    return Whisker(
        at=scale.place(group.difference),
        start=low,
        width=position(high - low),
        margin_start=margin_low,
        margin_width=position(margin_high - margin_low),
        side="less" if group.difference < 0 else "more",
        title=title,
    )


def counterfactual_whisker(found: CounterfactualSummary, scale: Scale) -> Whisker:
    """Place what the terms of a group change by themselves, with its paired interval.

    Parameters
    ----------
    found : CounterfactualSummary
        The paired comparison.
    scale : Scale
        From :func:`difference_scale`.

    Returns
    -------
    Whisker
        Without a sampling margin.
    """
    low, high = (scale.place(end) for end in found.interval)
    at = scale.place(found.difference)
    side: Side = "less" if found.difference < 0 else "more"
    title = f"terms alone: {points(found.difference)}; interval {interval(found.interval)}"
    return Whisker(at, low, position(high - low), at, 0.0, side, title)


def dot(difference: float, scale: Scale) -> Whisker:
    """Place a difference that comes without intervals.

    Parameters
    ----------
    difference : float
        The difference.
    scale : Scale
        From :func:`difference_scale`.

    Returns
    -------
    Whisker
        With intervals of no width.
    """
    at = scale.place(difference)
    side: Side = "less" if difference < 0 else "more"
    return Whisker(at, at, 0.0, at, 0.0, side, points(difference))


def feature_rates(features: Sequence[FeatureRates]) -> list[float | None]:
    """Return the rates of all cells of some features, one after the other."""
    return [cell.rate for feature in features for cell in feature.cells]
