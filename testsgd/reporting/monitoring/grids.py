"""The tables of a monitor's reports: the same cells in every view."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.report.formatting import NOTHING, count, number, percent
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.grid import Column, Grid, Row
from testsgd.reporting.monitoring.phrases import (
    comparison_title,
    ends_text,
    property_of,
    rate_interval,
    standing_name,
    threshold_of,
    time_text,
)
from testsgd.reporting.monitoring.summary import (
    AlertSummary,
    MonitoredComparison,
    MonitoringSummary,
    PropertySummary,
    StreamSummary,
    WindowSummary,
)

# So much of an alert's id tells it from the others of a report.
_ID_SHOWN = 8


def comparisons_grid(summary: MonitoringSummary) -> Grid:
    """List all comparisons: where they stand, how large the bias is."""
    evidence = any(one.low is not None for one in summary.comparisons)
    columns = (
        Column("Comparison", "name"),
        Column("Bias", "strong"),
        *((Column("Interval", "number"),) if evidence else ()),
        Column("Threshold", "number"),
        Column("Trials", "number"),
        Column("Alerts", "number"),
    )
    rows = []
    for one in summary.comparisons:
        known = property_of(summary, one)
        rows.append(
            Row(
                (
                    comparison_title(one),
                    bias_text(one.estimate),
                    *((ends_text(one.low, one.high),) if evidence else ()),
                    threshold_of(known),
                    count(one.trials),
                    count(one.alerts),
                ),
                emphasis=one.alerts > 0,
                note=standing_name(one, known),
            )
        )
    return Grid("All comparisons", columns, tuple(rows))


def groups_grid(
    one: MonitoredComparison, known: PropertySummary, *, prior: bool, window: str = "all"
) -> Grid:
    """List the groups of a comparison: counts, rates, estimates, intervals.

    Parameters
    ----------
    one : MonitoredComparison
        The comparison.
    known : PropertySummary
        Its property.
    prior : bool
        Whether estimates differ from the rates.
    window : {"all", "tumbling", "sliding"}
        Which trials are compared; with tumbling windows the table is about all trials so far.

    Returns
    -------
    Grid
    """
    intervals = any(group.low is not None for group in one.groups)
    columns = (
        Column("Group", "name"),
        Column("Counted", "number"),
        Column("Of these favourable" if _favourable(known) else "In the numerator", "number"),
        Column("Rate", "number" if prior else "strong"),
        *((Column("Estimate", "strong"),) if prior else ()),
        *((Column("Interval of this rate alone", "number"),) if intervals else ()),
    )
    rows = tuple(
        Row(
            (
                group.name,
                count(group.denominator),
                count(group.numerator),
                percent(group.rate),
                *((percent(group.estimate),) if prior else ()),
                *((rate_interval(group.low, group.high),) if intervals else ()),
            ),
            note=_end(one, group.name),
        )
        for group in one.groups
    )
    return Grid(f"Groups{part_counted(window)}: {comparison_title(one)}", columns, rows)


def part_counted(window: str) -> str:
    """Say which trials a table of groups is about, where that is not clear."""
    return {"tumbling": ", all trials so far", "sliding": ", the last trials"}.get(window, "")


def _end(one: MonitoredComparison, name: str) -> str:
    if one.highest == one.lowest:
        return ""
    return {one.highest: "highest", one.lowest: "lowest"}.get(name, "")


def _favourable(known: PropertySummary) -> bool:
    return known.property != "custom"


def windows_grid(windows: Sequence[WindowSummary]) -> Grid:
    """List windows that were judged."""
    prior = any(one.bias != one.estimate for one in windows)
    columns = (
        Column("Window", "name"),
        Column("Trials", "number"),
        *((Column("Bias as observed", "number"),) if prior else ()),
        Column("Bias", "strong"),
        Column("Above the threshold"),
    )
    rows = tuple(
        Row(
            (
                count(one.window),
                count(one.trials),
                *((bias_text(one.bias),) if prior else ()),
                bias_text(one.estimate),
                "yes" if one.above else "",
            ),
            emphasis=one.above,
        )
        for one in windows
    )
    return Grid("Windows", columns, rows)


def alerts_grid(alerts: Sequence[AlertSummary]) -> Grid:
    """List alerts, with those cleared."""
    windows = any(one.window is not None for one in alerts)
    times = any(one.time is not None for one in alerts)
    intervals = any(one.low is not None for one in alerts)
    columns = (
        Column("Comparison", "name"),
        Column("After trials", "number"),
        *((Column("Window", "number"),) if windows else ()),
        *((Column("Time"),) if times else ()),
        Column("Bias", "strong"),
        *((Column("Interval", "number"),) if intervals else ()),
        Column("Highest"),
        Column("Lowest"),
        Column("Id"),
    )
    rows = tuple(
        Row(
            (
                comparison_title(one),
                count(one.trials),
                *((NOTHING if one.window is None else count(one.window),) if windows else ()),
                *((time_text(one.time) or NOTHING,) if times else ()),
                bias_text(one.bias),
                *((ends_text(one.low, one.high),) if intervals else ()),
                one.highest,
                one.lowest,
                one.id[:_ID_SHOWN] or NOTHING,
            ),
            emphasis=one.alert == "raised",
            note=one.alert,
        )
        for one in alerts
    )
    return Grid("Alerts", columns, rows)


def stream_grid(stream: StreamSummary) -> Grid:
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
        ("Events in another unit of time", stream.dead_unit, "Dead letters; not counted."),
        ("Events too far ahead", stream.dead_ahead, "Dead letters: ahead of the clock, or of the "
         "other events; not counted, and time did not move."),
        ("Events too late", stream.dead_late, "Dead letters: they came after later ones; not "
         "counted."),
        ("Events that did not fit", stream.dead_wrong, "Dead letters: they waited, and were wrong "
         "when others had confirmed their time; not counted."),
        ("Events that wait", stream.waiting, "Until others confirm their time; not counted."),
        ("Dropped trials", stream.dropped, "Their deadline passed before all was known; not "
         "counted."),
    )  # fmt: skip
    rows = [(*one,) for one in always] + [one for one in perhaps if one[1]]
    columns = (Column("What", "name"), Column("Number", "strong"), Column("What it means"))
    return Grid(
        "Events and trials",
        columns,
        tuple(Row((name, count(amount), meaning)) for name, amount, meaning in rows),
    )


def prior_counts(summary: MonitoringSummary) -> bool:
    """Say whether estimates differ from observed rates."""
    return summary.settings.strength != number(0)
