"""The outcome of a monitor in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.fairness.wording import bias_text, bound_text
from testsgd.monitoring.report import wording
from testsgd.monitoring.report.summary import (
    MonitoringSummary,
    MonitorVerdict,
    Status,
    StreamSummary,
)
from testsgd.report.formatting import count, plural, share


def monitoring_verdict(summary: MonitoringSummary) -> MonitorVerdict:
    """Return whether groups were treated differently, as far as it is known.

    The summary has no verdict so far, and the most alarming comparison first. The exit code is 1 if
    an alert was ever raised, 2 if events of this run were wrong or dead letters, 3 if there is not
    enough evidence, 0 otherwise.
    """
    comparisons, stream = summary.comparisons, summary.stream
    status: Status = "within"
    code: Literal[0, 1, 2, 3] = 0
    undecided = sum(comparison.standing == "undecided" for comparison in comparisons)
    if summary.alerts_raised:
        status, code, headline = "alert_raised", 1, _alarm(summary)
    elif undecided or not any(comparison.trials for comparison in comparisons):
        status, code, headline = "not_enough_evidence", 3, _doubt(summary, undecided)
    else:
        headline = _calm(summary)
    if (stream.refused or stream.dead_letters_this_run) and not summary.alerts_raised:
        code = 2
    told = (
        _first_alert(summary),
        *_standing(summary, undecided),
        _came(stream),
        *_lost(stream),
        wording.dead_letters_text(stream),
        *_times(summary),
        *_promised(summary),
    )
    return MonitorVerdict(
        status=status, exit_code=code, headline=headline, sentences=[text for text in told if text]
    )


def _alarm(summary: MonitoringSummary) -> str:
    alarmed = [comparison for comparison in summary.comparisons if comparison.alerts]
    if not alarmed:
        return "An alert was raised."
    first = alarmed[0]
    watched, title = wording.property_of(summary, first), wording.comparison_title(first)
    limit, tumbling = bound_text(watched), summary.settings.window == "tumbling"
    estimate, confidence = bias_text(first.estimate), share(summary.settings.confidence)
    if len(alarmed) > 1:
        bias = "" if tumbling else f", with a bias of {estimate} where {limit} is allowed"
        return (
            f"Alerts were raised in {count(len(alarmed))} of "
            f"{plural(len(summary.comparisons), 'comparison')}; the most alarming is {title}{bias}."
        )
    if watched.rule == "evidence" and first.standing == "beyond":
        ends = f"{wording.bias_interval(first, ' and ')}, with {confidence} confidence"
        return f"The bias in {title} is above {limit}: between {ends}."
    if watched.rule == "evidence":
        return f"The bias in {title} was shown to be above {limit}."
    if tumbling:
        where = f"in {count(first.windows_above)} of {plural(first.windows_judged, 'window')}"
        where = where if first.windows_above else "within a window"
        return f"The bias in {title} was above {limit} {where}."
    if first.in_alert:
        return f"The bias in {title} is above {limit}: it is estimated at {estimate}."
    return f"The bias in {title} was above {limit} for a while; now it is estimated at {estimate}."


def _doubt(summary: MonitoringSummary, undecided: int) -> str:
    comparisons = summary.comparisons
    if not any(comparison.trials for comparison in comparisons):
        return "Nothing could be compared: no trial was counted."
    if len(comparisons) > 1:
        some, are = plural(len(comparisons), "comparison"), "is" if undecided == 1 else "are"
        return f"No alert was raised, and {count(undecided)} of {some} {are} undecided."
    only = comparisons[0]
    limit, title = bound_text(wording.property_of(summary, only)), wording.comparison_title(only)
    if only.low is None:
        return f"In {title} there is nothing to compare yet."
    ends = wording.bias_interval(only, " and ")
    return f"It is undecided whether the bias in {title} is above {limit}: it lies between {ends}."


def _calm(summary: MonitoringSummary) -> str:
    only, number = summary.comparisons[0], len(summary.comparisons)
    watched, title = wording.property_of(summary, only), wording.comparison_title(only)
    if number > 1:
        kept = f"in all {count(number)} comparisons the bias is within its bound"
    elif watched.rule == "evidence":
        return f"The bias in {title} is shown to be at most {bound_text(watched)}."
    else:
        allowed = f"and {bound_text(watched)} is allowed"
        kept = f"the bias in {title} is estimated at {bias_text(only.estimate)}, {allowed}"
    return f"No alert was raised: {kept}."


def _first_alert(summary: MonitoringSummary) -> str:
    alerts = [known.first_alert for known in summary.comparisons if known.first_alert is not None]
    raised = summary.alerts_raised
    again = f"{plural(raised, 'alert')} were raised in all." if raised > 1 else ""
    if len(alerts) != 1:
        return again
    alert = alerts[0]
    return (
        f"The first alert was raised {wording.alert_place(alert)}: the rate was highest for “"
        f"{alert.highest}” and lowest for “{alert.lowest}”, with a bias of "
        f"{bias_text(alert.bias)}. {again}"
    ).rstrip()


def _standing(summary: MonitoringSummary, undecided: int) -> list[str]:
    told, comparisons = [], summary.comparisons
    if sum(comparison.alerts > 0 for comparison in comparisons) > 1:
        now = sum(comparison.in_alert for comparison in comparisons)
        which = plural(now, "comparison is", "comparisons are") if now else "No comparison is"
        told.append(f"{which} in alert now.")
    if undecided and summary.alerts_raised and len(comparisons) > 1:
        which = plural(undecided, "comparison is", "comparisons are")
        told.append(f"{which} undecided: there is not enough evidence.")
    return told


def _came(stream: StreamSummary) -> str:
    made = f"{plural(stream.events, 'event')} made {plural(stream.decided, 'decided trial')}"
    waiting = plural(stream.open, "trial waits", "trials wait")
    return f"{made}; {waiting} for more." if stream.open else f"{made}."


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


def _times(summary: MonitoringSummary) -> list[str]:
    told, waiting = [], summary.stream.waiting
    if waiting:
        told.append(
            f"{plural(waiting, 'event waits', 'events wait')} for later ones to confirm the time, "
            f"and {'is' if waiting == 1 else 'are'} not counted."
        )
    if (unit := wording.unit_text(summary)) and not summary.settings.unit_declared:
        told.append(f"The unit of time: {unit}.")
    return told


def _promised(summary: MonitoringSummary) -> list[str]:
    rules, told = {watched.rule for watched in summary.properties}, []
    if "evidence" in rules:
        told.append(
            "The probability that evidence ever raises a false alarm is at most "
            f"{wording.false_alarms(summary)}, however long the stream is, if trials are "
            "independent and rates do not change."
        )
    if "estimate" in rules:
        told.append("Alerts by the estimate follow from the counts alone, and promise nothing.")
    return told
