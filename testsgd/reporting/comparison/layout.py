"""How a comparison is laid out as a report."""

from __future__ import annotations

from testsgd.report.blocks import (
    Article,
    Block,
    Bullets,
    Column,
    Document,
    Figure,
    Only,
    Paragraph,
    Row,
    Section,
    Strong,
    Table,
    Text,
    meaning_section,
)
from testsgd.report.charts import Mark, StripRow, Strips
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    percent,
    plural,
    points,
    seconds,
    sentence,
    shorten,
    signed,
    tick_points,
)
from testsgd.report.scales import linear_scale
from testsgd.reporting.comparison.notes import comparison_notes
from testsgd.reporting.comparison.particulars import comparison_particulars
from testsgd.reporting.comparison.phrases import (
    AUDIT,
    change_sentences,
    figure_sentences,
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
from testsgd.reporting.document_kind import origin
from testsgd.reporting.vocabulary import words_for

# Longer texts are whole further below.
_TEXT = 160
# Findings that are less near are not named.
_NEARLY_NOTHING = 0.05
# Findings of each method in the drawing.
_DRAWN = 3
_LOWER = "the group with the lower rate"


def layout(summary: ComparisonSummary) -> Document:
    """Lay a comparison out as a report; nothing is computed again."""
    data, label = summary.data, summary.data.label
    others = words_for(data.kind).others
    meaning = f", that is, {label.meaning}" if label.meaning else ""
    about = (
        "Every rate below is the rate of one prediction of the model: predicted ",
        Strong(f"“{label.favourable}”"),
        f" in column {label.column}{meaning}. Of all {plural(data.rows, 'row')} "
        f"{percent(summary.overall_rate)} get it. A difference is the rate in a group minus the "
        f"rate of {others}.",
    )
    return Document(
        what="Methods compared",
        subject=f"{summary.model.name} on {data.title or data.name}",
        headline=summary.verdict.headline,
        sentences=tuple(summary.verdict.sentences),
        opening=(Only("html", (Paragraph(about, "definition"),)),),
        sections=(
            Section("all", "All methods", _all_methods(summary), markdown="blocks"),
            Section("common-scale", "On one scale", _drawn(summary, others)),
            Section("common", "Findings in common", _in_common(summary)),
            Section(
                "each",
                "Each method",
                tuple(_method(method) for method in summary.methods),
                markdown="blocks",
            ),
            Section(
                "particulars",
                "Data, model and settings",
                comparison_particulars(summary),
                contents="Data, model, settings",
                markdown="folded",
            ),
            meaning_section(comparison_notes(summary)),
        ),
        **origin(summary),
        closing="The drawing is in the HTML report.",
    )


def _all_methods(summary: ComparisonSummary) -> tuple[Block, ...]:
    about = (
        "Below each method is its best finding by its own measure. Difference and share of rows "
        "are those of this group, by the model's decisions on the rows as they are."
    )
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
    rows = tuple(_method_row(method) for method in summary.methods)
    return Only("html", (Paragraph(about),)), Table("Methods compared", columns, rows)


def _method_row(method: MethodSummary) -> Row:
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


def _drawn(summary: ComparisonSummary, others: str) -> tuple[Block, ...]:
    """Draw the first findings of each method by their difference; of a pair both groups."""
    sides = [
        (method.title, [side for finding in method.findings[:_DRAWN] for side in _sides(finding)])
        for method in summary.methods
    ]
    parts = tuple(
        (
            title,
            tuple(
                StripRow(
                    text,
                    signed(difference),
                    title=points(difference),
                    marks=(Mark(difference),),
                    side="less" if difference < 0 else "more",
                    detail=f"{percent(share)} of the rows",
                )
                for text, share, difference in rows
            ),
        )
        for title, rows in sides
        if rows
    )
    if not parts:
        return ()
    values = [difference for _, rows in sides for *_, difference in rows]
    scale = linear_scale(min([-0.01, *values]), max([0.01, *values]), count=6, write=tick_points)
    about = (
        "The first findings of each method by the same measure: how much more or less often the "
        f"model decides “{summary.data.label.favourable}” for the group than for {others}. In "
        "grey is the group's share of the rows."
    )
    figure = Figure(
        "First findings of each method, differences in percentage points",
        (Strips(parts, scale),),
        "Difference in percentage points. Orange, to the left: less often. Blue, to the right: "
        "more often.",
    )
    return (Only("html", (Paragraph(about), figure)),)


def _sides(finding: ComparedFindingSummary) -> list[tuple[str, float, float]]:
    sides = [(finding.text, finding.side), (_LOWER, finding.other_side)]
    return [
        (text, side.share, side.difference)
        for text, side in sides
        if side is not None and side.difference is not None
    ]


def _in_common(summary: ComparisonSummary) -> tuple[Block, ...]:
    """Count for each pair of methods how many findings of the one the other has too."""
    grouped = [
        method
        for method in summary.methods
        if any(finding.side is not None for finding in method.findings)
    ]
    if len(grouped) < 2:
        return ()
    near = summary.settings.near
    about = (
        "How many findings of the method in a line have one of the other method near them: at "
        f"least {round(100 * near)}% of the rows that are in either group are in both."
    )
    columns = (
        Column("Findings of", "name"),
        *(Column(f"also of {method.title}", "number") for method in grouped),
        Column("of no other", "strong"),
    )
    rows = tuple(
        Row(
            (
                method.title,
                *(_also(method, other, near) for other in grouped),
                f"{count(method.only)} of {count(method.compared)}",
            ),
            emphasis=method.method == AUDIT,
        )
        for method in grouped
    )
    return Only("html", (Paragraph(about),)), Table("Findings in common", columns, rows)


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


def _method(method: MethodSummary) -> Article:
    """Lay out what a method found: its first findings, each measured as all are."""
    table, blocks = _findings(method), list[Block]()
    if method.available and method.measure:
        blocks.append(Paragraph(sentence(method.measure)))
    if method.note:
        blocks.append(Paragraph(sentence(method.note), "soft"))
    facts: tuple[Text, ...] = (
        *change_sentences(method),
        *((Strong(f"{name}."), f" {told}") for name, told in figure_sentences(method)),
    )
    left = method.distinct - len(method.findings)
    if table.rows:
        blocks.append(table)
        if left > 0:
            more = f"{plural(left, 'more finding')} took part in the comparison and "
            more += f"{'is' if left == 1 else 'are'} not listed."
            blocks.append(Only("html", (Paragraph(more, "soft"),)))
    elif method.available and not facts:
        blocks.append(Only("html", (Paragraph("It found nothing."),)))
    if facts:
        blocks.append(Bullets(facts, "lines"))
    return Article(
        f"method-{method.method}",
        method.title,
        tuple(blocks),
        fold=f"What {method.title} found",
        missing=not method.available,
    )


def _findings(method: MethodSummary) -> Table:
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
            rows.append(Row(("", _LOWER, "", *_side(finding.other_side), "", "")))
    return Table(f"Findings of {method.title}", columns, tuple(rows))


def _side(side: SideSummary) -> tuple[str, str, str, str]:
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
