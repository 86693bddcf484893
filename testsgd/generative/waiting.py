"""Outputs that have come and are not counted yet, as they wait behind unfinished tickets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from testsgd.generative.sequence_state import AWAITED, RETURNED, SequenceState


@dataclass(frozen=True, kw_only=True)
class WaitingOutputs:
    """Outputs that wait to be counted, and the unfinished tickets that they wait behind.

    Examples
    --------
    >>> WaitingOutputs(outputs=12, tickets=1, expires=120.0).outputs
    12
    """

    outputs: int
    tickets: int
    expires: float  # When the last of the tickets expires, in seconds as the clock has them.


def waiting_outputs(states: Iterable[SequenceState], *, seconds: float) -> WaitingOutputs | None:
    """Return the outputs of some sequences that wait, each counted once; None if none does.

    `seconds` is how long a ticket may be unfinished.

    Examples
    --------
    >>> from testsgd.generative.sequence_state import Slot
    >>> state = SequenceState.start((3, 3)).with_slot(Slot("a", begun=5.0))
    >>> waiting_outputs([state], seconds=120)
    >>> state = state.with_slot(Slot("b", begun=6.0, label=1)).with_slot(Slot("c", begun=7.0))
    >>> waiting_outputs([state], seconds=120)
    WaitingOutputs(outputs=1, tickets=1, expires=125.0)
    """
    outputs: set[str] = set()
    unfinished: dict[str, float] = {}
    for state in states:
        ahead: dict[str, float] = {}
        for slot in state.slots:
            if slot.label == AWAITED:
                ahead[slot.ticket] = slot.begun + seconds
            elif slot.label != RETURNED and ahead:
                outputs.add(slot.ticket)
                unfinished |= ahead
    if not outputs:
        return None
    return WaitingOutputs(
        outputs=len(outputs), tickets=len(unfinished), expires=max(unfinished.values())
    )
