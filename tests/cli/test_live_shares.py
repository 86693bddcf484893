"""The shares that a terminal shows while a certification runs."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from testsgd.certification.outcome import Moment, Shares
from testsgd.cli.certify import live_shares, shares_picture

SOME = Moment(seconds=12.0, boxes=120_411, shares=Shares(0.75, 0.125, 0.125))


def lines(moment: Moment, *, time: float | None, width: int = 90, plain: bool) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        console.print(shares_picture(moment, 12.0, time, width=width, plain=plain))
    return captured.get().splitlines()


def test_the_figures_the_bar_and_the_clock() -> None:
    figures, bar, clock = lines(SOME, time=60.0, plain=False)

    assert " ".join(figures.split()) == "proved fair 75.00% proved unfair 12.50% undecided 12.50%"
    assert bar == "█" * 60 + "▓" * 10 + "░" * 10
    assert clock == "120,411 boxes, 12 of 60 s; Ctrl-C gives the result so far"


def test_without_a_limit_and_on_a_plain_and_narrow_terminal() -> None:
    *figures, bar, clock, wish = lines(SOME, time=None, width=40, plain=True)

    assert figures == ["proved fair 75.00%", "proved unfair 12.50%", "undecided 12.50%"]
    assert bar == "#" * 30 + "x" * 5 + "." * 5
    words = " ".join(f"{clock} {wish}".split())
    assert words == "120,411 boxes, 12 s; Ctrl-C gives the result so far"


def test_when_the_time_is_over_samples_are_drawn() -> None:
    clock = lines(SOME, time=10.0, plain=True)[2]
    assert clock == "120,411 boxes, 10 of 10 s; drawing samples of the rest"


@pytest.mark.parametrize(
    ("shares", "bar"),
    [
        (Shares(0.0, 0.0, 1.0), "." * 80),
        (Shares(1.0, 0.0, 0.0), "#" * 80),
        (Shares(0.999, 0.0005, 0.0005), "#" * 80),
        (Shares(1 / 3, 1 / 3, 1 / 3), "#" * 27 + "x" * 26 + "." * 27),
    ],
)
def test_the_bar_is_always_full(shares: Shares, bar: str) -> None:
    assert lines(Moment(1.0, 1, shares), time=None, plain=True)[1] == bar


@pytest.mark.parametrize(
    ("shares", "written"),
    [
        (Shares(0.99999, 0.0, 0.00001), "proved fair 99.99% proved unfair 0.00% undecided 0.01%"),
        (Shares(1.0, 0.0, 0.0), "proved fair 100.00% proved unfair 0.00% undecided 0.00%"),
        (Shares(1 / 3, 2 / 3, 0.0), "proved fair 33.33% proved unfair 66.66% undecided 0.00%"),
    ],
)
def test_nothing_is_rounded_in_favour_of_a_proof(shares: Shares, written: str) -> None:
    figures = lines(Moment(1.0, 1, shares), time=None, plain=True)[0]
    assert figures.split() == written.split()


def test_nothing_is_shown_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_shares(False, 60.0):
        pass  # Without a terminal it speaks now and then, and this is short.
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with live_shares(True, 60.0) as show:
        assert show is None
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def terminal_in_place(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", found := Terminal())
    return found


def test_the_limit_of_a_search_that_goes_on_counts_from_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = terminal_in_place(monkeypatch)
    with live_shares(False, 60.0) as show:
        assert show is not None
        show(Moment(100.0, 10, Shares(0.1, 0.0, 0.9)))
        show(Moment(101.0, 11, Shares(0.1, 0.0, 0.9)))

    assert "101 of 160 s; Ctrl-C" in terminal.getvalue()


def test_a_terminal_sees_the_latest_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_in_place(monkeypatch)
    with live_shares(False, 60.0) as show:
        assert show is not None
        show(Moment(1.0, 10, Shares(0.1, 0.0, 0.9)))
        show(SOME)

    assert "reading the model and the domain" in terminal.getvalue()
    assert "75.00%" in terminal.getvalue()
