"""How what a monitor saw is laid out as a report."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.fairness.wording import (
    EMPTY_GROUPS,
    bias_text,
    bound_text,
    events_text,
    exact_number,
)
from testsgd.monitoring.report.charts import course_figure, windows_figure
from testsgd.monitoring.report.summary import (
    AlertSummary,
    MonitoredComparison,
    MonitoringSummary,
    PropertySummary,
    StreamSummary,
    WindowSummary,
)
from testsgd.monitoring.report.wording import (
    STATUS_NAMES,
    alert_place,
    between,
    comparison_title,
    duration_words,
    ends_text,
    estimates_differ,
    monitoring_notes,
    promises,
    property_of,
    property_title,
    rate_interval,
    standing_name,
    time_text,
    unit_text,
    window_text,
)
from testsgd.report.blocks import (
    Article,
    Block,
    Details,
    Document,
    Facts,
    KeyFigure,
    KeyFigures,
    Notes,
    Only,
    Paragraph,
    Section,
    Standing,
    Status,
    Strong,
    Table,
    Text,
    meaning_section,
)
from testsgd.report.formatting import (
    NOTHING,
    capital,
    count,
    moment,
    percent,
    plural,
    series,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import origin, version_facts

# So many comparisons, the most alarming ones, are drawn, or have a table in Markdown.
_DRAWN = 12
_IN_MARKDOWN = 6
# So many alerts, and so many windows, have a row on a page, or in Markdown.
_ROWS = 200
_ROWS_IN_MARKDOWN = 50
# Longer tables are folded away on a page.
_OPEN_COMPARISONS = 24
_OPEN_ALERTS = 12
# So much of an alert's id tells it from the others of a report.
_ID_SHOWN = 8
_STATUSES: dict[str, Standing] = {
    "alert_raised": "bad",
    "within": "good",
    "not_enough_evidence": "",
}
_STANDINGS: dict[str, Standing] = {"beyond": "bad", "within": "good", "undecided": ""}
_COUNTED = {"tumbling": ", all trials so far", "sliding": ", the last trials", "all": ""}
_RULES = {"evidence": "evidence", "estimate": "the estimate"}
_REFUSE = {"refuse": "refused", "pass": "passed over", "ignore": "ignored"}


def monitoring_layout(summary: MonitoringSummary) -> Document:
    """Lay what a monitor saw out as a report; nothing is computed again."""
    verdict = summary.verdict
    figures = (_alerts_figure(summary), *_worst_figure(summary), _trials_figure(summary.stream))
    return Document(
        what="Monitor",
        subject=summary.name,
        status=Status(STATUS_NAMES[verdict.status], _STATUSES[verdict.status]),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        opening=(Only("html", (KeyFigures(figures),)),),
        sections=(
            Section("comparisons", "Comparisons", _comparisons(summary)),
            Section("alerts", "Alerts", _alerts(summary), markdown="blocks"),
            Section(
                "counted",
                "What was counted, and what was not",
                _stream(summary.stream),
                contents="What was counted",
            ),
            Section(
                "promised",
                "What is promised, and what is not",
                (Notes(promises(summary), "cards"),),
                contents="What is promised",
            ),
            Section(
                "particulars", "Specification and stream", _particulars(summary), markdown="folded"
            ),
            meaning_section(monitoring_notes(summary), "What the numbers mean"),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _alerts_figure(summary: MonitoringSummary) -> KeyFigure:
    raised, comparisons = summary.alerts_raised, summary.comparisons
    now = sum(comparison.in_alert for comparison in comparisons)
    if not comparisons:
        about = "nothing was compared"
    elif not raised:
        about = f"in {plural(len(comparisons), 'comparison')}"
    elif len(comparisons) == 1:
        about = "in alert now" if now else "not in alert now"
    else:
        about = plural(now, "comparison") if now else "no comparison"
        about += f" {'are' if now > 1 else 'is'} in alert now"
    standing: Standing = "good" if summary.verdict.status == "within" else ""
    if raised:
        standing = "bad"
    return KeyFigure("Alerts", count(raised) if raised else "none", (about,), standing)


def _worst_figure(summary: MonitoringSummary) -> tuple[KeyFigure, ...]:
    """Return the figure of the most alarming comparison; nothing without comparisons."""
    if not summary.comparisons:
        return ()
    standing: Standing
    worst = summary.comparisons[0]
    where = "" if len(summary.comparisons) == 1 else " where it is most alarming"
    title = comparison_title(worst)
    allowed = f"at most {bound_text(property_of(summary, worst))} is allowed"
    if summary.settings.window == "tumbling":
        above = f"{count(worst.windows_above)} of {count(worst.windows_judged)}"
        about, standing = f"{allowed} in each; {title}", "bad" if worst.windows_above else "good"
        return (KeyFigure(f"Windows above{where}", above, (about,), standing),)
    evidence = "" if worst.low is None else f"by evidence {ends_text(worst.low, worst.high)}; "
    about, standing = f"{evidence}{allowed}; {title}", _STANDINGS[worst.standing]
    return (KeyFigure(f"Bias{where}", bias_text(worst.estimate), (about,), standing),)


def _trials_figure(stream: StreamSummary) -> KeyFigure:
    about = f"from {plural(stream.events, 'event')}"
    if stream.time is not None and stream.first_time is not None:
        about += f", {time_text(stream.first_time)} to {time_text(stream.time)}"
    return KeyFigure("Decided trials", count(stream.decided), (about,))


def _comparisons(summary: MonitoringSummary) -> tuple[Block, ...]:
    """List all comparisons, and lay out the most alarming ones."""
    comparisons = summary.comparisons
    if not comparisons:
        return ()
    table = _comparisons_table(summary)
    listed: tuple[Block, ...] = (Only("markdown", (table,)),)
    if len(comparisons) > 1:
        about = f"{plural(len(comparisons), 'comparison')}, the most alarming one first"
        if len(comparisons) > _DRAWN:
            about += f"; the first {_DRAWN} are drawn below, all numbers are in the JSON result"
        listed = (Only("html", (Paragraph(f"{about}."),)), table)
    drawn = tuple(
        _comparison(summary, comparison, number)
        for number, comparison in enumerate(comparisons[:_DRAWN], start=1)
    )
    tables = [
        block
        for comparison in comparisons[:_IN_MARKDOWN]
        for block in _comparison_tables(summary, comparison)
    ]
    left = len(comparisons) - _IN_MARKDOWN
    if left > 0:
        more = f"The groups of {plural(left, 'further comparison')} are in the JSON result."
        tables.append(Paragraph(more))
    return *listed, Only("html", drawn), Only("markdown", tuple(tables))


def _comparisons_table(summary: MonitoringSummary) -> Table:
    """List all comparisons: where they stand, how large the bias is."""
    comparisons = summary.comparisons
    return listing(
        "All comparisons",
        comparisons,
        (
            Listed("Comparison", comparison_title, "name"),
            Listed("Bias", lambda comparison: bias_text(comparison.estimate), "strong"),
            Listed(
                "Interval",
                lambda comparison: ends_text(comparison.low, comparison.high),
                shown=any(comparison.low is not None for comparison in comparisons),
            ),
            Listed("Bound", lambda comparison: bound_text(property_of(summary, comparison))),
            Listed("Trials", lambda comparison: count(comparison.trials)),
            Listed("Alerts", lambda comparison: count(comparison.alerts)),
        ),
        row=lambda comparison: {
            "emphasis": comparison.alerts > 0,
            "note": standing_name(comparison, property_of(summary, comparison)),
        },
        fold=plural(len(comparisons), "comparison"),
        open_rows=_OPEN_COMPARISONS,
    )


def _comparison(
    summary: MonitoringSummary, comparison: MonitoredComparison, number: int
) -> Article:
    """Lay out a comparison on a page: in words, drawn, and in numbers."""
    known, windows = property_of(summary, comparison), comparison.windows
    figures = (windows_figure(comparison, known), course_figure(summary, comparison))
    title = f"Groups{_COUNTED[summary.settings.window]}"
    blocks: list[Block] = [
        Paragraph(_outcome(summary, comparison, known)),
        *(figure for figure in figures if figure is not None),
        _groups_table(summary, comparison, title=title),
    ]
    if windows:
        folded = f"{plural(len(windows), 'window')} with all numbers"
        if len(windows) > _ROWS:
            folded += f", the last {_ROWS} of them"
        blocks.append(Details(folded, (_windows_table(windows[-_ROWS:]),)))
    standing = _STANDINGS[comparison.standing] or "open"
    return Article(
        f"comparison-{number}",
        capital(comparison_title(comparison)),
        tuple(blocks),
        status=Status(standing_name(comparison, known), standing),
        plain=True,
    )


def _outcome(
    summary: MonitoringSummary, comparison: MonitoredComparison, known: PropertySummary
) -> Text:
    """Return in words how large the bias is, what is allowed, and how alerts come."""
    bias, told = bias_text(comparison.estimate), list[str | Strong]()
    tumbling = summary.settings.window == "tumbling"
    if tumbling:
        were = "was" if comparison.windows_above == 1 else "were"
        told += [
            Strong(count(comparison.windows_above)),
            f" of {plural(comparison.windows_judged, 'window')} {were} above the bound; over "
            f"all trials so far the bias is estimated at {bias}",
        ]
    else:
        last = " of the last trials" if summary.settings.window == "sliding" else ""
        told += [f"The bias{last} is estimated at ", Strong(bias)]
    if comparison.low is not None:
        told.append(f"; by evidence it lies between {between(comparison)}")
    first = ""
    if comparison.first_alert is not None:
        first = f", the first one {alert_place(comparison.first_alert)}"
    told.append(
        f". At most {bound_text(known)} is allowed{' in each window' * tumbling}. Alerts come "
        f"by {_RULES[known.rule]}{first}."
    )
    return tuple(told)


def _comparison_tables(
    summary: MonitoringSummary, comparison: MonitoredComparison
) -> tuple[Block, ...]:
    """Lay out a comparison in Markdown: its groups, and its last windows folded away."""
    groups = _groups_table(summary, comparison)
    blocks: tuple[Block, ...] = (Paragraph((Strong(groups.label),)), groups)
    last = comparison.windows[-_ROWS_IN_MARKDOWN:]
    if last:
        title = f"The last {plural(len(last), 'window')}"
        blocks += (Details(title, (_windows_table(last),)),)
    return blocks


def _groups_table(
    summary: MonitoringSummary, comparison: MonitoredComparison, title: str = ""
) -> Table:
    """List the groups of a comparison: counts, rates, estimates, intervals."""
    prior, custom = estimates_differ(summary), property_of(summary, comparison).property == "custom"
    ends: dict[str | None, str] = {}
    if comparison.highest != comparison.lowest:
        ends = {comparison.highest: "highest", comparison.lowest: "lowest"}
    return listing(
        f"Groups{_COUNTED[summary.settings.window]}: {comparison_title(comparison)}",
        comparison.groups,
        (
            Listed("Group", lambda group: group.name, "name"),
            Listed("Counted", lambda group: count(group.denominator)),
            Listed(
                "In the numerator" if custom else "Of these favourable",
                lambda group: count(group.numerator),
            ),
            Listed("Rate", lambda group: percent(group.rate), "number" if prior else "strong"),
            Listed("Estimate", lambda group: percent(group.estimate), "strong", shown=prior),
            Listed(
                "Interval of this rate alone",
                lambda group: rate_interval(group.low, group.high),
                shown=any(group.low is not None for group in comparison.groups),
            ),
        ),
        row=lambda group: {"note": ends.get(group.name, "")},
        title=title,
    )


def _windows_table(windows: Sequence[WindowSummary]) -> Table:
    """List windows that were judged."""
    prior = any(window.bias != window.estimate for window in windows)
    return listing(
        "Windows",
        windows,
        (
            Listed("Window", lambda window: count(window.window), "name"),
            Listed("Trials", lambda window: count(window.trials)),
            Listed("Bias as observed", lambda window: bias_text(window.bias), shown=prior),
            Listed("Bias", lambda window: bias_text(window.estimate), "strong"),
            Listed("Above the bound", lambda window: "yes" if window.above else "", "text"),
        ),
        row=lambda window: {"emphasis": window.above},
    )


def _alerts(summary: MonitoringSummary) -> tuple[Block, ...]:
    """List the alerts of this run, on a page more of them than in Markdown."""
    alerts = summary.alerts
    if not alerts:
        return ()
    all_of_them = len(alerts) + summary.alerts_left_out
    about = "In their order."
    if summary.stream.resumed:
        about = (
            "Of this run; the monitor went on from a state that was saved, and earlier alerts are "
            "not listed."
        )
    table = _alerts_table(alerts[:_ROWS])
    more = _not_listed(all_of_them - len(table.rows))
    left = _not_listed(all_of_them - len(table.rows[:_ROWS_IN_MARKDOWN]))
    title = f"Alerts of this run: {count(all_of_them)}"
    return (
        Only("html", (Paragraph(f"{about} {more}".strip()), table)),
        Only("markdown", (Details(title, (table, Paragraph(left))),)),
    )


def _not_listed(left: int) -> str:
    return f"{count(left)} more are not listed." if left else ""


def _alerts_table(alerts: Sequence[AlertSummary]) -> Table:
    """List alerts, with those cleared."""
    raised = sum(alert.alert == "raised" for alert in alerts)
    cleared = f" and {count(len(alerts) - raised)} cleared" if raised < len(alerts) else ""
    return listing(
        "Alerts",
        alerts,
        (
            Listed("Comparison", comparison_title, "name"),
            Listed("After trials", lambda alert: count(alert.trials)),
            Listed(
                "Window",
                lambda alert: NOTHING if alert.window is None else count(alert.window),
                shown=any(alert.window is not None for alert in alerts),
            ),
            Listed(
                "Time",
                lambda alert: time_text(alert.time) or NOTHING,
                "text",
                shown=any(alert.time is not None for alert in alerts),
            ),
            Listed("Bias", lambda alert: bias_text(alert.bias), "strong"),
            Listed(
                "Interval",
                lambda alert: ends_text(alert.low, alert.high),
                shown=any(alert.low is not None for alert in alerts),
            ),
            Listed("Highest", lambda alert: alert.highest, "text"),
            Listed("Lowest", lambda alert: alert.lowest, "text"),
            Listed("Id", lambda alert: alert.id[:_ID_SHOWN] or NOTHING, "text"),
        ),
        row=lambda alert: {"emphasis": alert.alert == "raised", "note": alert.alert},
        fold=f"{plural(raised, 'alert')} raised{cleared}",
        open_rows=_OPEN_ALERTS,
        most=_ROWS_IN_MARKDOWN,
    )


def _stream(stream: StreamSummary) -> tuple[Block, ...]:
    """List what came and what became of it, with what did not happen left out."""
    always = (
        ("Events", stream.events, "Taken, one by one."),
        ("Decided trials", stream.decided, "People whose group and decision are known."),
    )
    perhaps = (
        ("Open trials", stream.open, "They wait for a decision, a label or their deadline; not "
         "all of them are counted yet."),
        ("Wrong events", stream.refused, "Refused with an error; they changed nothing."),
        ("Ignored events", stream.ignored, "They say nothing that plays a part."),
        ("Repeated events", stream.repeated, "They only say what was known."),
        ("Unknown groups", stream.unknown, "Decisions on groups that are not named; not counted."),
        ("Trials not compared", stream.uncompared, "Of more than 1,000 combinations of given "
         "values; not counted."),
        ("Late labels", stream.late, "They came after the deadline and changed nothing."),
        ("Events in another unit of time", stream.dead_letters_unit, "Dead letters; not counted."),
        ("Events too far ahead", stream.dead_letters_ahead, "Dead letters: ahead of the clock, or "
         "of the other events; not counted, and time did not move."),
        ("Events too late", stream.dead_letters_late, "Dead letters: they came after later ones; "
         "not counted."),
        ("Events that did not fit", stream.dead_letters_wrong, "Dead letters: they waited, and "
         "were wrong when others had confirmed their time; not counted."),
        ("Events that wait", stream.waiting, "Until others confirm their time; not counted."),
        ("Dropped trials", stream.dropped, "Their deadline passed before all was known; not "
         "counted."),
    )  # fmt: skip
    happened = tuple(line for line in perhaps if line[1])
    table = listing(
        "Events and trials",
        (*always, *happened),
        (
            Listed("What", lambda line: line[0], "name"),
            Listed("Number", lambda line: count(line[1]), "strong"),
            Listed("What it means", lambda line: line[2], "text"),
        ),
    )
    if happened:
        return (table,)
    nothing = Paragraph("Nothing was ignored, refused, late or dropped.")
    return table, Only("html", (nothing,))


def _particulars(summary: MonitoringSummary) -> tuple[Facts, ...]:
    """List what the monitor was told to do, and when it ran."""
    asked, stream = summary.settings, summary.stream
    evidence = any(known.rule == "evidence" for known in summary.properties)
    prior = "the rate of all groups" if asked.prior == "overall" else exact_number(asked.prior)
    believed = f"{prior}, as {exact_number(asked.strength)} trials"
    due = _length(asked.deadline)
    no_label = f"the label is {asked.without_label}"
    if asked.without_label == "drop":
        no_label = "the trial is dropped"
    counted = "at the deadline" if asked.count == "deadline" else "once the label is known"
    return (
        *(_property(known) for known in summary.properties),
        Facts(
            "Monitor",
            (
                ("Name", summary.name),
                ("Groups", "as they come" if asked.groups is None else series(asked.groups)),
                ("Other groups", "" if asked.groups is None else _REFUSE[asked.unknown]),
                ("Other events", _REFUSE[asked.others]),
                ("Compared", window_text(asked)),
                ("Deadline", due),
                ("Without a label by then", no_label if due else ""),
                ("Counted", counted if due else ""),
                ("An event may be late by", _length(asked.lateness)),
                ("And ahead by", _length(asked.max_skew)),
                ("Prior belief", believed if estimates_differ(summary) else "none"),
                ("Confidence", share(asked.confidence) if evidence else ""),
                ("Specification (sha256)", summary.digest),
            ),
        ),
        Facts(
            "Stream",
            (
                ("Written", moment(summary.created)),
                ("Unit of time", unit_text(asked, stream)),
                ("First event", time_text(stream.first_time)),
                ("Last event", time_text(stream.time)),
                ("Went on from a saved state", "yes" if stream.resumed else "no"),
                *version_facts(summary),
            ),
        ),
    )


def _property(known: PropertySummary) -> Facts:
    judged = "after every trial" if known.check == "every" else "at the end of each window"
    return Facts(
        f"Property: {property_title(known.name)}",
        (
            ("Numerator of a rate counts", events_text(known.numerator)),
            ("Denominator counts", events_text(known.denominator)),
            ("Bias", "ratio of rates" if known.measure == "ratio" else "difference of rates"),
            ("Bound", bound_text(known)),
            ("Compared within", series(known.condition_on)),
            ("A group without a rate", EMPTY_GROUPS[known.empty_group]),
            ("Alerts by", _RULES[known.rule]),
            ("Judged", judged),
        ),
    )


def _length(seconds: float | None) -> str:
    return "" if seconds is None else duration_words(seconds)
