"""The functions that load a monitor and that run one over a stream of decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.errors import DataError, EventError, ParameterError, ResultError, TestSGDError
from testsgd.io import goes_on_from, locked, moved_together
from testsgd.monitoring.dead_letter_file import DeadLetterFile
from testsgd.monitoring.event_sources import (
    EventSource,
    FieldsOfEvents,
    UnnamedDecisions,
    event_source,
)
from testsgd.monitoring.judging import Alert
from testsgd.monitoring.report.summarise import MOST_ALERTS, summarise_monitoring
from testsgd.monitoring.result import MonitorResult
from testsgd.monitoring.running import Monitor
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.trials import DeadLetter

# A path has one slash left of the two.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

MonitorSpecificationLike: TypeAlias = MonitorSpecification | Mapping[str, Any] | str | Path


def load_monitor(
    specification: MonitorSpecificationLike,
    *,
    state: str | Path | None = None,
    clock: Callable[[], float] | None = None,
    on_dead_letter: Callable[[DeadLetter], object] | None = None,
) -> Monitor:
    """Return a monitor, a new one or one that goes on from a saved state.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What to watch: an object, its keys, or the TOML file that has them.
    state : path-like, optional
        A file that a monitor's state was saved to; if it is not there, the monitor begins anew.
    clock : callable, optional
        The present moment, in seconds since 1970; that of the system, if it is left out.
    on_dead_letter : callable, optional
        Called with each event that is not counted because of its time.

    Returns
    -------
    Monitor
        Its ``observe`` takes an event and gives the alerts that it raises.

    Raises
    ------
    SpecificationError
        If it specifies no monitor.
    ResultError
        If the state is none, or that of another specification.

    Examples
    --------
    >>> import testsgd
    >>> monitor = testsgd.load_monitor({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]})
    >>> monitor.observe({"group": "female", "decision": 1})
    ()
    """
    if isinstance(specification, Mapping):
        specification = MonitorSpecification.from_dict(specification)
    elif not isinstance(specification, MonitorSpecification):
        specification = MonitorSpecification.read(specification)
    if state is not None and goes_on_from(state):
        return Monitor.load(state, specification, clock=clock, on_dead_letter=on_dead_letter)
    return Monitor(specification, clock=clock, on_dead_letter=on_dead_letter)


def monitor(
    specification: MonitorSpecificationLike,
    events: Any,
    *,
    state: str | Path | None = None,
    on_alert: Callable[[Alert], object] | None = None,
    on_error: Callable[[TestSGDError, int], object] | None = None,
    on_dead_letter: Callable[[DeadLetter], object] | None = None,
    dead_letters: str | Path | None = None,
    clock: Callable[[], float] | None = None,
) -> MonitorResult:
    """Return what a monitor reports about a stream of decisions, with alerts when groups differ.

    Events with the same id are joined to a trial: one person's group, decision and, if it comes,
    true label. Each property of the specification compares the rates of the groups over these
    trials. An alert is raised when the bias passes the bound, by the estimate or by evidence as the
    specification has it.

    Parameters
    ----------
    specification, clock, on_dead_letter
        As for :func:`load_monitor`; the `place` of a dead letter is the number of its event.
    events : iterable of mappings, data frame, str or path-like
        Events in their order: the events themselves, the rows of a data frame (pandas, polars,
        ...), or the path of a ``.jsonl`` or ``.csv`` file.
    state : path-like, optional
        A file to go on from, if it is there, and to write the state to at the end. No other
        process can use it meanwhile.
    on_alert : callable, optional
        Called with each alert as it is raised or cleared.
    on_error : callable, optional
        Called with the error of each event that is wrong, and its number; the event changes
        nothing. Left out, the first such error is raised, and the state is not written.
    dead_letters : path-like, optional
        A file to which each event that is not counted because of its time is added at once, a JSON
        object a line. With a `state`, what a run added that was killed before it saved its state is
        not added again when its events are sent again.

    Returns
    -------
    MonitorResult
        With the monitor, which can go on.

    Raises
    ------
    EventError
        If an event is wrong and `on_error` is left out; names the event.
    DataError
        If an expression is about a field that no event had, and no alert was raised. The state is
        written.
    TestSGDError
        Another member of the family :mod:`testsgd.errors`, if something else about the input is
        wrong.

    References
    ----------
    Baumeister, Finkbeiner, Scheerer, Siber and Wagenpfeil, Stream-Based Monitoring of Algorithmic
    Fairness.

    Examples
    --------
    >>> import testsgd
    >>> people = [{"group": "ab"[n % 2], "decision": n % 2} for n in range(400)]
    >>> result = testsgd.monitor({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]}, people)
    >>> result.alerts, result.exit_code
    (1, 1)
    """
    with monitored(
        specification,
        events,
        state=state,
        on_alert=on_alert,
        on_error=on_error,
        on_dead_letter=on_dead_letter,
        dead_letters=dead_letters,
        clock=clock,
    ) as result:
        return result


@contextmanager
def monitored(
    specification: MonitorSpecificationLike,
    events: Any,
    *,
    state: str | Path | None = None,
    reports: str | Path | None = None,
    on_alert: Callable[[Alert], object] | None = None,
    on_error: Callable[[TestSGDError, int], object] | None = None,
    on_dead_letter: Callable[[DeadLetter], object] | None = None,
    dead_letters: str | Path | None = None,
    clock: Callable[[], float] | None = None,
) -> Iterator[MonitorResult]:
    """Return what :func:`monitor` does, for a block that writes its reports.

    The state and what the block writes to the folder `reports` are moved to their places together
    at its end, or not at all, as on a full disk. Until then no other process may use the state.

    Parameters
    ----------
    specification, events, state, on_alert, on_error, on_dead_letter, dead_letters, clock
        As for :func:`monitor`.
    reports : path-like, optional
        A folder that the block writes to by ``result.write(reports)``.

    Yields
    ------
    MonitorResult

    Examples
    --------
    >>> import tempfile
    >>> people = [{"group": "ab"[n % 2], "decision": n % 2} for n in range(400)]
    >>> wanted = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with monitored(wanted, people, state=f"{folder}/s", reports=f"{folder}/r") as result:
    ...         written = result.write(f"{folder}/r", ["md"])
    ...     [path.name for path in written], sorted(path.name for path in Path(folder).iterdir())
    (['report.md'], ['r', 's'])
    """
    path = None if state is None else Path(state)
    if state is not None and _ADDRESS.match(str(state)):
        raise ParameterError(
            f"the state of a monitor is a file, and {state} is an address",
            where="state",
            remedy="give the path of a file; a monitor keeps no state on a server",
        )
    with ExitStack() as opened:
        if path is not None and not opened.enter_context(locked(path)):
            remedy = "end that one, or give each its own"
            raise ResultError("another monitor uses this state", where=str(path), remedy=remedy)
        letters: DeadLetterFile | None = None

        def bury(letter: DeadLetter) -> None:
            if letters is not None:
                letters.add(letter)
            if on_dead_letter is not None:
                on_dead_letter(letter)

        resumed = path is not None and goes_on_from(path)
        watching = load_monitor(specification, state=path, clock=clock, on_dead_letter=bury)
        if dead_letters is not None:
            saved = None if path is None else watching.dead_letter_bytes
            letters = opened.enter_context(DeadLetterFile(dead_letters, saved))
        if not isinstance(events, EventSource):
            events = event_source(events, watching.specification)
        dead_before = watching.status().dead_letters
        alerts: list[Alert] = []
        left_out = 0
        refused = 0
        fields = FieldsOfEvents(watching.specification)
        unnamed = UnnamedDecisions(watching.specification)
        for number, item in events.items:
            try:
                event = events.parse(item)
                fields.note(event)
                raised = () if event is None else watching.observe(event, place=number)
            except TestSGDError as error:
                if on_error is None:
                    # It names the event it is in.
                    where = ": ".join(filter(None, (events.where(number), error.where)))
                    details = {"where": where, "remedy": error.remedy, **error.details}
                    raise EventError(error.what, **details) from error
                on_error(error, number)
                refused += 1
                continue
            unnamed.note(event)
            kept = raised[: MOST_ALERTS - len(alerts)]
            alerts += kept
            left_out += len(raised) - len(kept)
            if on_alert is not None:
                for alert in raised:
                    on_alert(alert)
        if letters is not None:
            watching.dead_letter_bytes = letters.size
        unknown_field: DataError | None = None
        # What was seen before is not known to a state, and an alert matters more. With a state
        # another table may have the groups of this one.
        if not (alerts or resumed or (events.has_columns and path is not None)):
            try:
                fields.check(events.name or "events")
            except DataError as error:
                unknown_field = error
        status = watching.status()
        summary = summarise_monitoring(
            status,
            watching.specification,
            alerts=alerts,
            alerts_left_out=left_out,
            refused=refused,
            dead_letters=status.dead_letters - dead_before,
            resumed=resumed,
            unnamed_decisions=unnamed.texts,
        )
        with moved_together(path, reports):
            if path is not None:
                watching.save(path)
            if unknown_field is None:
                yield MonitorResult(summary, watching)
        if unknown_field is not None:
            raise unknown_field
