"""The monitor: takes events one by one, and raises alerts when groups are treated differently."""

from __future__ import annotations

import hashlib
import json
import time as system_time
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from testsgd.errors import EventError, ResultError, TestSGDError
from testsgd.io import MONITOR_STATE, loads_json, memory_limit, read_text, write_text
from testsgd.monitoring import trials
from testsgd.monitoring.judging import Alert, PropertyJudge
from testsgd.monitoring.running.status_summary import MonitorStatus, sum_up
from testsgd.monitoring.specification import MonitorSpecification

FORMAT = f"{MONITOR_STATE}/2"


def write_state(path: Path, specification: MonitorSpecification, state: dict[str, Any]) -> None:
    """Write a state to a file, with its specification and with checksums of both."""
    parts = {"digest": specification.digest(), "specification": specification.to_dict()}
    document = {"format": FORMAT, **parts, "checksum": _checksum(state), "state": state}
    write_text(path, json.dumps(document, allow_nan=False) + "\n")


def read_state(
    path: Path, expected: MonitorSpecification | None
) -> tuple[MonitorSpecification, dict[str, Any]]:
    """Return the specification and the state in a file; refuse another than an expected one."""
    try:
        document = loads_json(read_text(path, at_most=memory_limit()))
    except (OSError, ValueError) as error:
        raise _unusable(path, f"the file is no state of a monitor ({error})") from error
    version = document.get("format") if isinstance(document, dict) else None
    if version != FORMAT:
        raise _unusable(path, f"the format is {version!r}, not {FORMAT!r}", format=version)
    try:
        specification = MonitorSpecification.from_dict(document["specification"])
        state = document["state"]
        digest = document["digest"]
    except (KeyError, TypeError, ValueError, TestSGDError) as error:
        raise damaged(path, error) from error
    if document.get("checksum") != _checksum(state):
        raise _unusable(path, "the file was changed after it was written")
    if expected is not None and expected.digest() != digest:
        raise _unusable(path, "the state is of another specification", digest=digest)
    return specification, state


def _checksum(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def damaged(path: Path, error: Exception) -> ResultError:
    """Build the error for a damaged state file."""
    return _unusable(path, f"the file is damaged ({type(error).__name__}: {error})")


def _unusable(path: Path, what: str, **details: Any) -> ResultError:
    remedy = "give the file that this monitor wrote, or begin without one"
    return ResultError(what, where=str(path), remedy=remedy, **details)


class Monitor:
    """A monitor of a stream of decisions, which takes events and returns alerts.

    Parameters
    ----------
    specification : MonitorSpecification
        What to watch, and how the fields of an event are called.
    clock, on_dead_letter
        As for :func:`testsgd.load_monitor`. Events farther ahead of the clock than
        ``time.max_skew`` are dead letters.

    Notes
    -----
    An event takes constant time, whatever the length of the stream. What is kept are the trials
    that are not complete, the ids of all trials and digests of the dead letters that have an id
    (unless ``repeated = "new"``), and counters. One thread at a time: who has more puts a lock
    around the calls.

    An event that is sent again, as after a process was killed, is counted as repeated and as
    nothing else, even if it is late by now, or was a dead letter when it came first. It is known by
    its id; events without one are new each time.

    Attributes
    ----------
    dead_letter_bytes : int
        Bytes that the file of dead letters had, if there is one, when the state was saved; a run
        that goes on adds no letter again that is behind them.

    References
    ----------
    Baumeister, Finkbeiner, Scheerer, Siber and Wagenpfeil, Stream-Based Monitoring of Algorithmic
    Fairness.

    Examples
    --------
    >>> specification = MonitorSpecification.from_dict({
    ...     "window": {"kind": "tumbling", "length": 20},
    ...     "properties": [{"property": "demographic_parity", "bound": "1/10"}]})
    >>> monitor = Monitor(specification)
    >>> for person in range(10):
    ...     alerts = monitor.observe({"group": "a", "decision": 1})
    ...     alerts += monitor.observe({"group": "b", "decision": person % 2})
    >>> [(alert.kind, alert.window, str(alert.bias)) for alert in alerts]
    [('raised', 0, '1/2')]
    """

    def __init__(
        self,
        specification: MonitorSpecification,
        *,
        clock: Callable[[], float] | None = None,
        on_dead_letter: Callable[[trials.DeadLetter], object] | None = None,
    ) -> None:
        self.specification = specification
        self._reader = trials.EventReader(specification)
        self._on_dead_letter = on_dead_letter
        self._timeline = trials.Timeline(specification.time, clock or system_time.time)
        self._watches_time = specification.watches_time
        self._remembers = specification.trials.repeated == "ignore"
        self.dead_letter_bytes = 0
        self._begin()

    def _begin(self) -> None:
        """Begin to count, with no trials and no comparisons."""
        specification = self.specification
        monitored = specification.monitored
        self._book = trials.TrialAssembler(specification)
        proving = sum(watched.rule == "evidence" for watched in monitored)
        error = (1 - specification.evidence.confidence) / max(proving, 1)
        self._judges = [PropertyJudge(specification, watched, error) for watched in monitored]
        self._in_time = self._judges if specification.judges_in_time else []

    def observe(self, event: Mapping[str, Any], *, place: Any = None) -> tuple[Alert, ...]:
        """Take an event.

        Parameters
        ----------
        event : mapping
            Of the fields that the specification names; others play no part.
        place : object, optional
            Where it stands in its source, for a dead letter: a number or a text.

        Returns
        -------
        tuple of Alert
            Those that are raised or cleared by it, and by events that waited for it; mostly none.
            An event whose time cannot be raises none: it is a dead letter, or waits until others
            decide.

        Raises
        ------
        EventError
            If it is wrong or does not fit those before it. It is not counted then, and nothing
            has changed.
        """
        read = self._reader.read(event)
        line = self._timeline
        if not self._watches_time:
            return tuple(self._judged(self._book.take(read)))
        fate = "take" if read.time is None else line.fate(read)
        if fate == "take" and line.settled and not line.waiting:
            alerts = self._judged(self._book.take(read, line.reached(read)))
            line.believe(read)
            return tuple(alerts)
        return tuple(self._arrived(trials.Arrival(read, event, place), fate))

    def observe_read(self, event: trials.Event) -> tuple[Alert, ...]:
        """Take an event that was read already and whose time is right, as in a simulation.

        Parameters
        ----------
        event : Event
            With values as :class:`EventReader` reads them; not before the last one.

        Returns
        -------
        tuple of Alert
            Those that are raised or cleared by it.

        Raises
        ------
        EventError
            If it does not fit those before it. It is not counted then.
        """
        return tuple(self._judged(self._book.take(event)))

    def _arrived(self, arrival: trials.Arrival, fate: trials.Fate) -> list[Alert]:
        """Count an event, let it wait, or make it a dead letter; return the alerts."""
        line = self._timeline
        if self._was_sent_before(arrival.event, fate):
            self._book.count_repeated()
            return []
        if fate == "take":
            alerts = self._believe(arrival)
            return [*alerts, *self._look_again()] if line.waiting else alerts
        if fate == "wait" or fate == "confirm":
            self._bury(line.wait(arrival))
            return self._believe_what_agrees(always=fate == "confirm")
        if (fate == "late" or fate == "unit") and line.set_again(arrival.event, fate):
            assert line.time is not None
            earlier = self._book.set_time(line.time, self.specification.window.seconds)
            for judge in self._in_time:
                judge.go_back(self._book.watermark, self._book.first_time, earlier)
            return self._arrived(arrival, line.fate(arrival.event))
        self._bury([arrival], fate)
        return []

    def _was_sent_before(self, event: trials.Event, fate: trials.Fate) -> bool:
        """Return whether an event that would not be counted now came before, and says no more.

        If its time is ahead, it may say that time has moved on.
        """
        if event.name is None or not self._remembers or fate in ("take", "confirm"):
            return False
        is_dropped = fate in ("late", "unit", "ahead")
        if is_dropped and self._timeline.is_buried(event):
            return True
        return fate != "ahead" and self._timeline.is_past(event) and self._book.has_all_of(event)

    def _believe(self, arrival: trials.Arrival) -> list[Alert]:
        """Count an event whose time is believed; return the alerts."""
        line = self._timeline
        alerts = self._judged(self._book.take(arrival.event, line.reached(arrival.event)))
        line.believe(arrival.event)
        line.keep(arrival)
        return alerts

    def _believe_what_waited(self, arrivals: Iterable[trials.Arrival]) -> list[Alert]:
        """Count events that waited; those that are late or wrong by now are dead letters."""
        alerts: list[Alert] = []
        for arrival in arrivals:
            if self._timeline.is_late(arrival.event):
                self._bury([arrival], "late")
                continue
            try:
                alerts += self._believe(arrival)
            except EventError as error:
                self._bury([arrival], "wrong", str(error))
        return alerts

    def _believe_what_agrees(self, *, always: bool) -> list[Alert]:
        """Count the events that wait if most recent ones agree, or `always` for a live stream."""
        line = self._timeline
        chain = line.led_up_to_last() if always else line.agreed()
        if not chain:
            return []
        contradicted = line.contradicts(chain)
        others = [arrival for arrival in line.decide() if arrival not in chain]
        if contradicted:
            before = line.start_again(chain)
            self._begin()
            kept = [arrival for arrival in before if trials.leads_up(arrival, chain[0])]
            # They may be right after all, if those that took their place were the wrong ones.
            others = [arrival for arrival in before if arrival not in kept] + others
            self._believe_what_waited(kept)
        alerts = self._believe_what_waited(chain)
        return alerts + self._see_again(others)

    def _look_again(self) -> list[Alert]:
        """Count what waited and is believed by now; if the rest is refuted, it is dead letters."""
        line = self._timeline
        alerts: list[Alert] = []
        waiting = line.waiting
        line.waiting = []
        for arrival in waiting:
            if line.fate(arrival.event) == "take":
                alerts += self._believe_what_waited([arrival])
            else:
                line.waiting.append(arrival)
        if line.refuted:
            self._bury(line.forget_waiting())
        return alerts

    def _see_again(self, arrivals: Iterable[trials.Arrival]) -> list[Alert]:
        """Decide anew what becomes of events that waited while time was another."""
        line = self._timeline
        alerts: list[Alert] = []
        for arrival in arrivals:
            fate = line.fate(arrival.event)
            if fate == "take":
                alerts += self._believe_what_waited([arrival])
            elif fate == "wait" or fate == "confirm":
                self._bury(line.wait(arrival))
            else:
                self._bury([arrival])
        return alerts

    def _bury(
        self,
        arrivals: Iterable[trials.Arrival],
        reason: trials.Reason | None = None,
        said: str = "",
    ) -> None:
        """Count dead letters, and hand them to `on_dead_letter`."""
        for arrival in arrivals:
            if self._remembers and self._timeline.is_buried(arrival.event):
                self._book.count_repeated()
                continue
            letter = self._timeline.bury(arrival, reason, said)
            if self._on_dead_letter is not None:
                self._on_dead_letter(letter)

    def observe_all(self, events: Iterable[Mapping[str, Any]]) -> tuple[Alert, ...]:
        """Take events one after the other.

        Parameters
        ----------
        events : iterable of mappings
            In their order, as for :meth:`observe`.

        Returns
        -------
        tuple of Alert
            Those of all events, in their order.

        Raises
        ------
        EventError
            At the first event that is wrong. Those before it are counted, but their alerts are not
            returned.
        """
        return tuple(alert for event in events for alert in self.observe(event))

    def advance(self, time: Any) -> tuple[Alert, ...]:
        """Let time pass without an event: deadlines end, windows close.

        Parameters
        ----------
        time : number, str or datetime
            The present moment, written as events write theirs. It is believed even if it is ahead
            of the clock. So are events that wait for others to confirm their time, if they are not
            later than it and after the last event.

        Returns
        -------
        tuple of Alert
            Those that are raised or cleared by it.

        Raises
        ------
        EventError
            If it is no moment, or before the last event.

        Examples
        --------
        >>> specification = MonitorSpecification.from_dict({
        ...     "trials": {"deadline": "3 d"},
        ...     "properties": [{"property": "equal_opportunity", "bound": "1/10"}]})
        >>> monitor = Monitor(specification)
        >>> alerts = monitor.observe({"group": "a", "decision": 1, "time": "2020-01-01"})
        >>> monitor.status().open
        1
        >>> alerts = monitor.advance("2020-01-05")
        >>> monitor.status().open
        0
        """
        moment = self._reader.moment(time)
        line = self._timeline
        book = self._book
        if moment is None:
            raise EventError("no time is given", where="time", remedy="give a moment", value=time)
        seconds = moment.seconds
        book.check_time(seconds)
        passed: list[trials.Arrival] = []
        waiting: list[trials.Arrival] = []
        for arrival in line.waiting:
            event_time = arrival.event.time
            confirmed = event_time is not None and event_time <= seconds
            later = book.time is None or (event_time is not None and book.time < event_time)
            if confirmed and later:
                passed.append(arrival)
            else:
                waiting.append(arrival)
        line.waiting = waiting
        alerts = self._believe_what_waited(passed)
        alerts += self._judged(book.advance(seconds))
        line.move(seconds)
        return tuple(alerts)

    def _judged(self, steps: Iterable[trials.Step]) -> list[Alert]:
        """Return the alerts of all properties, sorted by time if time alone raises some."""
        time = self._book.watermark
        origin = self._book.first_time
        alerts: list[Alert] = []
        for step in steps:
            for judge in self._judges:
                alerts += judge.take(step, origin, time)
        for judge in self._in_time:
            alerts.extend(judge.pass_time(time, origin))
        if self._book.prior_values:
            for judge in self._judges:
                judge.believe(self._book.prior_values)
                alerts += judge.settle(self._book.time)
        if self._in_time:
            alerts.sort(key=lambda alert: -inf if alert.time is None else alert.time)
        return alerts

    @property
    def judged(self) -> tuple[str, ...]:
        """The names of the properties of which some comparison was judged so far."""
        return tuple(
            judge.monitored.name
            for judge in self._judges
            if any(comparison.judged for comparison in judge.comparisons.values())
        )

    def status(self) -> MonitorStatus:
        """Return the counts, the bias and the alerts of the stream so far.

        Returns
        -------
        MonitorStatus
            Its comparisons are in the order of the properties, and within one in the order in which
            their given values came. Nothing changes, and the monitor can go on.
        """
        book = self._book
        line = self._timeline
        comparisons = [
            comparison for judge in self._judges for comparison in judge.comparisons.values()
        ]
        return MonitorStatus(
            **book.counters,
            **{f"dead_letters_{reason}": number for reason, number in line.dead.items()},
            open=book.open,
            uncompared=sum(judge.uncompared for judge in self._judges),
            waiting=len(line.waiting),
            clock_set=line.settings.number,
            clock_before=line.settings.before,
            clock_to=line.settings.to,
            clock_dropped=line.settings.dropped,
            unit=(self.specification.time.unit or line.unit) if self._watches_time else None,
            first_time=book.first_time,
            time=book.time,
            comparisons=sum_up(comparisons, self.specification.evidence),
        )

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it; see :meth:`from_state`."""
        state: dict[str, Any] = {
            "book": self._book.to_state(),
            "timeline": self._timeline.to_state(),
        }
        state |= {"dead_letter_bytes": self.dead_letter_bytes}
        return state | {"judges": [judge.to_state() for judge in self._judges]}

    @classmethod
    def from_state(
        cls,
        specification: MonitorSpecification,
        state: Mapping[str, Any],
        *,
        clock: Callable[[], float] | None = None,
        on_dead_letter: Callable[[trials.DeadLetter], object] | None = None,
    ) -> Monitor:
        """Return a monitor that goes on from a state.

        Parameters
        ----------
        specification : MonitorSpecification
            That of the monitor whose state it is; this is not checked here, see :meth:`load`.
        state : mapping
            What :meth:`to_state` returned.
        clock, on_dead_letter
            As for :class:`Monitor`.

        Returns
        -------
        Monitor

        Examples
        --------
        >>> specification = MonitorSpecification.from_dict({
        ...     "properties": [{"property": "demographic_parity", "bound": "1/10"}]})
        >>> monitor = Monitor(specification)
        >>> alerts = monitor.observe({"group": "a", "decision": 1})
        >>> Monitor.from_state(specification, monitor.to_state()).status() == monitor.status()
        True
        """
        monitor = cls(specification, clock=clock, on_dead_letter=on_dead_letter)
        monitor._book.restore(state["book"])
        monitor.dead_letter_bytes = int(state.get("dead_letter_bytes", 0))
        if "timeline" in state:
            monitor._timeline.restore(state["timeline"])
        elif monitor._book.time is not None:  # of a former version
            monitor._timeline.go_on(monitor._book.time)
        for judge, judge_state in zip(monitor._judges, state["judges"], strict=True):
            judge.restore(judge_state)
            judge.believe(monitor._book.prior_values)
            judge.settle(None)
        return monitor

    def save(self, path: Path | str) -> None:
        """Write the state to a file, as a whole or not at all; replace one that is there.

        Parameters
        ----------
        path : path-like
            The file, JSON; :meth:`load` reads it.
        """
        write_state(Path(path), self.specification, self.to_state())

    @classmethod
    def load(
        cls,
        path: Path | str,
        specification: MonitorSpecification | None = None,
        *,
        clock: Callable[[], float] | None = None,
        on_dead_letter: Callable[[trials.DeadLetter], object] | None = None,
    ) -> Monitor:
        """Return a monitor that goes on from a file.

        Parameters
        ----------
        path : path-like
            A file that :meth:`save` wrote.
        specification : MonitorSpecification, optional
            That the file must be of; left out, the file's own is taken.
        clock, on_dead_letter
            As for :class:`Monitor`.

        Returns
        -------
        Monitor

        Raises
        ------
        ResultError
            If the file cannot be read, is no state, is damaged, or is of another version or
            specification.
        """
        saved, state = read_state(Path(path), specification)
        try:
            return cls.from_state(saved, state, clock=clock, on_dead_letter=on_dead_letter)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise damaged(Path(path), error) from error
