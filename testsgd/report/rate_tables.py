"""Charts of rates as HTML tables: bars, and heat maps. Everything that is written is escaped."""

from __future__ import annotations

from markupsafe import Markup

from testsgd.report.charts import HeatKeys, HeatMap, RateBars
from testsgd.report.formatting import shorten
from testsgd.report.svg import joined

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
