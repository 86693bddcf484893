"""Where the sequence of one requirement stands: counters, counts, and outputs that are awaited.

The sequence is in the order in which requests began, so it does not depend on which output is ready
first. A request that has begun holds a slot. Until its output is known, the slot counts as an
output that serves no value, unless a value was asked for: then as one of that value. So what is
decided for later requests is on the safe side, and an output that arrives can only make room.
Slots are counted from the front, once nothing before them is awaited.
"""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from testsgd.errors import StateError
from testsgd.io import loads_json

# Labels of a slot besides the values and 0 for an unrelated output.
AWAITED = -1
RETURNED = -2
# So many tickets whose time is over are remembered, in case their output comes all the same.
_REMEMBERED = 1000
# So many outputs are kept for the page that shows the sequence.
_RECENT = 200
# Number of texts that are remembered with the state that they describe.
_TEXTS = 256


class Slot(NamedTuple):
    """The place of one request in a sequence.

    Examples
    --------
    >>> Slot("a7", begun=0.0, asked=2).label == AWAITED
    True
    """

    ticket: str
    begun: float  # When it began, in seconds.
    asked: int = 0  # The value that was asked for; 0: none.
    label: int = AWAITED  # The value of its output, once it is known.
    tries: int = 1  # How often the model was asked.


@dataclass(frozen=True)
class CountedOutput:
    """An output that was counted, and the values whose deadlines passed with it."""

    slot: Slot
    missed: tuple[int, ...]


class SequenceState(NamedTuple):
    """The state of one requirement for one tenant.

    A named tuple, as several are made for each request: a data class takes five times as long.

    Examples
    --------
    >>> state = SequenceState.start((3, 3))
    >>> state = state.with_slot(Slot("a", begun=0.0)).with_slot(Slot("b", begun=0.0, asked=2))
    >>> state.pending_counters()
    (1, 3)
    >>> state, counted = state.with_label("b", 2).counted()
    >>> len(counted)
    0
    >>> state, counted = state.with_label("a", 1).counted()
    >>> state.counters, state.counts, [output.slot.ticket for output in counted]
    ((2, 3), (1, 1), ['a', 'b'])
    """

    betas: tuple[int, ...]  # Outputs within which each value must come again.
    counters: tuple[int, ...]  # Outputs within which each value must come, the next one included.
    since: tuple[int, ...]  # Outputs since each value came or was asked for, obeyed or not.
    counts: tuple[int, ...]  # Outputs of each value.
    misses: tuple[int, ...]  # Deadlines of each value that passed without it.
    asked: tuple[int, ...]  # Outputs for which each value was asked.
    obeyed: tuple[int, ...]  # Those of them that had it.
    unrelated: int = 0  # Outputs without a value.
    retries: int = 0  # Times a model was asked again.
    returned: int = 0  # Requests without an output.
    expired: int = 0  # Requests whose time was over; some of their outputs may still have come.
    slots: tuple[Slot, ...] = ()
    expired_tickets: tuple[str, ...] = ()
    recent: tuple[int, ...] = ()  # The last values, negative where they had been asked for.
    values: tuple[str, ...] = ()  # Names of the values in their order; older states have none.

    @classmethod
    def start(cls, betas: Sequence[int], values: Sequence[str] = ()) -> SequenceState:
        """Return the state before the first output."""
        zeros = (0,) * len(betas)
        return cls(
            betas=tuple(betas),
            counters=tuple(betas),
            since=zeros,
            counts=zeros,
            misses=zeros,
            asked=zeros,
            obeyed=zeros,
            values=tuple(values),
        )

    @property
    def outputs(self) -> int:
        """Outputs with a value that were counted."""
        return sum(self.counts)

    @property
    def injections(self) -> int:
        """Counted outputs for which a value was asked."""
        return sum(self.asked)

    def slot(self, ticket: str) -> Slot | None:
        """Return the slot of a ticket; None if it is counted already or was never there."""
        return next((slot for slot in self.slots if slot.ticket == ticket), None)

    def with_slot(self, slot: Slot) -> SequenceState:
        """Return the state with one more slot at the end."""
        return self._replace(slots=(*self.slots, slot))

    def with_label(self, ticket: str, label: int) -> SequenceState:
        """Return the state in which the output of a ticket is known.

        An output that comes after its ticket expired is put at the end; one whose ticket is counted
        already changes nothing.
        """
        if ticket in self.expired_tickets:
            left = tuple(name for name in self.expired_tickets if name != ticket)
            if label == RETURNED:
                return self._replace(expired_tickets=left)
            late = Slot(ticket, begun=0.0, label=label)
            return self._replace(expired_tickets=left, slots=(*self.slots, late))
        return self._replace(
            slots=tuple(
                slot._replace(label=label)
                if slot.ticket == ticket and slot.label == AWAITED
                else slot
                for slot in self.slots
            ),
        )

    def with_retry(self, ticket: str) -> SequenceState:
        """Return the state in which the model is asked once more for a ticket that is open."""
        slot = self.slot(ticket)
        if slot is None or slot.label != AWAITED:
            return self
        slots = tuple(
            slot._replace(tries=slot.tries + 1) if slot.ticket == ticket else slot
            for slot in self.slots
        )
        return self._replace(slots=slots, retries=self.retries + 1)

    def with_expired(self, now: float, *, seconds: float) -> SequenceState:
        """Return the state without the slots whose output has been awaited for too long."""
        over = tuple(
            slot.ticket
            for slot in self.slots
            if slot.label == AWAITED and now - slot.begun > seconds
        )
        if not over:
            return self
        names = frozenset(over)
        return self._replace(
            slots=tuple(slot for slot in self.slots if slot.ticket not in names),
            expired=self.expired + len(over),
            expired_tickets=(*self.expired_tickets, *over)[-_REMEMBERED:],
        )

    def with_asked(self, ticket: str, value: int) -> SequenceState:
        """Return the state in which another value was asked for by a ticket; 0: none."""
        slots = tuple(
            slot._replace(asked=value) if slot.ticket == ticket else slot for slot in self.slots
        )
        return self._replace(slots=slots)

    def pending_counters(self) -> tuple[int, ...]:
        """Return the counters after all slots, at worst: what is awaited serves no value.

        No counter is below 1: a deadline that cannot be kept any more is the next output.
        """
        counters = self.counters
        for slot in self.slots:
            value = slot.asked if slot.label == AWAITED else slot.label
            if slot.label in (0, RETURNED):
                continue
            counters = tuple(
                beta if number == value else max(1, counter - 1)
                for number, (counter, beta) in enumerate(
                    zip(counters, self.betas, strict=True), start=1
                )
            )
        return counters

    def pending_since(self) -> tuple[int, ...]:
        """Return for each value the outputs after all slots since it came or was asked for."""
        since = self.since
        for slot in self.slots:
            since = _since_after(since, slot)
        return since

    def natural_counts(self) -> tuple[int, ...]:
        """Return the outputs of each value that came without being asked for."""
        return tuple(count - obeyed for count, obeyed in zip(self.counts, self.obeyed, strict=True))

    def counted(self) -> tuple[SequenceState, tuple[CountedOutput, ...]]:
        """Count the slots at the front whose output is known.

        Returns
        -------
        state : SequenceState
        outputs : tuple of CountedOutput
            What was counted, in its order.
        """
        state = self
        outputs = []
        while state.slots and state.slots[0].label != AWAITED:
            slot = state.slots[0]
            counted = state._with_output(slot)
            missed = tuple(
                number
                for number, (after, before) in enumerate(
                    zip(counted.misses, state.misses, strict=True), start=1
                )
                if after > before
            )
            outputs.append(CountedOutput(slot, missed))
            state = counted._replace(slots=state.slots[1:])
        return state, tuple(outputs)

    def _with_output(self, slot: Slot) -> SequenceState:
        """Return the state after one output.

        The counter of its value restarts at the beta, and so does one whose deadline passed; all
        others fall by 1. Without a value no counter changes.
        """
        if slot.label == RETURNED:
            return self._replace(returned=self.returned + 1)
        state = self._replace(since=_since_after(self.since, slot))
        if slot.asked:
            state = state._replace(
                asked=_one_more(state.asked, slot.asked),
                obeyed=_one_more(state.obeyed, slot.asked if slot.label == slot.asked else 0),
            )
        if slot.label == 0:
            return state._replace(unrelated=state.unrelated + 1)
        counters = []
        misses = list(state.misses)
        for index, (counter, beta) in enumerate(zip(state.counters, state.betas, strict=True)):
            if index == slot.label - 1:
                counters.append(beta)
            elif counter > 1:
                counters.append(counter - 1)
            else:
                # Its deadline has passed; the next one is as far away as after an appearance.
                misses[index] += 1
                counters.append(beta)
        shown = -slot.label if slot.asked == slot.label else slot.label
        return state._replace(
            counters=tuple(counters),
            misses=tuple(misses),
            counts=_one_more(state.counts, slot.label),
            recent=(*state.recent, shown)[-_RECENT:],
        )

    def to_text(self) -> str:
        """Return the state as JSON text."""
        text = _ENCODER.encode(self._asdict())
        _LATEST.keep(text, self)
        return text

    @classmethod
    def from_text(cls, text: str) -> SequenceState:
        """Return the state that a text describes; raise a StateError if it describes none."""
        return _LATEST.find(text) or cls._read(text)

    @classmethod
    def _read(cls, text: str) -> SequenceState:
        try:
            fields: dict[str, Any] = loads_json(text)
            for name, value in fields.items():
                if name == "slots":
                    fields[name] = tuple(Slot(*slot) for slot in value)
                elif isinstance(value, list):
                    fields[name] = tuple(value)
            state = cls(**fields)
        except (ValueError, TypeError, AttributeError) as error:
            raise _no_state() from error
        if not _is_whole(state):
            raise _no_state()
        return state


def _is_whole(state: SequenceState) -> bool:
    """Return whether a state that was read has what one that was written has."""
    of_values = state[:7]
    numbers = (state.unrelated, state.retries, state.returned, state.expired)
    lists = (*of_values, state.slots, state.expired_tickets, state.recent, state.values)
    if not all(isinstance(items, tuple) for items in lists):
        return False
    whole = (*numbers, *state.recent, *(item for items in of_values for item in items))
    return (
        all(type(number) is int for number in whole)
        and len({len(items) for items in of_values}) == 1
        and all(isinstance(ticket, str) for ticket in state.expired_tickets)
        and all(isinstance(name, str) for name in state.values)
        and len(state.values) in (0, len(state.betas))
        and all(_is_slot(slot, values=len(state.betas)) for slot in state.slots)
    )


def _is_slot(slot: Slot, *, values: int) -> bool:
    return (
        isinstance(slot.ticket, str)
        and type(slot.begun) in (int, float)
        and math.isfinite(slot.begun)
        and all(type(number) is int for number in (slot.asked, slot.label, slot.tries))
        and 0 <= slot.asked <= values
        and RETURNED <= slot.label <= values
    )


def _no_state() -> StateError:
    return StateError(
        "the state holds something else than where a sequence stands",
        where="state",
        remedy="give a state that is whole",
    )


_ENCODER = json.JSONEncoder(separators=(",", ":"))


class _LatestStates:
    """The states that were written last, by their text: most are read again soon."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, SequenceState] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, text: str, state: SequenceState) -> None:
        with self._lock:
            self._states[text] = state
            if len(self._states) > _TEXTS:
                self._states.popitem(last=False)

    def find(self, text: str) -> SequenceState | None:
        with self._lock:
            return self._states.get(text)


_LATEST = _LatestStates()


def _since_after(since: tuple[int, ...], slot: Slot) -> tuple[int, ...]:
    """Return the outputs since each value came or was asked for, after one more slot.

    A request counts as an output even if what came of it has no value.
    """
    if slot.label == RETURNED or (slot.label == 0 and not slot.asked):
        return since
    served = (slot.asked, slot.label)
    return tuple(
        0 if number in served else passed + 1 for number, passed in enumerate(since, start=1)
    )


def _one_more(counts: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Return counts with one more at a number, counted from 1; 0 changes nothing."""
    return tuple(count + (index == number) for index, count in enumerate(counts, start=1))
