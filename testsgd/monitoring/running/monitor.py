"""The monitor: takes events one by one, and says when groups are treated differently."""

from __future__ import annotations

import hashlib
import json
import time as system_time
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from testsgd._files import write_text
from testsgd.errors import EventError, ResultError, TestSGDError
from testsgd.monitoring import trials
from testsgd.monitoring.judging import Alert, PropertyJudge
from testsgd.monitoring.running.status_summary import MonitorStatus, sum_up
from testsgd.monitoring.specification import MonitorSpecification

FORMAT = "testsgd.monitor-state/2"


def write_state(path: Path, specification: MonitorSpecification, state: dict[str, Any]) -> None:
    """Write a state, with the specification that it is of."""
    parts = {"digest": specification.digest(), "specification": specification.to_dict()}
    document = {"format": FORMAT, **parts, "checksum": _checksum(state), "state": state}
    write_text(path, json.dumps(document, allow_nan=False) + "\n")


def read_state(
    path: Path, expected: MonitorSpecification | None
) -> tuple[MonitorSpecification, dict[str, Any]]:
    """Read a state, of the expected specification if there is one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unusable(path, f"the file is no state of a monitor ({error})") from error
    seen = document.get("format") if isinstance(document, dict) else None
    if seen != FORMAT:
        raise _unusable(path, f"the format is {seen!r}, not {FORMAT!r}", format=seen)
    try:
        specification = MonitorSpecification.from_dict(document["specification"])
        state, digest = document["state"], document["digest"]
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
    """Watches a stream of decisions.

    Parameters
    ----------
    specification : MonitorSpecification
    clock, on_dead_letter
        As for :func:`testsgd.load_monitor`. Events farther ahead of the clock than
        ``time.max_skew`` are dead letters.

    Notes
    -----
    An event takes constant time, whatever the length of the stream. What is kept are the trials
    that are not complete, the ids of all trials (unless ``repeated = "new"``), and counters. One
    thread at a time: who has more puts a lock around the calls.

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
        self._begin()

    def _begin(self) -> None:
        """Begin to count."""
        specification, monitored = self.specification, self.specification.monitored
        self._book = trials.TrialAssembler(specification)
        proving = sum(watched.rule == "evidence" for watched in monitored)
        error = (1 - specification.evidence.confidence) / max(proving, 1)
        self._judges = [PropertyJudge(specification, watched, error) for watched in monitored]
        self._in_time = self._judges if specification.window.seconds is not None else []

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
        read, line = self._reader.read(event), self._timeline
        if not self._watches_time:
            return tuple(self._judged(self._book.take(read)))
        fate = "take" if read.time is None else line.fate(read)
        if fate == "take" and line.settled and not line.waiting:
            alerts = self._judged(self._book.take(read, line.reached(read)))
            line.believe(read)
            return tuple(alerts)
        return tuple(self._arrived(trials.Arrival(read, event, place), fate))

    def _arrived(self, arrival: trials.Arrival, fate: trials.Fate) -> list[Alert]:
        """Take an event, let it wait, or bury it."""
        line = self._timeline
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

    def _believe(self, arrival: trials.Arrival) -> list[Alert]:
        line = self._timeline
        alerts = self._judged(self._book.take(arrival.event, line.reached(arrival.event)))
        line.believe(arrival.event)
        line.keep(arrival)
        return alerts

    def _believe_what_waited(self, arrivals: Iterable[trials.Arrival]) -> list[Alert]:
        """Take events that waited; those that do not fit by now are dead letters."""
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
        """Take the events that wait if most agree, or the last of them proves them."""
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
        """Take what waited and is believed by now; bury the rest if it is refuted."""
        line, alerts = self._timeline, list[Alert]()
        waiting, line.waiting = line.waiting, []
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
        line, alerts = self._timeline, list[Alert]()
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
        for arrival in arrivals:
            letter = self._timeline.bury(arrival, reason, said)
            if self._on_dead_letter is not None:
                self._on_dead_letter(letter)

    def observe_all(self, events: Iterable[Mapping[str, Any]]) -> tuple[Alert, ...]:
        """Take many events; see :meth:`observe`."""
        return tuple(alert for event in events for alert in self.observe(event))

    def advance(self, time: Any) -> tuple[Alert, ...]:
        """Let time pass without an event: deadlines end, windows close. Return the alerts.

        `time`: now, as the events have it. It is believed, even if it is ahead of the clock; and so
        are events that wait for others to confirm their time, if they are not later. An EventError
        says that it is no moment, or before the last event.
        """
        moment, line, book = self._reader.moment(time), self._timeline, self._book
        if moment is None:
            raise EventError("no time is given", where="time", remedy="give a moment", value=time)
        seconds = moment.seconds
        book.check_time(seconds)
        passed, waiting = list[trials.Arrival](), list[trials.Arrival]()
        for arrival in line.waiting:
            time = arrival.event.time
            confirmed = time is not None and time <= seconds
            later = book.time is None or (time is not None and book.time < time)
            (passed if confirmed and later else waiting).append(arrival)
        line.waiting = waiting
        alerts = self._believe_what_waited(passed)
        alerts += self._judged(book.advance(seconds))
        line.move(seconds)
        return tuple(alerts)

    def _judged(self, steps: Iterable[trials.Step]) -> list[Alert]:
        time, origin = self._book.watermark, self._book.first_time
        alerts: list[Alert] = []
        for step in steps:
            for judge in self._judges:
                alerts += judge.take(step, origin, time)
        for judge in self._in_time:
            alerts.extend(judge.pass_time(time, origin))
        if self._in_time:
            alerts.sort(key=lambda alert: -inf if alert.time is None else alert.time)
        return alerts

    def status(self) -> MonitorStatus:
        """Sum up the stream so far."""
        book, line = self._book, self._timeline
        comparisons = [known for judge in self._judges for known in judge.comparisons.values()]
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
        state = {"book": self._book.to_state(), "timeline": self._timeline.to_state()}
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
        """Make a monitor of the same specification that goes on from what :meth:`to_state` gave."""
        made = cls(specification, clock=clock, on_dead_letter=on_dead_letter)
        made._book.restore(state["book"])
        if "timeline" in state:
            made._timeline.restore(state["timeline"])
        elif made._book.time is not None:  # of a former version
            made._timeline.go_on(made._book.time)
        for judge, kept in zip(made._judges, state["judges"], strict=True):
            judge.restore(kept)
        return made

    def save(self, path: Path | str) -> None:
        """Write all that is kept to a file, in place of one that is there, as a whole."""
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
        """Go on from a file that :meth:`save` wrote, of the specification if one is given.

        A ResultError says if it is none, is damaged, or is of another version or specification.
        """
        found, state = read_state(Path(path), specification)
        try:
            return cls.from_state(found, state, clock=clock, on_dead_letter=on_dead_letter)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise damaged(Path(path), error) from error
