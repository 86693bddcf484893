"""The monitor: takes events one by one, and says when groups are treated differently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from testsgd.errors import EventError
from testsgd.monitoring.judging import Alert, PropertyJudge
from testsgd.monitoring.running.state_file import damaged, read_state, write_state
from testsgd.monitoring.running.status import MonitorStatus
from testsgd.monitoring.running.summing_up import sum_up
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.trials import EventReader, Step, TrialBook, seconds_of


class Monitor:
    """Watches a stream of decisions.

    Parameters
    ----------
    specification : MonitorSpecification

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
    ...     "properties": [{"property": "demographic_parity", "threshold": "1/10"}]})
    >>> monitor = Monitor(specification)
    >>> for person in range(10):
    ...     alerts = monitor.observe({"group": "a", "decision": 1})
    ...     alerts += monitor.observe({"group": "b", "decision": person % 2})
    >>> [(alert.kind, alert.window, str(alert.bias)) for alert in alerts]
    [('raised', 0, '1/2')]
    """

    def __init__(self, specification: MonitorSpecification) -> None:
        self.specification = specification
        self._reader = EventReader(specification)
        self._book = TrialBook(specification)
        monitored = specification.monitored
        proving = sum(one.rule == "evidence" for one in monitored)
        error = (1 - specification.evidence.confidence) / max(proving, 1)
        fields = self._reader.given_fields
        self._judges = [PropertyJudge(specification, one, fields, error) for one in monitored]
        self._in_time = self._judges if specification.window.seconds is not None else []

    def observe(self, event: Mapping[str, Any]) -> tuple[Alert, ...]:
        """Take an event.

        Parameters
        ----------
        event : mapping
            Of the fields that the specification names; others play no part.

        Returns
        -------
        tuple of Alert
            Those that are raised or cleared by it, mostly none.

        Raises
        ------
        EventError
            If it is wrong or does not fit those before it. It is not counted then, and nothing
            has changed.
        """
        return self._judged(self._book.take(self._reader.read(event)))

    def observe_all(self, events: Iterable[Mapping[str, Any]]) -> tuple[Alert, ...]:
        """Take many events; see :meth:`observe`."""
        return tuple(alert for event in events for alert in self.observe(event))

    def advance(self, time: Any) -> tuple[Alert, ...]:
        """Let time pass without an event: deadlines end, windows close.

        Parameters
        ----------
        time : float, str or datetime.datetime
            Now, as the events have it.

        Returns
        -------
        tuple of Alert

        Raises
        ------
        EventError
            If it is no moment, or before the last event.
        """
        seconds = seconds_of(time)
        if seconds is None:
            raise EventError("no time is given", where="time", remedy="give a moment", value=time)
        return self._judged(self._book.advance(seconds))

    def _judged(self, steps: Iterable[Step]) -> tuple[Alert, ...]:
        time, origin = self._book.time, self._book.first_time
        alerts: list[Alert] = []
        for step in steps:
            for judge in self._judges:
                alerts += judge.take(step, origin)
        for judge in self._in_time:
            alerts.extend(judge.pass_time(time, origin))
        if self._in_time:
            alerts.sort(key=lambda alert: -inf if alert.time is None else alert.time)
        return tuple(alerts)

    def status(self) -> MonitorStatus:
        """Sum up the stream so far."""
        book, counters = self._book, self._book.counters
        comparisons = [one for judge in self._judges for one in judge.comparisons.values()]
        return MonitorStatus(
            events=counters.events,
            ignored=counters.ignored,
            repeated=counters.repeated,
            unknown=counters.unknown,
            late=counters.late,
            decided=counters.decided,
            dropped=counters.dropped,
            open=book.open,
            uncompared=sum(judge.uncompared for judge in self._judges),
            first_time=book.first_time,
            time=book.time,
            comparisons=sum_up(comparisons, self.specification.evidence),
        )

    def to_state(self) -> dict[str, Any]:
        """Give all that is kept, as JSON has it; see :meth:`from_state`."""
        return {
            "book": self._book.to_state(),
            "judges": [judge.to_state() for judge in self._judges],
        }

    @classmethod
    def from_state(cls, specification: MonitorSpecification, state: Mapping[str, Any]) -> Monitor:
        """Make a monitor that goes on where another one was.

        Parameters
        ----------
        specification : MonitorSpecification
            The same as that one's.
        state : mapping
            What its :meth:`to_state` gave.

        Returns
        -------
        Monitor
        """
        made = cls(specification)
        made._book.restore(state["book"])
        for judge, one in zip(made._judges, state["judges"], strict=True):
            judge.restore(one)
        return made

    def save(self, path: Path | str) -> None:
        """Write all that is kept to a file.

        Parameters
        ----------
        path : path-like
            A file that is there is replaced, as a whole.
        """
        write_state(Path(path), self.specification, self.to_state())

    @classmethod
    def load(cls, path: Path | str, specification: MonitorSpecification | None = None) -> Monitor:
        """Go on from a file that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
        specification : MonitorSpecification, optional
            What the file is expected to be of.

        Returns
        -------
        Monitor

        Raises
        ------
        ResultError
            If it is no such file, is damaged, or is of another version or specification.
        """
        found, state = read_state(Path(path), specification)
        try:
            return cls.from_state(found, state)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise damaged(Path(path), error) from error
