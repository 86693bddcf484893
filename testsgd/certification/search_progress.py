"""How far a certification is: the phase, the share of its work, and what is proved so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from math import floor

from testsgd.certification.outcome import Moment, Shares
from testsgd.progress import Phase

# What comes before the first moment of a search, and after the time limit.
PREPARING = "reading the model and the domain, loading the search"
SEARCHING = "proving"
SAMPLING = "drawing samples of the rest"

# Number of parts that progress is reported in.
_PARTS = 10_000


def shares_in_words(shares: Shares) -> dict[str, str]:
    """Write shares; what is proved is rounded down, and what is left is the rest.

    Examples
    --------
    >>> shares_in_words(Shares(0.66666, 0.0, 0.33334))
    {'certified': '66.66%', 'falsified': '0.00%', 'undecided': '33.34%'}
    """
    # As decimals: 1e4 times the float 0.0029 is below 29.
    certified = floor(10_000 * Decimal(repr(shares.certified)))
    falsified = floor(10_000 * Decimal(repr(shares.falsified)))
    rest = 10_000 - certified - falsified if shares.undecided else 0
    hundredths = {"certified": certified, "falsified": falsified, "undecided": rest}
    return {name: f"{value / 100:.2f}%" for name, value in hundredths.items()}


class SearchProgress:
    """The progress of a search, taken up from its moments.

    With a time limit the share of the work is that of the time; else it is what is decided.

    Parameters
    ----------
    time_limit : float or None
        Seconds after which the search stops, if it does.
    clock : callable
        Returns seconds that never go back.

    Examples
    --------
    >>> seconds = 0.0
    >>> progress = SearchProgress(30.0, clock=lambda: seconds)
    >>> progress.take(Moment(0.0, 1, Shares(0.0, 0.0, 1.0)))
    >>> seconds = 10.0
    >>> progress.take(Moment(10.0, 80, Shares(0.5, 0.25, 0.25)))
    >>> progress.text()
    'proving: 33%, about 20 s left of this, 10 of 30 s used, proved fair 50.00%, proved unfair \
25.00%, undecided 25.00%'
    """

    def __init__(
        self, time_limit: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = time_limit
        self._clock = clock
        self._phase = Phase(clock)
        self._latest: Moment | None = None
        # Seconds of the search at its first moment: not 0 if it goes on from a checkpoint.
        self._before = 0.0
        self._taken = 0.0

    def take(self, moment: Moment) -> None:
        """Take up a moment of the search."""
        if self._latest is None:
            self._before = moment.seconds
        self._latest = moment
        self._taken = self._clock()
        self._phase.show(*self.share())

    def share(self) -> tuple[str, int, int]:
        """Return the phase, how much of it is done, and how much there is."""
        if self._latest is None:
            return PREPARING, 0, 1
        shares = self._latest.shares
        if self._limit is None or shares.undecided <= 0:
            return SEARCHING, int(_PARTS * (shares.certified + shares.falsified)), _PARTS
        used = min(1.0, self._used() / self._limit)
        return SEARCHING, int(_PARTS * used), _PARTS

    def detail(self) -> str:
        """Return the time used of the limit and what is proved so far; empty before the search."""
        if self._latest is None:
            return ""
        texts = shares_in_words(self._latest.shares)
        before = ""
        if self._is_over():
            before = f"{SAMPLING}, "
        elif self._limit is not None:
            before = f"{self._used():,.0f} of {self._limit:,.0f} s used, "
        return (
            f"{before}proved fair {texts['certified']}, proved unfair {texts['falsified']}, "
            f"undecided {texts['undecided']}"
        )

    def text(self) -> str:
        """Return the phase with its share, the time left, and what is proved so far."""
        if self._latest is None:
            return PREPARING
        if self._is_over():
            return self.detail()
        if self._limit is not None:
            # Between two moments the clock goes on.
            self._phase.show(*self.share())
        return f"{self._phase.text()}, {self.detail()}"

    def _used(self) -> float:
        """Return the seconds used of the limit; between two moments the clock goes on."""
        if self._latest is None:
            return 0.0
        return self._latest.seconds - self._before + self._clock() - self._taken

    def _is_over(self) -> bool:
        return self._limit is not None and self._used() >= self._limit
