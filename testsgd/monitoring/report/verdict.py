"""The outcome of a monitor in words, the same in every view."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.fairness.wording import bias_text
from testsgd.monitoring.report.summary import (
    MonitoredComparison,
    MonitorSettings,
    MonitorVerdict,
    PropertySummary,
    StreamSummary,
)
from testsgd.monitoring.report.wording import (
    alert_place,
    comparison_title,
    dead_letters_text,
    ends_text,
    threshold_of,
    unit_text,
)
from testsgd.report.formatting import count, plural, share

NO_ALERT, ALERT, WRONG_EVENTS, NOT_ENOUGH = 0, 1, 2, 3


def monitoring_verdict(
    settings: MonitorSettings,
    properties: Sequence[PropertySummary],
    comparisons: Sequence[MonitoredComparison],
    stream: StreamSummary,
    *,
    alerts: int,
) -> MonitorVerdict:
    """Return whether groups were treated differently, as far as it is known.

    Parameters
    ----------
    settings, properties, comparisons, stream
        The parts of the summary; the most alarming comparison first.
    alerts : int
        Alerts that were raised since the monitor began.

    Returns
    -------
    MonitorVerdict
        With the exit code 1 if an alert was ever raised, 2 if events of this run were wrong or dead
        letters, 3 if there is not enough evidence, 0 otherwise.
    """
    known = {watched.name: watched for watched in properties}
    counted = any(comparison.trials for comparison in comparisons)
    undecided = [comparison for comparison in comparisons if comparison.standing == "undecided"]
    if alerts:
        status, code = "alert_raised", ALERT
        headline = _alarm(known, comparisons, settings)
    elif undecided or not counted:
        status, code = "not_enough_evidence", NOT_ENOUGH
        headline = _doubt(known, comparisons, undecided, counted=counted)
    else:
        status, code = "within", NO_ALERT
        headline = _calm(known, comparisons)
    if (stream.refused or stream.dead_this_run) and not alerts:
        code = WRONG_EVENTS
    sentences = [
        *_first_alert(comparisons, alerts),
        *_standing(comparisons, alerts),
        _came(stream),
        *_lost(stream),
        *_times(settings, stream),
        *_promised(settings, properties),
    ]
    return MonitorVerdict.model_validate(
        {"status": status, "exit_code": code, "headline": headline, "sentences": sentences}
    )


def _alarm(
    known: dict[str, PropertySummary],
    comparisons: Sequence[MonitoredComparison],
    settings: MonitorSettings,
) -> str:
    alarmed = [comparison for comparison in comparisons if comparison.alerts]
    if not alarmed:
        return "An alert was raised."
    if len(alarmed) > 1:
        first = alarmed[0]
        told = (
            f"Alerts were raised in {count(len(alarmed))} of "
            f"{plural(len(comparisons), 'comparison')}"
        )
        if settings.window == "tumbling":
            return f"{told}; the most alarming is {comparison_title(first)}."
        return (
            f"{told}; the most alarming is {comparison_title(first)}, with a bias of "
            f"{bias_text(first.estimate)} where {threshold_of(known[first.property])} is allowed."
        )
    only = alarmed[0]
    limit, title = threshold_of(known[only.property]), comparison_title(only)
    if known[only.property].rule == "evidence":
        if only.standing == "beyond":
            return (
                f"The bias in {title} is above {limit}: between {ends_text(only.low, only.high)}, "
                f"with {share(settings.confidence)} confidence.".replace(" to ", " and ", 1)
            )
        return f"The bias in {title} was shown to be above {limit}."
    if settings.window == "tumbling":
        if not only.windows_above:
            return f"The bias in {title} was above {limit} within a window."
        return (
            f"The bias in {title} was above {limit} in {count(only.windows_above)} of "
            f"{plural(only.windows_judged, 'window')}."
        )
    if only.in_alert:
        return (
            f"The bias in {title} is above {limit}: it is estimated at {bias_text(only.estimate)}."
        )
    return (
        f"The bias in {title} was above {limit} for a while; now it is estimated at "
        f"{bias_text(only.estimate)}."
    )


def _doubt(
    known: dict[str, PropertySummary],
    comparisons: Sequence[MonitoredComparison],
    undecided: Sequence[MonitoredComparison],
    *,
    counted: bool,
) -> str:
    if not counted:
        return "Nothing could be compared: no trial was counted."
    if len(undecided) > 1 or len(comparisons) > 1:
        return (
            f"No alert was raised, and {count(len(undecided))} of "
            f"{plural(len(comparisons), 'comparison')} {_are(len(undecided))} undecided."
        )
    only = undecided[0]
    limit, title = threshold_of(known[only.property]), comparison_title(only)
    if only.low is None:
        return f"In {title} there is nothing to compare yet."
    return (
        f"It is undecided whether the bias in {title} is above {limit}: it lies between "
        f"{ends_text(only.low, only.high).replace(' to ', ' and ', 1)}."
    )


def _calm(known: dict[str, PropertySummary], comparisons: Sequence[MonitoredComparison]) -> str:
    if len(comparisons) > 1:
        return (
            f"No alert was raised: in all {count(len(comparisons))} comparisons the bias is within "
            "its threshold."
        )
    only = comparisons[0]
    limit, title = threshold_of(known[only.property]), comparison_title(only)
    if known[only.property].rule == "evidence":
        return f"The bias in {title} is shown to be at most {limit}."
    return (
        f"No alert was raised: the bias in {title} is estimated at {bias_text(only.estimate)}, and "
        f"{limit} is allowed."
    )


def _first_alert(comparisons: Sequence[MonitoredComparison], alerts: int) -> list[str]:
    known = [
        (comparison, comparison.first_alert)
        for comparison in comparisons
        if comparison.first_alert is not None
    ]
    if len(known) != 1 or known[0][1] is None:
        return [f"{plural(alerts, 'alert')} were raised in all."] if alerts > 1 else []
    one, alert = known[0]
    again = f" {plural(one.alerts, 'alert')} were raised in all." if one.alerts > 1 else ""
    return [
        f"The first alert was raised {alert_place(alert)}: the rate was highest for “"
        f"{alert.highest}” and lowest for “{alert.lowest}”, with a bias of "
        f"{bias_text(alert.bias)}.{again}"
    ]


def _standing(comparisons: Sequence[MonitoredComparison], alerts: int) -> list[str]:
    told = []
    now = sum(comparison.in_alert for comparison in comparisons)
    if sum(comparison.alerts > 0 for comparison in comparisons) > 1:
        told.append(
            f"{plural(now, 'comparison')} {_are(now)} in alert now."
            if now
            else "No comparison is in alert now."
        )
    undecided = sum(comparison.standing == "undecided" for comparison in comparisons)
    if undecided and (alerts and len(comparisons) > 1):
        told.append(
            f"{plural(undecided, 'comparison')} {_are(undecided)} undecided: there is not enough "
            "evidence."
        )
    return told


def _came(stream: StreamSummary) -> str:
    told = f"{plural(stream.events, 'event')} made {plural(stream.decided, 'decided trial')}"
    waits = "waits" if stream.open == 1 else "wait"
    return (
        f"{told}; {plural(stream.open, 'trial')} {waits} for more." if stream.open else f"{told}."
    )


def _lost(stream: StreamSummary) -> list[str]:
    told = (
        (stream.refused, "event", "wrong and changed nothing"),
        (stream.ignored, "event", "ignored, for saying nothing that counts"),
        (stream.unknown, "decision", "on unknown groups and not counted"),
        (stream.uncompared, "trial", "not compared, as there are too many given values"),
        (stream.dropped, "trial", "dropped: no label had come by the deadline"),
    )
    sentences = [
        f"{plural(number, noun)} {_were(number)} {what}." for number, noun, what in told if number
    ]
    if stream.repeated:
        sentences.append(f"{plural(stream.repeated, 'event')} only said again what was known.")
    if stream.late:
        late = f"{plural(stream.late, 'label')} came after the deadline and changed nothing."
        sentences.append(late)
    return sentences


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
    return [one for one in told if one]


def _promised(settings: MonitorSettings, properties: Sequence[PropertySummary]) -> list[str]:
    rules = {watched.rule for watched in properties}
    told = []
    if "evidence" in rules:
        told.append(
            "The probability that evidence ever raises a false alarm is at most "
            f"{share(round(1 - settings.confidence, 12))}, however long the stream is, if trials "
            "are independent and rates do not change."
        )
    if "estimate" in rules:
        told.append("Alerts by the estimate follow from the counts alone, and promise nothing.")
    return told


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
