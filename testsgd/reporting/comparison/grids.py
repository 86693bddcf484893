"""The tables of a comparison's report: the same cells in every view."""

from __future__ import annotations

from testsgd.reporting.comparison.phrases import (
    AUDIT,
    nearness,
    own_value,
    speed,
)
from testsgd.reporting.comparison.summary import (
    ComparedFindingSummary,
    ComparisonSummary,
    MethodSummary,
    SideSummary,
)
from testsgd.reporting.grid import Column, Grid, Row
from testsgd.reporting.wording import NOTHING, count, interval, percent, seconds, shorten, signed

# Longer texts are whole further below.
_TEXT = 160

# Findings that are less near are not named.
_NEARLY_NOTHING = 0.05


def methods_grid(summary: ComparisonSummary) -> Grid:
    """List the methods: the best finding of each by its own measure, and what it took."""
    columns = (
        Column("Method", "name"),
        Column("Its own measure", "number"),
        Column("Difference", "strong"),
        Column("Share of rows", "number"),
        Column("Found by it only", "number"),
        Column("Time", "number"),
        Column("Model queries", "number"),
        Column("Groups examined", "number"),
        Column("Groups a second", "number"),
    )
    return Grid("Methods compared", columns, tuple(_method(method) for method in summary.methods))


def _method(method: MethodSummary) -> Row:
    if not method.available:
        return Row((method.title, "not run", *[NOTHING] * 7), about=method.note)
    best = method.findings[0] if method.findings else None
    side = best.side if best else None
    return Row(
        (
            method.title,
            NOTHING if best is None else own_value(best.value),
            NOTHING if side is None else signed(side.difference),
            NOTHING if side is None else percent(side.share),
            f"{count(method.only)} of {count(method.compared)}" if method.compared else NOTHING,
            seconds(method.seconds),
            count(method.queries),
            NOTHING if method.groups is None else count(method.groups),
            speed(method.groups_per_second),
        ),
        emphasis=method.method == AUDIT,
        about="" if best is None else shorten(best.text, _TEXT),
    )


def findings_grid(method: MethodSummary) -> Grid:
    """List a method's first findings, each measured as all are; of a pair both groups."""
    own = method.method == AUDIT
    columns = (
        Column("", "number"),
        Column("Group", "name"),
        Column("Score" if own else "Its own measure", "number"),
        *((Column("Interval, points", "number"),) if own else ()),
        Column("Share of rows", "number"),
        Column("Rate in group", "number"),
        Column("Rate outside", "number"),
        Column("Difference", "strong"),
        Column("Nearest finding of others"),
        *(() if own else (Column("In the audit"),)),
    )
    rows = []
    for finding in method.findings:
        if finding.side is None:
            continue
        rows.append(
            Row(
                (
                    count(finding.place),
                    finding.text,
                    own_value(finding.value),
                    *((_interval(finding),) if own else ()),
                    *_side(finding.side),
                    _nearest(finding),
                    *(() if own else (_in_audit(finding),)),
                ),
                note="only here" if finding.only else "",
            )
        )
        if finding.other_side is not None:
            lower = ("", "the group with the lower rate", "", *_side(finding.other_side), "", "")
            rows.append(Row(lower))
    return Grid(f"Findings of {method.title}", columns, tuple(rows))


def _side(side: SideSummary | None) -> tuple[str, str, str, str]:
    if side is None:
        return NOTHING, NOTHING, NOTHING, NOTHING
    return (
        percent(side.share),
        percent(side.rate_in),
        percent(side.rate_out),
        signed(side.difference),
    )


def _interval(finding: ComparedFindingSummary) -> str:
    return NOTHING if finding.interval is None else interval(finding.interval)


def _nearest(finding: ComparedFindingSummary) -> str:
    """Name the nearest finding of all, with the method that has it."""
    known = [near for near in finding.nearest if near.place is not None]
    if finding.side is None or not known:
        return NOTHING
    best = max(known, key=lambda near: near.nearness)
    if best.nearness < _NEARLY_NOTHING:
        return NOTHING
    return f"{best.method} {best.place}: {nearness(best.nearness)}"


def _in_audit(finding: ComparedFindingSummary) -> str:
    known = finding.in_audit
    if known is None or known.nearness < _NEARLY_NOTHING:
        return NOTHING
    rank = "not ranked" if known.rank is None else f"rank {count(known.rank)}"
    return f"{rank}: {nearness(known.nearness)}"


def overlap_grid(summary: ComparisonSummary) -> Grid:
    """Count for each pair of methods how many findings of the one the other has too."""
    grouped = [
        method
        for method in summary.methods
        if any(finding.side is not None for finding in method.findings)
    ]
    columns = (
        Column("Findings of", "name"),
        *(Column(f"also of {method.title}", "number") for method in grouped),
        Column("of no other", "strong"),
    )
    rows = tuple(
        Row(
            (
                method.title,
                *(_also(method, other, summary.settings.near) for other in grouped),
                f"{count(method.only)} of {count(method.compared)}",
            ),
            emphasis=method.method == AUDIT,
        )
        for method in grouped
    )
    return Grid("Findings in common", columns, rows if len(grouped) > 1 else ())


def _also(method: MethodSummary, other: MethodSummary, near: float) -> str:
    if method.method == other.method:
        return NOTHING
    shared = sum(
        one.nearness >= near
        for finding in method.findings
        for one in finding.nearest
        if one.method == other.method
    )
    return count(shared)
