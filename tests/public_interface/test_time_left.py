"""The time that is left of a phase, by a clock of the test's own."""

from __future__ import annotations

import re

import pytest

from testsgd import progress as module
from testsgd.certification.outcome import Moment, Shares
from testsgd.certification.search_progress import SearchProgress
from testsgd.progress import Phase, shown_progress


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def figures(text: str) -> list[float]:
    """Return the numbers in a text, in order."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_a_phase_without_parts_is_named_alone() -> None:
    phase = Phase(Clock())
    assert phase.text() == ""
    phase.show("choosing", 0, 1)
    assert phase.text() == "choosing"


def test_the_time_left_is_by_the_pace_of_the_phase() -> None:
    clock = Clock()
    phase = Phase(clock)
    phase.show("reading", 0, 1)
    clock.now += 500
    phase.show("training", 0, 40)
    clock.now += 7
    # Nothing is known of the pace yet.
    assert figures(phase.text()) == [0]
    clock.now += 1
    phase.show("training", 10, 40)
    # 10 parts took 8 seconds, so 30 take 24.
    assert figures(phase.text()) == [25, 24]
    clock.now += 4
    assert figures(phase.text()) == [25, 20]
    # What takes longer than all that seemed to be left has an unknown pace.
    clock.now += 60
    assert figures(phase.text()) == [25]
    phase.show("training", 40, 40)
    assert figures(phase.text()) == [100]
    # Another phase has a pace of its own.
    phase.show("measuring", 0, 2)
    clock.now += 300
    phase.show("measuring", 1, 2)
    assert figures(phase.text()) == [50, 5]
    assert "5 min" in phase.text()


def test_what_a_phase_begins_with_says_nothing_about_its_pace() -> None:
    clock = Clock()
    phase = Phase(clock)
    phase.show("retraining", 30, 40)
    clock.now += 10
    assert figures(phase.text()) == [75]
    phase.show("retraining", 31, 40)
    assert figures(phase.text()) == [77, 90]


def test_100_per_cent_are_said_of_what_is_done() -> None:
    phase = Phase(Clock())
    phase.show("asking", 9_999, 10_000)
    assert figures(phase.text()) == [99]


def test_a_search_tells_the_time_used_and_what_is_proved() -> None:
    clock = Clock()
    search = SearchProgress(40.0, clock=clock)
    assert search.text()
    assert figures(search.text()) == []
    # It goes on from a checkpoint.
    search.take(Moment(100.0, 10, Shares(0.25, 0.0, 0.75)))
    clock.now += 10
    search.take(Moment(110.0, 20, Shares(0.5, 0.125, 0.375)))
    assert figures(search.text()) == [25, 30, 10, 40, 50.0, 12.5, 37.5]
    # Between two moments the clock goes on.
    clock.now += 10
    assert figures(search.text()) == [50, 20, 20, 40, 50.0, 12.5, 37.5]
    clock.now += 25
    assert figures(search.text()) == [50.0, 12.5, 37.5]


def test_without_a_limit_the_share_is_what_is_decided() -> None:
    clock = Clock()
    search = SearchProgress(None, clock=clock)
    search.take(Moment(0.0, 1, Shares(0.0, 0.0, 1.0)))
    clock.now += 30
    search.take(Moment(30.0, 9, Shares(0.5, 0.25, 0.25)))
    assert figures(search.text()) == [75, 10, 50.0, 25.0, 25.0]
    search.take(Moment(40.0, 12, Shares(0.75, 0.25, 0.0)))
    assert search.share()[1:] == (10_000, 10_000)


def test_the_line_of_python_has_the_time_left_and_the_detail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "Phase", lambda: Phase(clock))
    line = module._Line(lambda: "two found")
    line.take("searching", 0, 4)
    clock.now += 6
    line.take("searching", 1, 4)

    class Once:
        """Is over after one line."""

        waits = 0

        def wait(self, seconds: float) -> bool:
            self.waits += 1
            return self.waits > 1

    line.speak_until(Once())  # type: ignore[arg-type]  # all that is asked of an event
    (text,) = capsys.readouterr().err.splitlines()
    assert figures(text)[:2] == [25, 18]
    assert "two found" in text
    with shown_progress(False, detail=lambda: "nothing") as reporter:
        assert reporter is None
