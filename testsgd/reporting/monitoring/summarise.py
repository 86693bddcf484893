"""From a monitor to the summary document that every view is rendered from."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

from testsgd.reporting.counted_events import counted_events
from testsgd.reporting.monitoring.summary import (
    AlertedGroupSummary,
    AlertSummary,
    CoursePoint,
    GivenSummary,
    MonitoredComparison,
    MonitoredGroup,
    MonitoringSummary,
    MonitorSettings,
    PropertySummary,
    StreamSummary,
    WindowSummary,
)
from testsgd.reporting.monitoring.verdict import monitoring_verdict
from testsgd.reporting.summarise import package_versions

if TYPE_CHECKING:
    from testsgd.monitoring import (
        Alert,
        ComparisonStatus,
        GroupStatus,
        MonitoredProperty,
        MonitorSpecification,
        MonitorStatus,
    )

# So many alerts are in the document.
MOST_ALERTS = 1000

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
) -> MonitoringSummary:
    """Write what a monitor saw as one document.

    Parameters
    ----------
    status : MonitorStatus
        How the stream stands.
    specification : MonitorSpecification
        What was asked for.
    alerts : sequence of Alert
        Those of this run, in order; at most the first thousand are taken.
    alerts_left_out : int
        Further ones that were not kept.
    refused : int
        Events that were wrong.
    dead_letters : int
        Events of this run that were not counted because of their time.
    resumed : bool
        Whether the monitor went on from a state that was saved.

    Returns
    -------
    MonitoringSummary
    """
    settings = _settings(specification)
    properties = [_property(one) for one in specification.monitored]
    comparisons = [
        _comparison(one)
        for one in sorted(
            status.comparisons,
            key=lambda one: (not one.alerts, _ORDER[one.standing], -one.estimate),
        )
    ]
    stream = StreamSummary(
        events=status.events,
        refused=refused,
        ignored=status.ignored,
        repeated=status.repeated,
        unknown=status.unknown,
        late=status.late,
        decided=status.decided,
        open=status.open,
        dropped=status.dropped,
        uncompared=status.uncompared,
        dead_unit=status.dead_unit,
        dead_ahead=status.dead_ahead,
        dead_late=status.dead_late,
        dead_wrong=status.dead_wrong,
        dead_this_run=dead_letters,
        waiting=status.waiting,
        unit=status.unit,
        first_time=status.first_time,
        time=status.time,
        resumed=resumed,
    )
    listed = [_alert(one) for one in alerts[:MOST_ALERTS]]
    return MonitoringSummary(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        versions=package_versions(("numpy",)),
        name=specification.name,
        digest=specification.digest(),
        settings=settings,
        properties=properties,
        stream=stream,
        comparisons=comparisons,
        alerts_raised=status.alerts,
        alerts=listed,
        alerts_left_out=alerts_left_out + len(alerts) - len(listed),
        verdict=monitoring_verdict(settings, properties, comparisons, stream, alerts=status.alerts),
    )


def _settings(specification: MonitorSpecification) -> MonitorSettings:
    groups, trials = specification.groups, specification.trials
    window, estimate, time = specification.window, specification.estimate, specification.time
    return MonitorSettings(
        groups=None if groups.names is None else list(groups.names),
        unknown=groups.unknown,
        others=specification.events.others,
        deadline=trials.deadline,
        lateness=time.late if specification.watches_time else None,
        max_skew=time.skew if specification.watches_time else None,
        unit_declared=time.unit is not None,
        without_label=trials.without_label,
        count=trials.count,
        repeated=trials.repeated,
        window=window.kind,
        window_trials=window.trials,
        window_seconds=window.seconds,
        prior=str(estimate.prior),
        strength=str(estimate.strength),
        confidence=float(specification.evidence.confidence),
    )


def _property(one: MonitoredProperty) -> PropertySummary:
    fairness = one.fairness
    return PropertySummary(
        name=one.name,
        property=fairness.name,
        numerator=counted_events(fairness, fairness.numerator),
        denominator=counted_events(fairness, fairness.denominator),
        labelled=fairness.labelled,
        measure=fairness.measure,
        threshold=float(one.threshold),
        threshold_exact=str(one.threshold),
        empty_group=one.empty_group,
        given=list(one.given),
        rule=one.rule,
        check=one.check,
    )


def _comparison(one: ComparisonStatus) -> MonitoredComparison:
    low, high = one.interval or (None, None)
    highest, lowest = _extremes(one)
    return MonitoredComparison(
        property=one.property.name,
        given=_given(one.given),
        standing=one.standing,
        trials=one.trials,
        bias=float(one.bias),
        bias_exact=str(one.bias),
        estimate=float(one.estimate),
        estimate_exact=str(one.estimate),
        low=low,
        high=high,
        highest=highest,
        lowest=lowest,
        alerts=one.alerts,
        in_alert=one.in_alert,
        first_alert=None if one.first_alert is None else _alert(one.first_alert),
        groups=[_group(group) for group in one.groups],
        course=_course(one),
        windows=[
            WindowSummary(
                window=window.window,
                trials=window.trials,
                bias=float(window.bias),
                estimate=float(window.estimate),
                above=window.above,
            )
            for window in one.windows
        ],
        windows_judged=one.windows_judged,
        windows_above=one.windows_above,
    )


def _extremes(one: ComparisonStatus) -> tuple[str | None, str | None]:
    known = [(group.estimate, group.name) for group in one.groups if group.estimate is not None]
    if not known:
        return None, None
    rates = [rate for rate, _ in known]
    return known[rates.index(max(rates))][1], known[rates.index(min(rates))][1]


def _group(group: GroupStatus) -> MonitoredGroup:
    low, high = group.interval or (None, None)
    return MonitoredGroup(
        name=group.name,
        numerator=group.numerator,
        denominator=group.denominator,
        rate=group.numerator / group.denominator if group.denominator else None,
        estimate=None if group.estimate is None else float(group.estimate),
        low=low,
        high=high,
    )


def _course(one: ComparisonStatus) -> list[CoursePoint]:
    """Give the moments that were kept, and the present one."""
    missing = len(one.groups)
    points = [
        CoursePoint(
            trials=point.trials,
            time=point.time,
            estimates=[*point.estimates, *[None] * (missing - len(point.estimates))],
            bias=float(point.bias),
        )
        for point in one.trajectory
    ]
    if one.trials and (not points or points[-1].trials < one.trials):
        now = [None if group.estimate is None else float(group.estimate) for group in one.groups]
        points.append(
            CoursePoint(trials=one.trials, time=None, estimates=now, bias=float(one.estimate))
        )
    return points


def _alert(one: Alert) -> AlertSummary:
    low, high = one.interval or (None, None)
    return AlertSummary(
        alert=one.kind,
        id=one.id,
        property=one.property,
        given=_given(one.given),
        rule=one.rule,
        window=one.window,
        trials=one.trials,
        time=one.time,
        time_iso=one.iso_time(),
        bias=float(one.bias),
        bias_exact=str(one.bias),
        low=low,
        high=high,
        threshold=float(one.threshold),
        highest=one.highest,
        lowest=one.lowest,
        groups=[
            AlertedGroupSummary(
                name=group.name,
                numerator=group.numerator,
                denominator=group.denominator,
                rate=None if group.rate is None else float(group.rate),
                estimate=None if group.estimate is None else float(group.estimate),
            )
            for group in one.groups
        ],
    )


def _given(given: Sequence[tuple[str, str]]) -> list[GivenSummary]:
    return [GivenSummary(field=field, value=value) for field, value in given]
