"""Reading a method's curve at the accuracy of another: by hand, and that it is never flattered."""

from __future__ import annotations

import pytest

from testsgd.mitigation.outcome import CurvePoint
from testsgd.mitigation.report.summary import RatesSummary
from testsgd.mitigation.report.written import equal_accuracy, levelled_down, observed_rates


def point(change: float, difference: float) -> CurvePoint:
    return CurvePoint(
        budget=1.0,
        accuracy_change=change,
        accuracy_confidence_interval=(change - 1, change + 1),
        difference=difference,
        confidence_interval=(difference - 0.02, difference + 0.02),
    )


ORIGINAL = RatesSummary(
    n_in=100, n_out=400, rate_in=0.2, rate_out=0.5, difference=-0.3, score=0.3,
    confidence_interval=(-0.4, -0.2),
)  # fmt: skip
CURVE = [point(0.2, -0.26), point(-0.4, -0.2), point(-1.4, -0.1)]


@pytest.mark.parametrize(
    ("change", "score", "mixed"),
    [
        (-0.4, 0.2, False),
        # Half of the way from 0.4 to 1.4 points lost.
        (-0.9, 0.15, True),
        # The point that gains accuracy will do for all who lose less than that is worth.
        (0.1, 0.25, True),
        (0.2, 0.26, False),
        (-5.0, 0.1, False),
    ],
)
def test_by_hand(change: float, score: float, mixed: bool) -> None:
    found = equal_accuracy(CURVE, ORIGINAL, change)
    assert found is not None
    if change == 0.1:
        # Between the original, at 0, and the point at +0.2 the original is the worse.
        assert (found.score, found.mixed) == (pytest.approx(0.26), False)
        return
    assert (found.score, found.mixed) == (pytest.approx(score), mixed)
    assert found.confidence_interval[0] < -found.score < found.confidence_interval[1]


def test_what_loses_more_everywhere_is_not_compared() -> None:
    assert equal_accuracy(CURVE, ORIGINAL, 0.3) is None
    assert equal_accuracy([], ORIGINAL, -1.0) is None
    # But every method can be mixed with the original.
    found = equal_accuracy([point(-2.0, 0.0)], ORIGINAL, -1.0)
    assert found is not None
    assert found.score == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        (((100, 42), (100, 13)), ((100, 26), (100, 12)), 1.0),
        (((100, 42), (100, 12)), ((100, 32), (100, 22)), 0.5),
        (((100, 42), (100, 12)), ((100, 42), (100, 22)), 0.0),
        # The group is the disfavoured side.
        (((100, 12), (100, 42)), ((100, 12), (100, 22)), 1.0),
        (((100, 42), (100, 12)), ((100, 50), (100, 12)), None),
    ],
)
def test_levelling_down(before: tuple, after: tuple, share: float | None) -> None:
    rates = [observed_rates(*zip(*sides, strict=True), 0.95) for sides in (before, after)]
    found = levelled_down(*rates)
    assert found == (None if share is None else pytest.approx(share))
