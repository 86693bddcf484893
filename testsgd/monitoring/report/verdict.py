"""The outcome of a monitor in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.fairness.wording import bias_text, bound_text
from testsgd.monitoring.report.summary import (
    MonitoringSummary,
    MonitorSettings,
    MonitorVerdict,
    StreamSummary,
)
from testsgd.monitoring.report.wording import (
    alert_place,
    between,
    comparison_title,
    dead_letters_text,
    false_alarms,
    property_of,
    unit_text,
)
from testsgd.report.formatting import count, plural, share

NO_ALERT: Literal[0] = 0
ALERT: Literal[1] = 1
WRONG_EVENTS: Literal[2] = 2
NOT_ENOUGH: Literal[3] = 3


def monitoring_verdict(summary: MonitoringSummary) -> MonitorVerdict:
    """Return whether groups were treated differently, as far as it is known.

    The summary has no verdict so far, and the most alarming comparison first. The exit code is 1 if
    an alert was ever raised, 2 if events of this run were wrong or dead letters, 3 if there is not
    enough evidence, 0 otherwise.
    """
    comparisons, stream = summary.comparisons, summary.stream
    status: Literal["alert_raised", "within", "not_enough_evidence"] = "within"
    code: Literal[0, 1, 2, 3] = NO_ALERT
    undecided = any(comparison.standing == "undecided" for comparison in comparisons)
    if summary.alerts_raised:
        status, code, headline = "alert_raised", ALERT, _alarm(summary)
    elif undecided or not any(comparison.trials for comparison in comparisons):
        status, code, headline = "not_enough_evidence", NOT_ENOUGH, _doubt(summary)
    else:
        headline = _calm(summary)
    if (stream.refused or stream.dead_letters_this_run) and not summary.alerts_raised:
        code = WRONG_EVENTS
    return MonitorVerdict(
        status=status,
        exit_code=code,
        headline=headline,
        sentences=[
            *_first_alert(summary),
            *_standing(summary),
            _came(stream),
            *_lost(stream),
            *_times(summary.settings, stream),
            *_promised(summary),
        ],
    )


def _alarm(summary: MonitoringSummary) -> str:
    alarmed = [comparison for comparison in summary.comparisons if comparison.alerts]
    if not alarmed:
        return "An alert was raised."
    first = alarmed[0]
    watched, title = property_of(summary, first), comparison_title(first)
    limit, tumbling = bound_text(watched), summary.settings.window == "tumbling"
    estimate = bias_text(first.estimate)
    if len(alarmed) > 1:
        told = (
            f"Alerts were raised in {count(len(alarmed))} of "
            f"{plural(len(summary.comparisons), 'comparison')}; the most alarming is {title}"
        )
        bias = "" if tumbling else f", with a bias of {estimate} where {limit} is allowed"
        return f"{told}{bias}."
    if watched.rule == "evidence" and first.standing == "beyond":
        return (
            f"The bias in {title} is above {limit}: between {between(first)}, with "
            f"{share(summary.settings.confidence)} confidence."
        )
    if watched.rule == "evidence":
        return f"The bias in {title} was shown to be above {limit}."
    if tumbling and not first.windows_above:
        return f"The bias in {title} was above {limit} within a window."
    if tumbling:
        return (
            f"The bias in {title} was above {limit} in {count(first.windows_above)} of "
            f"{plural(first.windows_judged, 'window')}."
        )
    if first.in_alert:
        return f"The bias in {title} is above {limit}: it is estimated at {estimate}."
    return f"The bias in {title} was above {limit} for a while; now it is estimated at {estimate}."


def _doubt(summary: MonitoringSummary) -> str:
    comparisons = summary.comparisons
    undecided = [comparison for comparison in comparisons if comparison.standing == "undecided"]
    if not any(comparison.trials for comparison in comparisons):
        return "Nothing could be compared: no trial was counted."
    if len(undecided) > 1 or len(comparisons) > 1:
        return (
            f"No alert was raised, and {count(len(undecided))} of "
            f"{plural(len(comparisons), 'comparison')} {_are(len(undecided))} undecided."
        )
    only = undecided[0]
    limit, title = bound_text(property_of(summary, only)), comparison_title(only)
    if only.low is None:
        return f"In {title} there is nothing to compare yet."
    return (
        f"It is undecided whether the bias in {title} is above {limit}: it lies between "
        f"{between(only)}."
    )


def _calm(summary: MonitoringSummary) -> str:
    only, number = summary.comparisons[0], len(summary.comparisons)
    if number > 1:
        return (
            f"No alert was raised: in all {count(number)} comparisons the bias is within its bound."
        )
    watched, title = property_of(summary, only), comparison_title(only)
    limit = bound_text(watched)
    if watched.rule == "evidence":
        return f"The bias in {title} is shown to be at most {limit}."
    return (
        f"No alert was raised: the bias in {title} is estimated at {bias_text(only.estimate)}, and "
        f"{limit} is allowed."
    )


def _first_alert(summary: MonitoringSummary) -> list[str]:
    alarmed = [comparison for comparison in summary.comparisons if comparison.first_alert]
    alerts = summary.alerts_raised
    if len(alarmed) != 1 or alarmed[0].first_alert is None:
        return [f"{plural(alerts, 'alert')} were raised in all."] if alerts > 1 else []
    number, alert = alarmed[0].alerts, alarmed[0].first_alert
    again = f" {plural(number, 'alert')} were raised in all." if number > 1 else ""
    return [
        f"The first alert was raised {alert_place(alert)}: the rate was highest for “"
        f"{alert.highest}” and lowest for “{alert.lowest}”, with a bias of "
        f"{bias_text(alert.bias)}.{again}"
    ]


def _standing(summary: MonitoringSummary) -> list[str]:
    told, comparisons = [], summary.comparisons
    now = sum(comparison.in_alert for comparison in comparisons)
    if sum(comparison.alerts > 0 for comparison in comparisons) > 1:
        told.append(
            f"{plural(now, 'comparison')} {_are(now)} in alert now."
            if now
            else "No comparison is in alert now."
        )
    undecided = sum(comparison.standing == "undecided" for comparison in comparisons)
    if undecided and summary.alerts_raised and len(comparisons) > 1:
        told.append(
            f"{plural(undecided, 'comparison')} {_are(undecided)} undecided: there is not enough "
            "evidence."
        )
    return told


def _came(stream: StreamSummary) -> str:
    told = f"{plural(stream.events, 'event')} made {plural(stream.decided, 'decided trial')}"
    waits = "waits" if stream.open == 1 else "wait"
    more = f"; {plural(stream.open, 'trial')} {waits} for more" if stream.open else ""
    return f"{told}{more}."


def _lost(stream: StreamSummary) -> list[str]:
    told = (
        (stream.refused, "event", "{} wrong and changed nothing"),
        (stream.ignored, "event", "{} ignored, for saying nothing that counts"),
        (stream.unknown, "decision", "{} on unknown groups and not counted"),
        (stream.uncompared, "trial", "{} not compared, as there are too many given values"),
        (stream.dropped, "trial", "{} dropped: no label had come by the deadline"),
        (stream.repeated, "event", "only said again what was known"),
        (stream.late, "label", "came after the deadline and changed nothing"),
    )
    return [
        f"{plural(number, noun)} {what.format('was' if number == 1 else 'were')}."
        for number, noun, what in told
        if number
    ]


def _times(settings: MonitorSettings, stream: StreamSummary) -> list[str]:
    told = [dead_letters_text(stream)]
    if stream.waiting:
        waits = "waits" if stream.waiting == 1 else "wait"
        told.append(
            f"{plural(stream.waiting, 'event')} {waits} for later ones to confirm the time, and "
            f"{_are(stream.waiting)} not counted."
        )
    unit = unit_text(settings, stream)
    if unit and not settings.unit_declared:
        told.append(f"The unit of time: {unit}.")
    return [sentence for sentence in told if sentence]


def _promised(summary: MonitoringSummary) -> list[str]:
    rules, told = {watched.rule for watched in summary.properties}, []
    if "evidence" in rules:
        told.append(
            "The probability that evidence ever raises a false alarm is at most "
            f"{false_alarms(summary.settings)}, however long the stream is, if trials are "
            "independent and rates do not change."
        )
    if "estimate" in rules:
        told.append("Alerts by the estimate follow from the counts alone, and promise nothing.")
    return told


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
