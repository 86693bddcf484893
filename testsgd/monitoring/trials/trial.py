"""A trial: what the events of one person came to."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Trial(NamedTuple):
    """One person's decision, with its true label once that is known.

    Attributes
    ----------
    number : int
        How many trials were decided before it.
    group : str
        Who the person belongs to.
    given : tuple of str
        The values of the fields within which groups are compared, in their order in the
        specification.
    decision : {0, 1}
        1 is the favourable one.
    time : float or None
        When it was decided.
    label : {0, 1} or None
        None until it is known; for good if the trial was dropped.
    """

    number: int
    group: str
    given: tuple[str, ...]
    decision: int
    time: float | None
    label: int | None = None


class Step(NamedTuple):
    """What an event made of a trial.

    Attributes
    ----------
    kind : {"decided", "complete", "dropped"}
        Its decision is known; its label is known as well, or taken as known at the deadline; the
        deadline has passed and the trial is not counted.
    trial : Trial
        As it is now.
    time : float or None
        When that happened: of the event, or the deadline.
    """

    kind: Literal["decided", "complete", "dropped"]
    trial: Trial
    time: float | None
