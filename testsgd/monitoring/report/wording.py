"""How a monitor is worded: its parts, and what its report means."""

from __future__ import annotations

from datetime import UTC, datetime

from testsgd.fairness.wording import EMPTY_GROUP_NOTES, bias_text, exact_number, rate_text
from testsgd.monitoring.report import summary as documents
from testsgd.monitoring.report.summary import MonitoredComparison, MonitoringSummary
from testsgd.monitoring.trials import UNIT_NAMES, iso_text
from testsgd.report.blocks import Note
from testsgd.report.formatting import NOTHING, count, number, percent, plural, series, share

STATUS_NAMES = {
    "alert_raised": "Alert raised",
    "within": "No alert",
    "not_enough_evidence": "Not enough evidence",
}
_STANDING_NAMES = {
    "evidence": {"beyond": "shown to be above", "within": "shown to be within"},
    "estimate": {"beyond": "in alert", "within": "within", "undecided": "nothing to compare"},
}
_LENGTHS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_DECISIONS = "of its decisions, the share that is favourable"
_LABELLED = "of its people whose true label is {}, the share that was decided on favourably"
_RATES = {
    "demographic_parity": _DECISIONS,
    "disparate_impact": _DECISIONS,
    "equal_opportunity": _LABELLED.format("positive"),
    "predictive_equality": _LABELLED.format("negative"),
}


def property_title(name: str) -> str:
    """Write a property's name as words."""
    head, given, fields = name.partition(" given ")
    return f"{head.replace('_', ' ')}{given}{fields}"


def comparison_title(compared: MonitoredComparison | documents.AlertSummary) -> str:
    """Name a comparison: its property, and within which values."""
    title = property_title(compared.property)
    if not compared.conditions:
        return title
    values = ", ".join(
        f"{condition.field} = {condition.value}" for condition in compared.conditions
    )
    return f"{title.partition(' given ')[0]} for {values}"


def property_of(
    summary: MonitoringSummary, comparison: MonitoredComparison
) -> documents.PropertySummary:
    """Find the property of a comparison."""
    return next(known for known in summary.properties if known.name == comparison.property)


def estimates_differ(summary: MonitoringSummary) -> bool:
    """Return whether estimates differ from the observed rates, by a prior belief."""
    return summary.settings.strength != "0"


def standing_name(comparison: MonitoredComparison, known: documents.PropertySummary) -> str:
    """Return in a few words where a comparison stands."""
    name = _STANDING_NAMES[known.rule].get(comparison.standing, comparison.standing)
    return "within now, after alerts" if name == "within" and comparison.alerts else name


def ends_text(low: float | None, high: float | None, between: str = " to ") -> str:
    """Write an interval of a bias, rounded outwards."""
    if low is None or high is None:
        return NOTHING
    ends = int(low * 1000 + 1e-9) / 1000, min(-int(-high * 1000 - 1 + 1e-9) / 1000, 1.0)
    return between.join(number(end) if end in (0.0, 1.0) else bias_text(end) for end in ends)


def bias_interval(
    compared: MonitoredComparison | documents.AlertSummary, between: str = " to "
) -> str:
    """Return where a bias lies by evidence, such as "0.123 to 0.400"."""
    return ends_text(compared.low, compared.high, between)


def rate_interval(group: documents.MonitoredGroup) -> str:
    """Return where a rate lies by evidence, such as "12.3% to 40.0%"."""
    known = group.low is not None
    return f"{percent(group.low)} to {percent(group.high)}" if known else NOTHING


def false_alarms(summary: MonitoringSummary) -> str:
    """Return the probability that evidence ever raises a false alarm, at most."""
    return share(round(1 - summary.settings.confidence, 12))


def time_text(seconds: float | None) -> str:
    """Write a time of the stream: as a date if the number can be one."""
    if seconds is None:
        return ""
    if iso_text(seconds) is None:
        return f"{number(seconds)} s"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def duration_words(seconds: float | None) -> str:
    """Write how long something takes, in the largest unit that it is a whole number of."""
    if seconds is None:
        return ""
    for size, unit in _LENGTHS:
        if seconds >= size and seconds % size == 0:
            return plural(int(seconds // size), unit)
    return f"{number(seconds)} seconds"


def dead_letters_text(stream: documents.StreamSummary) -> str:
    """Return how many dead letters there were, and why; empty if there were none."""
    reasons = (
        (stream.dead_letters_unit, "in another unit of time"),
        (stream.dead_letters_ahead, "too far ahead"),
        (stream.dead_letters_late, "too late"),
        (stream.dead_letters_wrong, "wrong when others had confirmed its time"),
    )
    why = series([f"{count(many)} {reason}" for many, reason in reasons if many])
    dead = sum(many for many, _ in reasons)
    are = plural(dead, "event is a dead letter", "events are dead letters")
    return f"{are} and not counted: {why}." if dead else ""


def unit_text(summary: MonitoringSummary) -> str:
    """Return what times are in, and how that is known; empty if no time is needed."""
    unit, declared = summary.stream.unit, summary.settings.unit_declared
    if unit is None:
        return ""
    return f"{UNIT_NAMES[unit]}, {'as declared' if declared else 'as the first events show'}"


def window_text(settings: documents.MonitorSettings) -> str:
    """Return which trials are compared."""
    if settings.window == "all":
        return "all trials so far"
    length = duration_words(settings.window_seconds)
    if settings.window_trials is not None:
        length = plural(settings.window_trials, "trial")
    if settings.window == "sliding":
        return f"the last {length}"
    return f"windows of {length}, one after the other"


def alert_place(alert: documents.AlertSummary) -> str:
    """Describe when an alert was raised, such as "in window 3, after 120 trials"."""
    window = "" if alert.window is None else f"in window {count(alert.window)}, "
    time = time_text(alert.time)
    return f"{window}after {plural(alert.trials, 'trial')}{f' ({time})' if time else ''}"


def promises(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Return exactly what is promised, and what is not."""
    rules = {watched.rule for watched in summary.properties}
    evidence = (
        Note(
            "Promised: few false alarms by evidence",
            "The probability that evidence raises an alert anywhere, although the true bias there "
            f"is at most the bound, is at most {false_alarms(summary)}. This holds for all "
            "comparisons together, over the whole stream, however long it is and however often "
            "one looks. The intervals of biases hold together with "
            f"{share(summary.settings.confidence)} confidence in the same sense; the interval of "
            "a rate holds for that rate alone.",
            "good",
        ),
        Note(
            "Only if trials are independent, with rates that do not change",
            "The promise is about streams in which each group has one rate that stays the same "
            "and no decision says anything about the next one. If rates drift, an alert by "
            "evidence is about all trials so far, not about those of today; a window with the "
            "rule “estimate” sees drifts sooner, without a promise.",
        ),
    )
    estimate = Note(
        "Not promised: anything about alerts by the estimate",
        "Such an alert says that the estimated bias of the trials that were counted is above the "
        "bound, which is exact. It says nothing about other people. With few trials it is often "
        "chance, and the more often one looks, the more such alerts come.",
    )
    silence = Note(
        "Not promised: that silence means fairness",
        "Without an alert the bias may still be above the bound, as far as the intervals allow. "
        "Nothing is said about other properties, about groups that are not compared, or about "
        "whether a single decision is right.",
    )
    proved = evidence if "evidence" in rules else ()
    return *proved, *((estimate,) if "estimate" in rules else ()), silence


def monitoring_notes(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Explain the numbers."""
    settings, notes = summary.settings, list[Note]()
    for watched in summary.properties:
        bias = "the largest difference between the rates of two groups"
        if watched.measure == "ratio":
            bias = "1 minus the smallest rate of a group over the largest"
        rate, empty = rate_text(watched, _RATES, "it"), EMPTY_GROUP_NOTES[watched.empty_group]
        text = f"The rate of a group is {rate}. The bias is {bias}. {empty}"
        notes.append(Note(property_title(watched.name).capitalize(), text))
    text = "The rates as they were observed; no prior belief is added."
    if estimates_differ(summary):
        overall = "the rate of all groups together so far"
        prior = overall if settings.prior == "overall" else exact_number(settings.prior)
        text = (
            f"A rate with a prior belief: {exact_number(settings.strength)} further trials are "
            f"taken to have been seen, at a rate of {prior}. With many trials it hardly matters."
        )
    notes.append(Note("Estimate", text))
    due = settings.deadline is not None and any(known.labelled for known in summary.properties)
    text = (
        "All events with the same id are one trial: the group, the decision and, where it "
        "matters, the true label. It is counted once all that the property needs is known"
        f"{', or at its deadline' * due}."
    )
    notes.append(Note("Trials", text))
    if proving := sum(watched.rule == "evidence" for watched in summary.properties):
        text = (
            "They are confidence sequences: they hold at all times at once, and not only at one. "
            f"The error that is allowed is shared among {plural(proving, 'property', 'properties')}"
            f", the combinations of values that came up ({count(len(summary.comparisons))} "
            "comparisons) and all pairs of groups, so they are wider than intervals for one look "
            "at one pair."
        )
        notes.append(Note("Confidence intervals (anytime-valid)", text))
    return tuple(notes)
