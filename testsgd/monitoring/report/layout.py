"""How what a monitor saw is laid out as a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from testsgd.fairness.wording import EMPTY_GROUPS, bias_text, bound_text, events_text, exact_number
from testsgd.monitoring.report import charts, wording
from testsgd.monitoring.report import summary as documents
from testsgd.monitoring.report.summary import MonitoredComparison, MonitoringSummary
from testsgd.report import blocks
from testsgd.report.blocks import Only, Paragraph, Section, Standing, Strong
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
# Of verdicts and of comparisons.
_STANDINGS: dict[str, Standing] = {"alert_raised": "bad", "beyond": "bad", "within": "good"}
_COUNTED = {"tumbling": ", all trials so far", "sliding": ", the last trials", "all": ""}
_RULES = {"evidence": "evidence", "estimate": "the estimate"}
_REFUSE = {"refuse": "refused", "pass": "passed over", "ignore": "ignored"}
_INTERVAL = "Confidence interval (anytime-valid)"
Item = TypeVar("Item")


def monitoring_layout(summary: MonitoringSummary) -> blocks.Document:
    """Lay what a monitor saw out as a report; nothing is computed again."""
    verdict, counted, particulars = summary.verdict, _stream(summary.stream), _particulars(summary)
    figures = (_alerts_figure(summary), *_worst_figure(summary), _trials_figure(summary.stream))
    promised = (blocks.Notes(wording.promises(summary), "cards"),)
    status = wording.STATUS_NAMES[verdict.status]
    return blocks.Document(
        what="Monitor",
        subject=summary.name,
        status=blocks.Status(status, _STANDINGS.get(verdict.status, "")),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        opening=(Only("html", (blocks.KeyFigures(figures),)),),
        sections=(
            Section("comparisons", "Comparisons", _comparisons(summary)),
            Section("alerts", "Alerts", _alerts(summary), markdown="blocks"),
            Section("counted", "What was counted, and what was not", counted, "What was counted"),
            Section("promised", "What is promised, and what is not", promised, "What is promised"),
            Section("particulars", "Specification and stream", particulars, markdown="folded"),
            blocks.meaning_section(wording.monitoring_notes(summary), "What the numbers mean"),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _alerts_figure(summary: MonitoringSummary) -> blocks.KeyFigure:
    raised, comparisons = summary.alerts_raised, summary.comparisons
    now = sum(comparison.in_alert for comparison in comparisons)
    if not comparisons:
        about = "nothing was compared"
    elif not raised:
        about = f"in {plural(len(comparisons), 'comparison')}"
    elif len(comparisons) == 1:
        about = "in alert now" if now else "not in alert now"
    else:
        which = plural(now, "comparison is", "comparisons are") if now else "no comparison is"
        about = f"{which} in alert now"
    standing = "bad" if raised else _STANDINGS.get(summary.verdict.status, "")
    return blocks.KeyFigure("Alerts", count(raised) if raised else "none", (about,), standing)


def _worst_figure(summary: MonitoringSummary) -> tuple[blocks.KeyFigure, ...]:
    """Return the figure of the most alarming comparison; nothing without comparisons."""
    if not summary.comparisons:
        return ()
    worst = summary.comparisons[0]
    where = "" if len(summary.comparisons) == 1 else " where it is most alarming"
    about = f"at most {bound_text(wording.property_of(summary, worst))} is allowed"
    if summary.settings.window == "tumbling":
        name, standing = "Windows above", _STANDINGS["beyond" if worst.windows_above else "within"]
        value = f"{count(worst.windows_above)} of {count(worst.windows_judged)}"
        about += " in each"
    else:
        name, standing = "Bias", _STANDINGS.get(worst.standing, "")
        value = bias_text(worst.estimate)
        if worst.low is not None:
            about = f"by evidence {wording.bias_interval(worst)}; {about}"
    about += f"; {wording.comparison_title(worst)}"
    return (blocks.KeyFigure(f"{name}{where}", value, (about,), standing),)


def _trials_figure(stream: documents.StreamSummary) -> blocks.KeyFigure:
    about = f"from {plural(stream.events, 'event')}"
    if stream.time is not None and stream.first_time is not None:
        about += f", {wording.time_text(stream.first_time)} to {wording.time_text(stream.time)}"
    return blocks.KeyFigure("Decided trials", count(stream.decided), (about,))


def _comparisons(summary: MonitoringSummary) -> tuple[blocks.Block, ...]:
    """List all comparisons, and lay out the most alarming ones."""
    comparisons = summary.comparisons
    if not comparisons:
        return ()
    table = _comparisons_table(summary)
    listed: tuple[blocks.Block, ...] = (Only("markdown", (table,)),)
    if len(comparisons) > 1:
        about = f"{plural(len(comparisons), 'comparison')}, the most alarming one first"
        if len(comparisons) > _DRAWN:
            about += f"; the first {_DRAWN} are drawn below, all numbers are in the JSON result"
        listed = (Only("html", (Paragraph(f"{about}."),)), table)
    numbered = enumerate(comparisons[:_DRAWN], start=1)
    drawn = [_comparison(summary, comparison, number) for number, comparison in numbered]
    tables: list[blocks.Block] = []
    for comparison in comparisons[:_IN_MARKDOWN]:
        groups, last = _groups_table(summary, comparison), comparison.windows[-_ROWS_IN_MARKDOWN:]
        tables += [Paragraph((Strong(groups.label),)), groups]
        if last:
            title = f"The last {plural(len(last), 'window')}"
            tables.append(blocks.Details(title, (_windows_table(last),)))
    if (left := len(comparisons) - _IN_MARKDOWN) > 0:
        more = f"The groups of {plural(left, 'further comparison')} are in the JSON result."
        tables.append(Paragraph(more))
    return *listed, Only("html", tuple(drawn)), Only("markdown", tuple(tables))


def _if_any(
    items: Sequence[Item],
    heading: str,
    text: Callable[[Item], str],
    content: Literal["text", "number"] = "number",
) -> Listed[Item]:
    """Return a column that is left out if it would be empty."""
    shown = any(text(item) not in ("", NOTHING) for item in items)
    return Listed(heading, lambda item: text(item) or NOTHING, content, shown=shown)


def _comparisons_table(summary: MonitoringSummary) -> blocks.Table:
    """List all comparisons: where they stand, how large the bias is."""
    comparisons = summary.comparisons
    return listing(
        "All comparisons",
        comparisons,
        (
            Listed("Comparison", wording.comparison_title, "name"),
            Listed("Bias", lambda known: bias_text(known.estimate), "strong"),
            _if_any(comparisons, _INTERVAL, wording.bias_interval),
            Listed("Bound", lambda known: bound_text(wording.property_of(summary, known))),
            Listed("Trials", lambda known: count(known.trials)),
            Listed("Alerts", lambda known: count(known.alerts)),
        ),
        row=lambda known: {
            "emphasis": known.alerts > 0,
            "note": wording.standing_name(known, wording.property_of(summary, known)),
        },
        fold=plural(len(comparisons), "comparison"),
        open_rows=_OPEN_COMPARISONS,
    )


def _comparison(
    summary: MonitoringSummary, comparison: MonitoredComparison, number: int
) -> blocks.Article:
    """Lay out a comparison on a page: in words, drawn, and in numbers."""
    windows = comparison.windows
    figures = charts.windows_figure(summary, comparison), charts.course_figure(summary, comparison)
    parts: list[blocks.Block] = [
        Paragraph(_outcome(summary, comparison)),
        *(figure for figure in figures if figure is not None),
        _groups_table(summary, comparison, title=f"Groups{_COUNTED[summary.settings.window]}"),
    ]
    if windows:
        folded = f"{plural(len(windows), 'window')} with all numbers"
        if len(windows) > _ROWS:
            folded += f", the last {_ROWS} of them"
        parts.append(blocks.Details(folded, (_windows_table(windows[-_ROWS:]),)))
    where = wording.standing_name(comparison, wording.property_of(summary, comparison))
    return blocks.Article(
        f"comparison-{number}",
        capital(wording.comparison_title(comparison)),
        tuple(parts),
        status=blocks.Status(where, _STANDINGS.get(comparison.standing, "open")),
        plain=True,
    )


def _outcome(summary: MonitoringSummary, comparison: MonitoredComparison) -> blocks.Text:
    """Return in words how large the bias is, what is allowed, and how alerts come."""
    known, bias = wording.property_of(summary, comparison), bias_text(comparison.estimate)
    each = ""
    if summary.settings.window == "tumbling":
        each = " in each window"
        were = "was" if comparison.windows_above == 1 else "were"
        told: list[str | Strong] = [
            Strong(count(comparison.windows_above)),
            f" of {plural(comparison.windows_judged, 'window')} {were} above the bound; over "
            f"all trials so far the bias is estimated at {bias}",
        ]
    else:
        last = " of the last trials" if summary.settings.window == "sliding" else ""
        told = [f"The bias{last} is estimated at ", Strong(bias)]
    if comparison.low is not None:
        told.append(f"; by evidence it lies between {wording.bias_interval(comparison, ' and ')}")
    first = comparison.first_alert
    raised = "" if first is None else f", the first one {wording.alert_place(first)}"
    allowed = f". At most {bound_text(known)} is allowed{each}. "
    return *told, f"{allowed}Alerts come by {_RULES[known.rule]}{raised}."


def _groups_table(
    summary: MonitoringSummary, comparison: MonitoredComparison, title: str = ""
) -> blocks.Table:
    """List the groups of a comparison: counts, rates, estimates, intervals."""
    prior = wording.estimates_differ(summary)
    custom = wording.property_of(summary, comparison).property == "custom"
    ends: dict[str | None, str] = {}
    if comparison.highest != comparison.lowest:
        ends = {comparison.highest: "highest", comparison.lowest: "lowest"}
    return listing(
        f"Groups{_COUNTED[summary.settings.window]}: {wording.comparison_title(comparison)}",
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
            _if_any(comparison.groups, f"{_INTERVAL} of this rate alone", wording.rate_interval),
        ),
        row=lambda group: {"note": ends.get(group.name, "")},
        title=title,
    )


def _windows_table(windows: list[documents.WindowSummary]) -> blocks.Table:
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


def _alerts(summary: MonitoringSummary) -> tuple[blocks.Block, ...]:
    """List the alerts of this run, on a page more of them than in Markdown."""
    alerts, about = summary.alerts, "In their order."
    if not alerts:
        return ()
    if summary.stream.resumed:
        saved = "the monitor went on from a state that was saved"
        about = f"Of this run; {saved}, and earlier alerts are not listed."
    listed, all_of_them = alerts[:_ROWS], len(alerts) + summary.alerts_left_out
    raised = sum(alert.alert == "raised" for alert in listed)
    cleared = f" and {count(len(listed) - raised)} cleared" if raised < len(listed) else ""
    table = listing(
        "Alerts",
        listed,
        (
            Listed("Comparison", wording.comparison_title, "name"),
            Listed("After trials", lambda alert: count(alert.trials)),
            _if_any(listed, "Window", _window),
            _if_any(listed, "Time", lambda alert: wording.time_text(alert.time), "text"),
            Listed("Bias", lambda alert: bias_text(alert.bias), "strong"),
            _if_any(listed, _INTERVAL, wording.bias_interval),
            Listed("Highest", lambda alert: alert.highest, "text"),
            Listed("Lowest", lambda alert: alert.lowest, "text"),
            Listed("Id", lambda alert: alert.id[:_ID_SHOWN] or NOTHING, "text"),
        ),
        row=lambda alert: {"emphasis": alert.alert == "raised", "note": alert.alert},
        fold=f"{plural(raised, 'alert')} raised{cleared}",
        open_rows=_OPEN_ALERTS,
        most=_ROWS_IN_MARKDOWN,
    )

    def not_listed(most: int) -> str:
        left = all_of_them - len(table.rows[:most])
        return f"{count(left)} more are not listed." if left else ""

    title, rest = f"Alerts of this run: {count(all_of_them)}", not_listed(_ROWS_IN_MARKDOWN)
    return (
        Only("html", (Paragraph(f"{about} {not_listed(_ROWS)}".strip()), table)),
        Only("markdown", (blocks.Details(title, (table, Paragraph(rest))),)),
    )


def _window(alert: documents.AlertSummary) -> str:
    return NOTHING if alert.window is None else count(alert.window)


def _stream(stream: documents.StreamSummary) -> tuple[blocks.Block, ...]:
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


def _particulars(summary: MonitoringSummary) -> tuple[blocks.Facts, ...]:
    """List what the monitor was told to do, and when it ran."""
    asked, stream = summary.settings, summary.stream
    prior = "the rate of all groups" if asked.prior == "overall" else exact_number(asked.prior)
    believed = f"{prior}, as {exact_number(asked.strength)} trials"
    due = wording.duration_words(asked.deadline)
    dropped = asked.without_label == "drop"
    no_label = "the trial is dropped" if dropped else f"the label is {asked.without_label}"
    counted = "at the deadline" if asked.count == "deadline" else "once the label is known"
    evidence = any(known.rule == "evidence" for known in summary.properties)
    pairs = (
        ("Name", summary.name),
        ("Groups", "as they come" if asked.groups is None else series(asked.groups)),
        ("Other groups", "" if asked.groups is None else _REFUSE[asked.unknown]),
        ("Other events", _REFUSE[asked.others]),
        ("Compared", wording.window_text(asked)),
        ("Deadline", due),
        ("Without a label by then", no_label if due else ""),
        ("Counted", counted if due else ""),
        ("An event may be late by", wording.duration_words(asked.lateness)),
        ("And ahead by", wording.duration_words(asked.max_skew)),
        ("Prior belief", believed if wording.estimates_differ(summary) else "none"),
        ("Confidence", share(asked.confidence) if evidence else ""),
        ("Specification (sha256)", summary.digest),
    )
    came = (
        ("Written", moment(summary.created)),
        ("Unit of time", wording.unit_text(summary)),
        ("First event", wording.time_text(stream.first_time)),
        ("Last event", wording.time_text(stream.time)),
        ("Went on from a saved state", "yes" if stream.resumed else "no"),
        *version_facts(summary),
    )
    properties = map(_property, summary.properties)
    return *properties, blocks.Facts("Monitor", pairs), blocks.Facts("Stream", came)


def _property(known: documents.PropertySummary) -> blocks.Facts:
    judged = "after every trial" if known.check == "every" else "at the end of each window"
    pairs = (
        ("Numerator of a rate counts", events_text(known.numerator)),
        ("Denominator counts", events_text(known.denominator)),
        ("Bias", "ratio of rates" if known.measure == "ratio" else "difference of rates"),
        ("Bound", bound_text(known)),
        ("Compared within", series(known.condition_on)),
        ("A group without a rate", EMPTY_GROUPS[known.empty_group]),
        ("Alerts by", _RULES[known.rule]),
        ("Judged", judged),
    )
    return blocks.Facts(f"Property: {wording.property_title(known.name)}", pairs)
