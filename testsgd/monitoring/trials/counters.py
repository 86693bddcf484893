"""How many events and trials there were, of each kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counters:
    """How many events and trials of which kind there were.

    Attributes
    ----------
    events : int
        All that were taken; those that were refused are not among them.
    ignored : int
        Events that say nothing, or that play no part.
    repeated : int
        Events that only say what was known.
    unknown : int
        Decisions on people of unknown groups.
    late : int
        Labels that came after the deadline.
    decided, dropped : int
        Trials with a decision; those that a deadline ended without a label.
    """

    events: int = 0
    ignored: int = 0
    repeated: int = 0
    unknown: int = 0
    late: int = 0
    decided: int = 0
    dropped: int = 0
