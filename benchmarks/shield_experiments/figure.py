"""The figure of docs/shields.md: how many decisions a shield changes, and what accuracy is lost."""

from __future__ import annotations

from typing import Any

from benchmarks.figure_style import COMMON_STYLE

Row = dict[str, Any]

_TITLE = (
    "Share of decisions changed by the shield and loss of accuracy, a point for each data set, "
    "training method and bound; at the left demographic parity, at the right equal opportunity"
)
_PANELS = (
    ("demographic_parity", "Demographic parity, 100 decisions"),
    ("equal_opportunity", "Equal opportunity, 75 decisions"),
)
_KINDS = {"ERM": "plain", "DiffDP": "gap", "HSIC": "independence"}
_WORDS = {
    "plain": "plain training (ERM)",
    "gap": "gap penalty (DiffDP)",
    "independence": "HSIC",
}

_LEFT, _TOP, _SIZE, _APART = 48, 40, 252, 320
_HEIGHT = _TOP + _SIZE + 84
_STYLE = (
    COMMON_STYLE
    + """    .drawing rect { fill: var(--panel); }
    .drawing .grid { fill: none; stroke: var(--line); stroke-width: 1; }
    .drawing .all { fill: none; stroke: var(--faint); stroke-width: 1; stroke-dasharray: 4 3; }
    .drawing .plain { fill: var(--less); opacity: 0.8; }
    .drawing .gap { fill: var(--more); opacity: 0.8; }
    .drawing .independence { fill: none; stroke: var(--more); stroke-width: 1.6; }
  </style>
"""
)


def draw(cells: list[Row]) -> str:
    """Draw the cells of one period as an SVG."""
    parts = [
        f'<svg class="drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {_HEIGHT}" '
        f'role="img" aria-labelledby="shields-title">\n'
        f'  <title id="shields-title">{_TITLE}</title>\n{_STYLE}'
    ]
    for place, (fairness, title) in enumerate(_PANELS):
        here = [cell for cell in cells if cell["fairness"] == fairness]
        parts += _panel(here, title, _LEFT + place * _APART)
    x = _LEFT + 6
    for kind, words in _WORDS.items():
        parts.append(_circle(kind, x, _HEIGHT - 19))
        parts.append(_text(x + 12, _HEIGHT - 14, words, "faint"))
        x += 190 if kind != "independence" else 0
    return "".join(parts) + "</svg>\n"


def _panel(cells: list[Row], title: str, left: float) -> list[str]:
    points = [(100 * cell["cost"], 100 * cell["utility_loss"], cell) for cell in cells]
    most = _round_up(max(x for x, _, _ in points))
    high = _round_up(max(y for _, y, _ in points))
    # A shield can make decisions better, too.
    low = -high / 10 if min(y for _, y, _ in points) < 0 else 0.0

    def across(x: float) -> float:
        return left + _SIZE * x / most

    def up(y: float) -> float:
        return _TOP + _SIZE * (high - y) / (high - low)

    parts = [
        _text(left, 24, title, "strong"),
        f'  <rect x="{left:g}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}"/>\n',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = across(share * most), up(share * high)
        parts += [
            f'  <path class="grid" d="M{x:.1f} {_TOP}V{_TOP + _SIZE}"/>\n',
            f'  <path class="grid" d="M{left:g} {y:.1f}H{left + _SIZE:g}"/>\n',
            _text(x, _TOP + _SIZE + 18, f"{share * most:g}", "faint middle"),
            _text(left - 6, y + 4, f"{share * high:g}", "faint end"),
        ]
    parts.append(
        _text(left + _SIZE / 2, _TOP + _SIZE + 38, "decisions changed, per cent", "faint middle")
    )
    if left == _LEFT:
        parts.append(_text(_LEFT + 8, _TOP + 18, "accuracy lost, points", "faint"))
    # Every change makes a right decision wrong.
    end = min(most, high)
    parts.append(
        f'  <path class="all" d="M{across(0):.1f} {up(0):.1f}L{across(end):.1f} {up(end):.1f}"/>\n'
    )
    parts += [_circle(_KINDS[cell["method"]], across(x), up(y)) for x, y, cell in points]
    return parts


def _round_up(value: float) -> float:
    """Give a number whose quarters are easy to read."""
    return next(step for step in (1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 60, 80, 100) if step >= value)


def _circle(kind: str, x: float, y: float) -> str:
    return f'  <circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>\n'


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}">{words}</text>\n'
