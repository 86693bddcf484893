"""What is known of one trial: its values, when they came, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

from testsgd.errors import EventError
from testsgd.monitoring.trials.event import Event

State = Literal["open", "closed", "unknown"]


class Trial(NamedTuple):
    """A decision about one person, of which all is known but perhaps the label.

    Attributes
    ----------
    number : int
        How many trials were decided before.
    group : str
        The person's group.
    conditions : tuple of str
        The values of the specification's ``given_fields``, in their order.
    decision : int
        1 if it is favourable, else 0; 0 also where no decision came in time and that counts as a
        refusal.
    time : float or None
        When it was decided, in seconds; None if its events have no time.
    label : int or None
        1 if it is positive, 0 if not; None while it is not known, or if it plays no part.

    Examples
    --------
    >>> trial = Trial(0, "female", (), decision=1, time=None)
    >>> trial._replace(label=1).label
    1
    """

    number: int
    group: str
    conditions: tuple[str, ...]
    decision: int
    time: float | None
    label: int | None = None


@dataclass(slots=True, eq=False)
class Record:
    """What is known of one trial from its events so far; None where nothing is known.

    `number`: how many trials were decided before, or -1. `time`: when it was decided: group,
    decision and conditions each have the time of their earliest event, and the latest of these
    counts; until the trial is decided the latest so far. `due`: its deadline, that of the label, or
    of the decision while none is known; `labelled`: the time of its label; `earliest`: these
    times, of the group, the decision and the conditions. `began`: the time of its earliest event;
    `waited_from`: that time when waits for outcomes within a time were set, `spans_over`: how many
    of these are over, `counted_within`: whether it was counted at the end of one of them; `order`:
    how many trials began before. `refused`: no decision came before its deadline, and that is a
    refusal.
    """

    name: str | None
    group: str | None = None
    decision: int | None = None
    label: int | None = None
    conditions: tuple[str | None, ...] = ()
    number: int = -1
    time: float | None = None
    due: float | None = None
    state: State = "open"
    labelled: float | None = None
    earliest: tuple[float | None, ...] = ()
    began: float | None = None
    order: int = 0
    refused: bool = False
    waited_from: float | None = None
    spans_over: int = 0
    counted_within: bool = False

    @property
    def whole(self) -> bool:
        """Whether everything but the label is known."""
        return self.placed and (self.decision is not None or self.refused)

    @property
    def dropped_at(self) -> float | None:
        """The deadline at which the trial was dropped without a decision; None if it was not."""
        return self.due if self.state == "closed" and self.number < 0 else None

    @property
    def placed(self) -> bool:
        """Whether the group and all given values are known."""
        return self.group is not None and None not in self.conditions

    def add(self, event: Event) -> bool:
        """Add the values of an event that passed :meth:`check`; return whether any is new."""
        changed = False
        if event.group is not None and self.group is None:
            self.group, changed = event.group, True
        if event.decision is not None and self.decision is None:
            self.decision, changed = event.decision, True
        if event.conditions and None in self.conditions:
            pairs = zip(self.conditions, event.conditions, strict=True)
            given = tuple(known if new is None else new for known, new in pairs)
            changed = changed or given != self.conditions
            self.conditions = given
        time = event.time
        if time is not None and (self.began is None or time < self.began):
            self.began = time
        earlier = changed or (self.time is not None and time is not None and time < self.time)
        if time is not None and earlier and not self.refused:
            # Events may come in another order than they happened.
            self.earliest = self._earliest(event, time)
            moments = [moment for moment in self.earliest if moment is not None]
            self.time = max(moments, default=self.time)
        if event.label is not None and self.label is None:
            self.label, self.labelled, changed = event.label, event.time, True
        return changed

    def _earliest(self, event: Event, time: float) -> tuple[float | None, ...]:
        """Return the earliest times of group, decision and conditions, this event included."""
        no_conditions = (None,) * len(self.conditions)
        values = (event.group, event.decision, *(event.conditions or no_conditions))
        known = self.earliest or (None, None, *no_conditions)
        return tuple(
            moment if value is None else time if moment is None else min(moment, time)
            for value, moment in zip(values, known, strict=True)
        )

    def check(self, event: Event, given_fields: tuple[str, ...]) -> None:
        """Refuse an event that has another value than an earlier event of the trial."""
        values = (event.group, event.decision, event.label, *event.conditions)
        known = (self.group, self.decision, self.label, *self.conditions)
        for index, (new, old) in enumerate(zip(values, known, strict=True)):
            if new is not None and old is not None and new != old:
                field = ("group", "decision", "label", *given_fields)[index]
                who = "this trial" if self.name is None else f"the trial {self.name!r}"
                what = f"the {field} of {who} was {old} before and is {new} now"
                remedy = "give every trial an id of its own; what was said cannot be changed"
                details = {"id": self.name, "before": old, "now": new}
                raise EventError(what, where=field, remedy=remedy, **details)

    def trial(self, label: int | None) -> Trial:
        """Return the decided trial, with a label or without one."""
        decision = 0 if self.refused else self.decision
        assert self.group is not None
        assert decision is not None
        given = tuple(value for value in self.conditions if value is not None)
        return Trial(self.number, self.group, given, decision, self.time, label)

    def to_state(self) -> list[Any]:
        """Return all that is kept, as JSON has it."""
        return [getattr(self, field.name) for field in fields(self)]

    @classmethod
    def from_state(cls, state: list[Any]) -> Record:
        """Return a record from :meth:`to_state`; former versions wrote fewer parts."""
        name, group, decision, label, given, *others = state
        record = cls(name, group, decision, label, tuple(given), *others)
        record.earliest = tuple(record.earliest)
        if not record.earliest and record.time is not None:
            values = (record.group, record.decision, *record.conditions)
            record.earliest = tuple(None if value is None else record.time for value in values)
        return record
