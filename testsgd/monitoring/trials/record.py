"""What has been said of one person, and whether another event agrees with it."""

from __future__ import annotations

from typing import Any, Literal

from testsgd.errors import EventError
from testsgd.monitoring.trials.event import Event
from testsgd.monitoring.trials.trial import Trial

State = Literal["open", "closed", "unknown"]


class Record:
    """What the events of one trial have said so far.

    Attributes
    ----------
    name : str or None
        The id.
    group, decision, label, given
        What was said; None where nothing was.
    number : int
        How many trials were decided before; -1 while this one is not.
    time, due : float or None
        When it was decided, and when its deadline is. Until then the latest time of what was said.
    labelled : float or None
        The time of its label.
    state : {"open", "closed", "unknown"}
        "unknown" if its group is.
    """

    __slots__ = (
        "decision",
        "due",
        "given",
        "group",
        "label",
        "labelled",
        "name",
        "number",
        "state",
        "time",
    )

    def __init__(self, name: str | None, fields: int) -> None:
        self.name = name
        self.group: str | None = None
        self.decision: int | None = None
        self.label: int | None = None
        self.given: tuple[str | None, ...] = (None,) * fields
        self.number = -1
        self.time: float | None = None
        self.due: float | None = None
        self.labelled: float | None = None
        self.state: State = "open"

    @property
    def whole(self) -> bool:
        """Whether everything but the label is known."""
        return self.group is not None and self.decision is not None and None not in self.given

    def add(self, event: Event) -> bool:
        """Take what an event says, see :meth:`check`, and say whether it was not known."""
        changed = False
        if event.group is not None and self.group is None:
            self.group, changed = event.group, True
        if event.decision is not None and self.decision is None:
            self.decision, changed = event.decision, True
        if event.given and None in self.given:
            given = tuple(
                known if said is None else said
                for known, said in zip(self.given, event.given, strict=True)
            )
            changed = changed or given != self.given
            self.given = given
        if changed and event.time is not None:
            # Events may come in another order than they happened.
            self.time = event.time if self.time is None else max(self.time, event.time)
        if event.label is not None and self.label is None:
            self.label, self.labelled, changed = event.label, event.time, True
        return changed

    def check(self, event: Event, given_fields: tuple[str, ...]) -> None:
        """Check that an event says nothing else than was said.

        Raises
        ------
        EventError
            If it does.
        """
        said = (event.group, event.decision, event.label, *event.given)
        known = (self.group, self.decision, self.label, *self.given)
        for place, (new, old) in enumerate(zip(said, known, strict=True)):
            if new is not None and old is not None and new != old:
                field = ("group", "decision", "label", *given_fields)[place]
                who = "this trial" if self.name is None else f"the trial {self.name!r}"
                raise EventError(
                    f"the {field} of {who} was {old} before and is {new} now",
                    where=field,
                    remedy="give every trial an id of its own; what was said cannot be changed",
                    id=self.name,
                    before=old,
                    now=new,
                )

    def trial(self, label: int | None) -> Trial:
        """Give the trial that it is by now."""
        assert self.group is not None
        assert self.decision is not None
        given = tuple(value for value in self.given if value is not None)
        return Trial(self.number, self.group, given, self.decision, self.time, label)

    def to_state(self) -> list[Any]:
        """Give all that is kept, as JSON has it."""
        said = [self.name, self.group, self.decision, self.label, list(self.given)]
        return [*said, self.number, self.time, self.due, self.state, self.labelled]

    @classmethod
    def from_state(cls, state: list[Any]) -> Record:
        """Make a record of what :meth:`to_state` gave."""
        record = cls(state[0], 0)
        record.group, record.decision, record.label = state[1:4]
        record.given = tuple(state[4])
        record.number, record.time, record.due, record.state = state[5:9]
        record.labelled = state[9] if len(state) > 9 else None  # former versions had none
        return record
