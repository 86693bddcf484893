"""Charts as SVG inside HTML, a function a chart. Everything that is written is escaped."""

from __future__ import annotations

from collections.abc import Iterable

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
)
from testsgd.report.formatting import shorten
from testsgd.report.planes import plane, scatter
from testsgd.report.scales import Scale, position

# Steps of heat maps on each side.
_STEPS = 4
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


def _shade(steps: int) -> str:
    """Name a shade: l4 (far below) to l1, z, m1 to m4 (far above)."""
    clipped = max(-_STEPS, min(_STEPS, steps))
    return f"{'l' if clipped < 0 else 'm'}{abs(clipped)}" if clipped else "z"


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
