"""What a shield remembers: counters, the decision that waits for its label, ids of events.

A state follows from its decisions and labels alone, so it can be computed again from a journal.
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
        """Return the layout of the counters of a property."""
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
        """Return the numerators and the denominators of all groups, one number each."""
        groups = self.by_group(tally)
        to_numerator, to_denominator = zip(*self.kinds, strict=True)
        numerators = tuple(sum(map(mul, counts, to_numerator)) for counts in groups)
        denominators = tuple(sum(map(mul, counts, to_denominator)) for counts in groups)
        return numerators, denominators

    def by_group(self, tally: Tally) -> tuple[Tally, ...]:
        """Return the counters of every group, one tuple each."""
        width = len(self.kinds)
        return tuple(tally[start : start + width] for start in range(0, len(tally), width))


def moved(tally: Tally, old: int, new: int) -> Tally:
    """Return the tally with one event moved to another counter; either can be `NOWHERE`."""
    if old == new:
        return tally
    if old >= 0:
        tally = (*tally[:old], tally[old] - 1, *tally[old + 1 :])
    if new >= 0:
        tally = (*tally[:new], tally[new] + 1, *tally[new + 1 :])
    return tally


def added(first: Tally, second: Tally) -> Tally:
    """Return the sum of two tallies, counter by counter."""
    return tuple(map(sum, zip(first, second, strict=True)))


# An event in one number: decision, recommendation, label + 1 (0: none yet), group + 1 (0: unknown).
_LABEL, _GROUP = 2, 4


@dataclass(slots=True, eq=False)
class ShieldState:
    """The counters and the ids of the events so far.

    `step`, `counts`, `period_interventions` and `period_cost` are of this period, and `past` has
    the counters of the periods before. If labels count, the last decision waits for its label:
    `waiting` has its group and decision, which count as if the label were 0. `seen` has the events
    with an id.
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
        """Count a person of an unknown group, whose recommendation passes."""
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
        return known & 1  # The lowest bit is the decision.

    def is_new_label(self, label: int, event: str | None) -> bool:
        """Return whether a label has to be counted; a LabelError if it is of no decision.

        A label that was given before counts once; one that differs from it is refused, too.
        """
        if event is None and self.waiting is None and not self.last_was_unknown:
            raise LabelError(
                "no decision waits for a label",
                where="label",
                remedy="give one label after each decision",
                label=label,
            )
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
            raise LabelError(
                f"the label of the event {event!r} was {before} before and is {label} now",
                where="label",
                remedy="a label cannot be taken back",
                event=event,
                label=label,
                before=before,
            )
        return before < 0

    def next_period(self) -> None:
        """Begin a period: add its counters to the history and set them to 0."""
        self.past = self.whole_run
        self.counts = self.layout.start
        self.step = self.period_interventions = 0
        self.period_cost = 0.0
        self.period += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the counters in types that JSON knows, by name."""
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
