"""Geometry of the report's charts; the templates draw them.

Positions are per cent of the drawing, so that a chart fits any width while its text and its marks
keep their size: on a phone a picture that is scaled down as a whole cannot be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from testsgd.reporting.summary import (
    AuditSummary,
    CounterfactualSummary,
    FeatureRates,
    GroupSummary,
    ScatterCell,
)
from testsgd.reporting.vocabulary import vocabulary
from testsgd.reporting.wording import interval, percent, points, size_points, tick_points

Anchor = Literal["start", "middle", "end"]
Side = Literal["less", "more"]

TILE_LEVELS = 5


@dataclass(frozen=True)
class Tick:
    """A labelled position on a scale, in per cent of its length."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """A linear scale from `low` to `high`, with its ticks."""

    low: float
    high: float
    ticks: tuple[Tick, ...]

    def place(self, value: float) -> float:
        """Return where a value lies, in per cent; values beyond the ends lie at the ends."""
        return _position(100 * self.share(value))

    def share(self, value: float) -> float:
        """Return where a value lies, as a share of the length."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


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


@dataclass(frozen=True)
class Point:
    """One group in the scatter chart; `y` counts from the top."""

    x: float
    y: float


@dataclass(frozen=True)
class Tile:
    """Several groups in the scatter chart; `x`, `y` is the upper left corner, `level` 1 to 5."""

    x: float
    y: float
    width: float
    height: float
    level: int


@dataclass(frozen=True)
class Mark:
    """A point that is singled out; its label is moved by `dx`, `dy` pixels, or left out."""

    x: float
    y: float
    label: str
    dx: int
    dy: int
    anchor: Anchor
    side: Side
    title: str


@dataclass(frozen=True)
class Label:
    """The label of a mark, moved by `dx`, `dy` pixels from it; empty if there is no room."""

    text: str
    dx: int
    dy: int
    anchor: Anchor


@dataclass(frozen=True)
class ScatterPlot:
    """Support against score of all frequent groups, as points or, if too many, as tiles."""

    x_scale: Scale
    y_scale: Scale
    points: tuple[Point, ...]
    tiles: tuple[Tile, ...]
    marks: tuple[Mark, ...]
    theta: float
    gate: float | None
    largest: int


def linear_scale(low: float, high: float, *, count: int, in_points: bool = False) -> Scale:
    """Make a scale with about `count` round ticks that covers two values.

    Parameters
    ----------
    low, high : float
        What must be covered; the ends move outwards to the next round numbers.
    count : int
        How many intervals between ticks are wanted, at most.
    in_points : bool
        Write ticks as signed points instead of per cent.

    Returns
    -------
    Scale

    Examples
    --------
    >>> [tick.label for tick in linear_scale(0, 0.37, count=4).ticks]
    ['0%', '10%', '20%', '30%', '40%']
    """
    step = _round_step(max(high - low, 0.004), count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    write = tick_points if in_points else _tick_percent
    scale = Scale(first * step, last * step, ())
    ticks = tuple(
        Tick(scale.place(index * step), write(index * step)) for index in range(first, last + 1)
    )
    return Scale(scale.low, scale.high, ticks)


def difference_scale(groups: Iterable[GroupSummary]) -> Scale:
    """Make the one scale on which all differences of the top groups are drawn.

    Parameters
    ----------
    groups : iterable of GroupSummary
        The groups; their intervals, margins, rules alone and terms alone fit on the scale.

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
    return linear_scale(max(min(values), -1.0), min(max(values), 1.0), count=5, in_points=True)


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
        width=_position(high - low),
        margin_start=margin_low,
        margin_width=_position(margin_high - margin_low),
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
    return Whisker(at, low, _position(high - low), at, 0.0, side, title)


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


def rate_scale(rates: Iterable[float | None]) -> Scale:
    """Make the scale, from zero, on which rates are drawn as bars.

    Parameters
    ----------
    rates : iterable of float or None
        The rates; missing ones do not count.

    Returns
    -------
    Scale
    """
    known = [rate for rate in rates if rate is not None]
    return linear_scale(0.0, min(max(known, default=0.0), 1.0), count=4)


def feature_rates(features: Sequence[FeatureRates]) -> list[float | None]:
    """Return the rates of all cells of some features, one after the other."""
    return [cell.rate for feature in features for cell in feature.cells]


def scatter_plot(summary: AuditSummary, marked: Sequence[GroupSummary]) -> ScatterPlot:
    """Place all frequent groups by support and score, and mark some.

    Parameters
    ----------
    summary : AuditSummary
        The audit, with its smallest support and its gate.
    marked : sequence of GroupSummary
        Groups to single out, by rank.

    Returns
    -------
    ScatterPlot
    """
    charts, theta, gate = summary.charts, summary.parameters.theta, summary.parameters.fail_above
    supports = [cell.support for cell in charts.scatter] + [group.support for group in marked]
    scores = [cell.score for cell in charts.scatter] + [group.score for group in marked]
    x_scale = linear_scale(0.0, max([*supports, theta]), count=5)
    y_scale = linear_scale(0.0, max([*scores, gate or 0.0]), count=5)
    largest = max((cell.n for cell in charts.scatter), default=1)
    drawn = tuple(
        Point(x_scale.place(cell.support), _position(100 - y_scale.place(cell.score)))
        for cell in charts.scatter
    )
    return ScatterPlot(
        x_scale=x_scale,
        y_scale=y_scale,
        points=() if charts.scatter_binned else drawn,
        tiles=_tiles(charts.scatter, x_scale, y_scale) if charts.scatter_binned else (),
        marks=_marks(marked, x_scale, y_scale, vocabulary(summary).many),
        theta=x_scale.place(theta),
        gate=None if gate is None else _position(100 - y_scale.place(gate)),
        largest=largest,
    )


def _marks(
    marked: Sequence[GroupSummary], x_scale: Scale, y_scale: Scale, many: str
) -> tuple[Mark, ...]:
    places = [
        (x_scale.place(group.support), _position(100 - y_scale.place(group.score)))
        for group in marked
    ]
    labels = place_labels(places, [str(group.rank) for group in marked])
    marks = []
    for group, (x, y), label in zip(marked, places, labels, strict=True):
        title = f"{group.rank}. {group.text}: {points(group.difference)}, {percent(group.support)}"
        side: Side = "less" if group.difference < 0 else "more"
        marks.append(
            Mark(x, y, label.text, label.dx, label.dy, label.anchor, side, f"{title} of the {many}")
        )
    return tuple(marks)


def place_labels(places: Sequence[tuple[float, float]], texts: Sequence[str]) -> tuple[Label, ...]:
    """Place the label of each mark where it covers no mark and no other label, if there is room.

    Parameters
    ----------
    places : sequence of tuple of float
        Where the marks are, in per cent from the left and from the top.
    texts : sequence of str
        Their labels.

    Returns
    -------
    tuple of Label
        Room is judged at the width of a phone, where it is scarcest. A label without room is empty.
    """
    width, height = 280.0, 320.0
    centres = [(x * width / 100, y * height / 100) for x, y in places]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in centres]
    labels = []
    for text, (centre_x, centre_y) in zip(texts, centres, strict=True):
        placed = Label("", 0, 0, "middle")
        length = 8 * len(text)
        for dx, dy, anchor, left in _LABEL_PLACES:
            box_left = centre_x + dx - left * length
            box = (box_left, centre_y + dy - 10, box_left + length, centre_y + dy + 1)
            # Left of the plane stand the numbers of the axis; what is right of it may be cut off.
            inside = box_left >= 0 and box[2] <= width + _LABEL_BEYOND
            if inside and not any(_overlap(box, other) for other in taken):
                placed = Label(text, dx, dy, anchor)
                taken.append(box)
                break
        labels.append(placed)
    return tuple(labels)


_Box = tuple[float, float, float, float]
# Room right of the plane, in pixels.
_LABEL_BEYOND = 20
# Offset of the label, its anchor, and the share of its length that lies left of the offset.
_LABEL_PLACES: tuple[tuple[int, int, Anchor, float], ...] = (
    (9, 4, "start", 0.0),
    (-9, 4, "end", 1.0),
    (0, -10, "middle", 0.5),
    (0, 19, "middle", 0.5),
    (8, -7, "start", 0.0),
    (8, 15, "start", 0.0),
    (-8, -7, "end", 1.0),
    (-8, 15, "end", 1.0),
)


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _tiles(cells: Sequence[ScatterCell], x_scale: Scale, y_scale: Scale) -> tuple[Tile, ...]:
    """Place tiles so that neighbours touch, shaded by the logarithm of their number of groups."""
    across = _edges([100 * x_scale.share(cell.support) for cell in cells])
    downwards = _edges([100 - 100 * y_scale.share(cell.score) for cell in cells])
    most = math.log(max((cell.n for cell in cells), default=1) + 1)
    return tuple(
        Tile(
            x=left,
            y=top,
            width=round(right - left, 2),
            height=round(bottom - top, 2),
            level=max(1, math.ceil(TILE_LEVELS * math.log(cell.n + 1) / most - 1e-9)),
        )
        for cell, (left, right), (top, bottom) in zip(cells, across, downwards, strict=True)
    )


def _edges(centres: Sequence[float]) -> list[tuple[float, float]]:
    """Return the ends of the tiles around some centres.

    How wide tiles are is not in the summary, and centres are rounded there. The regular grid behind
    them is found first, so that no gaps open between neighbours.
    """
    different = sorted(set(centres))
    if len(different) < 2:
        width = 100 / 60
    else:
        span = different[-1] - different[0]
        width = span / round(span / min(b - a for a, b in pairwise(different)))
    first = min(different, default=0.0) - width / 2
    places = [round((centre - first) / width - 0.5) for centre in centres]
    return [
        (round(first + place * width, 2), round(first + (place + 1) * width, 2)) for place in places
    ]


def _round_step(span: float, count: int) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that covers `span` in `count` steps."""
    power = 10.0 ** math.floor(math.log10(span / count))
    return next(m * power for m in (1, 2, 5, 10) if m * power * count >= span * (1 - 1e-9))


def _tick_percent(value: float) -> str:
    return f"{100 * value:.4g}%"


def _position(value: float) -> float:
    return round(value, 1)
