"""The figures of docs/monitoring.md: rates of two groups and their difference, over a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.figure_style import COMMON_STYLE

Row = dict[str, Any]

COMPAS_TITLE = (
    "Rates of high risk scores of African-American and Caucasian defendants and their difference, "
    "over the time after the first two years; at the left among those who offended again, at the "
    "right among the others"
)
HIRING_TITLE = (
    "Estimated rates of accepted women and men and their difference over 500 people; at the left "
    "of a fair system, at the right of an unfair one"
)
_PANELS = {
    "equal_opportunity": "Offended again (true positives)",
    "predictive_equality": "Did not (false positives)",
}
_SYSTEMS = {"fair": "Fair: both 0.5", "unfair": "Unfair: women 0.2, men 0.5"}
THRESHOLD = 0.1

_LEFT, _TOP, _WIDTH, _HIGH, _APART = 40, 40, 264, 208, 318
_HEIGHT = _TOP + _HIGH + 84
_LINES = ("first", "second", "difference")
_STYLE = (
    COMMON_STYLE
    + """    .drawing rect { fill: var(--panel); }
    .drawing .grid { fill: none; stroke: var(--line); stroke-width: 1; }
    .drawing .first, .drawing .second, .drawing .difference { fill: none; stroke-width: 1.8; }
    .drawing .first { stroke: var(--less); }
    .drawing .second { stroke: var(--more); }
    .drawing .difference { stroke: var(--ink); }
    .drawing .bound { fill: none; stroke: var(--ink); stroke-width: 1.2;
      stroke-dasharray: 5 4; }
    .drawing .alert { fill: none; stroke: var(--faint); stroke-width: 1.2;
      stroke-dasharray: 1 3; }
  </style>
"""
)


@dataclass(frozen=True)
class Panel:
    """Lines over a common axis.

    Attributes
    ----------
    title : str
    places : sequence of float
        Where the points stand, rising.
    lines : sequence of sequences of (float or None)
        The first group, the second, and the difference; None where there is nothing.
    ticks : sequence of (float, str)
        Of the axis below.
    words : str
        What the axis is.
    top : float
        Of the axis at the left.
    alert : float or None
        Where the first alert came.
    """

    title: str
    places: Sequence[float]
    lines: Sequence[Sequence[float | None]]
    ticks: Sequence[tuple[float, str]]
    words: str
    top: float
    alert: float | None


def draw_recidivism(found: Row) -> str:
    """Draw Figure 7: the estimates over time, from the first outcome on."""
    estimates = {row["property"]: row for row in found["judged"] if row["rule"] == "estimate"}
    times = [time for curve in found["curves"] for time in curve["times"]]
    panels = []
    for curve in found["curves"]:
        first = estimates[curve["property"]]["first_alert"]
        panels.append(
            Panel(
                _PANELS[curve["property"]],
                curve["times"],
                [*curve["rates"], curve["bias"]],
                _quarters(min(times), max(times)),
                "deadline over",
                0.6,
                None if first is None else _seconds(first["day"]),
            )
        )
    return _draw("monitor-compas", COMPAS_TITLE, panels, _names(found["curves"][0]))


def draw_hiring(streams: list[Row]) -> str:
    """Draw Figure 4: one stream of a fair system, and one of an unfair one."""
    panels = []
    for stream in streams:
        people = len(stream["bias"])
        panels.append(
            Panel(
                _SYSTEMS[stream["system"]],
                range(1, people + 1),
                [*stream["rates"], stream["bias"]],
                [(people * part / 5, f"{people * part // 5:g}") for part in range(6)],
                "people",
                0.8,
                stream["first_alert"],
            )
        )
    return _draw("monitor-hiring", HIRING_TITLE, panels, _names(streams[0]))


def _names(curve: Row) -> list[str]:
    return [*curve["groups"], "difference"]


def _quarters(begin: float, end: float) -> list[tuple[float, str]]:
    """Mark the beginnings of every second quarter of a year."""
    found = []
    for year in range(datetime.fromtimestamp(begin, UTC).year, 1 + _year(end)):
        for month in (1, 7):
            time = _seconds(f"{year}-{month:02}-01")
            if begin - 90 * 86_400 < time < end:
                found.append((time, f"{year}-{month:02}"))
    return found


def _year(time: float) -> int:
    return datetime.fromtimestamp(time, UTC).year


def _seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def _draw(name: str, title: str, panels: Sequence[Panel], names: Sequence[str]) -> str:
    parts = [
        f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {_HEIGHT}" '
        f'role="img" aria-labelledby="{name}-title">\n'
        f'  <title id="{name}-title">{title}</title>\n{_STYLE}'
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, _LEFT + place * _APART)
    x, y = float(_LEFT), _HEIGHT - 18
    words = [*names, "bound", "first alert"]
    for kind, said in zip((*_LINES, "bound", "alert"), words, strict=True):
        parts.append(f'  <path class="{kind}" d="M{x:.0f} {y}h22"/>\n')
        parts.append(_text(x + 28, y + 4, said, "faint"))
        x += 46 + 7.0 * len(said)
    return "".join(parts) + "</svg>\n"


def _panel(panel: Panel, left: float) -> list[str]:
    begin = min([place for place, _ in panel.ticks] + [panel.places[0]])
    end = max([place for place, _ in panel.ticks] + [panel.places[-1]])
    bottom = _TOP + _HIGH

    def across(place: float) -> float:
        return left + _WIDTH * (place - begin) / (end - begin)

    def up(rate: float) -> float:
        return bottom - _HIGH * min(rate, panel.top) / panel.top

    parts = [
        _text(left, 24, panel.title, "strong"),
        f'  <rect x="{left:g}" y="{_TOP}" width="{_WIDTH}" height="{_HIGH}"/>\n',
    ]
    for tenth in range(0, round(10 * panel.top) + 1, 2):
        y = up(tenth / 10)
        parts.append(f'  <path class="grid" d="M{left:g} {y:.1f}H{left + _WIDTH:g}"/>\n')
        parts.append(_text(left - 6, y + 4, f"{tenth / 10:g}", "faint end"))
    for place, said in panel.ticks:
        x = across(place)
        parts.append(f'  <path class="grid" d="M{x:.1f} {_TOP}V{bottom}"/>\n')
        parts.append(_text(x, bottom + 18, said, "faint middle"))
    parts.append(_text(left + _WIDTH / 2, bottom + 38, panel.words, "faint middle"))
    parts.append(f'  <path class="bound" d="M{left:g} {up(THRESHOLD):.1f}H{left + _WIDTH:g}"/>\n')
    if panel.alert is not None:
        parts.append(f'  <path class="alert" d="M{across(panel.alert):.1f} {_TOP}V{bottom}"/>\n')
    for kind, rates in zip(_LINES, panel.lines, strict=True):
        points = [
            f"{across(place):.1f} {up(rate):.1f}"
            for place, rate in zip(panel.places, rates, strict=True)
            if rate is not None
        ]
        parts.append(f'  <path class="{kind}" d="M{"L".join(points)}"/>\n')
    return parts


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}">{words}</text>\n'
