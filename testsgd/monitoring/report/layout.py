"""The layout of a monitor's report: its sections, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from testsgd.fairness.wording import EMPTY_GROUPS, bias_text, bound_text, events_text
from testsgd.monitoring.report import charts, wording
from testsgd.monitoring.report import summary as documents
from testsgd.monitoring.report.summary import MonitoredComparison, MonitoringSummary
from testsgd.report import blocks
from testsgd.report.blocks import KeyFigure, Paragraph, Section, Standing
from testsgd.report.formatting import (
    NOTHING,
    capital,
    count,
    moment,
    percent,
    plural,
    sentence,
    series,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import origin, version_facts

# The number of comparisons, the most alarming ones, that are laid out one by one.
_DRAWN = 12
# The number of alerts, and of windows, that have a row.
_ROWS = 200
# Longer tables are folded away on a page.
_OPEN_COMPARISONS = 24
_OPEN_ALERTS = 12
# The number of characters of an alert's id that are shown.
_ID_SHOWN = 8
# Of verdicts and of comparisons.
_STANDINGS: dict[str, Standing] = {"alert_raised": "bad", "beyond": "bad", "within": "good"}
_COUNTED = {"tumbling": ", all trials so far", "sliding": ", the last trials", "all": ""}
_RULES = {"evidence": "evidence", "estimate": "the estimate"}
_REFUSE = {"refuse": "refused", "pass": "passed over", "ignore": "ignored"}
_INTERVAL = "Confidence interval (anytime-valid)"
Item = TypeVar("Item")


def monitoring_layout(summary: MonitoringSummary) -> blocks.Document:
    """Return the report of a monitor as blocks; nothing is computed again."""
    verdict = summary.verdict
    counted = _stream(summary)
    particulars = _particulars(summary)
    promised = (blocks.Notes(wording.promises(summary), "cards"),)
    status = wording.STATUS_NAMES[verdict.status]
    return blocks.Document(
        what="Monitor",
        subject=summary.name,
        status=blocks.Status(status, _STANDINGS.get(verdict.status, "")),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        opening=(blocks.KeyFigures(_key_figures(summary)),),
        sections=(
            Section("comparisons", "Comparisons", _comparisons(summary)),
            Section("alerts", "Alerts", _alerts(summary), markdown="folded"),
            Section("counted", "What was counted, and what was not", counted, "What was counted"),
            Section("promised", "What is promised, and what is not", promised, "What is promised"),
            Section(
                "particulars",
                "Specification and stream",
                particulars,
                markdown="folded",
                folded=True,
            ),
            blocks.meaning_section(wording.monitoring_notes(summary), "What the numbers mean"),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _key_figures(summary: MonitoringSummary) -> tuple[KeyFigure, ...]:
    """Return the figures of the alerts, of the most alarming comparison and of the trials."""
    raised = summary.alerts_raised
    comparisons = summary.comparisons
    stream = summary.stream
    in_alert = sum(comparison.in_alert for comparison in comparisons)
    standing = "bad" if raised else _STANDINGS.get(summary.verdict.status, "")
    about = f"{count(in_alert)} of {plural(len(comparisons), 'comparison')} in alert now"
    figures = [KeyFigure("Alerts", count(raised) if raised else "none", (about,), standing)]
    for worst in comparisons[:1]:
        known = wording.property_of(summary, worst)
        where = wording.comparison_title(worst)
        name = "Bias" if len(comparisons) == 1 else "Bias where it is most alarming"
        about = f"{where}; at most {bound_text(known)} is allowed"
        if worst.low is not None:
            about = f"by evidence {wording.bias_interval(worst)}; {about}"
        if worst.windows_judged:
            windows = plural(worst.windows_judged, "window")
            about += f" in each window; {count(worst.windows_above)} of {windows} above"
        standing = _STANDINGS.get("beyond" if worst.windows_above else worst.standing, "")
        figures.append(KeyFigure(name, bias_text(worst.estimate), (about,), standing))
    about = f"from {plural(stream.events, 'event')}"
    if stream.time is not None and stream.first_time is not None:
        about += f", {wording.time_text(stream.first_time)} to {wording.time_text(stream.time)}"
    return *figures, KeyFigure("Decided trials", count(stream.decided), (about,))


def _comparisons(summary: MonitoringSummary) -> tuple[blocks.Block, ...]:
    """List all comparisons, and lay out the most alarming ones."""
    comparisons = summary.comparisons
    if not comparisons:
        return ()
    about = "The most alarming one comes first." if len(comparisons) > 1 else ""
    if len(comparisons) > _DRAWN:
        about += f" The first {_DRAWN} have their groups below; all numbers are in the JSON result."
    numbered = enumerate(comparisons[:_DRAWN], start=1)
    articles = (_comparison(summary, comparison, number) for number, comparison in numbered)
    return *((Paragraph(about),) if about else ()), _comparisons_table(summary), *articles


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
    """Lay out a comparison: in words, drawn, and in numbers."""
    known = wording.property_of(summary, comparison)
    windows = comparison.windows
    figures = charts.windows_figure(summary, comparison), charts.course_figure(summary, comparison)
    first = comparison.first_alert
    raised = "" if first is None else f", the first one {wording.alert_place(first)}"
    text = f"Alerts come by {_RULES[known.rule]}{raised}."
    if len(summary.comparisons) > 1:  # what the headline says of a single one
        text = f"{capital(wording.bias_sentence(summary, comparison))}. {text}"
    folded = f"{plural(len(windows), 'window')} with all numbers"
    if len(windows) > _ROWS:
        folded += f", the last {_ROWS} of them"
    return blocks.Article(
        f"comparison-{number}",
        capital(wording.comparison_title(comparison)),
        (
            Paragraph(text),
            *(figure for figure in figures if figure is not None),
            _groups_table(summary, comparison),
            *((blocks.Details(folded, (_windows_table(windows[-_ROWS:]),)),) if windows else ()),
        ),
        status=blocks.Status(
            wording.standing_name(comparison, known), _STANDINGS.get(comparison.standing, "open")
        ),
        plain=True,
    )


def _groups_table(summary: MonitoringSummary, comparison: MonitoredComparison) -> blocks.Table:
    """List the groups of a comparison: counts, rates, estimates, intervals."""
    prior = wording.has_prior(summary)
    custom = wording.property_of(summary, comparison).property == "custom"
    ends: dict[str | None, str] = {}
    if comparison.highest != comparison.lowest:
        ends = {comparison.highest: "highest", comparison.lowest: "lowest"}
    title = f"Groups{_COUNTED[summary.settings.window]}"
    return listing(
        f"{title}: {wording.comparison_title(comparison)}",
        comparison.groups,
        (
            Listed("Group", lambda group: group.name, "name"),
            Listed("Rate", lambda group: percent(group.rate), "number" if prior else "strong"),
            Listed("Estimate", lambda group: percent(group.estimate), "strong", shown=prior),
            _if_any(comparison.groups, f"{_INTERVAL} of this rate alone", wording.rate_interval),
            Listed("Counted", lambda group: count(group.denominator)),
            Listed(
                "In the numerator" if custom else "Of these favourable",
                lambda group: count(group.numerator),
            ),
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
    """List the alerts of this run."""
    listed, about = summary.alerts[:_ROWS], "In their order."
    if not listed:
        return ()
    if summary.stream.resumed:
        saved = "the monitor went on from a state that was saved"
        about = f"Of this run; {saved}, and earlier alerts are not listed."
    if left := len(summary.alerts) + summary.alerts_left_out - len(listed):
        about += f" {count(left)} more are not listed."
    raised = sum(alert.alert == "raised" for alert in listed)
    cleared = f" and {count(len(listed) - raised)} cleared" if raised < len(listed) else ""
    table = listing(
        "Alerts",
        listed,
        (
            Listed("Comparison", wording.comparison_title, "name"),
            Listed("After trials", lambda alert: count(alert.trials)),
            _if_any(
                listed, "Window", lambda alert: "" if alert.window is None else count(alert.window)
            ),
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
    )
    return Paragraph(about), table


def _stream(summary: MonitoringSummary) -> tuple[blocks.Block, ...]:
    """List the counts of events and trials that are not 0."""
    stream = summary.stream
    happened = wording.what_happened(summary)
    table = listing(
        "Events and trials",
        (
            ("Events", stream.events, "taken, one by one"),
            ("Decided trials", stream.decided, "people whose group and decision are known"),
            *happened,
        ),
        (
            Listed("What", lambda line: line[0], "name"),
            Listed("Number", lambda line: count(line[1]), "strong"),
            Listed("What it means", lambda line: sentence(line[2]), "text"),
        ),
    )
    if happened:
        return (table,)
    return table, Paragraph("Nothing was ignored, refused, late or dropped.")


def _particulars(summary: MonitoringSummary) -> tuple[blocks.Facts, ...]:
    """List the settings of the monitor, its properties, and when it ran."""
    settings = summary.settings
    stream = summary.stream
    due = wording.duration(settings.deadline)
    decided_by = wording.duration(settings.decision_deadline)
    dropped = settings.without_label == "drop"
    no_label = "the trial is dropped" if dropped else f"the label is {settings.without_label}"
    counted = "at the deadline" if settings.count == "deadline" else "once the label is known"
    evidence = any(known.rule == "evidence" for known in summary.properties)
    pairs = (
        ("Name", summary.name),
        ("Groups", "as they come" if settings.groups is None else series(settings.groups)),
        *_conditions(settings),
        ("Other groups", "" if settings.groups is None else _REFUSE[settings.unknown]),
        ("Other events", _REFUSE[settings.others]),
        ("Compared", wording.window_text(settings)),
        ("Deadline", due),
        ("Without a label by then", no_label if due else ""),
        ("Counted", counted if due else ""),
        ("Deadline of a decision", decided_by),
        (
            "Without a decision by then",
            f"the trial is {settings.without_decision}" * bool(decided_by),
        ),
        ("An event may be late by", wording.duration(settings.lateness)),
        ("And ahead by", wording.duration(settings.max_skew)),
        ("Prior belief", wording.prior_text(summary) or "none"),
        ("Confidence", share(settings.confidence) if evidence else ""),
        ("Specification (sha256)", summary.digest),
    )
    run = (
        ("Written", moment(summary.created)),
        ("Unit of time", wording.unit_text(summary)),
        ("First event", wording.time_text(stream.first_time)),
        ("Last event", wording.time_text(stream.time)),
        ("Went on from a saved state", "yes" if stream.resumed else "no"),
        *version_facts(summary),
    )
    properties = map(_property, summary.properties)
    return *properties, blocks.Facts("Monitor", pairs), blocks.Facts("Stream", run)


def _conditions(settings: documents.MonitorSettings) -> list[tuple[str, str]]:
    """List the expressions that say who is in which group, and what is decided."""
    named = zip(settings.groups or [], settings.groups_when or [], strict=False)
    return [
        *((f"In “{name}” if", when) for name, when in named),
        ("Favourable if", settings.decision_when or ""),
        ("Label positive if", settings.label_when or ""),
    ]


def _property(known: documents.PropertySummary) -> blocks.Facts:
    judged = "after every trial" if known.check == "every" else "at the end of each window"
    if known.check == "period":
        judged = f"at the end of every {wording.duration(known.period)} since the first event"
    pairs = (
        ("Numerator of a rate counts", events_text(known.numerator)),
        ("Denominator counts", events_text(known.denominator)),
        ("Bias", "ratio of rates" if known.measure == "ratio" else "difference of rates"),
        ("Bound", bound_text(known)),
        ("Compared within", series(known.condition_on)),
        ("A group without a rate", EMPTY_GROUPS[known.empty_group]),
        ("Alerts by", _RULES[known.rule]),
        ("Favourable only within", wording.duration(known.favourable_within)),
        ("Judged", judged),
        *wording.prior_lines(known),
    )
    return blocks.Facts(f"Property: {wording.property_title(known.name)}", pairs)
