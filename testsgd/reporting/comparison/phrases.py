"""How figures of a comparison are worded."""

from __future__ import annotations

from testsgd.report.formatting import MINUS, NOTHING, capital, count, percent, sentence
from testsgd.reporting.comparison.summary import (
    FigureSummary,
    MethodSummary,
)

# The audit's short name among the methods.
AUDIT = "testsgd"

# What the intervals of the audit hold for.
HOLDS_FOR = {
    "per-group": "for each group alone",
    "simultaneous": "for all groups at once",
    "fdr": "for the groups that are found",
}


def own_value(value: float) -> str:
    """Write a value of a method's own measure: three digits after the point where it is small.

    Examples
    --------
    >>> own_value(0.2041), own_value(31.52), own_value(0.0004), own_value(0.0)
    ('0.204', '31.5', '0.0004', '0')
    """
    if value == 0:
        return "0"
    size = abs(value)
    digits = f"{size:.1f}" if size >= 10 else f"{size:.3f}" if size >= 0.01 else f"{size:.1g}"
    return f"{MINUS if value < 0 else ''}{digits}"


def figure_value(figure: FigureSummary) -> str:
    """Write the value of a figure: shares in per cent.

    Examples
    --------
    >>> figure_value(FigureSummary(name="rows", value=12000, meaning="generated rows"))
    '12,000'
    >>> figure_value(FigureSummary(name="causal", value=0.25, meaning="share of the rows"))
    '25.0%'
    """
    if isinstance(figure.value, str):
        return figure.value
    if isinstance(figure.value, int):
        return count(figure.value)
    if figure.meaning.lower().startswith("share of") and 0 <= figure.value <= 1:
        return percent(figure.value)
    return own_value(figure.value)


def figure_sentences(method: MethodSummary) -> tuple[tuple[str, str], ...]:
    """Write a method's figures: each its name with the value, and what it says."""
    return tuple(
        (f"{capital(figure.name)}: {figure_value(figure)}", sentence(figure.meaning))
        for figure in method.figures
    )


def change_sentences(method: MethodSummary) -> tuple[str, ...]:
    """Say for findings that are features, not groups, how many people's decisions they change."""
    return tuple(
        f"Changing {_features(finding.text)} changes the decision for "
        f"{percent(finding.value)} of the people."
        for finding in method.findings
        if finding.side is None
    )


def _features(text: str) -> str:
    return (
        "only the sensitive features"
        if text == "all sensitive features"
        else f"only {text.removesuffix(' alone')}"
    )


def nearness(value: float) -> str:
    """Write Jaccard's index.

    Examples
    --------
    >>> nearness(0.834), nearness(1.0)
    ('0.83', '1.00')
    """
    return f"{value:.2f}"


def speed(value: float | None) -> str:
    """Write groups a second.

    Examples
    --------
    >>> speed(51234.2), speed(3.21)
    ('51,200', '3.2')
    """
    if value is None:
        return NOTHING
    if value < 10:
        return f"{value:.1f}"
    return count(100 * round(value / 100) if value >= 10_000 else round(value))
