"""Dots with their intervals, line by line, drawn with matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from testsgd.errors import MissingExtraError
from testsgd.report.formatting import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Characters of a name, and of each of its lines.
_NAME = 90
_NAME_LINE = 45
# Inches for each line of a chart, and for what is around it.
_LINE = 0.32
_AROUND = 1.1

# Both ends of an interval, None where it is not known.
Ends = tuple[float, float] | None


def panels_of_lines(lines: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel below the other, each with room for a number of lines.

    Parameters
    ----------
    lines : sequence of float
        How many lines each panel has room for.

    Returns
    -------
    figure : matplotlib.figure.Figure
        It is no figure of pyplot, so that nothing keeps it open.
    panels : list of matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    try:
        from testsgd.report.shown_figure import ShownFigure
    except ImportError as error:
        raise MissingExtraError("matplotlib", extra="plot", purpose="drawing a result") from error

    heights = [_AROUND + _LINE * number for number in lines]
    figure = ShownFigure(figsize=(8, sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    return figure, list(panels)


def draw_dots(
    panel: Axes,
    values: Sequence[float],
    intervals: Sequence[Ends],
    *,
    colours: Sequence[str],
    offset: float = 0.0,
) -> None:
    """Draw values as dots, one in a line, and their intervals, where there are any, as lines.

    `offset` moves all of them down, so that several may share a line.
    """
    for line, (value, ends, colour) in enumerate(zip(values, intervals, colours, strict=True)):
        height = line + offset
        if ends is not None:
            panel.plot(ends, [height, height], color=colour, linewidth=1.5)
        panel.plot([value], [height], color=colour, marker="o", linestyle="none")


def name_lines(panel: Axes, names: Sequence[str]) -> None:
    """Write the names of a panel's lines at its left side, the first at the top."""
    panel.set_yticks(range(len(names)), [drawn_text(name) for name in names])
    panel.set_ylim(len(names) - 0.5 if names else 0.5, -0.5)


def drawn_text(name: str) -> str:
    """Return a name in lines to draw: matplotlib would take dollar signs for formulas."""
    lines = textwrap.wrap(shorten(name, _NAME), _NAME_LINE, break_on_hyphens=False)
    return "\n".join(lines).replace("$", r"\$")
