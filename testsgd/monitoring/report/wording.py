"""How a monitor is worded: its parts, and what its report means."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from testsgd.fairness.wording import EMPTY_GROUP_NOTES, bias_text, events_text, exact_number
from testsgd.monitoring.report.summary import (
    AlertSummary,
    ConditionSummary,
    MonitoredComparison,
    MonitoringSummary,
    MonitorSettings,
    PropertySummary,
    StreamSummary,
)
from testsgd.report.blocks import Note
from testsgd.report.formatting import NOTHING, count, number, percent, plural, series, share

STATUS_NAMES = {
    "alert_raised": "Alert raised",
    "within": "No alert",
    "not_enough_evidence": "Not enough evidence",
}

# Seconds from here on are taken for seconds since 1970, those before for a clock of the stream.
_CALENDAR = 1e8
_LAST_DAY = 253_402_300_799.0
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
UNIT_NAMES = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "iso": "ISO 8601",
    "own": "seconds of a clock of the stream's own",
}

_RATES = {
    "demographic_parity": "of its decisions, the share that is favourable",
    "disparate_impact": "of its decisions, the share that is favourable",
    "equal_opportunity": "of its people whose true label is positive, the share that was decided "
    "on favourably",
    "predictive_equality": "of its people whose true label is negative, the share that was decided "
    "on favourably",
}


def property_title(name: str) -> str:
    """Write a property's name as words.

    >>> property_title("demographic_parity given department")
    'demographic parity given department'
    """
    head, given, fields = name.partition(" given ")
    return f"{head.replace('_', ' ')}{given}{fields}"


def conditions_text(given: Sequence[ConditionSummary]) -> str:
    """Name the values within which groups are compared; empty if within none.

    >>> conditions_text([ConditionSummary(field="department", value="A")])
    'department = A'
    """
    return ", ".join(f"{given_value.field} = {given_value.value}" for given_value in given)


def comparison_title(compared: MonitoredComparison | AlertSummary) -> str:
    """Name a comparison: its property, and within which values."""
    title = property_title(compared.property)
    if not compared.conditions:
        return title
    return f"{title.partition(' given ')[0]} for {conditions_text(compared.conditions)}"


def property_of(summary: MonitoringSummary, comparison: MonitoredComparison) -> PropertySummary:
    """Find the property of a comparison."""
    return next(known for known in summary.properties if known.name == comparison.property)


def estimates_differ(summary: MonitoringSummary) -> bool:
    """Return whether estimates differ from the observed rates, by a prior belief."""
    return summary.settings.strength != "0"


def standing_name(comparison: MonitoredComparison, known: PropertySummary) -> str:
    """Return in a few words where a comparison stands."""
    if known.rule == "evidence":
        return {
            "beyond": "shown to be above",
            "within": "shown to be within",
            "undecided": "undecided",
        }[comparison.standing]
    return {
        "beyond": "in alert",
        "within": "within now, after alerts" if comparison.alerts else "within",
        "undecided": "nothing to compare",
    }[comparison.standing]


def ends_text(low: float | None, high: float | None) -> str:
    """Write an interval of a bias, rounded outwards.

    >>> ends_text(0.1236, 0.4), ends_text(0.0, 1.0), ends_text(None, None) == NOTHING
    ('0.123 to 0.400', '0 to 1', True)
    """
    if low is None or high is None:
        return NOTHING
    least, most = int(low * 1000 + 1e-9) / 1000, min(-int(-high * 1000 - 1 + 1e-9) / 1000, 1.0)
    return f"{_end(least)} to {_end(most)}"


def between(comparison: MonitoredComparison) -> str:
    """Return between which values a bias lies, such as "0.123 and 0.400"."""
    return ends_text(comparison.low, comparison.high).replace(" to ", " and ")


def false_alarms(settings: MonitorSettings) -> str:
    """Return the probability that evidence ever raises a false alarm, at most."""
    return share(round(1 - settings.confidence, 12))


def _end(value: float) -> str:
    return number(value) if value in (0.0, 1.0) else bias_text(value)


def rate_interval(low: float | None, high: float | None) -> str:
    """Write an interval of a rate.

    >>> rate_interval(0.123, 0.4)
    '12.3% to 40.0%'
    """
    return NOTHING if low is None or high is None else f"{percent(low)} to {percent(high)}"


def rate_meaning(known: PropertySummary) -> str:
    """Describe what a group's rate is."""
    own = (
        f"how often {events_text(known.numerator)} happened in it, over how often "
        f"{events_text(known.denominator)} did"
    )
    return _RATES.get(known.property, own)


def bias_meaning(known: PropertySummary) -> str:
    """Describe what the bias is."""
    if known.measure == "ratio":
        return "1 minus the smallest rate of a group over the largest"
    return "the largest difference between the rates of two groups"


def time_text(seconds: float | None) -> str:
    """Write a time of the stream: as a date if the number can be one.

    >>> time_text(1767225600.0), time_text(90.0), time_text(None)
    ('2026-01-01 00:00 UTC', '90 s', '')
    """
    if seconds is None:
        return ""
    if _CALENDAR <= seconds <= _LAST_DAY:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{number(seconds)} s"


def duration_words(seconds: float) -> str:
    """Write how long something takes, in the largest unit that it is a whole number of.

    >>> duration_words(730 * 86400), duration_words(90), duration_words(0.5), duration_words(86400)
    ('730 days', '90 seconds', '0.5 seconds', '1 day')
    """
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return plural(int(seconds // size), unit)
    return f"{number(seconds)} seconds"


def dead_letters_text(stream: StreamSummary) -> str:
    """Return how many dead letters there were, and why; empty if there were none."""
    told = (
        (stream.dead_letters_unit, "in another unit of time"),
        (stream.dead_letters_ahead, "too far ahead"),
        (stream.dead_letters_late, "too late"),
        (stream.dead_letters_wrong, "wrong when others had confirmed its time"),
    )
    reasons = series([f"{count(number)} {why}" for number, why in told if number])
    number = sum(number for number, _ in told)
    are = "is a dead letter" if number == 1 else "are dead letters"
    return f"{plural(number, 'event')} {are} and not counted: {reasons}." if number else ""


def unit_text(settings: MonitorSettings, stream: StreamSummary) -> str:
    """Return what times are in, and how that is known; empty if no time is needed."""
    if stream.unit is None:
        return ""
    known = "as declared" if settings.unit_declared else "as the first events show"
    return f"{UNIT_NAMES[stream.unit]}, {known}"


def window_text(settings: MonitorSettings) -> str:
    """Return which trials are compared."""
    if settings.window == "all":
        return "all trials so far"
    length = duration_words(settings.window_seconds or 0)
    if settings.window_trials is not None:
        length = plural(settings.window_trials, "trial")
    if settings.window == "sliding":
        return f"the last {length}"
    return f"windows of {length}, one after the other"


def alert_place(alert: AlertSummary, *, stand: bool = True) -> str:
    """Describe when an alert was raised, such as "in window 3, after 120 trials"."""
    told = f"after {plural(alert.trials, 'trial')}"
    if alert.window is not None:
        told = f"in window {count(alert.window)}, {told}"
    time = time_text(alert.time)
    return f"{told} ({time})" if time and stand else told


_INDEPENDENT = Note(
    "Only if trials are independent, with rates that do not change",
    "The promise is about streams in which each group has one rate that stays the same and no "
    "decision says anything about the next one. If rates drift, an alert by evidence is about all "
    "trials so far, not about those of today; a window with the rule “estimate” sees drifts "
    "sooner, without a promise.",
)
_ESTIMATES = Note(
    "Not promised: anything about alerts by the estimate",
    "Such an alert says that the estimated bias of the trials that were counted is above the "
    "bound, which is exact. It says nothing about other people. With few trials it is often "
    "chance, and the more often one looks, the more such alerts come.",
)
_SILENCE = Note(
    "Not promised: that silence means fairness",
    "Without an alert the bias may still be above the bound, as far as the intervals allow. "
    "Nothing is said about other properties, about groups that are not compared, or about whether "
    "a single decision is right.",
)


def promises(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Return exactly what is promised, and what is not."""
    rules = {watched.rule for watched in summary.properties}
    few = Note(
        "Promised: few false alarms by evidence",
        "The probability that evidence raises an alert anywhere, although the true bias there is "
        f"at most the bound, is at most {false_alarms(summary.settings)}. This holds for all "
        "comparisons together, over the whole stream, however long it is and however often one "
        "looks. The intervals of biases hold together with "
        f"{share(summary.settings.confidence)} confidence in the same sense; the interval of a "
        "rate holds for that rate alone.",
        "good",
    )
    evidence = (few, _INDEPENDENT) if "evidence" in rules else ()
    estimates = (_ESTIMATES,) if "estimate" in rules else ()
    return *evidence, *estimates, _SILENCE


def monitoring_notes(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Explain the numbers."""
    return (
        *(
            Note(
                property_title(watched.name).capitalize(),
                f"The rate of a group is {rate_meaning(watched)}. The bias is "
                f"{bias_meaning(watched)}. {EMPTY_GROUP_NOTES[watched.empty_group]}",
            )
            for watched in summary.properties
        ),
        _estimate(summary),
        _trials(summary),
        *_evidence(summary),
    )


def _estimate(summary: MonitoringSummary) -> Note:
    settings = summary.settings
    if not estimates_differ(summary):
        return Note("Estimate", "The rates as they were observed; no prior belief is added.")
    prior = "the rate of all groups together so far"
    if settings.prior != "overall":
        prior = exact_number(settings.prior)
    return Note(
        "Estimate",
        f"A rate with a prior belief: {exact_number(settings.strength)} further trials are taken "
        f"to have been seen, at a rate of {prior}. With many trials it hardly matters.",
    )


def _trials(summary: MonitoringSummary) -> Note:
    labelled = any(watched.labelled for watched in summary.properties)
    text = (
        "All events with the same id are one trial: the group, the decision and, where it "
        "matters, the true label. It is counted once all that the property needs is known"
    )
    if labelled and summary.settings.deadline is not None:
        text += ", or at its deadline"
    return Note("Trials", f"{text}.")


def _evidence(summary: MonitoringSummary) -> tuple[Note, ...]:
    known = sum(watched.rule == "evidence" for watched in summary.properties)
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
