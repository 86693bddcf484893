"""The words for the parts of a monitor's report, and for what they mean."""

from __future__ import annotations

from datetime import UTC, datetime

from testsgd.fairness.wording import (
    EMPTY_GROUP_NOTES,
    bias_text,
    bound_text,
    exact_number,
    rate_text,
)
from testsgd.monitoring.report import summary as documents
from testsgd.monitoring.report.summary import MonitoredComparison, MonitoringSummary
from testsgd.monitoring.specification import duration_text
from testsgd.monitoring.trials import UNIT_NAMES, iso_text
from testsgd.report.blocks import Note
from testsgd.report.formatting import (
    NOTHING,
    capital,
    count,
    number,
    percent,
    plural,
    share,
    shorten,
)

STATUS_NAMES = {
    "alert_raised": "Alert raised",
    "within": "No alert",
    "not_enough_evidence": "Not enough evidence",
}
_STANDING_NAMES = {
    "evidence": {"beyond": "shown to be above", "within": "shown to be within"},
    "estimate": {"beyond": "in alert", "within": "within", "undecided": "nothing to compare"},
}
_DECISIONS = "of its decisions, the share that is favourable"
_LABELLED = "of its people whose true label is {}, the share that was decided on favourably"
_RATES = {
    "demographic_parity": _DECISIONS,
    "disparate_impact": _DECISIONS,
    "equal_opportunity": _LABELLED.format("positive"),
    "predictive_equality": _LABELLED.format("negative"),
}


_FAVOURABLE = "the rate of favourable decisions"
_WHERE_LABELLED = "the rate of favourable decisions where the true label is {}"
_RATE_NAMES = {
    "demographic_parity": _FAVOURABLE,
    "disparate_impact": _FAVOURABLE,
    "equal_opportunity": _WHERE_LABELLED.format("positive"),
    "predictive_equality": _WHERE_LABELLED.format("negative"),
}
_GROUP_LENGTH = 80
# A prior that moves a rate by less is not spoken of.
_MOVED = 0.005


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
    """Return the property that a comparison is of."""
    return next(known for known in summary.properties if known.name == comparison.property)


def standing_name(comparison: MonitoredComparison, known: documents.PropertySummary) -> str:
    """Return the state of a comparison in a few words, such as "shown to be above"."""
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


def bias_sentence(summary: MonitoringSummary, comparison: MonitoredComparison) -> str:
    """Return a bias, its interval by evidence and its bound as a sentence, without a full stop."""
    limit = bound_text(property_of(summary, comparison))
    estimated = f"is estimated at {bias_text(comparison.estimate)}"
    if summary.settings.window == "tumbling":
        windows = plural(comparison.windows_judged, "window")
        above = f"above the {limit} that is allowed in {count(comparison.windows_above)} of"
        return f"the bias is {above} {windows}; over all trials so far it {estimated}"
    last = " of the last trials" if summary.settings.window == "sliding" else ""
    if comparison.low is not None:
        sure = share(summary.settings.confidence)
        ends = bias_interval(comparison, " and ")
        estimated += f", by evidence between {ends} with {sure} confidence"
    return f"the bias{last} {estimated}; at most {limit} is allowed"


def groups_clause(summary: MonitoringSummary, comparison: MonitoredComparison) -> str:
    """Return which groups have the lowest and the highest rate, as a clause.

    The rates are those that the bias is of. It is empty if fewer than two groups have trials.
    """
    known = [group for group in comparison.groups if group.denominator]
    groups = {group.name: group.estimate for group in known if group.estimate is not None}
    if len(groups) < 2:
        return ""
    sizes = {group.name: _group_rate(group) for group in known}
    rate = _RATE_NAMES.get(property_of(summary, comparison).property, "the rate")
    which = {"tumbling": " over all trials so far", "sliding": " over the last trials", "all": ""}
    rate += which[summary.settings.window]
    lowest = min(groups, key=lambda name: groups[name])
    highest = max(groups, key=lambda name: groups[name])
    if groups[lowest] == groups[highest]:
        return f"{rate} is {percent(groups[lowest])} in every group"
    low, high = (f"“{shorten(name, _GROUP_LENGTH)}” ({sizes[name]})" for name in (lowest, highest))
    clause = f"{rate} is lowest for {low} and highest for {high}"
    # A bias may be the distance from a group that nothing is known of.
    empty = [
        group
        for group in comparison.groups
        if group.name in (comparison.lowest, comparison.highest) and not group.denominator
    ]
    for group in empty:
        counted = f"“{shorten(group.name, _GROUP_LENGTH)}”, without any trial, counts as"
        clause += f"; {counted} {percent(group.estimate)}"
    return clause


def _group_rate(group: documents.MonitoredGroup) -> str:
    """Write the estimated rate of a group, and the observed one where the prior moves it much."""
    estimated = percent(group.estimate)
    if group.rate is None or group.estimate is None:
        return estimated
    if abs(group.rate - group.estimate) < _MOVED:
        return estimated
    return f"estimated at {estimated}, {percent(group.rate)} observed"


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


def duration(seconds: float | None) -> str:
    """Return a length of time as a specification writes it; empty if it is None."""
    return "" if seconds is None else duration_text(seconds)


def what_happened(summary: MonitoringSummary) -> list[tuple[str, int, str]]:
    """Return the counts of the stream that are not 0: the name, the number, and what it means."""
    stream = summary.stream
    counts = (
        (
            "Open trials",
            stream.open,
            "they wait for a group, a decision, a label or their deadline; not all of them are "
            "counted yet",
        ),
        ("Wrong events", stream.refused, "refused with an error; they changed nothing"),
        ("Ignored events", stream.ignored, "they say nothing that plays a part"),
        ("Repeated events", stream.repeated, "they only say what was known"),
        ("Unknown groups", stream.unknown, "decisions on groups that are not named; not counted"),
        ("Trials not compared", stream.uncompared, "of more than 1,000 combinations of given "
         "values; not counted"),
        ("Without a decision", stream.without_decision, "none came before its deadline; counted as "
         "refused"),
        ("Late labels", stream.late, "they, or decisions, came after their deadline and changed "
         "nothing"),
        ("Events in another unit of time", stream.dead_letters_unit, "dead letters; not counted"),
        ("Events too far ahead", stream.dead_letters_ahead, "dead letters: ahead of the clock, or "
         "of the other events; not counted, and time did not move"),
        ("Events too late", stream.dead_letters_late, "dead letters: they came after later ones; "
         "not counted"),
        ("Events that did not fit", stream.dead_letters_wrong, "dead letters: they waited, and "
         "were wrong when others had confirmed their time; not counted"),
        ("Events that wait", stream.waiting, "until others confirm their time; not counted"),
        ("Clock set again", stream.clock_set, _clock_text(stream)),
        ("Dropped trials", stream.dropped, _dropped_text(summary)),
        *_out_of_order(summary),
    )  # fmt: skip
    return [line for line in counts if line[1]]


def _dropped_text(summary: MonitoringSummary) -> str:
    """Return what dropped trials are, and how many of them some property had counted before."""
    if all(known.favourable_within is None for known in summary.properties):
        return "their deadline passed before all was known; not counted"
    text = (
        "their deadline passed before all was known, or for a property with “favourable_within” "
        "its time; not counted from then on, or not by that property"
    )
    before = summary.stream.dropped_counted
    if not before:
        return text
    which = "1 of them was" if before == 1 else f"{count(before)} of them were"
    return f"{text}; {which} counted as unfavourable at the end of such a time, before the deadline"


def _out_of_order(summary: MonitoringSummary) -> list[tuple[str, int, str]]:
    """Return how many trials came after later ones, where windows of some number depend on it.

    The trials of a tumbling window are those that were decided one after the other, those of a
    sliding one were counted so. What is counted at the end of a time, as with
    ``favourable_within``, is in the order of these ends.
    """
    settings, stream = summary.settings, summary.stream
    if settings.window_trials is None:
        return []
    at_once = [known for known in summary.properties if known.favourable_within is None]
    sliding = settings.window == "sliding"
    by_labels = sliding and any(known.labelled for known in at_once)
    by_decisions = any(not (sliding and known.labelled) for known in at_once)
    windows = f"windows of {plural(settings.window_trials, 'trial')}"
    what = (
        f"{windows} are in the order in which {{}} were counted, not in that of their times, so "
        "that another order of the same events gives other windows"
    )
    return [
        (
            "Decisions after later ones",
            stream.decided_after_later if by_decisions else 0,
            what.format("decisions"),
        ),
        (
            "Labels after later ones",
            stream.complete_after_later if by_labels else 0,
            what.format("labels"),
        ),
    ]


def _clock_text(stream: documents.StreamSummary) -> str:
    """Return from when to when the clock was set, and how many events were lost; empty if never."""
    if stream.clock_before is None or stream.clock_to is None:
        return ""
    before, to = time_text(stream.clock_before), time_text(stream.clock_to)
    return (
        "most of the recent events were too late or in another unit of time; the last time the "
        f"clock was set from {before} to {to}; "
        f"{plural(stream.clock_dropped, 'event')} had been dropped before that and stay dead "
        "letters; deadlines and windows that had ended stay so"
    )


def unit_text(summary: MonitoringSummary) -> str:
    """Return what times are in, and how that is known; empty if no time is needed."""
    unit = summary.stream.unit
    declared = summary.settings.unit_declared
    if unit is None:
        return ""
    return f"{UNIT_NAMES[unit]}, {'as declared' if declared else 'as most events show'}"


def window_text(settings: documents.MonitorSettings) -> str:
    """Return which trials are compared."""
    if settings.window == "all":
        return "all trials so far"
    length = duration(settings.window_seconds)
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
            "The probability that evidence ever raises an alert although the true bias there is at "
            f"most the bound is at most {false_alarms(summary)}: for all comparisons together, "
            "however long the stream is and however often one looks. The intervals of biases hold "
            f"together with {share(summary.settings.confidence)} confidence in the same sense; the "
            "interval of a rate holds for that rate alone.",
            "good",
        ),
        Note(
            "Only if trials are independent, with rates that do not change",
            "No decision may say anything about the next one. If rates drift, an alert by evidence "
            "is about all trials so far, not about those of today; a window with the rule "
            "“estimate” sees drifts sooner, without a promise.",
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


def prior_text(summary: MonitoringSummary) -> str:
    """Describe the belief that estimates add to what was observed; empty if there is none."""
    settings = summary.settings
    return "" if settings.strength == "0" else _belief_text(settings.prior, settings.strength)


def _belief_text(prior: str, strength: str) -> str:
    """Describe a belief: a rate, and what it is worth."""
    overall = prior == "overall"
    rate = "the rate of all groups so far"
    if not overall:
        rate = f"{prior}, by their last values" if " / " in prior else exact_number(prior)
    return f"{rate}, as {exact_number(strength)} trials"


def has_prior(summary: MonitoringSummary) -> bool:
    """Return whether estimates add any belief to what was observed."""
    priors = (prior for known in summary.properties for prior in known.priors)
    return bool(prior_text(summary)) or any(prior.strength != "0" for prior in priors)


def prior_lines(known: documents.PropertySummary) -> list[tuple[str, str]]:
    """Describe what is believed of a property's rates, where that is not as for the others."""
    return [
        (
            "Prior belief" if prior.group is None else f"Prior belief about “{prior.group}”",
            "none" if prior.strength == "0" else _belief_text(prior.prior, prior.strength),
        )
        for prior in known.priors
    ]


def monitoring_notes(summary: MonitoringSummary) -> tuple[Note, ...]:
    """Return notes on what the numbers of the report mean."""
    notes: list[Note] = []
    for watched in summary.properties:
        bias = "the largest difference between the rates of two groups"
        if watched.measure == "ratio":
            bias = "1 minus the smallest rate of a group over the largest"
        rate = rate_text(watched, _RATES, "it")
        if watched.favourable_within is not None:
            soon = duration(watched.favourable_within)
            rate += f"; a decision is favourable only within {soon} of the first event"
        empty = EMPTY_GROUP_NOTES[watched.empty_group]
        text = f"The rate of a group is {rate}. The bias is {bias}. {empty}"
        notes.append(Note(capital(property_title(watched.name)), text))
    text = "The rates as they were observed; no prior belief is added."
    if has_prior(summary):
        prior = prior_text(summary) if not any(map(prior_lines, summary.properties)) else ""
        which = f": {prior}" if prior else ", which each property says of its groups"
        text = f"A rate with a prior belief{which}. With many trials it hardly matters."
    notes.append(Note("Estimate", text))
    text = (
        "All events with the same id are one trial: the group, the decision and, where it matters, "
        "the true label. It is counted once all that the property needs is known, or at its "
        "deadline if it has one."
    )
    notes.append(Note("Trials", text))
    if proving := sum(watched.rule == "evidence" for watched in summary.properties):
        text = (
            "They are confidence sequences: they hold at all times at once, and not only at one. "
            f"The error that is allowed is shared among {plural(proving, 'property', 'properties')}"
            f", {plural(len(summary.comparisons), 'comparison')} and all pairs of groups, so they "
            "are wider than intervals for one look at one pair."
        )
        notes.append(Note("Confidence intervals (anytime-valid)", text))
    return tuple(notes)
