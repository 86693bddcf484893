"""What a monitor's report promises, and what its numbers mean."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import count, plural, share
from testsgd.reporting.bias_words import exact_number
from testsgd.reporting.monitoring.phrases import (
    bias_meaning,
    estimates_differ,
    property_title,
    rate_meaning,
)
from testsgd.reporting.monitoring.summary import MonitoringSummary


def promises(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Say exactly what is promised, and what is not."""
    rules = {one.rule for one in summary.properties}
    settings = summary.settings
    false = share(round(1 - settings.confidence, 12))
    told = []
    if "evidence" in rules:
        told.append(
            Note(
                "Promised: few false alarms by evidence",
                "The probability that evidence raises an alert anywhere, although the true bias "
                f"there is at most the threshold, is at most {false}. This holds for all "
                "comparisons together, over the whole stream, however long it is and however "
                "often one looks. The intervals of biases hold together with "
                f"{share(settings.confidence)} confidence in the same sense; the interval of a "
                "rate holds for that rate alone.",
                "good",
            )
        )
        told.append(
            Note(
                "Only if trials are independent, with rates that do not change",
                "The promise is about streams in which each group has one rate that stays the same "
                "and no decision says anything about the next one. If rates drift, an "
                "alert by evidence is about all trials so far, not about those of today; a window "
                "with the rule “estimate” sees drifts sooner, without a promise.",
            )
        )
    if "estimate" in rules:
        told.append(
            Note(
                "Not promised: anything about alerts by the estimate",
                "Such an alert says that the estimated bias of the trials that were counted is "
                "above the threshold, which is exact. It says nothing about other people. With few "
                "trials it is often chance, and the more often one looks, the more such alerts "
                "come.",
            )
        )
    told.append(
        Note(
            "Not promised: that silence means fairness",
            "Without an alert the bias may still be above the threshold, as far as the intervals "
            "allow. Nothing is said about other properties, about groups that are not compared, or "
            "about whether a single decision is right.",
        )
    )
    return tuple(told)


def monitoring_notes(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Explain the numbers."""
    return (
        *(
            Note(
                property_title(one.name).capitalize(),
                f"The rate of a group is {rate_meaning(one)}. The bias is {bias_meaning(one)}. "
                + (
                    "A group that has no rate yet is left out of the comparison."
                    if one.empty_group == "vacuous"
                    else "A group that has no rate yet counts as one with rate 0."
                ),
            )
            for one in summary.properties
        ),
        _estimate(summary),
        _trials(summary),
        *_evidence(summary),
    )


def _estimate(summary: MonitoringSummary) -> Note:
    settings = summary.settings
    if not estimates_differ(summary):
        return Note("Estimate", "The rates as they were observed; no prior belief is added.")
    prior = (
        "the rate of all groups together so far"
        if settings.prior == "overall"
        else exact_number(settings.prior)
    )
    return Note(
        "Estimate",
        f"A rate with a prior belief: {exact_number(settings.strength)} further trials are taken "
        f"to have been seen, at a rate of {prior}. With many trials it hardly matters.",
    )


def _trials(summary: MonitoringSummary) -> Note:
    labelled = any(one.labelled for one in summary.properties)
    text = (
        "All events with the same id are one trial: the group, the decision and, where it "
        "matters, the true label. It is counted once all that the property needs is known"
    )
    if labelled and summary.settings.deadline is not None:
        text += ", or at its deadline"
    return Note("Trials", f"{text}.")


def _evidence(summary: MonitoringSummary) -> tuple[Note, ...]:
    known = sum(one.rule == "evidence" for one in summary.properties)
    if not known:
        return ()
    pairs = plural(known, "property", "properties")
    return (
        Note(
            "Intervals",
            "They are confidence sequences: they hold at all times at once, and not only at one. "
            f"The error that is allowed is shared among {pairs}, the combinations of values that "
            f"came up ({count(len(summary.comparisons))} comparisons) and all pairs of groups, so "
            "they are wider than intervals for one look at one pair.",
        ),
    )
