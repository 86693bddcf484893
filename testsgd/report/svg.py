"""Charts as SVG inside HTML, a function a chart. Everything that is written is escaped."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from testsgd.report.charts import Chart, Mark, StripRow, Strips
from testsgd.report.scales import Scale, position


def draw(chart: Chart) -> Markup:
    """Return a chart as HTML."""
    return strips(chart)


def strips(chart: Strips) -> Markup:
    """Draw rows of dots with whiskers, with the axis below."""
    parts = [
        Markup("{}<ul>\n{}</ul>\n").format(
            Markup("<h3>{}</h3>\n").format(title) if title else "",
            _joined(_strip_row(row, chart.scale) for row in rows),
        )
        for title, rows in chart.parts
    ]
    return _joined([*parts, strip_axis(chart.scale)])


def strip_axis(scale: Scale) -> Markup:
    """Draw the axis below rows of a chart."""
    ticks = _joined(
        Markup('<text x="{}%" y="14" text-anchor="middle">{}</text>\n').format(tick.at, tick.label)
        for tick in scale.ticks
    )
    return Markup(
        '<div class="strip-row strip-axis" aria-hidden="true"><span class="strip-label"></span>'
        '<span class="strip"><svg>{}</svg></span><span class="value"></span></div>\n'
    ).format(ticks)


def text_units(text: str, units: Iterable[str], limit: int) -> Markup:
    """Write the text of a group; where it fits, a line never breaks inside a rule."""
    from testsgd.report.formatting import shorten

    units = tuple(units)
    if len(text) > limit or " and ".join(units) != text:
        return Markup("{}").format(shorten(text, limit))
    return Markup(" ").join(
        Markup('<span class="unit">{}{}</span>').format("and " if place else "", unit)
        for place, unit in enumerate(units)
    )


def _strip_row(row: StripRow, scale: Scale) -> Markup:
    label = text_units(row.label, row.units, 140)
    if row.to:
        label = Markup('<a href="#{}">{}</a>').format(row.to, label)
    detail = Markup(" <small>{}</small>").format(row.detail) if row.detail else ""
    drawn = _marks(row.marks, scale) if row.marks else ""
    kind = "strip-row" + " two" * (len(row.marks) > 1) + " together" * row.together
    return Markup(
        '<li class="{}"><span class="strip-label">{}{}</span>\n'
        '<span class="strip">{}</span><span class="value">{}</span></li>\n'
    ).format(kind, label, detail, drawn, row.value)


def _marks(marks: tuple[Mark, ...], scale: Scale) -> Markup:
    heights = ("50%",) if len(marks) == 1 else ("32%", "70%")
    zero = scale.place(0)
    grid = _joined(
        Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>').format(tick.at)
        for tick in scale.ticks
    )
    drawn = _joined(
        Markup('<g class="{}">{}</g>').format(mark.side, _mark(mark, scale, height))
        for mark, height in zip(marks, heights, strict=True)
    )
    return Markup(
        '<svg role="img"><title>{}</title>{}'
        '<line class="zero" x1="{}%" x2="{}%" y1="0" y2="100%"/>{}</svg>'
    ).format("; ".join(mark.title for mark in marks), grid, zero, zero, drawn)


def _mark(mark: Mark, scale: Scale, height: str) -> Markup:
    margin = _line("margin", mark.margin, scale, height, caps=False)
    whisker = _line("whisker", mark.interval, scale, height, caps=True)
    return Markup('{}{}<circle class="{}" cx="{}%" cy="{}" r="4"/>').format(
        margin, whisker, "ring" if mark.ring else "dot", scale.place(mark.value), height
    )


def _line(
    kind: str, ends: tuple[float, float] | None, scale: Scale, height: str, *, caps: bool
) -> Markup:
    low, high = (0.0, 0.0) if ends is None else (scale.place(end) for end in ends)
    if not position(high - low):
        return Markup("")
    line = Markup('<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(
        kind, low, high, height, height
    )
    cap = Markup('<use class="{}" href="#cap" x="{}%" y="{}"/>')
    return line + _joined(cap.format(kind, end, height) for end in (low, high) if caps)


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
