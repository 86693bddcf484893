"""What a shield remembers: counters, the decision that waits for its label, ids of events.

A state is what its decisions and labels make of it: a journal of them all gives it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import mul
from typing import Any

from testsgd.errors import LabelError, ParameterError
from testsgd.fairness import FairnessProperty

Tally = tuple[int, ...]
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class CounterLayout:
    """Places of the counters in a flat tuple, group by group.

    `kinds`: what one event of each kind adds to numerator and denominator. `places`:
    ``places[group][decision][label]`` is the counter of an event, or `NOWHERE`.
    """

    groups: int
    kinds: tuple[tuple[int, int], ...]
    places: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @classmethod
    def of(cls, fairness: FairnessProperty, *, groups: int) -> CounterLayout:
        """Lay out the counters of a property."""
        width = len(fairness.kinds)

        def index(group: int, decision: int, label: int) -> int:
            kind = fairness.kind_of(decision, label)
            return NOWHERE if kind < 0 else group * width + kind

        def pair(group: int, decision: int) -> tuple[int, int]:
            return index(group, decision, 0), index(group, decision, 1)

        places = tuple((pair(group, 0), pair(group, 1)) for group in range(groups))
        return cls(groups, fairness.kinds, places)

    @property
    def start(self) -> Tally:
        """Counters before anything has happened."""
        return (0,) * (self.groups * len(self.kinds))

    def totals(self, tally: Tally) -> tuple[Tally, Tally]:
        """Return the numerators and the denominators of all groups."""
        groups, kinds = self.by_group(tally), self.kinds
        numerators, denominators = (
            tuple(sum(map(mul, counts, added)) for counts in groups)
            for added in zip(*kinds, strict=True)
        )
        return numerators, denominators

    def by_group(self, tally: Tally) -> tuple[Tally, ...]:
        """Return the counters of every group, one tuple each."""
        width = len(self.kinds)
        return tuple(tally[start : start + width] for start in range(0, len(tally), width))


def moved(tally: Tally, old: int, new: int) -> Tally:
    """Take an event from one counter to another; either can be `NOWHERE`."""
    if old == new:
        return tally
    if old >= 0:
        tally = (*tally[:old], tally[old] - 1, *tally[old + 1 :])
    if new >= 0:
        tally = (*tally[:new], tally[new] + 1, *tally[new + 1 :])
    return tally


def added(first: Tally, second: Tally) -> Tally:
    """Add two tallies."""
    return tuple(map(sum, zip(first, second, strict=True)))


# An event in one number: decision, recommendation, label + 1 (0: none yet), group + 1 (0: unknown).
_LABEL, _GROUP = 2, 4


@dataclass(slots=True, eq=False)
class ShieldState:
    """Counters and ids, as the events so far have made them.

    `step`, `counts`, `period_interventions` and `period_cost` are of this period, `past` is before.
    With labels a decision waits for its own: `waiting` has its group and decision, which count as
    if the label were 0. `seen` has the events with an id.
    """

    layout: CounterLayout
    labelled: bool
    step: int = 0
    period: int = 0
    counts: Tally = ()
    past: Tally = ()
    waiting: tuple[int, int] | None = None
    interventions: int = 0
    period_interventions: int = 0
    total_cost: float = 0.0
    period_cost: float = 0.0
    unknown: int = 0
    last_was_unknown: bool = False
    last_event: str | None = None
    seen: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = self.past = self.layout.start

    @property
    def whole_run(self) -> Tally:
        """Counters of all periods."""
        return added(self.past, self.counts)

    @property
    def totals(self) -> tuple[Tally, Tally]:
        """Numerators and denominators of all groups, of all periods."""
        return self.layout.totals(self.whole_run)

    def count(
        self, group: int, recommendation: int, decision: int, cost: float, event: str | None
    ) -> None:
        """Count a decision; with labels, as if its label were 0, until it is revealed."""
        index = self.layout.places[group][decision][0]
        if index != NOWHERE:
            counts = self.counts
            self.counts = (*counts[:index], counts[index] + 1, *counts[index + 1 :])
        self.step += 1
        if decision != recommendation:
            self.interventions += 1
            self.period_interventions += 1
            self.total_cost += cost
            self.period_cost += cost
        if self.labelled:
            self.waiting = (group, decision)
            self.last_was_unknown = False
        self.last_event = event
        if event is not None:
            self.seen[event] = (group + 1) << _GROUP | recommendation << 1 | decision

    def count_unknown(self, recommendation: int, event: str | None) -> None:
        """Count somebody of an unknown group, whose recommendation passes."""
        self.unknown += 1
        self.last_was_unknown = True
        self.last_event = event
        if event is not None:
            self.seen[event] = recommendation << 1 | recommendation

    def reveal(self, label: int) -> None:
        """Count the waiting decision with its true label."""
        assert self.waiting is not None
        group, decision = self.waiting
        places = self.layout.places[group][decision]
        self.counts = moved(self.counts, places[0], places[label])
        self.waiting = None
        if self.last_event is not None:
            self.seen[self.last_event] |= (label + 1) << _LABEL

    def decided(self, event: str, group: int | None, recommendation: int) -> int | None:
        """Return the decision of an event that was seen before about the same person, or None."""
        known = self.seen.get(event)
        if known is None:
            return None
        index = 0 if group is None else group + 1
        if known >> _GROUP != index or (known >> 1) & 1 != recommendation:
            what = f"the event {event!r} was decided before, with another group or recommendation"
            remedy = "give every person an id of their own"
            raise ParameterError(what, where="event", remedy=remedy, event=event)
        return known & 1

    def is_new_label(self, label: int, event: str | None) -> bool:
        """Return whether a label has to be counted; refuse one of no decision or a changed one."""
        if event is None and self.waiting is None and not self.last_was_unknown:
            what, remedy = "no decision waits for a label", "give one label after each decision"
            raise LabelError(what, where="label", remedy=remedy, label=label)
        if event is None:
            return self.waiting is not None
        known = self.seen.get(event)
        if known is None:
            what = f"no decision was made for the event {event!r}"
            remedy = "give the id that the decision was asked for with"
            raise LabelError(what, where="event", remedy=remedy, event=event)
        if known >> _GROUP == 0:
            return False
        before = ((known >> _LABEL) & 3) - 1
        if before >= 0 and before != label:
            what = f"the label of the event {event!r} was {before} before and is {label} now"
            details = {"event": event, "label": label, "before": before}
            raise LabelError(what, where="label", remedy="a label cannot be taken back", **details)
        return before < 0

    def next_period(self) -> None:
        """Begin a period: what was counted is history."""
        self.past = self.whole_run
        self.counts = self.layout.start
        self.step = self.period_interventions = 0
        self.period_cost = 0.0
        self.period += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the counters as JSON has them, by name."""
        return {
            "step": self.step,
            "period": self.period,
            "counts": [list(counts) for counts in self.layout.by_group(self.counts)],
            "past": [list(counts) for counts in self.layout.by_group(self.past)],
            "waiting": None if self.waiting is None else list(self.waiting),
            "interventions": self.interventions,
            "unknown": self.unknown,
            "total_cost": self.total_cost,
            "events_with_id": len(self.seen),
        }
