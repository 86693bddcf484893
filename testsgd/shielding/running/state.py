"""What a shield remembers: counters, the decision that waits for its label, ids of events.

Nothing here decides, and nothing here writes. A state is what its decisions and labels make of it,
so a journal that has them all gives the same state again.
"""

from __future__ import annotations

from typing import Any

from testsgd.errors import LabelError, ParameterError
from testsgd.shielding.running.counters import NOWHERE, CounterLayout, Tally, added, moved

# An event in one number: decision, recommendation, label + 1 (0: none yet), group + 1 (0: unknown).
_LABEL, _GROUP = 2, 4


class ShieldState:
    """Counters and ids, as the events so far have made them.

    Parameters
    ----------
    layout : CounterLayout
    labelled : bool
        Whether a decision waits for its true label.

    Attributes
    ----------
    step : int
        Decisions of this period.
    period : int
        From 0.
    counts, past : tuple of int
        Counters of this period, and of all before.
    waiting : tuple of int or None
        Group and decision that wait for a label; they count as if it were 0.
    interventions, unknown : int
        Changed recommendations, and events of unknown groups, of the whole run.
    last_event : str or None
        Id of the last decision, if it had one.
    total_cost : float
        Of the changes of the whole run.
    period_interventions, period_cost
        The same of this period.

    Examples
    --------
    >>> from testsgd.shielding import NAMED_PROPERTIES
    >>> fairness = NAMED_PROPERTIES["equal_opportunity"]
    >>> state = ShieldState(CounterLayout.of(fairness, groups=2), labelled=True)
    >>> state.count(0, recommendation=0, decision=1, cost=2.0, event=None)
    >>> state.step, state.counts, state.waiting
    (1, (0, 0, 0, 0), (0, 1))
    >>> state.reveal(1)
    >>> state.counts, state.waiting, state.total_cost
    ((0, 1, 0, 0), None, 2.0)
    """

    __slots__ = (
        "_labelled",
        "_seen",
        "counts",
        "interventions",
        "last_event",
        "last_was_unknown",
        "layout",
        "past",
        "period",
        "period_cost",
        "period_interventions",
        "step",
        "total_cost",
        "unknown",
        "waiting",
    )

    def __init__(self, layout: CounterLayout, *, labelled: bool) -> None:
        self.layout = layout
        self._labelled = labelled
        self.step = self.period = self.interventions = self.unknown = 0
        self.period_interventions = 0
        self.total_cost = self.period_cost = 0.0
        self.counts: Tally = layout.start
        self.past: Tally = layout.start
        self.waiting: tuple[int, int] | None = None
        self.last_was_unknown = False
        self.last_event: str | None = None
        self._seen: dict[str, int] = {}

    @property
    def whole_run(self) -> Tally:
        """Counters of all periods."""
        return added(self.past, self.counts)

    def count(
        self, group: int, recommendation: int, decision: int, cost: float, event: str | None
    ) -> None:
        """Count a decision; with labels, as if its label were 0, until it is revealed."""
        place = self.layout.places[group][decision][0]
        if place != NOWHERE:
            counts = self.counts
            self.counts = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
        self.step += 1
        if decision != recommendation:
            self.interventions += 1
            self.period_interventions += 1
            self.total_cost += cost
            self.period_cost += cost
        if self._labelled:
            self.waiting = (group, decision)
            self.last_was_unknown = False
        self.last_event = event
        if event is not None:
            self._seen[event] = (group + 1) << _GROUP | recommendation << 1 | decision

    def count_unknown(self, recommendation: int, event: str | None) -> None:
        """Count somebody of an unknown group, whose recommendation passes."""
        self.unknown += 1
        self.last_was_unknown = True
        self.last_event = event
        if event is not None:
            self._seen[event] = recommendation << 1 | recommendation

    def reveal(self, label: int) -> None:
        """Count the waiting decision with its true label."""
        assert self.waiting is not None
        group, decision = self.waiting
        places = self.layout.places[group][decision]
        self.counts = moved(self.counts, places[0], places[label])
        self.waiting = None
        if self.last_event is not None:
            self._seen[self.last_event] |= (label + 1) << _LABEL

    def decided(self, event: str, group: int | None, recommendation: int) -> int | None:
        """Give the decision of an event that was seen before, None if it was not.

        Parameters
        ----------
        event : str
        group : int or None
            None if it is unknown.
        recommendation : int

        Raises
        ------
        ParameterError
            If it was about somebody else.
        """
        known = self._seen.get(event)
        if known is None:
            return None
        place = 0 if group is None else group + 1
        if known >> _GROUP != place or (known >> 1) & 1 != recommendation:
            raise ParameterError(
                f"the event {event!r} was decided before, with another group or recommendation",
                where="event",
                remedy="give every person an id of their own",
                event=event,
            )
        return known & 1

    def is_new_label(self, label: int, event: str | None) -> bool:
        """Say whether a label has to be counted; otherwise it was before, or needs not be.

        Raises
        ------
        LabelError
            If there is no decision that it could belong to, or that one has another label.
        """
        if event is not None:
            known = self._seen.get(event)
            if known is None:
                raise LabelError(
                    f"no decision was made for the event {event!r}",
                    where="event",
                    remedy="give the id that the decision was asked for with",
                    event=event,
                )
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
        if self.waiting is None:
            if self.last_was_unknown:
                return False
            raise LabelError(
                "no decision waits for a label",
                where="label",
                remedy="give one label after each decision",
                label=label,
            )
        return True

    def next_period(self) -> None:
        """Begin a period: what was counted is history."""
        self.past = self.whole_run
        self.counts = self.layout.start
        self.step = self.period_interventions = 0
        self.period_cost = 0.0
        self.period += 1

    def to_dict(self) -> dict[str, Any]:
        """Give the counters as JSON has them, by name."""
        waiting = None if self.waiting is None else list(self.waiting)
        return {
            "step": self.step,
            "period": self.period,
            "counts": [list(counts) for counts in self.layout.by_group(self.counts)],
            "past": [list(counts) for counts in self.layout.by_group(self.past)],
            "waiting": waiting,
            "interventions": self.interventions,
            "unknown": self.unknown,
            "total_cost": self.total_cost,
            "events_with_id": len(self._seen),
        }
