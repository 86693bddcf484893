"""Charts as SVG inside HTML, a function a chart. Everything that is written is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from markupsafe import Markup

from testsgd.report.charts import (
    Chart,
    HeatKeys,
    HeatMap,
    Mark,
    Plane,
    RateBars,
    Scatter,
    StripRow,
    Strips,
    Threshold,
)
from testsgd.report.formatting import shorten
from testsgd.report.labels import place_labels
from testsgd.report.scales import Scale, position

# Nothing that is there is drawn thinner or lower than this, in per cent.
_LEAST = 0.6
# Names of lines that are further to the right stand at their left.
_RIGHT = 70
# Steps of heat maps on each side, and shades of tiles.
_STEPS = 4
_LEVELS = 5
# Longer names of columns of heat maps are turned.
_LONG = 6
_RADIUS = {"dot": 4, "ring": 4, "rest": 4.5, "was": 4}


def draw(chart: Chart) -> Markup:
    """Return a chart as HTML."""
    match chart:
        case Strips():
            return strips(chart)
        case Plane():
            return plane(chart)
        case RateBars():
            return rate_bars(chart)
        case HeatMap():
            return heat_map(chart)
        case HeatKeys():
            return heat_keys(chart)
        case Scatter():
            return scatter(chart)


def strips(chart: Strips) -> Markup:
    """Draw rows of marks, with the axis below."""
    zero = chart.scale.place(0) if chart.zero else None
    parts = [
        Markup("{}<ul>\n{}</ul>\n").format(
            Markup("<h3>{}</h3>\n").format(title) if title else "",
            _joined(_strip_row(row, chart.scale, zero) for row in rows),
        )
        for title, rows in chart.parts
    ]
    ticks = _joined(
        Markup('<text x="{}%" y="14" text-anchor="middle">{}</text>\n').format(tick.at, tick.label)
        for tick in chart.scale.ticks
    )
    axis = Markup(
        '<div class="strip-row strip-axis" aria-hidden="true"><span class="strip-label"></span>'
        '<span class="strip"><svg>{}</svg></span><span class="value"></span></div>\n'
    ).format(ticks)
    return _joined([*parts, axis])


def plane(chart: Plane) -> Markup:
    """Draw what has two axes."""
    drawn = [
        *(_across(100 - tick.at, "grid") for tick in chart.upwards.ticks),
        *(_bar(bar.start, bar.end, bar.height, bar.title, bar.tone, chart) for bar in chart.bars),
        _across(100, "ground"),
        *(_threshold(line, chart) for line in chart.thresholds),
    ]
    widths = Markup("") if chart.below is None else _widths(chart.across)
    below = Markup("")
    if chart.below:
        below = Markup('<p class="axis-name under">{}</p>\n').format(chart.below)
    return (
        _plane(chart.title, chart.name, chart.strong, chart.upwards, drawn, widths, low=chart.low)
        + below
    )


def _plane(
    title: str,
    name: str,
    strong: str,
    upwards: Scale,
    drawn: Iterable[Markup],
    widths: Markup,
    *,
    low: bool = False,
) -> Markup:
    """Put a drawing between its axes."""
    heights = _joined(
        Markup('<text x="100%" y="{}%" dx="-8" dy="4" text-anchor="end">{}</text>\n').format(
            position(100 - tick.at), tick.label.replace("%", "")
        )
        for tick in upwards.ticks
    )
    bold = Markup("<strong>{}</strong>").format(strong) if strong else ""
    named = Markup('<p class="axis-name">{}{}</p>\n').format(name, bold) if name else ""
    return Markup(
        '{}<div class="plot{}">\n<svg class="y-axis" aria-hidden="true">{}</svg>\n'
        '<svg class="plane" role="img"><title>{}</title>\n{}</svg>\n{}</div>\n'
    ).format(named, " low" * low, heights, title, _joined(drawn), widths)


def rate_bars(chart: RateBars) -> Markup:
    """Draw rates as bars in a table."""
    detailed = any(bar.detail for bar in chart.bars)
    overall = Markup("")
    if chart.overall is not None:
        at = chart.scale.place(chart.overall)
        overall = Markup('<line class="overall" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(at)
    rows = _joined(
        Markup(
            '<tr><th scope="row">{}</th><td><svg class="bar {}" aria-hidden="true">'
            '<rect class="track" y="15%" width="100%" height="70%"/>{}{}</svg></td>'
            '<td class="n strong">{}</td>{}</tr>\n'
        ).format(
            shorten(bar.label, 60),
            bar.tone,
            ""
            if bar.rate is None
            else Markup('<rect class="fill" y="15%" width="{}%" height="70%"/>').format(
                chart.scale.place(bar.rate)
            ),
            overall,
            bar.value,
            Markup('<td class="n soft rows">{}</td>').format(bar.detail) if detailed else "",
        )
        for bar in chart.bars
    )
    headings = ["Value", "Bar", "Rate", *(["Number"] if detailed else [])]
    kinds = ["", "", "n", "n rows"]
    heads = _joined(
        Markup('<th scope="col" class="{}"><span class="unseen">{}</span></th>').format(kind, name)
        for name, kind in zip(headings, kinds, strict=False)
    )
    detail = Markup(" <small>{}</small>").format(chart.detail) if chart.detail else ""
    return Markup(
        '<table class="rates"><caption>{}{}</caption><thead><tr>{}</tr></thead>\n'
        "<tbody>\n{}</tbody></table>\n"
    ).format(chart.title, detail, heads, rows)


def heat_map(chart: HeatMap) -> Markup:
    """Draw a heat map as a table."""
    turned = any(len(label) > _LONG for label in chart.columns)
    columns = _joined(
        Markup('<th scope="col"><span>{}</span></th>').format(shorten(label, 40))
        for label in chart.columns
    )
    rows = _joined(
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            shorten(label, 60),
            _joined(
                Markup('<td class="{}{}" title="{}">{}</td>').format(
                    "no" if cell.steps is None else _shade(cell.steps),
                    " f" * cell.few,
                    cell.title,
                    cell.text,
                )
                for cell in cells
            ),
        )
        for label, cells in chart.rows
    )
    return Markup(
        '<div class="heat"><p class="heat-name"><b>{0}</b> (down) and <b>{1}</b> (across){2}</p>\n'
        '<div class="scroll" role="region" aria-label="{0} and {1}" tabindex="0">\n'
        '<table class="heat{3}"><thead><tr><td></td>{4}</tr></thead>\n'
        "<tbody>\n{5}</tbody></table>\n"
        "</div></div>\n"
    ).format(chart.down, chart.across, chart.detail, " turned" * turned, columns, rows)


def heat_keys(chart: HeatKeys) -> Markup:
    """Draw the colours of heat maps."""
    last = len(chart.labels) // 2
    keys = _joined(
        Markup('<span class="key {}">{}{}{}</span>\n').format(
            _shade(number - last),
            "≤ " * (number == 0),
            "≥ " * (number == 2 * last),
            label,
        )
        for number, label in enumerate(chart.labels)
    )
    return Markup(
        '<div class="heat-keys" role="img" aria-label="{0}"><span class="soft">{0}</span>\n'
        "{1}</div>\n"
    ).format(chart.title, keys)


def scatter(chart: Scatter) -> Markup:
    """Draw points or tiles on a plane, and diamonds with their labels."""
    drawn = [_across(100 - tick.at, "grid") for tick in chart.upwards.ticks]
    if chart.upright is not None:
        at = chart.across.place(chart.upright)
        drawn.append(
            Markup('<line class="limit" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>\n').format(at)
        )
    if chart.level is not None:
        drawn.append(_across(100 - chart.upwards.place(chart.level), "limit"))
    places = [_on_plane(x, y, chart) for x, y in chart.points]
    drawn.append(
        Markup('<g class="points">{}</g>\n').format(
            _joined(Markup('<circle cx="{}%" cy="{}%" r="3"/>\n').format(*at) for at in places)
        )
    )
    drawn.append(Markup('<g class="tiles">{}</g>\n').format(_joined(_tiles(chart))))
    drawn += _diamonds(chart)
    return _plane(chart.title, chart.name, "", chart.upwards, drawn, _widths(chart.across))


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
    label = text_units(row.label, row.units, 140)
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
        _marks(row, scale, zero) if row.marks or row.step else "",
        row.value,
    )


def _marks(row: StripRow, scale: Scale, zero: float | None) -> Markup:
    heights = ("32%", "70%") if row.levels else ("50%",) * len(row.marks)
    grid = _joined(
        Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(tick.at)
        for tick in scale.ticks
    )
    middle = Markup("")
    if zero is not None:
        middle = Markup('<line class="zero" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(zero)
    drawn = _joined(
        _mark(mark, scale, height, row.side)
        for mark, height in zip(row.marks, heights, strict=True)
    )
    step = Markup("")
    if row.step is not None:
        low, high = sorted(scale.place(end) for end in row.step)
        step = Markup('<rect class="step" x="{}%" y="28%" width="{}%" height="44%"/>').format(
            low, position(high - low)
        )
    return Markup('<svg class="{}" role="img"><title>{}</title>{}{}{}{}{}</svg>').format(
        row.side, row.title, grid, middle, _span("gap-line", row.line, scale, "50%"), step, drawn
    )


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
    return _joined(cap.format(scale.place(end), height) for end in ends)


def _bar(start: float, end: float, height: float, title: str, tone: str, chart: Plane) -> Markup:
    left, right = chart.across.place(start), chart.across.place(end)
    tall = max(chart.upwards.place(height), _LEAST)
    return Markup(
        '<rect class="{}" x="{}%" width="{}%" y="{}%" height="{}%"><title>{}</title></rect>\n'
    ).format(tone, left, max(position(right - left), _LEAST), position(100 - tall), tall, title)


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
        _joined(
            Markup('<text x="{}%" y="16" text-anchor="middle">{}</text>').format(
                tick.at, tick.label
            )
            for tick in scale.ticks
        )
    )


def _shade(steps: int) -> str:
    """Name a shade: l4 (far below) to l1, z, m1 to m4 (far above)."""
    clipped = max(-_STEPS, min(_STEPS, steps))
    return f"{'l' if clipped < 0 else 'm'}{abs(clipped)}" if clipped else "z"


def _on_plane(x: float, y: float, chart: Scatter) -> tuple[float, float]:
    return chart.across.place(x), position(100 - chart.upwards.place(y))


def _diamonds(chart: Scatter) -> list[Markup]:
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


def _tiles(chart: Scatter) -> list[Markup]:
    """Draw tiles so that neighbours touch."""
    across = _edges([100 * chart.across.share(tile.x) for tile in chart.tiles])
    downwards = _edges([100 - 100 * chart.upwards.share(tile.y) for tile in chart.tiles])
    return [
        Markup('<rect class="t{}" x="{}%" y="{}%" width="{}%" height="{}%"/>\n').format(
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


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
