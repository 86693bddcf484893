"""The outcome of a monitor in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.fairness.wording import bias_text
from testsgd.monitoring.report import wording
from testsgd.monitoring.report.summary import MonitoringSummary, MonitorVerdict, Status
from testsgd.report.formatting import count, plural


def monitoring_verdict(summary: MonitoringSummary) -> MonitorVerdict:
    """Return whether groups were treated differently, as far as it is known.

    The exit code is 1 if an alert was ever raised, 2 if events of this run were wrong or dead
    letters, 3 if there is not enough evidence, 0 otherwise.
    """
    comparisons, stream = summary.comparisons, summary.stream
    status: Status = "within"
    code: Literal[0, 1, 2, 3] = 0
    alarmed = sum(comparison.alerts > 0 for comparison in comparisons)
    undecided = sum(comparison.standing == "undecided" for comparison in comparisons)
    counted = any(comparison.trials for comparison in comparisons)
    if alarmed:
        status, code = "alert_raised", 1
    elif undecided or not counted:
        status, code = "not_enough_evidence", 3
    if (stream.refused or stream.dead_letters_this_run) and not alarmed:
        code = 2
    headline = "Nothing could be compared: no trial was counted."
    if alarmed or counted:
        headline = _headline(summary, status, alarmed or undecided or len(comparisons))
    told = (
        _first_alert(summary),
        *_now(summary, undecided),
        f"{plural(stream.events, 'event')} made {plural(stream.decided, 'decided trial')}.",
        *(f"{name}: {count(n)}; {what}." for name, n, what in wording.what_happened(stream)),
        *_promised(summary),
    )
    return MonitorVerdict(
        status=status, exit_code=code, headline=headline, sentences=[text for text in told if text]
    )


def _headline(summary: MonitoringSummary, status: Status, number: int) -> str:
    """Tell the outcome, of how many comparisons, and how the most alarming one stands."""
    first, many = summary.comparisons[0], len(summary.comparisons)
    where = f" in {wording.comparison_title(first)}: "
    if many > 1:
        most = wording.comparison_title(first)
        where = f" in {count(number)} of {count(many)} comparisons. Most alarming is {most}: "
    return f"{wording.STATUS_NAMES[status]}{where}{wording.bias_told(summary, first)}."


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


def _now(summary: MonitoringSummary, undecided: int) -> list[str]:
    """Tell how things stand now, where that is not what the headline says."""
    if not summary.alerts_raised:
        return []
    now = sum(comparison.in_alert for comparison in summary.comparisons)
    told = [f"{plural(now, 'comparison is', 'comparisons are')} in alert now."]
    if undecided:
        which = plural(undecided, "comparison is", "comparisons are")
        told.append(f"{which} undecided: there is not enough evidence.")
    return told


def _promised(summary: MonitoringSummary) -> list[str]:
    rules, told = {watched.rule for watched in summary.properties}, []
    if (unit := wording.unit_text(summary)) and not summary.settings.unit_declared:
        told.append(f"The unit of time: {unit}.")
    if "evidence" in rules:
        told.append(
            "The probability that evidence ever raises a false alarm is at most "
            f"{wording.false_alarms(summary)}, however long the stream is, if trials are "
            "independent and rates do not change."
        )
    if "estimate" in rules:
        told.append("Alerts by the estimate follow from the counts alone, and promise nothing.")
    return told
