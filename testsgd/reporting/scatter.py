"""The chart of all groups by size and score: points or tiles, and the marks of the first groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from testsgd.report.formatting import percent, points
from testsgd.report.labels import Anchor, place_labels
from testsgd.report.scales import Scale, linear_scale, position
from testsgd.reporting.geometry import Side
from testsgd.reporting.summary import AuditSummary, GroupSummary, ScatterCell
from testsgd.reporting.vocabulary import vocabulary

TILE_LEVELS = 5


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
    charts, gate = summary.charts, summary.parameters.fail_above
    fewest = 0 if summary.unjudged is None else summary.unjudged.fewest
    theta = fewest / max(1, summary.data.rows)
    supports = [cell.support for cell in charts.scatter] + [group.support for group in marked]
    scores = [cell.score for cell in charts.scatter] + [group.score for group in marked]
    x_scale = linear_scale(0.0, max([*supports, theta]), count=5)
    y_scale = linear_scale(0.0, max([*scores, gate or 0.0]), count=5)
    largest = max((cell.n for cell in charts.scatter), default=1)
    drawn = tuple(
        Point(x_scale.place(cell.support), position(100 - y_scale.place(cell.score)))
        for cell in charts.scatter
    )
    return ScatterPlot(
        x_scale=x_scale,
        y_scale=y_scale,
        points=() if charts.scatter_binned else drawn,
        tiles=_tiles(charts.scatter, x_scale, y_scale) if charts.scatter_binned else (),
        marks=_marks(marked, x_scale, y_scale, vocabulary(summary).many),
        theta=x_scale.place(theta),
        gate=None if gate is None else position(100 - y_scale.place(gate)),
        largest=largest,
    )


def _marks(
    marked: Sequence[GroupSummary], x_scale: Scale, y_scale: Scale, many: str
) -> tuple[Mark, ...]:
    places = [
        (x_scale.place(group.support), position(100 - y_scale.place(group.score)))
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
