"""Changes of a sequence's state, as a store applies them: a request begins, an output comes.

Each is a function from the text of a state to what is written in its place, with the lines that the
journal gets. A store may apply one more than once, so none does anything but compute.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from testsgd.errors import ParameterError, StateError
from testsgd.generative.schedules import Schedule
from testsgd.generative.sequence_state import RETURNED, CountedOutput, SequenceState, Slot
from testsgd.generative.specification import Requirement
from testsgd.generative.stores import Written

SEPARATOR = "\x1f"
"""Stands between the tenant and the requirement in the key of a state."""


@dataclass(frozen=True, kw_only=True)
class TenantSequence:
    """The sequence that a change is about, and how what is counted is written down."""

    required: Requirement
    tenant: str

    @property
    def key(self) -> str:
        """The key of its state."""
        return f"{self.tenant}{SEPARATOR}{self.required.name}"

    def read(self, text: str | None) -> SequenceState:
        """Return the state that a text describes; the start without a text.

        Raises
        ------
        StateError
            If the text describes no state, or one of other values or betas.
        """
        betas = self.required.betas
        values = self.required.values
        if text is None:
            return SequenceState.start(betas, values)
        state = SequenceState.from_text(text)
        if not state.values:
            # Written by an earlier release, which noted no names.
            state = state._replace(values=values if len(values) == len(state.betas) else ())
        if state.values and state.values != values:
            raise self._begun_otherwise(f"the values {state.values}, not {values}")
        if state.betas != betas:
            raise self._begun_otherwise(f"the betas {state.betas}, not {betas}")
        return state

    def is_of(self, state: SequenceState) -> bool:
        """Return whether a state has the values and betas of the requirement."""
        named = state.values in ((), self.required.values)
        return named and state.betas == self.required.betas

    def _begun_otherwise(self, difference: str) -> StateError:
        return StateError(
            f"the state was begun with {difference}",
            where=self.required.name,
            remedy="go on with the specification it was begun with, or choose another state",
        )

    def lines(self, outputs: Sequence[CountedOutput]) -> str | None:
        """Return the lines of the journal about outputs, which can be assessed as a log."""
        lines = [
            json.dumps(self._record(output), ensure_ascii=True)
            for output in outputs
            if output.slot.label != RETURNED
        ]
        return "\n".join(lines) or None

    def _record(self, output: CountedOutput) -> dict[str, Any]:
        slot = output.slot
        grouping = self.required.grouping
        return {
            "tenant": self.tenant,
            "requirement": self.required.name,
            "ticket": slot.ticket,
            **dict(self.required.condition),
            grouping: self._value(slot.label),
            "asked": {grouping: self._value(slot.asked)} if slot.asked else None,
            "tries": slot.tries,
            "missed": [self._value(number) for number in output.missed],
        }

    def _value(self, number: int) -> str | None:
        return self.required.values[number - 1] if number > 0 else None


@dataclass(frozen=True, kw_only=True)
class SlotReserved:
    """Decide for a request and reserve its slot."""

    sequence: TenantSequence
    ticket: str
    time: float  # When the request began, in seconds, as the enforcer's clock has it.
    seconds: float
    schedule: Schedule
    seed: int

    def __call__(self, text: str | None) -> Written:
        """Return what is written in place of a state."""
        state = self.sequence.read(text).with_expired(self.time, seconds=self.seconds)
        if state.slot(self.ticket) is not None:
            raise ParameterError(
                f"the ticket {self.ticket!r} is open already",
                where="ticket",
                remedy="give each request a ticket of its own",
            )
        state, outputs = state.counted()
        counters = state.pending_counters()
        index = self.schedule.decide(
            counters,
            since=state.pending_since(),
            shares=_shares(state),
            random=random.Random(self.seed),
        )
        value = 0 if index is None else index + 1
        urgency = 0 if index is None else counters[index]
        state = state.with_slot(Slot(self.ticket, begun=self.time, asked=value))
        lines = self.sequence.lines(outputs)
        return Written(text=state.to_text(), line=lines, answer=(value, urgency))


@dataclass(frozen=True, kw_only=True)
class SlotsExpired:
    """Give back the slots whose time is over, and count what waited behind them."""

    sequence: TenantSequence
    time: float  # The present moment in seconds, as the enforcer's clock has it.
    seconds: float

    def __call__(self, text: str | None) -> Written:
        """Return what is written in place of a state."""
        state = self.sequence.read(text).with_expired(self.time, seconds=self.seconds)
        state, outputs = state.counted()
        lines = self.sequence.lines(outputs)
        return Written(text=state.to_text(), line=lines, answer=outputs)


@dataclass(frozen=True, kw_only=True)
class SlotChanged:
    """Note something about a slot that counts nothing."""

    sequence: TenantSequence
    change: Callable[[SequenceState], SequenceState]

    def __call__(self, text: str | None) -> Written:
        """Return what is written in place of a state."""
        state = self.change(self.sequence.read(text))
        return Written(text=state.to_text(), line=None, answer=None)


@dataclass(frozen=True, kw_only=True)
class SlotLabelled:
    """Note the output of a request, and count what can be counted."""

    sequence: TenantSequence
    ticket: str
    label: int

    def __call__(self, text: str | None) -> Written:
        """Return what is written in place of a state."""
        state = self.sequence.read(text).with_label(self.ticket, self.label)
        state, outputs = state.counted()
        lines = self.sequence.lines(outputs)
        return Written(text=state.to_text(), line=lines, answer=outputs)


def _shares(state: SequenceState) -> tuple[float, ...]:
    """Return the model's own shares, each value counted once more so that none is zero."""
    counts = state.natural_counts()
    total = sum(counts) + len(counts)
    return tuple((count + 1) / total for count in counts)
