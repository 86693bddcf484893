"""The three shares of a certification, shown on the terminal while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import floor
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from testsgd.certification.outcome import Moment, Shares

# A share's name, its colour, and how its part of the bar is drawn; the second where a terminal has
# nothing but ASCII.
_PARTS = (
    ("certified", "proved fair", "green", "█", "#"),
    ("falsified", "proved unfair", "red", "▓", "x"),
    ("undecided", "undecided", "bright_black", "░", "."),
)

# From here on the three figures stand in one line.
_WIDE = 70


@contextmanager
def live_shares(quiet: bool, time: float | None) -> Iterator[Callable[[Moment], None] | None]:
    """Show what is proved so far on the standard error, if that is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    time : float or None
        Seconds after which the search stops, if it does.

    Yields
    ------
    callable or None
        To be called with a moment of the certification.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    start = monotonic()
    latest: list[Moment] = []
    limit = time

    def picture() -> Text:
        width, plain = console.width, not console.encoding.lower().startswith("utf")
        if not latest:
            return _text("reading the model and the domain", "dim")
        # Between two moments the clock goes on.
        passed = latest[0].seconds + monotonic() - start
        return shares_picture(latest[0], passed, limit, width=width, plain=plain)

    def show(moment: Moment) -> None:
        nonlocal start, limit
        if not latest and time is not None:
            # A search that goes on from a checkpoint begins with the seconds of its earlier runs.
            limit = moment.seconds + time
        latest[:] = [moment]
        start = monotonic()

    with Live(
        get_renderable=picture, console=console, transient=True, refresh_per_second=8
    ) as live:
        live.refresh()
        yield show


def shares_picture(
    moment: Moment, seconds: float, time: float | None, *, width: int, plain: bool
) -> Text:
    """Draw the three shares as a bar with their figures.

    Parameters
    ----------
    moment : Moment
        What is proved so far.
    seconds : float
        How long it has taken.
    time : float or None
        How long it may take.
    width : int
        Columns of the terminal.
    plain : bool
        Draw with ASCII only.

    Returns
    -------
    rich.text.Text
    """
    figures, bar = _text(""), _text("")
    after = "   " if width >= _WIDE else "\n"
    columns, done, passed = max(10, min(width, 80)), 0, 0.0
    texts = _texts(moment.shares)
    for name, words, colour, filled, ascii_filled in _PARTS:
        share = getattr(moment.shares, name)
        figures.append(f"{words} ", "bold").append(texts[name], colour).append(after)
        passed += share
        end = min(columns, round(passed * columns))
        bar.append((ascii_filled if plain else filled) * (end - done), colour)
        done = end
    limit, hint = "", "Ctrl-C gives the result so far"
    if time is not None:
        limit = f" of {time:,.0f}"
        if seconds > time:
            # What is left to do has no limit, and takes some seconds.
            seconds, hint = time, "drawing samples of the rest"
    boxes = "box" if moment.boxes == 1 else "boxes"
    return (
        figures.append("" if after == "\n" else "\n")
        .append_text(bar)
        .append(
            f"\n{moment.boxes:,} {boxes}, {seconds:,.0f}{limit} s; {hint}",
            "dim",
        )
    )


def _texts(shares: Shares) -> dict[str, str]:
    """Write the shares; what is proved is rounded down, and what is left is the rest."""
    certified, falsified = floor(1e4 * shares.certified), floor(1e4 * shares.falsified)
    rest = 10_000 - certified - falsified if shares.undecided else 0
    hundredths = {"certified": certified, "falsified": falsified, "undecided": rest}
    return {name: f"{value / 100:.2f}%" for name, value in hundredths.items()}


def _text(words: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(words, style=style)
