"""Where the parts of a plane are drawn: paths, names that stand apart, tiles that touch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from testsgd.report.charts import Highlight, Line, Plane

# Of more lines only those that are not soft are named.
_NAMED = 6
# Names beside lines keep at least this distance, in lines of the page's text (rem).
_BESIDE = 1.17
# Shades of tiles.
_LEVELS = 5
# The size of a plane on a phone, in pixels, where room is scarcest, and the room right of it.
_WIDTH = 280.0
_HEIGHT = 320.0
_BEYOND = 20


class Label(NamedTuple):
    """Where a label stands: pixels from its mark, and the share of it that is left of there."""

    dx: int
    dy: int
    anchor: str
    left: float


_LABELS = (
    Label(9, 4, "start", 0.0),
    Label(-9, 4, "end", 1.0),
    Label(0, -10, "middle", 0.5),
    Label(0, 19, "middle", 0.5),
    Label(8, -7, "start", 0.0),
    Label(8, 15, "start", 0.0),
    Label(-8, -7, "end", 1.0),
    Label(-8, 15, "end", 1.0),
)


def placed_highlights(chart: Plane) -> list[tuple[Highlight, float, float, Label | None]]:
    """Return the highlights with their places in per cent and their labels, the first one last.

    A label covers no mark and no other label; where there is no room, there is none.
    """
    places = [
        (chart.across.place(point.x), chart.upwards.from_top(point.y)) for point in chart.highlights
    ]
    centres = [(x * _WIDTH / 100, y * _HEIGHT / 100) for x, y in places]
    occupied = [(x - 6, y - 6, x + 6, y + 6) for x, y in centres]
    drawn = []
    for point, place, (x, y) in zip(chart.highlights, places, centres, strict=True):
        length = 8 * len(point.label)
        chosen = None
        for label in _LABELS:
            start = x + label.dx - label.left * length
            end = start + length
            base = y + label.dy
            top = base - 10
            bottom = base + 1
            # Left of the plane stand the numbers of the axis; what is right of it may be cut off.
            if (
                start >= 0
                and end <= _WIDTH + _BEYOND
                and not any(
                    start < right and left < end and top < low and high < bottom
                    for left, high, right, low in occupied
                )
            ):
                occupied.append((start, top, end, bottom))
                chosen = label
                break
        drawn.append((point, *place, chosen if point.label else None))
    return drawn[::-1]


def outline(points: Iterable[tuple[float, float | None]], chart: Plane) -> str:
    """Return the path of a line through points, with gaps where there is no value."""
    scale = chart.upwards
    path = ""
    drawn = False
    for across, upwards in points:
        if upwards is not None:
            # Beyond the scale it is cut off at the edge.
            share = (upwards - scale.low) / (scale.high - scale.low)
            y = 100 - 100 * min(max(share, -1.0), 2.0)
            path += f"{'L' if drawn else 'M'}{100 * chart.across.share(across):.2f} {y:.2f}"
        drawn = upwards is not None
    return path


def line_ends(chart: Plane) -> list[tuple[Line, float]]:
    """Return the lines that end in a dot, with the values there."""
    return [
        (line, end) for line in chart.lines if line.name and (end := line.points[-1][1]) is not None
    ]


def named_lines(chart: Plane) -> list[tuple[Line, float]]:
    """Return the lines whose names there is room for, with the values at their ends."""
    ends = line_ends(chart)
    if len(ends) > _NAMED:
        ends = [(line, end) for line, end in ends if line.tone != "soft"]
    return sorted(ends, key=lambda each: -each[1])


def names_beside(chart: Plane) -> list[tuple[str, float, str]]:
    """Return the tone, the height and the name of lines and thresholds, moved apart."""
    names = [(end, line.tone, line.name) for line, end in named_lines(chart)]
    names += [
        (line.value, "soft", line.name)
        for line in chart.thresholds
        if line.name and not line.upright
    ]
    names.sort(key=lambda each: -each[0])
    heights = [100 - chart.upwards.place(value) for value, *_ in names]
    distance = 100 * _BESIDE / chart.height
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + distance)
    # A name that is moved below the lower edge moves the others upwards.
    lowest = 100.0
    for index in reversed(range(len(heights))):
        heights[index] = min(heights[index], lowest)
        lowest = heights[index] - distance
    return [
        (tone, round(height, 1), name)
        for height, (_, tone, name) in zip(heights, names, strict=True)
    ]


def tiles(chart: Plane) -> list[tuple[int, float, float, float, float]]:
    """Return the shade of each tile, and left, top, width and height; neighbours touch."""
    across = _edges([100 * chart.across.share(tile.x) for tile in chart.tiles])
    downwards = _edges([100 - 100 * chart.upwards.share(tile.y) for tile in chart.tiles])
    return [
        (
            max(1, math.ceil(_LEVELS * tile.share - 1e-9)),
            left,
            top,
            round(right - left, 2),
            round(bottom - top, 2),
        )
        for tile, (left, right), (top, bottom) in zip(chart.tiles, across, downwards, strict=True)
    ]


def _edges(centres: Sequence[float]) -> list[tuple[float, float]]:
    """Return the ends of the tiles around some centres.

    How wide tiles are is not known, and centres are rounded. The regular grid behind them is found
    first, so that no gaps open between neighbours.
    """
    different = sorted(set(centres))
    if len(different) < 2:
        width = 100 / 60
    else:
        span = different[-1] - different[0]
        width = span / round(span / min(b - a for a, b in pairwise(different)))
    first = min(different, default=0.0) - width / 2
    indices = [round((centre - first) / width - 0.5) for centre in centres]
    return [
        (round(first + index * width, 2), round(first + (index + 1) * width, 2))
        for index in indices
    ]
