"""The outcome of a monitor in words, the same in every view."""

from __future__ import annotations

from typing import Literal

from testsgd.fairness.wording import bias_text
from testsgd.monitoring.report import wording
from testsgd.monitoring.report.summary import MonitoringSummary, MonitorVerdict, Status
from testsgd.report.formatting import count, plural

# What a summary has until its verdict is known, which follows from all else in it.
PENDING = MonitorVerdict(status="not_enough_evidence", exit_code=3, headline="", sentences=[])


def monitoring_verdict(summary: MonitoringSummary) -> MonitorVerdict:
    """Return the verdict on a monitored stream: its status, its exit code and its sentences.

    The exit code is 1 if an alert was ever raised; else 2 if events of this run were wrong or dead
    letters; else 3 if a comparison is undecided, no trial was counted, or the expression of a
    decision or label never held; else 0.

    Parameters
    ----------
    summary : MonitoringSummary
        Its own verdict, if it has one, plays no part.

    Returns
    -------
    MonitorVerdict
    """
    comparisons = summary.comparisons
    stream = summary.stream
    status: Status = "within"
    code: Literal[0, 1, 2, 3] = 0
    alarmed = sum(comparison.alerts > 0 for comparison in comparisons)
    undecided = sum(comparison.standing == "undecided" for comparison in comparisons)
    counted = any(comparison.trials for comparison in comparisons)
    unread = _unread(summary)
    if alarmed:
        status, code = "alert_raised", 1
    elif undecided or not counted or unread:
        status, code = "not_enough_evidence", 3
    if (stream.refused or stream.dead_letters_this_run) and not alarmed:
        code = 2
    headline = "Nothing could be compared: no trial was counted."
    if alarmed or counted:
        headline = _headline(summary, status, alarmed or undecided or len(comparisons))
    sentences = (
        _first_alert(summary),
        *_present_state(summary, undecided),
        *unread,
        _always_held(summary),
        _unnamed(summary),
        f"{plural(stream.events, 'event')} made {plural(stream.decided, 'decided trial')}.",
        *(f"{name}: {count(n)}; {what}." for name, n, what in wording.what_happened(summary)),
        *_one_sided(summary),
        *_promised(summary),
    )
    return MonitorVerdict(
        status=status,
        exit_code=code,
        headline=headline,
        sentences=[sentence for sentence in sentences if sentence],
    )


def _unread(summary: MonitoringSummary) -> list[str]:
    """Return which expressions of a decision or label never held: they may miss its values."""
    stream, settings = summary.stream, summary.settings
    # A state of a former version has rates of decisions that it did not count.
    accepted = any(group.numerator for known in summary.comparisons for group in known.groups)
    never = (
        (settings.decision_when, stream.decided, stream.favourable or accepted, "decision"),
        (settings.label_when, stream.labelled, stream.positive, "label"),
    )
    return [
        f"The {what} “{when}” held in none of {plural(number, 'trial')}: if events have other "
        "values, write these in the specification."
        for when, number, found, what in never
        if when is not None and number and not found
    ]


def _always_held(summary: MonitoringSummary) -> str:
    """Return that the expression of a decision always held, if so.

    It may be too wide; or all were accepted, which is no difference. A label may come of one kind
    of trials only, so it is not asked about.
    """
    stream, when = summary.stream, summary.settings.decision_when
    if when is None or not 0 < stream.decided <= stream.favourable:
        return ""
    return (
        f"The decision “{when}” held in every one of {plural(stream.decided, 'trial')}: if events "
        "have unfavourable ones, too, correct it."
    )


def _unnamed(summary: MonitoringSummary) -> str:
    """Return the values of a decision that no expression names, if one may be misspelt."""
    stream = summary.stream
    listed, more = stream.unnamed_decisions, stream.unnamed_decisions_left_out
    # One value is the opposite of those that are named.
    if len(listed) < 2:
        return ""
    others = f" and {count(more)} more" if more else ""
    return (
        f"Values that the decision “{summary.settings.decision_when}” does not name, and that are "
        f"all decided alike: {', '.join(listed)}{others}."
    )


def _headline(summary: MonitoringSummary, status: Status, number: int) -> str:
    """Return the outcome in words, and the groups and bias of the most alarming comparison.

    The outcome is that of `number` comparisons. The most alarming one is the first, which has the
    largest bias of those in the same state.
    """
    first = summary.comparisons[0]
    many = len(summary.comparisons)
    where = f" in {wording.comparison_title(first)}: "
    if many > 1:
        most = wording.comparison_title(first)
        where = f" in {count(number)} of {count(many)} comparisons. Most alarming is {most}: "
    clauses = [wording.groups_clause(summary, first), wording.bias_sentence(summary, first)]
    name = wording.STATUS_NAMES[status]
    if status == "alert_raised" and not any(one.in_alert for one in summary.comparisons):
        name = "Alert raised earlier, none now"
    return f"{name}{where}{'; '.join(filter(None, clauses))}."


def _first_alert(summary: MonitoringSummary) -> str:
    """Return the first alert, if one comparison has any, and the number of all alerts."""
    alerts = [known.first_alert for known in summary.comparisons if known.first_alert is not None]
    raised = summary.alerts_raised
    total = f"{plural(raised, 'alert')} were raised in all." if raised > 1 else ""
    if len(alerts) != 1:
        return total
    alert = alerts[0]
    return (
        f"The first alert was raised {wording.alert_place(alert)}: the rate was highest for “"
        f"{alert.highest}” and lowest for “{alert.lowest}”, with a bias of "
        f"{bias_text(alert.bias)}. {total}"
    ).rstrip()


def _present_state(summary: MonitoringSummary, undecided: int) -> list[str]:
    """Return how many comparisons are in alert and undecided, if an alert was raised."""
    if not summary.alerts_raised:
        return []
    in_alert = sum(comparison.in_alert for comparison in summary.comparisons)
    sentences = [f"{plural(in_alert, 'comparison is', 'comparisons are')} in alert now."]
    if undecided:
        which = plural(undecided, "comparison is", "comparisons are")
        sentences.append(f"{which} undecided: there is not enough evidence.")
    return sentences


def _one_sided(summary: MonitoringSummary) -> list[str]:
    """Return which groups by expressions are empty, or that one of them has all trials."""
    settings = summary.settings
    if settings.groups_when is None or not any(known.trials for known in summary.comparisons):
        return []
    seen = {
        group.name
        for comparison in summary.comparisons
        for group in comparison.groups
        if group.denominator
    }
    if len(seen) == 1:
        return [
            f"All who were counted are in the group “{min(seen)}”; there is none to compare with."
        ]
    empty = [name for name in settings.groups or [] if name not in seen]
    return [f"Nobody who was counted is in the group “{name}”." for name in empty]


def _promised(summary: MonitoringSummary) -> list[str]:
    """Return the unit of time if it was found out, and what the rules promise."""
    rules = {watched.rule for watched in summary.properties}
    sentences: list[str] = []
    if (unit := wording.unit_text(summary)) and not summary.settings.unit_declared:
        sentences.append(f"The unit of time: {unit}.")
    if "evidence" in rules:
        sentences.append(
            "The probability that evidence ever raises a false alarm is at most "
            f"{wording.false_alarms(summary)}, however long the stream is, if trials are "
            "independent and rates do not change."
        )
    if "estimate" in rules:
        sentences.append(
            "Alerts by the estimate follow from the counts alone, and promise nothing."
        )
    return sentences
