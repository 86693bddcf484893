"""A picture of sequences: a row of squares for each, one colour a value, a ring where asked for."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_SIDE = 15
_GAP = 3
_LEFT = 130
_TOP = 30
_ROW = 26
_COLOURS = ("#b85c00", "#2f6db5", "#6a6f78", "#3c8d5a")
_INK = "#4a5568"


def draw_sequences(
    rows: Sequence[tuple[str, Sequence[int]]],
    *,
    title: str,
    values: Sequence[str],
    most: int = 36,
) -> str:
    """Return an SVG drawing of the first outputs of some sequences.

    Parameters
    ----------
    rows : sequence of (name, labels)
        Labels from 1 on, negative where the value had been asked for.
    title : str
        What the drawing says to those who do not see it.
    values : sequence of str
        What the labels stand for.
    most : int
        How many outputs of each are drawn.
    """
    width = _LEFT + most * (_SIDE + _GAP) + 10
    height = _TOP + len(rows) * _ROW + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
    ]
    x = _LEFT
    for number, value in enumerate(values):
        parts.append(_square(x, 6, _COLOURS[number], asked=False))
        parts.append(_text(x + _SIDE + 5, 18, value))
        x += 90
    parts.append(_square(x, 6, "#ffffff00", asked=True))
    parts.append(_text(x + _SIDE + 5, 18, "asked for"))
    for index, (name, labels) in enumerate(rows):
        y = _TOP + index * _ROW
        parts.append(_text(0, y + 12, name))
        for place, label in enumerate(labels[:most]):
            colour = _COLOURS[abs(label) - 1]
            parts.append(_square(_LEFT + place * (_SIDE + _GAP), y, colour, asked=label < 0))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _square(x: int, y: int, colour: str, *, asked: bool) -> str:
    ring = f' stroke="{_INK}" stroke-width="2.5"' if asked else ""
    return f'<rect x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="3" fill="{colour}"{ring}/>'


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{_INK}">{escape(text)}</text>'
