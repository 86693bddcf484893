"""What each trial has come to a given time after its first event."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

from testsgd.monitoring.trials.event import ONE_MOMENT
from testsgd.monitoring.trials.record import Record, Trial


class OutcomesWithin:
    """Waits until each of some times is over for each trial, and says what the trial is by then.

    A trial is favourable within a time if its decision is, and came at most so long after the
    trial's first event; else it is unfavourable, also if it has no decision yet. A trial that is
    dropped without a decision by the end of a time does not count within it.

    `spans`: these times in seconds, each once, the shortest first.
    """

    def __init__(self, spans: tuple[float, ...]) -> None:
        self.spans = spans
        # The next end first: when, of which span, and of equal ones what began to wait first.
        self._due: list[tuple[float, int, int, Record]] = []
        self._begun = 0
        self._counted = [0] * len(spans)

    def wait(self, record: Record) -> None:
        """Wait for what a trial comes to; an event that comes late may make the end earlier."""
        if record.state == "unknown" or record.began is None or record.began == record.waited_from:
            return
        record.waited_from = record.began
        for index in range(record.spans_over, len(self.spans)):
            due = record.began + self.spans[index]
            heappush(self._due, (due, index, self._begun, record))
            self._begun += 1

    def over(self, before: float) -> tuple[list[tuple[float, Trial]], int, int]:
        """End all waits before a moment.

        Returns
        -------
        ended : list of (float, Trial)
            The span, and what the trial is within it, at the moment when it is over.
        dropped : int
            How many waits ended without a group or a given value being known.
        dropped_counted : int
            How many trials that are dropped already are counted for the first time: they were
            dropped after the end of a wait, and both are noticed only now.
        """
        ended: list[tuple[float, Trial]] = []
        dropped = 0
        dropped_counted = 0
        while self._due and self._due[0][0] + ONE_MOMENT < before:
            due, index, _, record = heappop(self._due)
            span = self.spans[index]
            is_former = record.began is None or record.began + span != due
            if is_former or record.spans_over > index or record.state == "unknown":
                continue
            record.spans_over = index + 1
            dropped_at = record.dropped_at
            if dropped_at is not None and dropped_at <= due:
                continue
            if not record.placed or record.group is None:
                dropped += 1
                continue
            dropped_counted += dropped_at is not None and not record.counted_within
            record.counted_within = True
            given = tuple(value for value in record.conditions if value is not None)
            decided = record.earliest[1] if record.earliest else None
            in_time = decided is not None and decided <= due + ONE_MOMENT
            decision = int(record.decision == 1 and in_time)
            number = self._counted[index]
            self._counted[index] += 1
            ended.append((span, Trial(number, record.group, given, decision, due)))
        return ended, dropped, dropped_counted

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        waiting = [
            [due, index, order, record.to_state()]
            for due, index, order, record in sorted(self._due, key=lambda item: item[:3])
        ]
        return {"waiting": waiting, "begun": self._begun, "counted": list(self._counted)}

    def restore(self, state: dict[str, Any], records: dict[str, Record]) -> None:
        """Take up what :meth:`to_state` gave; more events may belong to `records`."""
        shared: dict[tuple[str | None, int, int], Record] = {
            (name, record.order, record.number): record for name, record in records.items()
        }
        self._due = []
        for due, index, order, kept in state["waiting"]:
            record = Record.from_state(kept)
            key = (record.name, record.order, record.number)
            self._due.append((due, index, order, shared.setdefault(key, record)))
        heapify(self._due)
        self._begun = state["begun"]
        self._counted = list(state["counted"])
