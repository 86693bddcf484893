"""Geometry of the drawing of a comparison: all methods' first findings on one scale."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.reporting.comparison.summary import (
    ComparedFindingSummary,
    ComparisonSummary,
    SideSummary,
)
from testsgd.reporting.geometry import Scale, Whisker, dot, linear_scale
from testsgd.reporting.wording import percent, signed

# Findings of each method in the drawing.
DRAWN = 3


@dataclass(frozen=True)
class Drawn:
    """A finding as a dot; `after` is what stands behind its text."""

    text: str
    after: str
    dot: Whisker
    value: str


@dataclass(frozen=True)
class DrawnMethod:
    """A method with its first findings."""

    title: str
    findings: tuple[Drawn, ...]


def drawn_methods(summary: ComparisonSummary) -> tuple[Scale, tuple[DrawnMethod, ...]]:
    """Place the first findings of each method by their difference, on one scale.

    Parameters
    ----------
    summary : ComparisonSummary
        The comparison.

    Returns
    -------
    scale : Scale
        Of signed differences; zero is on it.
    methods : tuple of DrawnMethod
        Methods without groups are left out; of a pair both groups are drawn.
    """
    chosen = [
        (method.title, [side for finding in method.findings[:DRAWN] for side in _sides(finding)])
        for method in summary.methods
    ]
    values = [side.difference or 0.0 for _, sides in chosen for _, side in sides]
    scale = linear_scale(min([-0.01, *values]), max([0.01, *values]), count=6, in_points=True)
    drawn = tuple(
        DrawnMethod(title, tuple(_drawn(text, side, scale) for text, side in sides))
        for title, sides in chosen
        if sides
    )
    return scale, drawn


def _sides(finding: ComparedFindingSummary) -> list[tuple[str, SideSummary]]:
    sides = [(finding.text, finding.side), ("the group with the lower rate", finding.other_side)]
    return [
        (text, side) for text, side in sides if side is not None and side.difference is not None
    ]


def _drawn(text: str, side: SideSummary, scale: Scale) -> Drawn:
    difference = side.difference or 0.0
    return Drawn(text, percent(side.share), dot(difference, scale), signed(difference))
