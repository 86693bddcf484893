"""The drawings of a monitor's report: what is drawn lies where the numbers say."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from monitor_documents import (
    alarmed,
    comparison,
    estimated,
    group,
    specification,
    status,
    windows,
)
from page_planes import Plane, planes_of

from testsgd.monitoring import (
    MonitoringSummary,
    MonitorResult,
    TrajectoryPoint,
)
from testsgd.monitoring.report.summarise import summarise_monitoring
from testsgd.monitoring.report.wording import ends_text


def planes(summary: MonitoringSummary) -> list[Plane]:
    return planes_of(MonitorResult(summary).to_html())


def changed(summary: MonitoringSummary, **changes: Any) -> MonitoringSummary:
    """The same with changes to its only comparison."""
    (known,) = summary.comparisons
    return summary.model_copy(update={"comparisons": [known.model_copy(update=changes)]})


def spans(plane: Plane) -> list[tuple[float, ...]]:
    return plane.numbers("plane", "rect", "span", "x", "width")


def flags(plane: Plane) -> list[tuple[float, ...]]:
    return plane.numbers("plane", "svg", "flag", "x")


def test_lines_go_through_the_estimates() -> None:
    rates, _ = planes(alarmed())
    assert [tone for tone, _ in rates.lines()] == ["more", "less"]
    low, high = rates.heights[0] / 100, rates.heights[-1] / 100
    expected = {
        "more": [(1, 1.0), (20, 0.75), (60, 0.75), (100, 0.8)],
        "less": [(20, 0.25), (60, 0.5), (100, 0.3)],
    }
    for tone, corners in rates.lines():
        for (x, y), (trials, rate) in zip(corners, expected[tone], strict=True):
            assert x == pytest.approx(trials, abs=0.01)
            assert y == pytest.approx(100 - 100 * (rate - low) / (high - low), abs=0.01)
    # The rate of 1 after the first trial makes no scale, and its line runs out of the drawing.
    assert high < 1
    assert rates.lines()[0][1][0][1] < 0


def test_a_line_ends_at_the_present_estimate_with_its_name() -> None:
    # With a prior belief, 45 of 60 and 20 of 60; the course ends at 80 and 30 per cent.
    rates, _ = planes(estimated())
    low, high = rates.heights[0], rates.heights[-1]
    expected = [100 - 100 * (rate - low) / (high - low) for rate in (75, 100 / 3)]
    assert [corners[-1][1] for _, corners in rates.lines()] == pytest.approx(expected, abs=0.01)
    dots = rates.numbers("plane", "circle", "", "cx", "cy")
    assert [x for x, _ in dots] == [100, 100]
    assert [y for _, y in dots] == pytest.approx(expected, abs=0.06)
    assert [text for _, text in rates.names] == ["a 75.0%", "b 33.3%"]
    assert [y for y, _ in rates.names] == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(("number", "named"), [(6, 6), (7, 2)])
def test_names_stand_apart_and_of_many_lines_the_extremes_are_named(
    number: int, named: int
) -> None:
    specified = specification()
    tops = range(40, 40 + number)
    rates_at_the_end = tuple(top / 100 for top in tops)
    found = comparison(
        specified,
        groups=tuple(group(f"g{top}", top, 100) for top in tops),
        bias=Fraction(number - 1, 100),
        estimate=Fraction(number - 1, 100),
        trajectory=(
            TrajectoryPoint(10, None, rates_at_the_end, 0.0),
            TrajectoryPoint(100, None, rates_at_the_end, 0.0),
        ),
    )
    rates, bias = planes(summarise_monitoring(status(found), specified))
    assert len(rates.lines()) == number
    # The extremes are drawn last, above the others.
    assert {tone for tone, _ in rates.lines()[:-2]} == {"soft"}
    heights = [height for height, _ in rates.names]
    assert len(heights) == named
    assert all(0 <= height <= 100 for height in heights)
    assert all(b - a > 8.9 for a, b in pairwise(heights))
    texts = [text for _, text in rates.names]
    assert (texts[0], texts[-1]) == (f"g{tops[-1]} {tops[-1]}.0%", "g40 40.0%")
    assert len(bias.names) == 1


def test_bias_threshold_interval_and_alert_share_one_scale() -> None:
    rates, bias = planes(alarmed())
    top = bias.heights[-1]
    assert top >= 0.75
    bound = 100 - 100 * 0.2 / top
    assert bias.numbers("plane", "line", "threshold", "y1", "y2") == [
        pytest.approx((bound, bound), abs=0.06)
    ]
    assert [height for height, _ in bias.names] == pytest.approx([bound], abs=0.06)
    # What is above the bound is tinted.
    ((tone, corners),) = bias.lines("areas")
    assert tone == "less"
    assert {x for x, _ in corners} == {0, 100}
    assert sorted({y for _, y in corners}) == pytest.approx([0, bound], abs=0.01)
    assert bias.numbers("plane", "line", "reach", "y1", "y2") == [
        pytest.approx((100 - 75 / top, 100 - 25 / top), abs=0.06)
    ]
    ((tone, corners),) = bias.lines()
    expected = [(1, 100.0), (20, 100 - 50 / top), (60, 100 - 25 / top), (100, 100 - 50 / top)]
    assert tone == "ink"
    assert corners == [pytest.approx(corner, abs=0.01) for corner in expected]
    assert flags(bias) == [(40,)]
    assert flags(rates) == []
    for plane in (rates, bias):
        assert plane.numbers("plane", "line", "flag-line", "x1", "x2") == [(40, 40)]
    # Evidence stays: from the alert to the end.
    assert spans(bias) == [(40, 60)]


def test_alerts_that_are_cleared_are_spans() -> None:
    _, bias = planes(estimated())
    assert spans(bias) == [(20, 40), (80, 20)]
    assert flags(bias) == [(20,), (80,)]
    assert bias.marks("plane", "line", "reach") == []


def test_many_alerts_are_spans_without_flags() -> None:
    summary = estimated()
    raised, cleared, _ = summary.alerts
    alerts = [
        alert.model_copy(update={"trials": trials + 5 * later})
        for trials in range(10, 100, 10)
        for later, alert in enumerate((raised, cleared))
    ]
    many = changed(summary, alerts=9, first_alert=alerts[0]).model_copy(update={"alerts": alerts})
    _, bias = planes(many)
    assert spans(bias) == [(trials, 5) for trials in range(10, 100, 10)]
    assert flags(bias) == []
    # If not all alerts are known, nobody knows when they held.
    _, bias = planes(changed(many, alerts=10))
    assert spans(bias) == []


def test_alerts_of_a_sliding_window_lie_where_their_time_is() -> None:
    summary = estimated()
    (known,) = summary.comparisons
    points = [point.model_copy(update={"time": 10.0 * point.trials}) for point in known.course]
    settings = summary.settings.model_copy(update={"window": "sliding", "window_trials": 50})
    for times, expected in (((200.0, 600.0, 900.0), [(20,), (90,)]), ((None, 600.0, 900.0), [])):
        alerts = [
            alert.model_copy(update={"time": time, "trials": 7})
            for alert, time in zip(summary.alerts, times, strict=True)
        ]
        sliding = changed(summary, course=points, first_alert=alerts[0]).model_copy(
            update={"settings": settings, "alerts": alerts}
        )
        _, bias = planes(sliding)
        assert flags(bias) == expected


def test_windows_are_bars_and_their_rates_have_no_alerts() -> None:
    bars, rates = planes(windows())
    assert [mark["class"] for mark in bars.marks("plane", "rect")] == ["less", "more", "less"]
    sizes = bars.numbers("plane", "rect", "", "x", "width", "y", "height")
    assert sizes[0][3] == pytest.approx(5 * sizes[1][3], rel=0.02)
    ((bound,),) = bars.numbers("plane", "line", "threshold", "y1")
    for mark, (_, _, y, height) in zip(bars.marks("plane", "rect"), sizes, strict=True):
        assert y + height == pytest.approx(100)
        assert (y < bound) == (mark["class"] == "less")
    for mark in ("svg", "flag"), ("line", "flag-line"), ("rect", "span"):
        assert rates.marks("plane", *mark) == []


def test_a_thousand_windows_stand_beside_each_other() -> None:
    summary = windows()
    some = summary.comparisons[0].windows
    many = [some[at % 3].model_copy(update={"window": 500 + at}) for at in range(1000)]
    bars, _ = planes(changed(summary, windows=many, windows_judged=1500, windows_above=1000))
    for at, (x, width) in enumerate(bars.numbers("plane", "rect", "", "x", "width")):
        assert (x, width) == pytest.approx((at / 10, 0.1), abs=1e-3)
    ticks = {text: float(mark["x"][:-1]) for mark, text in bars.texts["x-axis"]}
    assert {"600", "1,000", "1,400"} <= set(ticks)
    assert ticks["1,000"] == pytest.approx(50, abs=0.11)


def test_a_single_moment_is_no_drawing() -> None:
    summary = alarmed()
    assert planes(changed(summary, course=summary.comparisons[0].course[:1])) == []


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_rounded_outwards(first: float, second: float) -> None:
    low, high = sorted((first, second))
    least, most = (float(end) for end in ends_text(low, high).split(" to "))
    assert least <= low + 1e-8
    assert most >= high - 1e-8
    assert low - least < 0.0011
    assert most - high < 0.0011
