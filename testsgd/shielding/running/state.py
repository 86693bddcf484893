"""What a shield remembers: counters, the decision that waits for its label, ids of events.

A state follows from its decisions and labels alone, so it can be computed again from a journal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
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


@dataclass(frozen=True, slots=True)
class CountedDecision:
    """A decision of this period as it is counted now, which a person can overrule.

    `key` names it among the overruled ones, `own` is the shield's decision, `final` the one that
    is counted, and `label` its true label, 0 as long as there is none.
    """

    key: str | tuple[int, int]
    group: int
    own: int
    final: int
    label: int
    waits: bool  # Whether its label is to come.


# An event in one number: decision, recommendation, label + 1 (0: none yet), group + 1 (0: unknown).
_LABEL, _GROUP = 2, 4


@dataclass(slots=True, eq=False)
class ShieldState:
    """The counters and the ids of the events so far.

    `step`, `counts`, `period_interventions` and `period_cost` are of this period, and `past` has
    the counters of the periods before. If labels count, the last decision waits for its label:
    `waiting` has its group and decision, which count as if the label were 0. `seen` has the events
    with an id, and `finals` what persons decided in place of the shield. `lost_since` is the number
    of decisions of this period after which an overruled one made its bound impossible to promise.
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
    # Group and the shield's own decision of the last event; None: of no known group.
    last: tuple[int, int] | None = None
    last_label: int = 0
    seen_before: int = 0  # Events with an id in the periods before.
    finals: dict[str | tuple[int, int], int] = field(default_factory=dict)
    overruled: int = 0
    period_overruled: int = 0
    lost_since: int | None = None

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
        self.last = (group, decision)
        self.last_was_unknown = False
        if self.labelled:
            self.waiting = self.last
            self.last_label = 0
        self.last_event = event
        if event is not None:
            self.seen[event] = (group + 1) << _GROUP | recommendation << 1 | decision

    def count_unknown(self, recommendation: int, event: str | None) -> None:
        """Count a person of an unknown group, whose recommendation passes."""
        self.unknown += 1
        self.last = None
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
        self.last_label = label
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

    def to_overrule(self, final: int, event: str | None) -> CountedDecision | None:
        """Return the decision that a final one changes, without an id the last; None: none.

        Decisions about people of unknown groups are not counted, and so not changed. A
        ParameterError if there is no such decision, or if its period is over.
        """
        event = self.last_event if event is None else event
        counted = self._last_decision() if event is None else self._decision_of(event, final)
        return None if counted is None or counted.final == final else counted

    def _decision_of(self, event: str, wanted: int) -> CountedDecision | None:
        """Return the decision of an event, which may be of another period if it is as wanted."""
        known = self.seen.get(event)
        if known is None:
            what = f"no decision was made for the event {event!r}"
            remedy = "give the id that the decision was asked for with"
            raise ParameterError(what, where="event", remedy=remedy, event=event)
        if known >> _GROUP == 0:
            return None
        own = known & 1
        final = self.finals.get(event, own)
        of_this_period = islice(reversed(self.seen), len(self.seen) - self.seen_before)
        if final != wanted and event not in of_this_period:
            what = f"the period of the event {event!r} is over, and its decision was {final}"
            remedy = "overrule a decision before the first one of the next period"
            raise ParameterError(what, where="decision", remedy=remedy, event=event)
        label = ((known >> _LABEL) & 3) - 1
        return CountedDecision(
            key=event,
            group=(known >> _GROUP) - 1,
            own=own,
            final=final,
            label=max(label, 0),
            waits=self.labelled and label < 0,
        )

    def _last_decision(self) -> CountedDecision | None:
        """Return the last decision, which has no id."""
        if self.last is None:
            if self.last_was_unknown:
                return None
            what = "no decision of this period was made yet"
            raise ParameterError(what, where="decision", remedy="overrule one after it was made")
        group, own = self.last
        key = (self.period, self.step)
        return CountedDecision(
            key=key,
            group=group,
            own=own,
            final=self.finals.get(key, own),
            label=self.last_label,
            waits=self.waiting is not None,
        )

    def counts_with(self, counted: CountedDecision, final: int) -> Tally:
        """Return the counters of this period if a decision had been another one."""
        places = self.layout.places[counted.group]
        old = places[counted.final][counted.label]
        return moved(self.counts, old, places[final][counted.label])

    def overrule(self, counted: CountedDecision, final: int, lost_since: int | None) -> None:
        """Count a decision as a person has made it in the end, instead of as it was counted."""
        self.counts = self.counts_with(counted, final)
        if counted.waits:
            self.waiting = (counted.group, final)
        self.finals[counted.key] = final
        more = (final != counted.own) - (counted.final != counted.own)
        self.overruled += more
        self.period_overruled += more
        self.lost_since = lost_since

    def with_each_label(self, counts: Tally, waiting: tuple[int, int] | None) -> set[Tally]:
        """Return what counters become with either label of the decision that waits for one."""
        if waiting is None:
            return {counts}
        group, decision = waiting
        label_zero, label_one = self.layout.places[group][decision]
        return {counts, moved(counts, label_zero, label_one)}

    def next_period(self) -> None:
        """Begin a period: add its counters to the history and set them to 0."""
        self.past = self.whole_run
        self.counts = self.layout.start
        self.step = self.period_interventions = 0
        self.period_cost = 0.0
        self.period_overruled = 0
        self.lost_since = None
        self.last = None
        self.last_event = None
        self.seen_before = len(self.seen)
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
            "overruled": self.overruled,
        }
