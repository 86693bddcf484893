"""How figures of a comparison are written."""

from __future__ import annotations

from testsgd.comparison.outcome import FigureSummary
from testsgd.comparison.report.verdict import figure_value, own_value, similarity, speed


def test_own_value() -> None:
    assert (own_value(0.2041), own_value(31.52), own_value(0.0004), own_value(0.0)) == (
        "0.204",
        "31.5",
        "0.0004",
        "0",
    )


def test_figure_value() -> None:
    assert (
        figure_value(FigureSummary(name="rows", value=12000, meaning="generated rows"))
    ) == "12,000"
    assert (
        figure_value(FigureSummary(name="causal", value=0.25, meaning="share of the rows"))
    ) == "25.0%"


def test_nearness() -> None:
    assert (similarity(0.834), similarity(1.0)) == ("0.83", "1.00")


def test_speed() -> None:
    assert (speed(51234.2), speed(3.21)) == ("51,200", "3.2")
