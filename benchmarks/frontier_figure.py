"""The figure of docs/mitigation.md: the frontier of the committed network of Census.

``python -m benchmarks.frontier_figure`` writes docs/images/frontier.svg from the result in
reports/census-frontier, which ``testsgd mitigate census --out reports/census-frontier`` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.figure_style import COMMON_STYLE
from testsgd.io import replacing_any_file, write_text
from testsgd.mitigation import FrontierResult, FrontierSummary

_ROOT = Path(__file__).resolve().parent.parent
_RESULT = _ROOT / "reports" / "census-frontier" / "result.json"
_FILE = _ROOT / "docs" / "images" / "frontier.svg"

_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 40, 60
# Ends of the axes, in points: of accuracy lost, and of the worst difference.
_LOST = (-0.5, 2.0)
_WORST = (0.0, 35.0)


def main() -> None:
    """Draw the figure and write it."""
    with replacing_any_file():
        write_text(_FILE, drawing(FrontierResult.from_json(_RESULT).summary))
    print(_FILE)


def drawing(summary: FrontierSummary) -> str:
    """Return the figure as an SVG document."""
    across = _scale(_LOST, _LEFT, _WIDTH - _RIGHT)
    upwards = _scale(_WORST, _HEIGHT - _BOTTOM, _TOP)
    parts = [*_axes(across, upwards, limit=summary.settings.max_accuracy_drop)]
    for point in summary.ceiling:
        x, y = across(100 * point.accuracy.drop), upwards(100 * point.worst.size)
        if 100 * point.accuracy.drop <= _LOST[1]:
            parts.append(f'    <path class="other" d="M{x:.1f} {y - 5:.1f} l5 9 h-10 z"/>')
    for point in summary.points:
        x, y = across(100 * point.accuracy.drop), upwards(100 * point.worst.size)
        if 100 * point.accuracy.drop <= _LOST[1]:
            parts.append(f'    <circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
    x, y = across(0.0), upwards(100 * summary.worst_before.size)
    parts.append(f'    <circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
    parts.append(f'    <text class="strong" x="{x + 12:.1f}" y="{y + 5:.1f}">original</text>')
    written = summary.point
    assert written is not None
    x, y = across(100 * written.accuracy.drop), upwards(100 * written.worst.size)
    parts.append(f'    <circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="8"/>')
    parts.append(f'    <text class="strong end" x="{x - 14:.1f}" y="{y + 5:.1f}">written</text>')
    lost = 100 * written.accuracy.drop
    title = (
        f"Worst difference of all groups against accuracy lost on Census: the written point at "
        f"{100 * written.worst.size:.1f} points, the original at "
        f"{100 * summary.worst_before.size:.1f}; {abs(lost):.2f} points of accuracy "
        f"{'lost' if lost > 0 else 'gained'}"
    )
    style = (
        "    .drawing .point { fill: var(--more); opacity: .6; }\n"
        "    .drawing .chosen { fill: var(--more); }\n"
        "    .drawing .ring { fill: none; stroke: var(--more); stroke-width: 2; }\n"
        "    .drawing .other { fill: var(--faint); opacity: .6; }\n"
        "    .drawing .beyond { fill: var(--less); opacity: .1; }\n"
        "    .drawing .rule { stroke: var(--line); }\n"
        "    .drawing .limit { stroke: var(--less); stroke-dasharray: 4 3; }\n"
        "  </style>"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            f"  <title>{title}</title>",
            COMMON_STYLE + style,
            '  <g class="drawing">',
            *parts,
            "  </g>",
            "</svg>",
            "",
        ]
    )


def _scale(ends: tuple[float, float], start: float, stop: float) -> Callable[[float], float]:
    """Return what places a number between two places of the drawing."""
    low, high = ends
    return lambda number: start + (number - low) / (high - low) * (stop - start)


def _axes(
    across: Callable[[float], float], upwards: Callable[[float], float], *, limit: float
) -> list[str]:
    """Return the axes with their names, and what is beyond the budget."""
    bottom, top = upwards(_WORST[0]), upwards(_WORST[1])
    edge = across(limit)
    parts = [
        f'    <rect class="beyond" x="{edge:.1f}" y="{top:.1f}" '
        f'width="{across(_LOST[1]) - edge:.1f}" height="{bottom - top:.1f}"/>',
        f'    <path class="limit" d="M{edge:.1f} {top:.1f} V{bottom:.1f}"/>',
        f'    <text class="faint" x="{edge + 6:.1f}" y="{top + 14:.1f}">more than allowed</text>',
        f'    <text class="faint" x="{_LEFT}" y="{top - 14:.1f}">'
        "Worst difference of all groups, percentage points</text>",
        f'    <text class="faint end" x="{across(_LOST[1]):.1f}" y="{bottom + 44:.1f}">'
        "Points of accuracy lost, held-out rows</text>",
        f'    <circle class="point" cx="{_LEFT + 6}" cy="{bottom + 40:.1f}" r="5"/>',
        f'    <text class="faint" x="{_LEFT + 18}" y="{bottom + 44:.1f}">penalty</text>',
        f'    <path class="other" d="M{_LEFT + 86} {bottom + 35:.1f} l5 9 h-10 z"/>',
        f'    <text class="faint" x="{_LEFT + 98}" y="{bottom + 44:.1f}">thresholds</text>',
    ]
    for worst in range(0, 36, 5):
        y = upwards(worst)
        parts.append(
            f'    <path class="rule" d="M{_LEFT} {y:.1f} H{across(_LOST[1]):.1f}"/>'
            f'<text class="faint end" x="{_LEFT - 8}" y="{y + 4:.1f}">{worst}</text>'
        )
    for lost in (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0):
        text = f"{lost:g}".replace("-", "\N{MINUS SIGN}")
        parts.append(
            f'    <text class="faint middle" x="{across(lost):.1f}" y="{bottom + 18:.1f}">'
            f"{text}</text>"
        )
    return parts


if __name__ == "__main__":
    main()
