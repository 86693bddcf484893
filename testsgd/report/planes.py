"""What has two axes as SVG inside HTML. Everything that is written is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from markupsafe import Markup

from testsgd.report.charts import Bar, Flag, Highlight, Line, Plane, Span, Threshold
from testsgd.report.scales import Scale, position
from testsgd.report.svg import joined

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Label:
    """The label of a mark, moved by `dx`, `dy` pixels from it; empty if there is no room."""

    text: str
    dx: int
    dy: int
    anchor: Anchor


def place_labels(places: Sequence[tuple[float, float]], texts: Sequence[str]) -> tuple[Label, ...]:
    """Place the label of each mark where it covers no mark and no other label, if there is room.

    Places are per cent from the left and from the top. Room is judged at the width of a phone,
    where it is scarcest. A label without room is empty.
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


# Nothing that is there is drawn thinner or lower than this, in per cent.
_LEAST = 0.6
# Names of upright lines that are further to the right stand at their left.
_RIGHT = 70
# Of more lines only those that are not soft are named.
_NAMED = 6
# Names beside lines keep at least this distance, in lines of the page's text (rem).
_BESIDE = 1.17
# Shades of tiles.
_LEVELS = 5
_NOTHING = Markup("")
# Outlines are drawn on 100 by 100 that are stretched to the size of the drawing.
_STRETCHED = Markup(
    '<svg class="{}" viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">'
    "{}</svg>\n"
)


def plane(chart: Plane) -> Markup:
    """Draw what has two axes."""
    widths, below = _NOTHING, _NOTHING
    if chart.below is not None:
        widths = _widths(chart.across)
    if chart.below:
        below = Markup('<p class="axis-name below">{}</p>\n').format(chart.below)
    name = _axis_name(chart.name, chart.strong) + _legend(chart)
    drawn = _plot(chart, _layers(chart), _names(chart), widths, chart.height)
    return name + drawn + below + _keys(chart)


def _plot(
    chart: Plane, drawn: Iterable[Markup], names: Markup, widths: Markup, height: float
) -> Markup:
    """Put a drawing between its axes and the names at its right."""
    heights = joined(
        Markup('<text x="100%" y="{}%" dx="-8" dy="4" text-anchor="end">{}</text>\n').format(
            position(100 - tick.at), tick.label.replace("%", "")
        )
        for tick in chart.upwards.ticks
    )
    about = Markup("<desc>{}</desc>").format(chart.about) if chart.about else _NOTHING
    return Markup(
        '<div class="plot" style="--height: {}rem">\n'
        '<svg class="y-axis" aria-hidden="true">{}</svg>\n'
        '<svg class="plane" role="img"><title>{}</title>{}\n{}</svg>\n{}{}</div>\n'
    ).format(f"{height:g}", heights, chart.title, about, joined(drawn), names, widths)


def _axis_name(name: str, strong: str = "") -> Markup:
    bold = Markup("<strong>{}</strong>").format(strong) if strong else ""
    return Markup('<p class="axis-name">{}{}</p>\n').format(name, bold) if name else _NOTHING


def _layers(chart: Plane) -> Iterable[Markup]:
    """Draw what is on a plane, from the lowest to the uppermost."""
    areas = [
        (f"{area.tone}{' solid' * area.solid}", f"{_outline(area.corners, chart)}Z")
        for area in chart.areas
    ]
    lines = [(line.tone, _outline(line.points, chart)) for line in chart.lines]
    yield from (_stretched("areas", areas), *(_edge(span, chart) for span in chart.spans))
    yield from (_across(100 - tick.at, "grid") for tick in chart.upwards.ticks)
    yield from (_upright(flag.at, "flag-line", chart.across) for flag in chart.flags)
    yield from (_bar(bar, chart) for bar in chart.bars)
    if chart.bars:
        yield _across(100, "ground")
    yield _points(chart)
    yield _symbols(chart)
    yield from _tiles(chart)
    yield _stretched("lines", lines)
    yield from (
        _dot(line.tone, chart.across.place(line.points[-1][0]), end, chart)
        for line, end in _ends(chart)
    )
    yield from (_threshold(line, chart) for line in chart.thresholds)
    if chart.interval is not None:
        low, high = (position(100 - chart.upwards.place(end)) for end in chart.interval)
        yield Markup('<line class="reach" x1="100%" x2="100%" y1="{}%" y2="{}%"/>\n').format(
            high, low
        )
        yield from (_dot("ink", 100, end, chart) for end in chart.interval)
    yield from (_flag(flag, chart) for flag in chart.flags if flag.title)
    yield from _highlights(chart)


def _outline(points: Iterable[tuple[float, float | None]], chart: Plane) -> str:
    """Return the path of a line through points, with gaps where there is no value."""
    scale, path, drawn = chart.upwards, "", False
    for across, upwards in points:
        if upwards is not None:
            # Beyond the scale it is cut off at the edge.
            share = (upwards - scale.low) / (scale.high - scale.low)
            y = 100 - 100 * min(max(share, -1.0), 2.0)
            path += f"{'L' if drawn else 'M'}{100 * chart.across.share(across):.2f} {y:.2f}"
        drawn = upwards is not None
    return path


def _stretched(kind: str, outlines: Iterable[tuple[str, str]]) -> Markup:
    paths = joined(Markup('<path class="{}" d="{}"/>\n').format(*each) for each in outlines)
    return _STRETCHED.format(kind, paths) if paths else paths


def _ends(chart: Plane) -> list[tuple[Line, float]]:
    """Return the lines that end in a dot, with the values there."""
    return [
        (line, end) for line in chart.lines if line.name and (end := line.points[-1][1]) is not None
    ]


def _dot(tone: str, across: float, value: float, chart: Plane) -> Markup:
    return Markup('<circle class="{}" cx="{}%" cy="{}%" r="3"/>\n').format(
        tone, across, position(100 - chart.upwards.place(value))
    )


def _named(chart: Plane) -> list[tuple[Line, float]]:
    """Return the lines whose names there is room for, with the values at their ends."""
    ends = _ends(chart)
    if len(ends) > _NAMED:
        ends = [(line, end) for line, end in ends if line.tone != "soft"]
    return sorted(ends, key=lambda each: -each[1])


def _names(chart: Plane) -> Markup:
    """Write the names of lines and thresholds at the right of a plane, moved apart."""
    names = [(end, line.tone, line.name) for line, end in _named(chart)]
    names += [(line.value, "soft", line.name) for line in chart.thresholds if not line.upright]
    names = sorted((each for each in names if each[2]), key=lambda each: -each[0])
    heights = [100 - chart.upwards.place(value) for value, *_ in names]
    texts = joined(
        Markup('<text class="{}" x="0" dx="10" y="{}%" dy="4">{}</text>\n').format(
            tone, position(height), name
        )
        for height, (_, tone, name) in zip(
            _apart(heights, 100 * _BESIDE / chart.height), names, strict=True
        )
    )
    return (
        Markup('<svg class="names" aria-hidden="true">{}</svg>\n').format(texts) if texts else texts
    )


def _apart(heights: list[float], distance: float) -> list[float]:
    """Move ascending heights apart, down to the lower edge and then upwards."""
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + distance)
    if heights and heights[-1] > 100:
        heights[-1] = 100.0
        for index in range(len(heights) - 2, -1, -1):
            heights[index] = min(heights[index], heights[index + 1] - distance)
    return heights


def _legend(chart: Plane) -> Markup:
    """Name lines above a plane, for screens on which there is no room beside it."""
    key = Markup('<span><svg viewBox="0 0 16 10"><path class="{}" d="M0 5H16"/></svg>{}</span>\n')
    keys = joined(key.format(line.tone, line.name) for line, _ in _named(chart))
    return Markup('<p class="legend" aria-hidden="true">{}</p>\n').format(keys) if keys else keys


def _edge(span: Span, chart: Plane) -> Markup:
    start, end = chart.across.place(span.start), chart.across.place(span.end)
    width = max(position(end - start), _LEAST)
    return Markup(
        '<rect class="span" x="{}%" width="{}%" y="-4" height="4"><title>{}</title></rect>\n'
    ).format(position(min(start, 100 - width)), width, span.title)


def _flag(flag: Flag, chart: Plane) -> Markup:
    return Markup(
        '<svg class="flag" x="{}%" y="0" overflow="visible"><path d="M-6 -12h12l-6 10z"/>'
        "<title>{}</title></svg>\n"
    ).format(chart.across.place(flag.at), flag.title)


def _bar(bar: Bar, chart: Plane) -> Markup:
    left, right = (100 * chart.across.share(end) for end in (bar.start, bar.end))
    # Many bars are narrow; one without a width is drawn nevertheless.
    width = round(right - left, 3) or _LEAST
    tall = max(chart.upwards.place(bar.height), _LEAST)
    return Markup(
        '<rect class="{}" x="{}%" width="{}%" y="{}%" height="{}%"><title>{}</title></rect>\n'
    ).format(bar.tone, round(left, 3), width, position(100 - tall), tall, bar.title)


def _threshold(line: Threshold, chart: Plane) -> Markup:
    if not line.upright:
        return _across(100 - chart.upwards.place(line.value), "threshold")
    drawn = _upright(line.value, "threshold", chart.across, top=-4)
    if not line.name:
        return drawn
    at = chart.across.place(line.value)
    left = at > _RIGHT
    return drawn + Markup(
        '<text class="threshold-name" x="{}%" y="0" dx="{}" dy="7" text-anchor="{}">{}</text>\n'
    ).format(at, -7 if left else 7, "end" if left else "start", line.name)


def _across(height: float, kind: str) -> Markup:
    return Markup('<line class="{0}" x1="0" x2="100%" y1="{1}%" y2="{1}%"/>\n').format(
        kind, position(height)
    )


def _upright(value: float, kind: str, scale: Scale, top: int = 0) -> Markup:
    return Markup('<line class="{0}" x1="{1}%" x2="{1}%" y1="{2}" y2="100%"/>\n').format(
        kind, scale.place(value), top
    )


def _widths(scale: Scale) -> Markup:
    return Markup('<svg class="x-axis" aria-hidden="true">{}</svg>\n').format(
        joined(
            Markup('<text x="{}%" y="16" text-anchor="middle">{}</text>').format(
                tick.at, tick.label
            )
            for tick in scale.ticks
        )
    )


def _on_plane(x: float, y: float, chart: Plane) -> tuple[float, float]:
    return chart.across.place(x), position(100 - chart.upwards.place(y))


def _points(chart: Plane) -> Markup:
    places = (_on_plane(x, y, chart) for x, y in chart.points)
    circles = joined(Markup('<circle cx="{}%" cy="{}%" r="3"/>\n').format(*at) for at in places)
    return Markup('<g class="points">{}</g>\n').format(circles) if circles else circles


def _symbols(chart: Plane) -> Markup:
    drawn = joined(
        Markup('<use class="{}" href="#symbol-{}" x="{}%" y="{}%"/>\n').format(
            symbol.tone, symbol.shape, *_on_plane(symbol.x, symbol.y, chart)
        )
        for symbol in chart.symbols
    )
    return Markup('<g class="symbols-drawn">{}</g>\n').format(drawn) if drawn else drawn


def _keys(chart: Plane) -> Markup:
    """Write below a plane what the shapes of its symbols stand for."""
    keys = joined(
        Markup(
            ' <span><svg class="symbols-drawn" aria-hidden="true" viewBox="-6 -6 12 12">'
            '<use class="more" href="#symbol-{}"/></svg>{}</span>\n'
        ).format(*key)
        for key in chart.keys
    )
    return Markup('<p class="shapes">{}{}</p>\n').format(chart.keys_name, keys) if keys else keys


def _highlights(chart: Plane) -> list[Markup]:
    """Draw what is singled out, the first above all others, with labels where there is room."""
    places = [_on_plane(point.x, point.y, chart) for point in chart.highlights]
    labels = place_labels(places, [point.label for point in chart.highlights])
    drawn = []
    for point, (x, y), label in zip(chart.highlights, places, labels, strict=True):
        text = Markup("")
        if label.text:
            text = Markup(
                '<text x="{}%" y="{}%" dx="{}" dy="{}" text-anchor="{}">{}</text>'
            ).format(x, y, label.dx, label.dy, label.anchor, label.text)
        drawn.append(
            Markup('<g class="mark {}"><title>{}</title>{}{}</g>\n').format(
                point.side, point.title, _highlight(point, x, y), text
            )
        )
    return drawn[::-1]


def _highlight(point: Highlight, x: float, y: float) -> Markup:
    if point.shape == "ring":
        return Markup('<circle class="origin" cx="{}%" cy="{}%" r="5"/>').format(x, y)
    return Markup('<use href="#diamond" x="{}%" y="{}%"/>').format(x, y)


def _tiles(chart: Plane) -> list[Markup]:
    """Draw tiles so that neighbours touch."""
    across = _edges([100 * chart.across.share(tile.x) for tile in chart.tiles])
    downwards = _edges([100 - 100 * chart.upwards.share(tile.y) for tile in chart.tiles])
    return [
        Markup('<rect class="tile t{}" x="{}%" y="{}%" width="{}%" height="{}%"/>\n').format(
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
