"""The ticks of scales."""

from __future__ import annotations

from testsgd.report.scales import count_scale, duration_scale, linear_scale


def test_linear_scale() -> None:
    assert ([tick.label for tick in linear_scale(0, 0.37, count=4).ticks]) == [
        "0%",
        "10%",
        "20%",
        "30%",
        "40%",
    ]


def test_count_scale() -> None:
    assert ([tick.label for tick in count_scale(0, 2300).ticks]) == [
        "0",
        "500",
        "1,000",
        "1,500",
        "2,000",
    ]


def test_duration_scale() -> None:
    assert ([tick.label for tick in duration_scale(0.02, 20).ticks]) == ["0.1 s", "1 s", "10 s"]
    assert ([tick.label for tick in duration_scale(2, 5).ticks]) == [
        "0 s",
        "1 s",
        "2 s",
        "3 s",
        "4 s",
        "5 s",
    ]
