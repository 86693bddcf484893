"""Charts as SVG inside HTML, a function a chart. Everything that is written is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from testsgd.report.charts import (
    Bar,
    Flag,
    Line,
    Mark,
    Plane,
    Segment,
    Span,
    Stack,
    StripRow,
    Strips,
)
from testsgd.report.formatting import shorten
from testsgd.report.planes import plane, scatter
from testsgd.report.scales import Scale, position

# Nothing that is there is drawn thinner or lower than this, in per cent.
_LEAST = 0.6
# A part of a bar has neighbours that must not be covered.
_THINNEST = 0.2
# Longer labels of rows are cut.
_LABEL = 240
# Names of lines that are further to the right stand at their left.
_RIGHT = 70
# Shades of tiles.
_LEVELS = 5
# Of more lines only those that are not soft are named.
_NAMED = 6
# Names beside lines keep at least this distance, in lines of the page's text (rem).
_BESIDE = 1.17
# Outlines are drawn on 100 by 100 that are stretched to the size of the drawing.
_STRETCHED = Markup(
    '<svg class="{}" viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">'
    "{}</svg>\n"
)
_RADIUS = {"dot": 4, "ring": 4, "rest": 4.5, "was": 4}


def strips(chart: Strips) -> Markup:
    """Draw rows of marks, with the axis below."""
    zero = chart.scale.place(0) if chart.zero else None
    parts = [
        Markup("{}<ul>\n{}</ul>\n").format(
            Markup("<h3>{}</h3>\n").format(title) if title else "",
            joined(_strip_row(row, chart.scale, zero) for row in rows),
        )
        for title, rows in chart.parts
    ]
    ticks = joined(
        Markup('<text x="{}%" y="14" text-anchor="middle">{}</text>\n').format(tick.at, tick.label)
        for tick in chart.scale.ticks
    )
    axis = Markup(
        '<div class="strip-row strip-axis" aria-hidden="true"><span class="strip-label"></span>'
        '<span class="strip"><svg>{}</svg></span><span class="value"></span></div>\n'
    ).format(ticks)
    return joined([*parts, axis])


def stack(chart: Stack) -> Markup:
    """Draw a whole as one bar, with its key above and what is drawn larger below."""
    scale, name, zoom, axis = chart.scale, Markup(""), Markup(""), Markup("")
    if chart.name:
        name = Markup('<p class="axis-name">{}</p>\n').format(chart.name)
    drawn = [_segment(segment, scale, "0", "100%") for segment in chart.segments]
    if chart.estimate is not None:
        drawn.append(_segment(chart.estimate, scale, "-3", "100%"))
        drawn += [
            Markup('<line class="whisker" x1="{0}%" x2="{0}%" y1="-7" y2="100%"/>\n').format(
                scale.place(end)
            )
            for end in (chart.estimate.start, chart.estimate.end)
        ]
    if chart.mark is not None:
        # Shares are above zero, so that the mark has the colour of the whole drawing.
        drawn.append(_mark(chart.mark, scale, "50%", "more"))
    if chart.zoom is not None:
        zoom = Markup(
            '<svg class="zoom" aria-hidden="true"><line x1="{}%" x2="0" y1="0" y2="100%"/>'
            '<line x1="{}%" x2="100%" y1="0" y2="100%"/></svg>\n'
        ).format(*(scale.place(end) for end in chart.zoom))
    if chart.axis:
        axis = Markup('<svg class="stack-axis" aria-hidden="true">{}</svg>\n').format(
            joined(
                Markup('<text x="{}%" y="16" text-anchor="{}">{}</text>').format(
                    tick.at,
                    "start" if tick.at == 0 else "end" if tick.at == 100 else "middle",
                    tick.label,
                )
                for tick in scale.ticks
            )
        )
    return Markup(
        '{}{}<svg class="stack{} {}" role="img"><title>{}</title>\n{}</svg>\n{}{}'
    ).format(
        name,
        _keys(chart),
        " thin" if chart.mark else "",
        chart.side,
        chart.title,
        joined(drawn),
        axis,
        zoom,
    )


def plane(chart: Plane) -> Markup:
    """Draw what has two axes."""
    strong = Markup("<strong>{}</strong>").format(chart.strong) if chart.strong else ""
    name = Markup('<p class="axis-name">{}{}</p>\n').format(chart.name, strong)
    heights = joined(
        Markup('<text x="100%" y="{}%" dx="-8" dy="4" text-anchor="end">{}</text>\n').format(
            position(100 - tick.at), tick.label.replace("%", "")
        )
        for tick in chart.upwards.ticks
    )
    names = _names(chart)
    widths = "" if chart.below is None else _widths(chart.across)
    below = Markup('<p class="axis-name below">{}</p>\n').format(chart.below) if chart.below else ""
    return Markup(
        '{}{}<div class="plot" style="--height: {}rem">\n'
        '<svg class="y-axis" aria-hidden="true">{}</svg>\n'
        '<svg class="plane" role="img"><title>{}</title>\n{}</svg>\n{}{}</div>\n{}'
    ).format(
        name if chart.name else "",
        _legend(chart),
        f"{chart.height:g}",
        heights,
        chart.title,
        joined(_layers(chart)),
        Markup('<svg class="names" aria-hidden="true">{}</svg>\n').format(names) if names else "",
        widths,
        below,
    )


def text_units(text: str, units: Iterable[str], limit: int) -> Markup:
    """Write the text of a group; where it fits, a line never breaks inside a rule."""
    units = tuple(units)
    if len(text) > limit or " and ".join(units) != text:
        return Markup("{}").format(shorten(text, limit))
    return Markup(" ").join(
        Markup('<span class="unit">{}{}</span>').format("and " if number else "", unit)
        for number, unit in enumerate(units)
    )


def _strip_row(row: StripRow, scale: Scale, zero: float | None) -> Markup:
    label = text_units(row.label, row.units, _LABEL)
    if row.to:
        label = Markup('<a href="#{}">{}</a>').format(row.to, label)
    note = Markup(' <small class="note">{}</small>').format(row.note) if row.note else ""
    detail = Markup(" <small>{}</small>").format(row.detail) if row.detail else ""
    kind = "strip-row" + " two" * row.levels + " together" * row.together
    return Markup(
        '<li class="{}"><span class="strip-label">{}{}{}</span>\n'
        '<span class="strip">{}</span><span class="value">{}</span></li>\n'
    ).format(
        kind,
        label,
        note,
        detail,
        _marks(row, scale, zero) if row.marks or row.segments else "",
        row.value,
    )


def _marks(row: StripRow, scale: Scale, zero: float | None) -> Markup:
    heights = ("32%", "70%") if row.levels else ("50%",) * len(row.marks)
    grid = joined(
        Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(tick.at)
        for tick in scale.ticks
    )
    middle = Markup("")
    if zero is not None:
        middle = Markup('<line class="zero" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(zero)
    drawn = [
        _bar_across(row.segments, scale),
        _span("gap-line", row.line, scale, "50%"),
        *(
            _mark(mark, scale, height, row.side)
            for mark, height in zip(row.marks, heights, strict=True)
        ),
    ]
    return Markup('<svg class="{}" role="img"><title>{}</title>{}{}{}</svg>').format(
        row.side, row.title, grid, middle, joined(drawn)
    )


def _bar_across(segments: Iterable[Segment], scale: Scale) -> Markup:
    """Draw the bar of a row, in the middle of its height."""
    drawn = joined(_segment(segment, scale, "50%", "14") for segment in segments)
    return Markup('<g transform="translate(0 -7)">{}</g>').format(drawn) if drawn else drawn


def _mark(mark: Mark, scale: Scale, height: str, side: str) -> Markup:
    own = "less" if mark.value < 0 else "more"
    written = Markup('{}{}{}<circle class="{}" cx="{}%" cy="{}" r="{}"/>').format(
        _span("margin", mark.margin, scale, height),
        _span("whisker", mark.interval, scale, height),
        _caps(mark.interval, scale, height),
        mark.shape,
        scale.place(mark.value),
        height,
        _RADIUS[mark.shape],
    )
    return written if own == side else Markup('<g class="{}">{}</g>').format(own, written)


def _span(kind: str, ends: tuple[float, float] | None, scale: Scale, height: str) -> Markup:
    if ends is None or scale.place(ends[0]) == scale.place(ends[1]):
        return Markup("")
    low, high = sorted(scale.place(end) for end in ends)
    return Markup('<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(
        kind, low, high, height, height
    )


def _caps(ends: tuple[float, float] | None, scale: Scale, height: str) -> Markup:
    if ends is None or scale.place(ends[0]) == scale.place(ends[1]):
        return Markup("")
    cap = Markup('<use class="whisker" href="#cap" x="{}%" y="{}"/>')
    return joined(cap.format(scale.place(end), height) for end in ends)


def _segment(segment: Segment, scale: Scale, top: str, height: str) -> Markup:
    if segment.end <= segment.start:
        return Markup("")
    start, end = scale.place(segment.start), scale.place(segment.end)
    width = max(position(end - start), _THINNEST)
    return Markup('<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"/>\n').format(
        segment.tone, position(min(start, 100 - width)), width, top, height
    )


def _keys(chart: Stack) -> Markup:
    keys = [
        Markup(
            '<li><svg class="swatch" aria-hidden="true"><rect class="{}" width="100%" '
            'height="100%"/></svg>{}{} <strong>{}</strong></li>\n'
        ).format(
            segment.tone,
            Markup("<em>{}</em> ").format(segment.remark) if segment.remark else "",
            segment.name,
            segment.value,
        )
        for segment in (*chart.segments, chart.estimate)
        if segment is not None and segment.name
    ]
    return Markup('<ul class="keys">\n{}</ul>\n').format(joined(keys)) if keys else Markup("")


def _layers(chart: Plane) -> Iterable[Markup]:
    """Draw what is on a plane, from the lowest to the uppermost."""
    areas = [
        (f"{area.tone}{' solid' * area.solid}", f"{_outline(area.corners, chart)}Z")
        for area in chart.areas
    ]
    lines = [(line.tone, _outline(line.points, chart)) for line in chart.lines]
    yield from (_stretched("areas", areas), *(_edge(span, chart) for span in chart.spans))
    yield from (_across(100 - tick.at, "grid") for tick in chart.upwards.ticks)
    yield from (_upright(flag, chart) for flag in chart.flags)
    yield from (_bar(bar, chart) for bar in chart.bars)
    if chart.bars:
        yield _across(100, "ground")
    yield _points(chart)
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
    yield from _diamonds(chart)


def _on_plane(x: float, y: float, chart: Plane) -> tuple[float, float]:
    return chart.across.place(x), position(100 - chart.upwards.place(y))


def _points(chart: Plane) -> Markup:
    places = (_on_plane(x, y, chart) for x, y in chart.points)
    circles = joined(Markup('<circle cx="{}%" cy="{}%" r="3"/>\n').format(*at) for at in places)
    return Markup('<g class="points">{}</g>\n').format(circles) if circles else circles


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


def _diamonds(chart: Plane) -> list[Markup]:
    """Draw the diamonds, the first above all others, with labels where there is room."""
    places = [_on_plane(one.x, one.y, chart) for one in chart.diamonds]
    labels = place_labels(places, [one.label for one in chart.diamonds])
    drawn = []
    for diamond, (x, y), label in zip(chart.diamonds, places, labels, strict=True):
        text = Markup("")
        if label.text:
            text = Markup(
                '<text x="{}%" y="{}%" dx="{}" dy="{}" text-anchor="{}">{}</text>'
            ).format(x, y, label.dx, label.dy, label.anchor, label.text)
        drawn.append(
            Markup(
                '<g class="mark {}"><title>{}</title><use href="#diamond" x="{}%" y="{}%"/>{}</g>\n'
            ).format(diamond.side, diamond.title, x, y, text)
        )
    return drawn[::-1]


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
    return joined(
        Markup('<text class="{}" x="0" dx="10" y="{}%" dy="4">{}</text>\n').format(
            tone, position(height), name
        )
        for height, (_, tone, name) in zip(
            _apart(heights, 100 * _BESIDE / chart.height), names, strict=True
        )
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


def _upright(flag: Flag, chart: Plane) -> Markup:
    return Markup('<line class="flag-line" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>\n').format(
        chart.across.place(flag.at)
    )


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


def _across(height: float, kind: str) -> Markup:
    return Markup('<line class="{0}" x1="0" x2="100%" y1="{1}%" y2="{1}%"/>\n').format(
        kind, position(height)
    )


def _threshold(line: Threshold, chart: Plane) -> Markup:
    if not line.upright:
        return _across(100 - chart.upwards.place(line.value), "threshold")
    at = chart.across.place(line.value)
    drawn = Markup('<line class="threshold" x1="{0}%" x2="{0}%" y1="-4" y2="100%"/>\n').format(at)
    if not line.name:
        return drawn
    left = at > _RIGHT
    return drawn + Markup(
        '<text class="threshold-name" x="{}%" y="0" dx="{}" dy="7" text-anchor="{}">{}</text>\n'
    ).format(at, -7 if left else 7, "end" if left else "start", line.name)


def _widths(scale: Scale) -> Markup:
    return Markup('<svg class="x-axis" aria-hidden="true">{}</svg>\n').format(
        joined(
            Markup('<text x="{}%" y="16" text-anchor="middle">{}</text>').format(
                tick.at, tick.label
            )
            for tick in scale.ticks
        )
    )


def joined(parts: Iterable[Markup]) -> Markup:
    """Put pieces one after the other."""
    return Markup("").join(parts)
