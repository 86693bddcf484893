"""An audit drawn with matplotlib, without a window."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from audit_documents import as_summary, census_document, empty_document
from text_documents import text_summary

from testsgd import AuditResult
from testsgd.auditing.report.summary import AuditSummary
from testsgd.errors import MissingExtraError


def drawn(summary: AuditSummary) -> Any:
    """Return the figure of an audit, which must be drawn without a warning."""
    pytest.importorskip("matplotlib")
    figure = AuditResult(summary).plot()
    target = io.BytesIO()
    figure.savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")
    return figure


@pytest.mark.plot
def test_dots_are_at_the_differences_and_the_rates(summary: AuditSummary) -> None:
    figure = drawn(summary)
    features = [
        feature
        for feature in summary.charts.features
        if any(cell.rate is not None for cell in feature.cells)
    ]
    groups, *panels = figure.axes
    assert len(panels) == len(features)
    differences = {round(100 * group.difference, 6) for group in summary.groups}
    dots = [line for line in groups.lines if line.get_marker() == "o"]
    assert dots
    assert {round(float(dot.get_xdata()[0]), 6) for dot in dots} <= differences
    for panel, feature in zip(panels, features, strict=True):
        rates = [100 * cell.rate for cell in feature.cells if cell.rate is not None]
        points = [line for line in panel.lines if line.get_marker() == "o"]
        assert [float(dot.get_xdata()[0]) for dot in points] == pytest.approx(rates)


@pytest.mark.plot
def test_texts_and_an_audit_without_groups_can_be_drawn() -> None:
    drawn(text_summary())
    drawn(as_summary(empty_document()))


@pytest.mark.plot
def test_names_of_a_user_are_no_formulas() -> None:
    document = census_document()
    for group in document["groups"]:
        group["text"] = r"income = $\frac{1} and $x^$"
    drawn(as_summary(document))


@pytest.mark.plot
def test_a_notebook_shows_a_figure_without_pyplot(summary: AuditSummary) -> None:
    """IPython asks an object for its picture by this method, if nothing was set up for figures."""
    first, second = (drawn(summary)._repr_png_() for _ in range(2))
    assert first.startswith(b"\x89PNG")
    # A notebook keeps it: equal results give equal files, with any version of matplotlib.
    assert first == second
    assert b"Software" not in first


def test_without_matplotlib_the_extra_is_named(
    summary: AuditSummary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "testsgd.report.shown_figure", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        AuditResult(summary).plot()
    assert "testsgd[plot]" in str(caught.value)


@pytest.mark.plot
@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
def test_groups_that_are_worse_off_have_a_colour_of_their_own(outcome: str) -> None:
    document = census_document()
    document["data"]["label"]["outcome"] = outcome
    dots = [line for line in drawn(as_summary(document)).axes[0].lines if line.get_marker() == "o"]
    colours: dict[bool, set[str]] = {True: set(), False: set()}
    for dot in dots:
        colours[float(dot.get_xdata()[0]) > 0].add(dot.get_color())
    above, below = colours[True], colours[False]
    if outcome == "neither":
        assert len(above | below) == 1
    else:
        assert (len(above), len(below)) == (1, 1)
        assert above != below
        other = "harm" if outcome == "benefit" else "benefit"
        document["data"]["label"]["outcome"] = other
        first = drawn(as_summary(document)).axes[0].lines
        turned = {d.get_color() for d in first if d.get_marker() == "o" and d.get_xdata()[0] > 0}
        assert turned == below
