"""Calls for a monitor: watch over a stream of decisions, or go on from where one was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.api.event_sources import EventSource, event_source
from testsgd.errors import EventError, TestSGDError
from testsgd.monitoring import Alert, Monitor, MonitorSpecification
from testsgd.reporting import summarise_monitoring
from testsgd.reporting.monitoring.summarise import MOST_ALERTS
from testsgd.results import MonitorResult

MonitorSpecificationLike: TypeAlias = MonitorSpecification | Mapping[str, Any] | str | Path


def load_monitor(
    specification: MonitorSpecificationLike, *, state: str | Path | None = None
) -> Monitor:
    """Make a monitor, or go on from the state of one.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What to watch: an object, its keys, or the TOML file that has them.
    state : path-like, optional
        A file that a monitor's state was saved to; if it is not there, the monitor begins anew.

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
    ...     "properties": [{"property": "demographic_parity", "threshold": 0.1}]})
    >>> monitor.observe({"group": "female", "decision": 1})
    ()
    """
    if isinstance(specification, MonitorSpecification):
        found = specification
    elif isinstance(specification, Mapping):
        found = MonitorSpecification.from_dict(specification)
    else:
        found = MonitorSpecification.read(Path(specification))
    if state is not None and Path(state).exists():
        return Monitor.load(Path(state), found)
    return Monitor(found)


def monitor(
    specification: MonitorSpecificationLike,
    events: Any,
    *,
    state: str | Path | None = None,
    on_alert: Callable[[Alert], object] | None = None,
    on_error: Callable[[TestSGDError, int], object] | None = None,
) -> MonitorResult:
    """Watch over decisions, and say when groups are treated differently.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What to watch: an object, its keys, or the TOML file that has them.
    events : iterable of mappings, data frame, str or path-like
        Events in their order: the events themselves, the rows of a data frame (pandas, polars,
        ...), or the path of a ``.jsonl`` or ``.csv`` file.
    state : path-like, optional
        A file to go on from, if it is there, and to write the state to at the end.
    on_alert : callable, optional
        Called with each alert as it is raised or cleared.
    on_error : callable, optional
        Called with the error of each event that is wrong, and its number; the event changes
        nothing. Left out, the first such error is raised, and the state is not written.

    Returns
    -------
    MonitorResult
        With the monitor, which can go on.

    Raises
    ------
    EventError
        If an event is wrong and `on_error` is left out; names the event.
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
    ...     "properties": [{"property": "demographic_parity", "threshold": 0.1}]}, people)
    >>> result.alerts, result.exit_code
    (1, 1)
    """
    watching = load_monitor(specification, state=state)
    if not isinstance(events, EventSource):
        events = event_source(events, watching.specification)
    resumed = state is not None and Path(state).exists()
    alerts: list[Alert] = []
    left_out = refused = 0
    for number, item in events.items:
        try:
            event = events.parse(item)
            raised = () if event is None else watching.observe(event)
        except TestSGDError as error:
            if on_error is None:
                raise _placed(error, events.where(number)) from error
            on_error(error, number)
            refused += 1
            continue
        for alert in raised:
            if len(alerts) < MOST_ALERTS:
                alerts.append(alert)
            else:
                left_out += 1
            if on_alert is not None:
                on_alert(alert)
    if state is not None:
        watching.save(Path(state))
    summary = summarise_monitoring(
        watching.status(),
        watching.specification,
        alerts=alerts,
        alerts_left_out=left_out,
        refused=refused,
        resumed=resumed,
    )
    return MonitorResult(summary, watching)


def _placed(error: TestSGDError, place: str) -> TestSGDError:
    """Say of an error in which event it is."""
    where = f"{place}: {error.where}" if error.where else place
    return EventError(error.what, where=where, remedy=error.remedy, **error.details)
