"""From a monitor to the summary document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from testsgd.fairness.wording import counted_property
from testsgd.monitoring.report.summary import (
    AlertSummary,
    ConditionSummary,
    CoursePoint,
    MonitoredComparison,
    MonitoredGroup,
    MonitoringSummary,
    MonitorSettings,
    PropertySummary,
    StreamSummary,
)
from testsgd.monitoring.report.verdict import monitoring_verdict
from testsgd.report.summaries import Part, package_versions, present_moment

if TYPE_CHECKING:
    from testsgd.monitoring.judging import Alert
    from testsgd.monitoring.running import ComparisonStatus, GroupStatus, MonitorStatus
    from testsgd.monitoring.specification import MonitoredProperty, MonitorSpecification

# So many alerts are in the document.
MOST_ALERTS = 1000
_ORDER = {"beyond": 0, "undecided": 1, "within": 2}

_Part = TypeVar("_Part", bound=Part)


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

    `alerts`: those of this run, in order, of which the first thousand are taken; `alerts_left_out`:
    further ones that were not kept. `refused`: events that were wrong. `dead_letters`: events of
    this run that were not counted because of their time. `resumed`: whether the monitor went on
    from a state that was saved.
    """
    ordered = sorted(
        status.comparisons,
        key=lambda stood: (not stood.alerts, _ORDER[stood.standing], -stood.estimate),
    )
    listed = [_alert(alert) for alert in alerts[:MOST_ALERTS]]
    told: dict[str, Any] = {
        "created": present_moment(),
        "versions": package_versions(("numpy",)),
        "name": specification.name,
        "digest": specification.digest(),
        "settings": _settings(specification),
        "properties": [_property(watched) for watched in specification.monitored],
        "stream": _part(
            StreamSummary,
            status,
            refused=refused,
            dead_letters_this_run=dead_letters,
            resumed=resumed,
        ),
        "comparisons": [_comparison(comparison) for comparison in ordered],
        "alerts_raised": status.alerts,
        "alerts": listed,
        "alerts_left_out": alerts_left_out + len(alerts) - len(listed),
    }
    verdict = monitoring_verdict(MonitoringSummary.model_construct(**told))
    return MonitoringSummary(**told, verdict=verdict)


def _part(kind: type[_Part], source: object, **further: Any) -> _Part:
    """Make a part of the summary of the attributes of the same names, and of others."""
    named = {name: getattr(source, name) for name in kind.model_fields if hasattr(source, name)}
    return kind.model_validate(named | further, from_attributes=True)


def _settings(specification: MonitorSpecification) -> MonitorSettings:
    window, estimate, time = specification.window, specification.estimate, specification.time
    return _part(
        MonitorSettings,
        specification.trials,
        groups=specification.groups.names,
        unknown=specification.groups.unknown,
        others=specification.events.others,
        lateness=time.late if specification.watches_time else None,
        max_skew=time.skew if specification.watches_time else None,
        unit_declared=time.unit is not None,
        window=window.kind,
        window_trials=window.trials,
        window_seconds=window.seconds,
        prior=str(estimate.prior),
        strength=str(estimate.strength),
        confidence=float(specification.evidence.confidence),
    )


def _property(monitored: MonitoredProperty) -> PropertySummary:
    counted = counted_property(monitored.fairness, monitored.bound, monitored.empty_group)
    return _part(PropertySummary, monitored, **counted)


def _comparison(status: ComparisonStatus) -> MonitoredComparison:
    low, high = status.interval or (None, None)
    highest, lowest = _extremes(status)
    return _part(
        MonitoredComparison,
        status,
        property=status.property.name,
        conditions=_given(status.conditions),
        bias_exact=str(status.bias),
        estimate_exact=str(status.estimate),
        low=low,
        high=high,
        highest=highest,
        lowest=lowest,
        first_alert=None if status.first_alert is None else _alert(status.first_alert),
        groups=[_group(group) for group in status.groups],
        course=_course(status),
    )


def _extremes(status: ComparisonStatus) -> tuple[str | None, str | None]:
    known = [(group.estimate, group.name) for group in status.groups if group.estimate is not None]
    if not known:
        return None, None
    rates = [rate for rate, _ in known]
    return known[rates.index(max(rates))][1], known[rates.index(min(rates))][1]


def _group(group: GroupStatus) -> MonitoredGroup:
    low, high = group.interval or (None, None)
    rate = group.numerator / group.denominator if group.denominator else None
    return _part(MonitoredGroup, group, rate=rate, low=low, high=high)


def _course(status: ComparisonStatus) -> list[CoursePoint]:
    """Return the moments that were kept, and the present one."""
    points = [
        # Groups that came later had no estimate then.
        _part(
            CoursePoint,
            point,
            estimates=point.estimates + (None,) * (len(status.groups) - len(point.estimates)),
        )
        for point in status.trajectory
    ]
    if status.trials and (not points or points[-1].trials < status.trials):
        now = [group.estimate for group in status.groups]
        points.append(_part(CoursePoint, status, time=None, estimates=now, bias=status.estimate))
    return points


def _alert(alert: Alert) -> AlertSummary:
    low, high = alert.interval or (None, None)
    return _part(
        AlertSummary,
        alert,
        alert=alert.kind,
        conditions=_given(alert.conditions),
        time_iso=alert.iso_time(),
        bias_exact=str(alert.bias),
        low=low,
        high=high,
    )


def _given(given: Sequence[tuple[str, str]]) -> list[ConditionSummary]:
    return [ConditionSummary(field=field, value=value) for field, value in given]
