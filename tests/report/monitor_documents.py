"""What monitors saw, made up by hand, so that every number is known."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from testsgd.monitoring import (
    Alert,
    AlertedGroup,
    ComparisonStatus,
    GroupStatus,
    MonitoringSummary,
    MonitorSpecification,
    MonitorStatus,
    TrajectoryPoint,
    WindowStatus,
)
from testsgd.monitoring.report.summarise import summarise_monitoring

PARITY = {"property": "demographic_parity", "bound": "1/5"}
HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


def specification(**changes: Any) -> MonitorSpecification:
    return MonitorSpecification.from_dict({"name": "loans <b>", "properties": [PARITY]} | changes)


def group(name: str, top: int, bottom: int, *, interval: Any = (0.25, 0.75)) -> GroupStatus:
    estimate = Fraction(top, bottom) if bottom else None
    return GroupStatus(name, top, bottom, estimate, interval)


def alert(kind: Any = "raised", trials: int = 40, **changes: Any) -> Alert:
    given: dict[str, Any] = {
        "kind": kind,
        "property": "demographic_parity",
        "rule": "evidence",
        "conditions": (),
        "window": None,
        "trials": trials,
        "time": None,
        "bias": HALF,
        "interval": (0.25, 0.75),
        "bound": Fraction(1, 5),
        "highest": "a",
        "lowest": "b",
        "groups": (AlertedGroup("a", 16, 20, None), AlertedGroup("b", 6, 20, None)),
        "monitor": "loans <b>",
        "fingerprint": "0123456789abcdef" * 4,
        "id": f"{trials:08d}" * 4,
    }
    return Alert(**(given | changes))


def comparison(specified: MonitorSpecification, **changes: Any) -> ComparisonStatus:
    """A hundred trials: 40 of 50 against 15 of 50."""
    given: dict[str, Any] = {
        "property": specified.monitored[0],
        "conditions": (),
        "groups": (group("a", 40, 50), group("b", 15, 50)),
        "trials": 100,
        "bias": HALF,
        "estimate": HALF,
        "interval": (0.25, 0.75),
        "standing": "beyond",
        "alerts": 1,
        "in_alert": True,
        "first_alert": alert(),
        "trajectory": (
            TrajectoryPoint(1, None, (1.0,), 0.0),
            TrajectoryPoint(20, None, (0.75, 0.25), 0.5),
            TrajectoryPoint(60, None, (0.75, 0.5), 0.25),
            TrajectoryPoint(100, None, (0.8, 0.3), 0.5),
        ),
        "windows": (),
        "windows_judged": 0,
        "windows_above": 0,
    }
    return ComparisonStatus(**(given | changes))


def status(*comparisons: ComparisonStatus, **changes: Any) -> MonitorStatus:
    given: dict[str, Any] = dict.fromkeys(
        ("ignored", "repeated", "unknown", "late", "dropped", "open", "uncompared"), 0
    )
    given |= {"events": 120, "decided": 100, "first_time": None, "time": None}
    return MonitorStatus(comparisons=comparisons, **(given | changes))


def alarmed() -> MonitoringSummary:
    specified = specification()
    return summarise_monitoring(status(comparison(specified)), specified, alerts=[alert()])


def undecided(**changes: Any) -> MonitoringSummary:
    specified = specification()
    found = comparison(specified, standing="undecided", alerts=0, in_alert=False, first_alert=None)
    return summarise_monitoring(status(found), specified, **changes)


def within(**changes: Any) -> MonitoringSummary:
    specified = specification()
    found = comparison(
        specified,
        groups=(group("a", 25, 50), group("b", 20, 50)),
        bias=TENTH,
        estimate=TENTH,
        interval=(0.0, 0.1875),
        standing="within",
        alerts=0,
        in_alert=False,
        first_alert=None,
    )
    return summarise_monitoring(status(found), specified, **changes)


def nothing() -> MonitoringSummary:
    return summarise_monitoring(status(events=0, decided=0), specification())


def estimated() -> MonitoringSummary:
    """An alert by the estimate that was cleared, and raised again."""
    specified = specification(
        properties=[PARITY | {"rule": "estimate"}], estimate={"strength": 10, "prior": 0.5}
    )
    groups = (
        GroupStatus("a", 40, 50, Fraction(45, 60), None),
        GroupStatus("b", 15, 50, Fraction(20, 60), None),
    )
    changes = {"rule": "estimate", "interval": None}
    alerts = [
        alert("raised", 20, **changes),
        alert("cleared", 60, **changes),
        alert("raised", 80, **changes),
    ]
    found = comparison(
        specified,
        groups=groups,
        estimate=Fraction(25, 60),
        interval=None,
        alerts=2,
        first_alert=alerts[0],
    )
    return summarise_monitoring(status(found), specified, alerts=alerts)


def windows(window: str = "tumbling") -> MonitoringSummary:
    """Two windows of three are above."""
    specified = specification(window={"kind": "tumbling", "length": 30})
    judged = tuple(
        WindowStatus(number, 30, bias, bias, above=bias > Fraction(1, 5))
        for number, bias in enumerate([HALF, TENTH, HALF])
    )
    changes = {"rule": "estimate", "interval": None, "trials": 30}
    alerts = [alert(window=0, **changes), alert(window=2, **changes)]
    found = comparison(
        specified,
        interval=None,
        alerts=2,
        in_alert=False,
        standing="within",
        first_alert=alerts[0],
        windows=judged,
        windows_judged=3,
        windows_above=2,
    )
    return summarise_monitoring(
        status(found, first_time=1767225600.0, time=1767312000.0), specified, alerts=alerts
    )


def strata(number: int = 20) -> MonitoringSummary:
    """So many departments; in the last two of them an alert."""
    specified = specification(properties=[PARITY | {"condition_on": ["department"]}])
    name = specified.monitored[0].name
    found, alerts = [], []
    for place in range(number):
        given = (("department", f"d{place}"),)
        raised = place >= number - 2
        if raised:
            alerts.append(alert(property=name, conditions=given))
        found.append(
            comparison(
                specified,
                conditions=given,
                bias=Fraction(place, number),
                estimate=Fraction(place, number),
                standing="beyond" if raised else "undecided" if place % 2 else "within",
                alerts=int(raised),
                in_alert=raised,
                first_alert=alerts[-1] if raised else None,
            )
        )
    times = {
        "dead_letters_unit": 9,
        "dead_letters_ahead": 1,
        "dead_letters_late": 11,
        "dead_letters_wrong": 12,
        "waiting": 13,
        "clock_set": 14,
        "clock_before": 1_721_347_200.0,
        "clock_to": 1_704_067_200.0,
        "clock_dropped": 15,
    }
    counted = times | {
        "unknown": 3,
        "late": 1,
        "dropped": 2,
        "open": 4,
        "ignored": 5,
        "repeated": 6,
    }
    return summarise_monitoring(
        status(*found, uncompared=7, **counted), specified, alerts=alerts, refused=8, resumed=True
    )


MONITORINGS: dict[str, Callable[[], MonitoringSummary]] = {
    "alarmed": alarmed,
    "undecided": undecided,
    "within": within,
    "nothing": nothing,
    "estimated": estimated,
    "windows": windows,
    "strata": strata,
}
