"""Charts along one axis, bars and heat maps, as SVG and tables in HTML. Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from testsgd.report.charts import (
    HeatKeys,
    HeatMap,
    Mark,
    RateBars,
    Segment,
    Stack,
    StripRow,
    Strips,
)
from testsgd.report.formatting import shorten
from testsgd.report.scales import Scale, position

# A part of a bar has neighbours that must not be covered; in per cent.
_THINNEST = 0.2
# Longer labels of rows are cut.
_LABEL = 240
_RADIUS = {"dot": 4, "ring": 4, "rest": 4.5, "was": 4}


def strips(chart: Strips, level: int = 3) -> Markup:
    """Draw rows of marks, with the axis below; the headings above rows are of some level."""
    zero = chart.scale.place(0) if chart.zero else None
    parts = [
        Markup("{}{}").format(
            Markup("<h{0}>{1}</h{0}>\n").format(level, title) if title else "",
            Markup("<ul>\n{}</ul>\n").format(
                joined(_strip_row(row, chart.scale, zero) for row in rows)
            )
            if rows
            else "",
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
        drawn.append(_mark(chart.mark, scale, "50%", chart.side, signed=False))
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
    kind = "strip-row" + " two" * row.levels + " together" * row.together + " faint" * row.faint
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
    before = any(mark.shape == "was" for mark in row.marks)
    drawn = [
        _bar_across(row.segments, scale),
        _span("way-line" if before else "gap-line", row.line, scale, "50%"),
        *(
            _mark(mark, scale, height, row.side, signed=zero is not None)
            for mark, height in zip(row.marks, heights, strict=True)
        ),
        *_texts_beside(row.marks, scale),
    ]
    return Markup('<svg class="{}" role="img"><title>{}</title>{}{}{}</svg>').format(
        row.side, row.title, grid, middle, joined(drawn)
    )


def _texts_beside(marks: Iterable[Mark], scale: Scale) -> Iterable[Markup]:
    """Write what stands beside marks: at the left of the lowest, at the right of the others."""
    ordered = sorted(marks, key=lambda mark: mark.value)
    for index, mark in enumerate(ordered):
        if mark.text:
            yield Markup(
                '<text class="mark-text" x="{}%" y="50%" dx="{}" dy="4" text-anchor="{}">{}</text>'
            ).format(
                scale.place(mark.value), *((11, "start") if index else (-11, "end")), mark.text
            )


def _bar_across(segments: Iterable[Segment], scale: Scale) -> Markup:
    """Draw the bar of a row, in the middle of its height."""
    drawn = joined(_segment(segment, scale, "50%", "14") for segment in segments)
    return Markup('<g transform="translate(0 -7)">{}</g>').format(drawn) if drawn else drawn


def _mark(mark: Mark, scale: Scale, height: str, side: str, *, signed: bool) -> Markup:
    """Draw a mark; on a scale of signed differences its colour is that of its sign."""
    own = ("less" if mark.value < 0 else "more") if signed else side
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


def joined(parts: Iterable[Markup]) -> Markup:
    """Put pieces one after the other."""
    return Markup("").join(parts)


# Steps of heat maps on each side.
_STEPS = 4
# Longer names of columns of heat maps are turned.
_LONG = 6


def rate_bars(chart: RateBars) -> Markup:
    """Draw rates as bars in a table."""
    detailed = any(bar.detail for bar in chart.bars)
    overall = Markup("")
    if chart.overall is not None:
        at = chart.scale.place(chart.overall)
        overall = Markup('<line class="overall" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(at)
    rows = joined(
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
    heads = joined(
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
    columns = joined(
        Markup('<th scope="col"><span>{}</span></th>').format(shorten(label, 40))
        for label in chart.columns
    )
    rows = joined(
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            shorten(label, 60),
            joined(
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
    keys = joined(
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


def _shade(steps: int) -> str:
    """Name a shade: l4 (far below) to l1, z, m1 to m4 (far above)."""
    clipped = max(-_STEPS, min(_STEPS, steps))
    return f"{'l' if clipped < 0 else 'm'}{abs(clipped)}" if clipped else "z"
