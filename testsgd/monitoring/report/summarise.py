"""From a monitor to the summary document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from testsgd.fairness.wording import counted_property
from testsgd.monitoring.report import summary as documents
from testsgd.monitoring.report.summary import MonitoredComparison, MonitoringSummary
from testsgd.monitoring.report.verdict import PENDING, monitoring_verdict
from testsgd.monitoring.specification import condition_of, resolved_beliefs
from testsgd.monitoring.trials.event import shown
from testsgd.report.summaries import package_versions, present_moment

if TYPE_CHECKING:
    from testsgd.monitoring.judging import Alert
    from testsgd.monitoring.running import ComparisonStatus, GroupStatus, MonitorStatus
    from testsgd.monitoring.specification import (
        EstimatePart,
        MonitoredProperty,
        MonitorSpecification,
    )

# So many alerts are in the document.
MOST_ALERTS = 1000
# Values that no expression names are listed up to this number.
_MOST_VALUES = 20
_ORDER = {"beyond": 0, "undecided": 1, "within": 2}


def summarise_monitoring(
    status: MonitorStatus,
    specification: MonitorSpecification,
    *,
    alerts: Sequence[Alert] = (),
    alerts_left_out: int = 0,
    refused: int = 0,
    dead_letters: int = 0,
    resumed: bool = False,
    unnamed_decisions: Sequence[str] = (),
) -> MonitoringSummary:
    """Return the document that every view of a monitor's result is rendered from.

    Its comparisons are ordered: first those with alerts, then those that are undecided, and among
    equals the largest estimate first. The verdict is computed from the other parts, see
    :func:`monitoring_verdict`.

    Parameters
    ----------
    status : MonitorStatus
    specification : MonitorSpecification
        That of the same monitor.
    alerts : sequence of Alert, optional
        Those of this run, in their order; the first thousand are listed.
    alerts_left_out : int, optional
        Further alerts of this run that were not kept.
    refused, dead_letters : int, optional
        Events of this run that were wrong, and that were not counted because of their time.
    resumed : bool, optional
        Whether the monitor went on from a saved state.
    unnamed_decisions : sequence of str, optional
        Values of the decision's field in this run that no expression names; twenty are listed.

    Returns
    -------
    MonitoringSummary

    Examples
    --------
    >>> import testsgd
    >>> monitor = testsgd.load_monitor({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]})
    >>> alerts = monitor.observe_all({"group": "ab"[n % 2], "decision": n % 2} for n in range(400))
    >>> summary = summarise_monitoring(monitor.status(), monitor.specification, alerts=alerts)
    >>> summary.alerts_raised, summary.verdict.status
    (1, 'alert_raised')
    """
    ordered = sorted(
        status.comparisons,
        key=lambda known: (not known.alerts, _ORDER[known.standing], -known.estimate),
    )
    listed = [_alert(alert) for alert in alerts[:MOST_ALERTS]]
    without_verdict = MonitoringSummary(
        created=present_moment(),
        versions=package_versions(("numpy",)),
        name=specification.name,
        digest=specification.digest(),
        settings=_settings(specification),
        properties=[
            _property(watched, specification.estimate) for watched in specification.monitored
        ],
        stream=documents.StreamSummary.of(
            status,
            refused=refused,
            dead_letters_this_run=dead_letters,
            resumed=resumed,
            unnamed_decisions=[shown(text) for text in unnamed_decisions[:_MOST_VALUES]],
            unnamed_decisions_left_out=len(unnamed_decisions[_MOST_VALUES:]),
        ),
        comparisons=[_comparison(comparison) for comparison in ordered],
        alerts_raised=status.alerts,
        alerts=listed,
        alerts_left_out=alerts_left_out + len(alerts) - len(listed),
        verdict=PENDING,
    )
    return without_verdict.model_copy(update={"verdict": monitoring_verdict(without_verdict)})


def _property(watched: MonitoredProperty, estimate: EstimatePart) -> documents.PropertySummary:
    counted = counted_property(watched.fairness, watched.bound, watched.empty_group)
    general, exceptions = resolved_beliefs(estimate, watched.estimate)
    priors = [
        documents.PriorSummary(group=group, prior=str(one.rate), strength=str(one.strength))
        for group, one in [(None, general), *exceptions.items()]
    ]
    prior_values = watched.estimate is not None or exceptions
    return documents.PropertySummary.of(watched, **counted, priors=priors if prior_values else [])


def _settings(specification: MonitorSpecification) -> documents.MonitorSettings:
    window = specification.window
    estimate = specification.estimate
    time = specification.time
    by = specification.groups.by
    events = specification.events
    return documents.MonitorSettings.of(
        specification.trials,
        specification.groups,
        specification.events,
        specification.evidence,
        groups=specification.groups.names,
        lateness=time.late if specification.watches_time else None,
        max_skew=time.skew if specification.watches_time else None,
        unit_declared=time.unit is not None,
        window=window.kind,
        window_trials=window.trials,
        window_seconds=window.seconds,
        prior=str(estimate.prior),
        strength=str(estimate.strength),
        groups_when=None if by is None else [group.when for group in by],
        decision_when=events.decision if condition_of(events.decision) else None,
        label_when=events.label if condition_of(events.label) else None,
    )


def _group(status: GroupStatus) -> documents.MonitoredGroup:
    low, high = _ends(status)
    return documents.MonitoredGroup.of(status, low=low, high=high)


def _comparison(status: ComparisonStatus) -> MonitoredComparison:
    low, high = _ends(status)
    known = [group for group in status.groups if group.estimate is not None]
    return MonitoredComparison.of(
        status,
        property=status.property.name,
        conditions=_conditions(status),
        bias_exact=str(status.bias),
        estimate_exact=str(status.estimate),
        low=low,
        high=high,
        highest=max(known, key=lambda group: group.estimate or 0).name if known else None,
        lowest=min(known, key=lambda group: group.estimate or 0).name if known else None,
        first_alert=None if status.first_alert is None else _alert(status.first_alert),
        groups=[_group(group) for group in status.groups],
        course=_course(status),
    )


def _course(status: ComparisonStatus) -> list[documents.CoursePoint]:
    """Return the moments that were kept, and the present one."""
    points = []
    for point in status.trajectory:
        # Groups that came later had no estimate then.
        missing = [None] * (len(status.groups) - len(point.estimates))
        points.append(documents.CoursePoint.of(point, estimates=(*point.estimates, *missing)))
    if status.trials and (not points or points[-1].trials < status.trials):
        estimates = [group.estimate for group in status.groups]
        points.append(
            documents.CoursePoint.of(status, time=None, estimates=estimates, bias=status.estimate)
        )
    return points


def _alert(alert: Alert) -> documents.AlertSummary:
    low, high = _ends(alert)
    return documents.AlertSummary.of(
        alert,
        alert=alert.kind,
        conditions=_conditions(alert),
        time_iso=alert.iso_time(),
        bias_exact=str(alert.bias),
        low=low,
        high=high,
    )


def _conditions(compared: Alert | ComparisonStatus) -> list[documents.ConditionSummary]:
    return [
        documents.ConditionSummary(field=field, value=value) for field, value in compared.conditions
    ]


def _ends(
    estimated: Alert | ComparisonStatus | GroupStatus,
) -> tuple[float, float] | tuple[None, None]:
    """Return the lower and the upper end of an interval; None each where there is none."""
    return estimated.interval or (None, None)
