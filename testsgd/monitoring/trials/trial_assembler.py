"""Joins events to trials by their id, and decides and completes trials.

Nothing else makes trials depend on each other (the paper, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from math import ceil, inf
from typing import Any, Literal, NamedTuple

from testsgd.errors import EventError
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.specification.same_texts import id_text, value_text
from testsgd.monitoring.trials.event import ONE_MOMENT, Event
from testsgd.monitoring.trials.outcomes_within import OutcomesWithin
from testsgd.monitoring.trials.record import Record, Trial

Phase = Literal["new", "open", "ended", "unknown"]
Content = Literal["too late", "decision", "other"]
Outcome = Literal["added", "repeated", "late", "ignored"]

# What becomes of an event that is not refused, by the phase of its trial and by its content:
# added to its trial, or counted as repeated, late or ignored without a change of any trial.
#
# Phases. "new": no trial has the id, or an ended one had it and the id is free again (or the event
# has no id and begins a trial). "open": the trial waits for more. "ended": it is complete, or its
# deadline is over. "unknown": its group is not among those that are compared.
#
# Contents. "too late": the label of a trial that takes no label any more, or the decision of one
# that takes no decision any more, see `TrialAssembler._has_late_label` and `_has_late_decision`; a
# trial of an unknown group takes none at all, so it has none that is late. "decision": any other
# event with a decision. "other": any other event.
_OUTCOMES: dict[Phase, dict[Content, Outcome]] = {
    "new": {"too late": "late", "decision": "added", "other": "added"},
    "open": {"too late": "late", "decision": "added", "other": "added"},
    "ended": {"too late": "late", "decision": "repeated", "other": "repeated"},
    "unknown": {"decision": "repeated", "other": "ignored"},
}

# Every pair of groups is compared, so that many more would fill the memory.
MOST_GROUPS = 200
_COUNTED = ("events", "ignored", "repeated", "unknown", "late", "decided", "dropped")
# Former versions did not count them.
_COUNTED_NOW = (
    "without_decision",
    "favourable",
    "labelled",
    "positive",
    "dropped_counted",
    "decided_after_later",
    "complete_after_later",
)


class Step(NamedTuple):
    """A trial that was decided, completed or dropped, and when: at an event, or at its deadline.

    Attributes
    ----------
    kind : {"decided", "complete", "dropped"}
        Decided: all but its label is known, or it counts as refused at the deadline of its
        decision. Complete: its label is known too, or assumed at the deadline. Dropped: it has no
        label at the deadline, and is not counted.
    trial : Trial
        The trial as it is then.
    time : float or None
        When that was, in seconds; None without times.
    prior_values : tuple of (str or None)
        The values last known then of the fields that priors are computed from.
    span : float or None
        The seconds after its first event at which this is the state of the trial, for those
        properties alone that ask for it; None for all others.
    """

    kind: Literal["decided", "complete", "dropped"]
    trial: Trial
    time: float | None
    prior_values: tuple[str | None, ...] = ()
    span: float | None = None


class TrialAssembler:
    """A keeper of the trials that are not complete, and of the ids of those that are.

    It joins events to trials by their id, and returns a :class:`Step` when a trial is decided,
    complete or dropped.

    Parameters
    ----------
    specification : MonitorSpecification
        When a trial is complete, which groups there are, and what becomes of repeated events.

    Attributes
    ----------
    time, first_time : float or None
        How far the stream has come, and where it began, in seconds.
    counters : dict of str to int
        How many events and trials of which kind there were; refused events are not among them.
    open : int
        How many trials wait for something.
    prior_values : tuple of (str or None)
        The last values of the fields that priors are computed from.

    Notes
    -----
    Section 3.1 of Baumeister, Finkbeiner, Scheerer, Siber and Wagenpfeil, Stream-Based Monitoring
    of Algorithmic Fairness: events depend on each other only within a trial.

    Examples
    --------
    >>> book = TrialAssembler(MonitorSpecification.from_dict({
    ...     "properties": [{"property": "equal_opportunity", "bound": 0.1}]}))
    >>> [step.kind for step in book.take(Event("7", "female", 1, None, (), None))]
    ['decided']
    >>> book.open
    1
    >>> (step,) = book.take(Event("7", None, None, 1, (), None))
    >>> step.kind, step.trial.group, step.trial.label
    ('complete', 'female', 1)
    """

    def __init__(self, specification: MonitorSpecification) -> None:
        rules = specification.trials
        names = specification.groups.names
        self._given = specification.given_fields
        id_fields = specification.events.id_fields
        # What messages call the id.
        self._id = "id" if len(id_fields) == 1 else f"id ({' and '.join(id_fields)})"
        self._labelled = any(watched.fairness.labelled for watched in specification.monitored)
        self._names = None if names is None else frozenset(names)
        self._groups = set(names or ())  # the names, or without them all groups that have come
        # What a state of a former version calls an id and a group that are written otherwise now.
        self._former_ids: dict[str, str] = {}
        self._former_groups: dict[str, str] = {}
        self._passes = specification.groups.unknown == "pass"
        self._ignores = specification.events.others == "ignore"
        self._remembers = rules.repeated == "ignore"
        self._without_label = rules.without_label
        self._deadline = rules.deadline if self._labelled else None
        self._decision_deadline = rules.decision_deadline
        self._refuses = rules.without_decision == "refused"
        self._needs_time = specification.needs_time
        self._lateness = specification.time.late
        self._watches_time = specification.watches_time
        self._within = OutcomesWithin(specification.spans)
        self._waits = self._deadline is not None and rules.count == "deadline"
        self._records: dict[str, Record] = {}
        self._anonymous: dict[int, Record] = {}  # the open ones, by their number
        self._last: Record | None = None  # the last one without an id
        # The next deadline first; of equal ones those of trials without a decision, in the order in
        # which they began, and then that of the earlier decision.
        self._due: list[tuple[float, int, int, Record]] = []
        self._begun = 0
        self.open = 0
        # The last values of the fields that priors are of, as texts; None where none came yet.
        self.prior_values: tuple[str | None, ...] = (None,) * len(specification.prior_fields)
        self.time: float | None = None
        self.first_time: float | None = None
        # The latest moments at which a trial was decided and complete.
        self._latest: dict[str, float | None] = {"decided": None, "complete": None}
        self.counters = dict.fromkeys((*_COUNTED, *_COUNTED_NOW), 0)

    @property
    def watermark(self) -> float | None:
        """The moment before which no event will come: the time, less how late one may be."""
        return None if self.time is None else self.time - self._lateness

    def take(self, event: Event, reached: float | None = None) -> list[Step]:
        """Take an event; return the steps of trials, those whose deadline has passed first.

        An event that adds nothing to any trial is ignored. For any other one the table `_OUTCOMES`
        says what becomes of it, by the phase of its trial and by its content. An error changes
        nothing.

        Parameters
        ----------
        event : Event
        reached : float, optional
            How far the stream has come, in seconds; the event's time if left out.

        Returns
        -------
        list of Step

        Raises
        ------
        EventError
            If the event is empty (unless others are ignored), has no time where one is needed,
            says another value than an earlier event of its trial, is of a group that is refused,
            is a label for which no trial without an id waits, or begins a trial without an id and
            leaves out more than the label.
        """
        event = self._as_before(event)
        reached = event.time if reached is None else reached
        if self._is_ignored(event):
            if not _has_prior_values(event):
                return self._count(event, "ignored", reached)
            steps = self._begin(event, reached)
            self._learn(event)
            return steps
        record, new = self._find_record(event)
        if event.group is None and record.group is None and event.group_if_unsaid is not None:
            event = event._replace(group=event.group_if_unsaid)
        phase = "new" if new else self._phase(record, event)
        self._check(event, record, phase)
        outcome = _OUTCOMES[phase][self._content(event, record, phase)]
        if outcome == "added":
            return self._add(record, event, reached, new=new)
        return self._count(event, outcome, reached)

    def _as_before(self, event: Event) -> Event:
        """Return an event with the id and the group as a restored state writes them."""
        if event.name in self._former_ids:
            event = event._replace(name=self._former_ids[event.name])
        if event.group in self._former_groups:
            event = event._replace(group=self._former_groups[event.group])
        return event

    def has_all_of(self, event: Event) -> bool:
        """Return whether an earlier event of the same id has said all that an event says."""
        event = self._as_before(event)
        record = None if event.name is None else self._records.get(event.name)
        if record is None:
            return False
        said = (event.group, event.decision, event.label, *event.conditions)
        known = (record.group, record.decision, record.label, *record.conditions)
        return all(new is None or new == old for new, old in zip(said, known, strict=False))

    def count_repeated(self) -> None:
        """Count an event that was sent again and changes nothing, not even the time."""
        self.counters["events"] += 1
        self.counters["repeated"] += 1

    def check_time(self, time: float) -> None:
        """Refuse a moment that is before the last event."""
        if self.time is not None and time < self.time:
            what = f"time goes back from {self.time} to {time}"
            remedy = "give a moment that is not before the last event"
            raise EventError(what, where="time", remedy=remedy, time=time, before=self.time)

    def _is_ignored(self, event: Event) -> bool:
        """Return whether an event adds nothing to any trial; refuse an empty one if it is wrong."""
        if event.decision is not None or event.group is not None:
            return False
        if event.conditions and any(value is not None for value in event.conditions):
            return False
        if event.label is not None:
            return not self._labelled
        if self._ignores or _has_prior_values(event):
            return True
        remedy = 'name its fields in [events], or set others = "ignore" there'
        what = "the event has neither a group, nor a decision, nor a label"
        raise EventError(what, remedy=remedy)

    def _find_record(self, event: Event) -> tuple[Record, bool]:
        """Return the record that an event belongs to, and whether it is a new one, not kept yet."""
        no_conditions = (None,) * len(self._given)
        if event.name is not None:
            known = self._records.get(event.name)
            # An id that may come again is free from the deadline on, whoever notices it first.
            if known is None or (not self._remembers and self._is_over(known, event.time)):
                return Record(event.name, conditions=no_conditions), True
            return known, False
        if event.decision is not None or event.group is not None or event.label is None:
            return Record(None, conditions=no_conditions), True
        if self._last is None or (self._last.state != "unknown" and self._last.label is not None):
            remedy = (
                f"give one label after each decision, or give both the {self._id} of their trial"
            )
            raise EventError("no decision waits for this label", where="label", remedy=remedy)
        return self._last, False

    def _phase(self, record: Record, event: Event) -> Phase:
        """Return the phase that a kept trial is in when an event of it comes."""
        if record.state == "unknown":
            return "unknown"
        if record.state == "closed" or self._is_over(record, event.time):
            return "ended"
        return "open"

    def _content(self, event: Event, record: Record, phase: Phase) -> Content:
        """Return what an event contains that matters for its outcome."""
        if event.label is not None and self._has_late_label(event, record, phase):
            return "too late"
        if event.decision is not None and self._has_late_decision(event, record, phase):
            return "too late"
        return "other" if event.decision is None else "decision"

    def _has_late_label(self, event: Event, record: Record, phase: Phase) -> bool:
        """Return whether the label of an event is of a trial that takes no label any more.

        - New trial: ids may come again, and the event has an id but no decision and no group. It
          is of a trial whose id is free again, so not of the next one.
        - Open trial: ids may come again, events may come out of order, and the event is from
          before the trial was decided. It is of the trial that had the id before.
        - Ended trial: properties count labels, and none was known when it ended.
        - Trial of an unknown group: never.
        """
        if phase == "new":
            begins = event.decision is not None or event.group is not None
            return event.name is not None and not begins and not self._remembers
        if phase == "open":
            if self._remembers or not self._lateness or record.number < 0:
                return False
            decided = record.time
            if event.time is None or decided is None:
                return False
            return event.time < decided - ONE_MOMENT
        return phase == "ended" and record.label is None and self._labelled

    def _has_late_decision(self, event: Event, record: Record, phase: Phase) -> bool:
        """Return whether the decision of an event is of a trial that takes none any more.

        Only with a deadline for decisions:

        - New trial: ids may come again, and the event has an id but no group. It is of a trial
          whose id is free again: people come first, and decisions about them later.
        - Open trial: none is known, and the event is from after the deadline; or ids may come
          again, events may come out of order, and the event is from before the trial began.
        - Ended trial: no decision was known when it ended.
        - Trial of an unknown group: never.
        """
        if self._decision_deadline is None or phase == "unknown":
            return False
        if phase == "new":
            return event.name is not None and event.group is None and not self._remembers
        if record.decision is not None:
            return False
        if phase == "ended" or record.refused or self._is_overdue(record, event.time):
            return True
        if self._remembers or not self._lateness or event.group is not None:
            return False
        if event.time is None or record.began is None:
            return False
        return event.time < record.began - ONE_MOMENT

    def _check(self, event: Event, record: Record, phase: Phase) -> None:
        """Refuse an event without a time that it needs, or one that does not fit its trial."""
        if self._needs_time and event.time is None:
            what = "the event has no time, and deadlines, periods and windows in time need one"
            remedy = "give its time, in seconds or as text in ISO 8601"
            raise EventError(what, where="time", remedy=remedy)
        if event.group is not None and event.group not in self._groups:
            self._check_group(event.group)
        if phase != "new":
            record.check(event, self._given)
        elif event.name is None:
            self._check_whole(event)

    def _check_group(self, group: str) -> None:
        """Refuse a new group that is not named, unless such groups pass or are still few enough."""
        if self._names is None:
            refused = len(self._groups) >= MOST_GROUPS
            what = f"the group {group!r} is one more than the {MOST_GROUPS} that have come"
            remedy = "check which field is the group, or name the groups in [groups]"
        else:
            refused = not self._passes
            what = f"the group {group!r} is unknown"
            known = ", ".join(sorted(self._names))
            remedy = f'the groups are {known}; set unknown = "pass" in [groups] to leave others out'
        if refused:
            raise EventError(what, where="group", remedy=remedy, group=group)

    def _check_whole(self, event: Event) -> None:
        """Refuse an event without an id that leaves out more than the label."""
        fields = ("group", "decision", *self._given)
        for field, value in zip(fields, event[1:3] + event.conditions, strict=True):
            if value is None:
                what = f"the event has no {field} and no {self._id} by which another could add it"
                remedy = f"give it here, or give every event of a trial the same {self._id}"
                raise EventError(what, where=field, remedy=remedy)

    def _is_overdue(self, record: Record, time: float | None) -> bool:
        due = record.due
        return due is not None and time is not None and time > due + ONE_MOMENT

    def _is_over(self, record: Record, time: float | None) -> bool:
        """Return whether a trial has ended by a moment, also if that was not noticed yet.

        A trial that is refused at the deadline of its decision may wait for its label after that.
        """
        if not self._is_overdue(record, time):
            return False
        waits = self._labelled and (record.label is None or self._waits)
        if record.number >= 0 or not (self._refuses and record.placed and waits):
            return True
        if self._deadline is None or record.due is None or time is None:
            return False
        return time > record.due + self._deadline + ONE_MOMENT

    def _count(self, event: Event, kind: str, reached: float | None) -> list[Step]:
        """Count an event that changes no trial; return the trials that end by its time."""
        steps = self._begin(event, reached)
        self.counters[kind] += 1
        return steps

    def _add(self, record: Record, event: Event, reached: float | None, *, new: bool) -> list[Step]:
        """Add an event to its trial; return the steps of trials that end by its time, and its own.

        The first line that holds says what becomes of the trial:

        ==================================================  ===================================
        After the event                                     the trial
        ==================================================  ===================================
        its group is known and not compared                 is of an unknown group
        nothing is known that was not known before          stays as it is; the event is repeated
        the decision is not known                           stays open, until its deadline if any
        the group or a condition is not known               stays open
        no property counts labels                           is decided, and ends
        the label is known, and is counted when it comes    is decided, and complete: it ends
        otherwise                                           is decided; open until its deadline
        ==================================================  ===================================
        """
        steps = self._begin(event, reached)
        if self._names is None and event.group is not None:
            self._groups.add(event.group)
        if new and record.name is not None:
            previous = self._records.get(record.name)
            if previous is not None:  # its deadline is over, but events may still be late
                steps += self._end(previous)
            self._records[record.name] = record
            record.order = self._begun
            self._begun += 1
            self.open += 1
        changed = record.add(event)
        if changed:
            self._learn(event)
        if self._names is not None and record.group is not None and record.group not in self._names:
            self._leave_out(record)
        elif not changed:
            self.counters["repeated"] += 1
            if record.number >= 0 and self._deadline is not None:
                self._set_deadline(record)
        elif record.whole:
            steps += self._advance_trial(record, event.time)
        if record.number < 0 and record.state == "open" and self._decision_deadline is not None:
            self._wait_for_decision(record)
        if self._within.spans:
            self._within.wait(record)
        return steps

    def _learn(self, event: Event) -> None:
        """Take up the values of an event that priors are of."""
        if _has_prior_values(event):
            pairs = zip(event.prior_values, self.prior_values, strict=True)
            self.prior_values = tuple(known if new is None else new for new, known in pairs)

    def _leave_out(self, record: Record) -> None:
        """Leave out a trial whose group turned out to be none of those that are compared."""
        self.counters["unknown"] += 1
        record.state = "unknown"
        if record.name is None:
            self._last = record
            return
        self.open -= 1
        if not self._remembers:
            del self._records[record.name]

    def _wait_for_decision(self, record: Record) -> None:
        """Set the deadline of a decision; an event that comes late may make it earlier."""
        if record.decision is not None:
            record.due = None
            return
        if self._decision_deadline is None or record.began is None:
            return
        due = record.began + self._decision_deadline
        if due != record.due:
            record.due = due
            heappush(self._due, (due, record.number, record.order, record))

    def _end_without_decision(self, record: Record) -> list[Step]:
        """End the wait for a decision: the trial is refused, or dropped; return its steps."""
        if not self._refuses or not record.placed:
            self._close(record)
            self.counters["dropped"] += 1
            self.counters["dropped_counted"] += record.counted_within
            return []
        self.counters["without_decision"] += 1
        record.refused = True
        record.time = record.due
        return self._advance_trial(record, record.due)

    def _advance_trial(self, record: Record, time: float | None) -> list[Step]:
        """Decide a trial of which all but the label is known, and complete it if that is known."""
        steps: list[Step] = []
        if record.number < 0:
            self._decide(record)
            self._note_order("decided", record.time)
            steps.append(Step("decided", record.trial(None), record.time, self.prior_values))
        if not self._labelled:
            self._close(record)
        elif record.label is not None and not self._waits:
            if self._lateness and record.time is not None and record.labelled is not None:
                # The event that says the last of it need not be the latest one.
                time = max(record.time, record.labelled)
            self._note_order("complete", time)
            steps.append(Step("complete", record.trial(record.label), time, self.prior_values))
            self._close(record)
        return steps

    def _note_order(self, kind: Literal["decided", "complete"], time: float | None) -> None:
        """Count a trial that was decided or complete before another that came earlier."""
        if time is None or not self._watches_time:
            return
        latest = self._latest[kind]
        if latest is None or time >= latest:
            self._latest[kind] = time
        elif time + ONE_MOMENT < latest:
            self.counters[f"{kind}_after_later"] += 1

    def _decide(self, record: Record) -> None:
        """Give a trial its number when all but its label is known, and set its deadline."""
        record.number = self.counters["decided"]
        record.due = None
        self.counters["decided"] += 1
        self.counters["favourable"] += record.decision == 1
        if record.name is None:
            self._last = record
            self._anonymous[record.number] = record
            self.open += 1
        if self._deadline is not None:
            self._set_deadline(record)

    def _set_deadline(self, record: Record) -> None:
        """Set the deadline of a decided trial; an event that comes late may make it earlier."""
        time = record.time
        if self._deadline is None or time is None or record.due == time + self._deadline:
            return
        record.due = time + self._deadline
        if record.label is not None and self._is_overdue(record, record.labelled):
            # It came before an earlier event of its trial did.
            record.label = None
            self.counters["late"] += 1
        heappush(self._due, (record.due, record.number, record.order, record))

    def _close(self, record: Record) -> None:
        """End a trial; forget it, unless its id is remembered."""
        record.state = "closed"
        self.open -= 1
        self.counters["labelled"] += record.label is not None
        self.counters["positive"] += record.label == 1
        if record.name is None:
            del self._anonymous[record.number]
        elif not self._remembers:
            del self._records[record.name]

    def _begin(self, event: Event, reached: float | None) -> list[Step]:
        """Count an event, and let time pass to it; return the trials that end by that."""
        self.counters["events"] += 1
        if self.first_time is None:
            self.first_time = event.time
        return self.advance(reached)

    def advance(self, time: float | None) -> list[Step]:
        """Let time pass; end the trials whose deadline has passed, and return their steps."""
        if time is None:
            return []
        self.time = time if self.time is None else max(self.time, time)
        steps: list[Step] = []
        while self._due and self._due[0][0] + ONE_MOMENT < self.time - self._lateness:
            due, number, _, record = heappop(self._due)
            # One that is not its deadline any more stood there before an earlier event came, or
            # before the trial was decided.
            if record.state == "open" and record.due == due and record.number == number:
                steps += self._end_wait(record)
        if not self._within.spans:
            return steps
        ended, dropped, counted = self._within.over(self.time - self._lateness)
        self.counters["dropped"] += dropped
        self.counters["dropped_counted"] += counted
        steps += [Step("decided", one, one.time, self.prior_values, span) for span, one in ended]
        return sorted(steps, key=lambda step: -inf if step.time is None else step.time)

    def set_time(self, time: float, step: float | None = None) -> int:
        """Go on at another moment; what was ended until then stays so.

        If it is before the first event, the stream began earlier, by a whole number of steps, which
        are windows in time: the return value.
        """
        self.time = time
        self._latest = dict.fromkeys(self._latest)
        if self.first_time is None or time >= self.first_time:
            return 0
        if step is None:
            self.first_time = time
            return 0
        steps = ceil((self.first_time - time) / step)
        self.first_time -= steps * step
        return steps

    def _end(self, record: Record) -> list[Step]:
        """End a trial whose deadlines are all over; return its steps."""
        steps: list[Step] = []
        while record.state == "open":
            steps += self._end_wait(record)
        return steps

    def _end_wait(self, record: Record) -> list[Step]:
        """End what a trial waits for, its decision or its label; return its steps."""
        if record.number < 0:
            return self._end_without_decision(record)
        return [self._end_without_label(record)]

    def _end_without_label(self, record: Record) -> Step:
        """End a trial at its deadline; return its step, complete or dropped."""
        self._close(record)
        label = self._without_label if record.label is None else record.label
        if label == "drop":
            self.counters["dropped"] += 1
            return Step("dropped", record.trial(None), record.due, self.prior_values)
        self._note_order("complete", record.due)
        return Step("complete", record.trial(label), record.due, self.prior_values)

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        last = self._last
        return {
            "records": [record.to_state() for record in self._records.values()],
            "anonymous": [record.to_state() for record in self._anonymous.values()],
            "last": None if last is None else last.to_state(),
            "groups": sorted(self._groups),
            "time": self.time,
            "first_time": self.first_time,
            "latest": dict(self._latest),
            "counters": dict(self.counters),
            **({"within": self._within.to_state()} if self._within.spans else {}),
            **({"prior_values": list(self.prior_values)} if self.prior_values else {}),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`to_state` returned."""
        records = list(map(Record.from_state, state["records"]))
        self._records = {record.name: record for record in records if record.name is not None}
        anonymous = list(map(Record.from_state, state["anonymous"]))
        self._anonymous = {record.number: record for record in anonymous}
        if state["last"] is not None:
            last = Record.from_state(state["last"])
            self._last = self._anonymous.get(last.number, last)
        opened = [record for record in (*records, *anonymous) if record.state == "open"]
        self.open = len(opened)
        timed = [(record.due, record) for record in opened]
        self._due = [
            (due, record.number, record.order, record) for due, record in timed if due is not None
        ]
        self._begun = 1 + max((record.order for record in records), default=-1)
        heapify(self._due)
        if self._within.spans:
            self._within.restore(state["within"], self._records)
        self._groups = set(state["groups"])
        self._former_ids = _former_texts(self._records, id_text)
        self._former_groups = _former_texts(self._groups, value_text)
        self.time = state["time"]
        self.first_time = state["first_time"]
        self._latest |= state.get("latest", {})
        self.prior_values = tuple(state.get("prior_values", self.prior_values))
        counters = state["counters"]
        self.counters = {kind: counters[kind] for kind in _COUNTED}
        self.counters |= {kind: counters.get(kind, 0) for kind in _COUNTED_NOW}


def _former_texts(texts: Iterable[str], same: Callable[[str], str]) -> dict[str, str]:
    """Return the texts that are no longer written so, by what they are now, if that is not there.

    Former versions kept 7.0 of a CSV file as it is written.
    """
    known = set(texts)
    return {same(text): text for text in sorted(known) if same(text) not in known}


def _has_prior_values(event: Event) -> bool:
    """Return whether an event has a value that a prior is computed from."""
    return any(value is not None for value in event.prior_values)
