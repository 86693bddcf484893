"""The drawings of a monitor's report: what is drawn lies where the numbers say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from monitor_documents import alarmed, estimated, windows

from testsgd.reporting.monitoring.drawings import Course, course
from testsgd.reporting.monitoring.phrases import ends_text
from testsgd.reporting.monitoring.summary import MonitoringSummary
from testsgd.reporting.monitoring.window_drawing import window_bars


def drawn(summary: MonitoringSummary) -> Course:
    found = course(
        summary.comparisons[0], summary.properties[0], summary.alerts, summary.settings.window
    )
    assert found is not None
    return found


def corners(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)]


def test_lines_go_through_the_estimates() -> None:
    found = drawn(alarmed())
    assert [line.kind for line in found.lines] == ["high", "low"]
    low, high = (
        float(tick.label[:-1]) / 100 for tick in (found.rate_ticks[0], found.rate_ticks[-1])
    )
    expected = {
        "high": [(1, 1.0), (20, 0.75), (60, 0.75), (100, 0.8)],
        "low": [(20, 0.25), (60, 0.5), (100, 0.3)],
    }
    for line in found.lines:
        for (x, y), (trials, rate) in zip(corners(line.path), expected[line.kind], strict=True):
            assert x == pytest.approx(trials, abs=0.01)
            assert y == pytest.approx(100 - 100 * (rate - low) / (high - low), abs=0.01)
    # The rate of 1 after the first trial makes no scale.
    assert high < 1
    assert found.clipped


def test_bias_threshold_interval_and_alert_share_one_scale() -> None:
    found = drawn(alarmed())
    top = float(found.bias_ticks[-1].label)
    assert top >= 0.75
    assert found.threshold == pytest.approx(100 - 100 * 0.2 / top, abs=0.06)
    assert found.interval == pytest.approx((100 - 75 / top, 100 - 25 / top), abs=0.06)
    assert [mark.x for mark in found.alerts] == [40]
    # Evidence stays: from the alert to the end.
    assert [(span.x, span.width) for span in found.spans] == [(40, 60)]


def test_alerts_that_are_cleared_are_spans() -> None:
    found = drawn(estimated())
    assert [(span.x, span.width) for span in found.spans] == [(20, 40), (80, 20)]
    assert [mark.x for mark in found.alerts] == [20, 80]
    assert found.interval is None


def test_alerts_of_a_sliding_window_lie_where_their_time_is() -> None:
    summary = estimated()
    (one,) = summary.comparisons
    points = [point.model_copy(update={"time": 10.0 * point.trials}) for point in one.course]
    for times, expected in (((200.0, 600.0, 900.0), [20, 90]), ((None, 600.0, 900.0), [])):
        alerts = [
            known.model_copy(update={"time": time, "trials": 7})
            for known, time in zip(summary.alerts, times, strict=True)
        ]
        changed = one.model_copy(update={"course": points, "first_alert": alerts[0]})
        found = course(changed, summary.properties[0], alerts, "sliding")
        assert found is not None
        assert [mark.x for mark in found.alerts] == expected


def test_windows_are_bars_and_their_rates_have_no_alerts() -> None:
    summary = windows()
    bars = window_bars(summary.comparisons[0], summary.properties[0])
    assert bars is not None
    assert [bar.above for bar in bars.bars] == [True, False, True]
    assert bars.bars[0].height == pytest.approx(5 * bars.bars[1].height, rel=0.02)
    for bar in bars.bars:
        assert (bar.y < bars.threshold) == bar.above
    found = drawn(summary)
    assert not found.with_bias
    assert (found.alerts, found.spans) == ((), ())


def test_a_single_moment_is_no_drawing() -> None:
    summary = alarmed()
    one = summary.comparisons[0].model_copy(update={"course": summary.comparisons[0].course[:1]})
    assert course(one, summary.properties[0], [], "all") is None
    assert window_bars(one, summary.properties[0]) is None


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_rounded_outwards(first: float, second: float) -> None:
    low, high = sorted((first, second))
    least, most = (float(end) for end in ends_text(low, high).split(" to "))
    assert least <= low + 1e-8
    assert most >= high - 1e-8
    assert low - least < 0.0011
    assert most - high < 0.0011
