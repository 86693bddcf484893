"""How a comparison is laid out as a report."""

from __future__ import annotations

from testsgd.auditing.report.provenance import data_facts, model_facts
from testsgd.auditing.report.vocabulary import words_for
from testsgd.baselines.registry import BASELINES
from testsgd.comparison.outcome import ComparedFindingSummary, MethodSummary, Side
from testsgd.comparison.report import verdict
from testsgd.comparison.report.summary import ComparisonSummary
from testsgd.report.blocks import (
    Article,
    Block,
    Bullets,
    Column,
    Document,
    Facts,
    Figure,
    Note,
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
    moment,
    number,
    percent,
    plural,
    points,
    seconds,
    sentence,
    share,
    shorten,
    signed,
    tick_points,
)
from testsgd.report.scales import linear_scale
from testsgd.report.summaries import origin, time_facts, version_facts

_ABOUT_AUDIT = (
    "All rule sets over the sensitive features that hold for enough rows; each group is compared "
    "with everybody else, over the rows and small changes of what is not sensitive."
)


def comparison_notes(summary: ComparisonSummary) -> tuple[Note, ...]:
    """Explain the numbers of a comparison, in the order in which a reader needs them."""
    label = summary.data.label.favourable
    settings = summary.settings
    near = verdict.similarity(settings.matching_similarity)
    copies = verdict.similarity(settings.duplicate_similarity)
    return (
        Note(
            "One yardstick",
            f"Each method has a measure of its own, and these do not compare. So for every group "
            f"that a method names, the report counts how often the model decides “{label}” in the "
            "group and outside, on the rows as they are. The difference is the first rate minus "
            "the second, in percentage points. Groups of few rows have large differences easily: "
            "look at the share of rows beside it.",
        ),
        Note(
            "Intervals",
            "Only the audit says what of its differences chance may explain: its intervals hold, "
            f"with {share(settings.confidence)} confidence, "
            f"{verdict.HOLDS_FOR[settings.guarantee]}. They are of the difference behind the "
            "score, over rows and small changes of them. Of what the other methods found some is "
            "chance, the more the fewer rows a group has.",
        ),
        Note(
            "The same finding",
            f"Two findings are near by Jaccard's index of their rows: those in both groups as a "
            f"share of those in either. From {near} on one is the other's too. Of groups with more "
            "than half of the rows those outside must be as near, for any two of them share most "
            "rows. A group and everybody else are one division of the rows, and count as the "
            "same. Of a pair the better one of its groups counts. Of one method, findings from "
            f"{copies} on are one.",
        ),
        Note(
            "Found by it only",
            "No finding of another method is that near, among its first 20. The other method may "
            "have ranked the group lower, or look for groups of another kind: threshold functions "
            "mix features in ways that no rule says, and Themis looks at the smallest groups "
            "there are. That a method found something alone does not make it important.",
        ),
        Note(
            "In the audit",
            "The nearest of all groups that the audit judged, whatever its rank. Groups with "
            f"less than {verdict.smallest_share(settings)} of the rows are not judged by the "
            "audit, because too little is known of them.",
        ),
        _effort(summary),
        *(
            Note(
                f"Method: {method.title}",
                _ABOUT_AUDIT if method.method == verdict.AUDIT else BASELINES[method.method].about,
            )
            for method in summary.methods
            if method.method in (verdict.AUDIT, *BASELINES)
        ),
    )


def _effort(summary: ComparisonSummary) -> Note:
    """Return what is counted as a query and as time, if times are known."""
    queries = (
        "Queries are rows that a method asked the model about beside the rows as they are, whose "
        "decisions all were given."
    )
    if not _timed(summary):
        return Note("Queries", queries)
    return Note(
        "Time and queries",
        f"Wall-clock time on one machine, each method alone. {queries} "
        "The audit's time includes asking about all small changes of all rows, its guarantee "
        "and its explanations. Groups a second are those examined by the time taken; for the "
        "audit by that of its search alone, given the decisions as the others are.",
    )


def _timed(summary: ComparisonSummary) -> bool:
    return any(method.seconds is not None for method in summary.methods)


def comparison_particulars(summary: ComparisonSummary) -> tuple[Facts, ...]:
    """List the particulars of the data, the model, the settings and the run."""
    words = words_for(summary.data.kind)
    chosen = summary.settings
    limit = "none" if chosen.time_limit is None else seconds(chosen.time_limit)
    return (
        data_facts(summary.data, words),
        model_facts("Model", summary.model, words),
        Facts(
            "Settings",
            (
                ("Methods", ", ".join(chosen.methods)),
                ("Time limit of each method", limit),
                ("Smallest support (theta)", verdict.smallest_share(chosen)),
                ("Features in a rule set, at most", count(chosen.max_features)),
                ("Bins", "as the data set says" if chosen.bins is None else count(chosen.bins)),
                (
                    "Confidence of intervals",
                    f"{number(chosen.confidence)}, {verdict.HOLDS_FOR[chosen.guarantee]}",
                ),
                ("Near: Jaccard's index, at least", verdict.similarity(chosen.matching_similarity)),
                ("Copies of one method: at least", verdict.similarity(chosen.duplicate_similarity)),
                ("Seed", str(chosen.seed)),
            ),
        ),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                ("Mode of the audit", summary.mode),
                (f"Rate of “{summary.data.label.favourable}”", percent(summary.overall_rate)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )


# Longer texts are whole further below.
_TEXT = 160
# Findings that are less near are not named.
_NEARLY_NOTHING = 0.05
# Findings of each method in the drawing.
_DRAWN = 3
_LOWER = "the group with the lower rate"


def comparison_layout(summary: ComparisonSummary) -> Document:
    """Lay a comparison out as a report; nothing is computed again."""
    data = summary.data
    label = data.label
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
                folded=True,
                printed=False,
            ),
            Section(
                "particulars",
                "Data, model and settings",
                comparison_particulars(summary),
                contents="Data, model, settings",
                markdown="folded",
                folded=True,
            ),
            meaning_section(comparison_notes(summary)),
        ),
        **origin(summary),
        closing="The drawing is in the HTML report.",
    )


def _all_methods(summary: ComparisonSummary) -> tuple[Block, ...]:
    """Return the table of all methods, each with its best finding."""
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
    table = Table("Methods compared", columns, rows)
    if not _timed(summary):
        table = table.without("Time").without("Groups a second")
    return Only("html", (Paragraph(about),)), table


def _method_row(method: MethodSummary) -> Row:
    """Return a method's row in the table of all methods."""
    if not method.available:
        return Row((method.title, "not run", *[NOTHING] * 7), about=method.note)
    best = method.findings[0] if method.findings else None
    side = best.side if best else None
    return Row(
        (
            method.title,
            NOTHING if best is None else verdict.own_value(best.value),
            NOTHING if side is None else signed(side.difference),
            NOTHING if side is None else percent(side.share),
            f"{count(method.only)} of {count(method.compared)}" if method.compared else NOTHING,
            seconds(method.seconds),
            count(method.queries),
            NOTHING if method.groups is None else count(method.groups),
            verdict.speed(method.groups_per_second),
        ),
        emphasis=method.method == verdict.AUDIT,
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
    near = summary.settings.matching_similarity
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
            emphasis=method.method == verdict.AUDIT,
        )
        for method in grouped
    )
    return Only("html", (Paragraph(about),)), Table("Findings in common", columns, rows)


def _also(method: MethodSummary, other: MethodSummary, near: float) -> str:
    if method.method == other.method:
        return NOTHING
    shared = sum(
        item.similarity >= near
        for finding in method.findings
        for item in finding.nearest
        if item.method == other.method
    )
    return count(shared)


def _method(method: MethodSummary) -> Article:
    """Lay out what a method found: its first findings, each measured as all are."""
    table = _findings(method)
    blocks: list[Block] = []
    if method.available and method.measure:
        blocks.append(Paragraph(sentence(method.measure)))
    if method.note:
        blocks.append(Paragraph(sentence(method.note), "soft"))
    facts: tuple[Text, ...] = (
        *verdict.change_sentences(method),
        *((Strong(f"{name}."), f" {text}") for name, text in verdict.figure_sentences(method)),
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
    """Return the table of a method's first findings."""
    own = method.method == verdict.AUDIT
    columns = (
        Column("", "number"),
        Column("Group", "name"),
        Column("Score" if own else "Its own measure", "number"),
        *((Column("Confidence interval, points", "number"),) if own else ()),
        Column("Share of rows", "number"),
        Column("Selection rate", "number"),
        Column("Complement", "number"),
        Column("Difference", "strong"),
        Column("Nearest finding of others"),
        *(() if own else (Column("In the audit"),)),
    )
    rows = []
    for finding in method.findings:
        ends = finding.confidence_interval
        if finding.side is None:
            continue
        rows.append(
            Row(
                (
                    count(finding.rank),
                    finding.text,
                    verdict.own_value(finding.value),
                    *((NOTHING if ends is None else interval(ends),) if own else ()),
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


def _side(side: Side) -> tuple[str, str, str, str]:
    return (
        percent(side.share),
        percent(side.rate_in),
        percent(side.rate_out),
        signed(side.difference),
    )


def _nearest(finding: ComparedFindingSummary) -> str:
    """Name the nearest finding of all, with the method that has it."""
    known = [near for near in finding.nearest if near.rank is not None]
    if finding.side is None or not known:
        return NOTHING
    best = max(known, key=lambda near: near.similarity)
    if best.similarity < _NEARLY_NOTHING:
        return NOTHING
    return f"{best.method} {best.rank}: {verdict.similarity(best.similarity)}"


def _in_audit(finding: ComparedFindingSummary) -> str:
    known = finding.in_audit
    if known is None or known.similarity < _NEARLY_NOTHING:
        return NOTHING
    rank = "not ranked" if known.rank is None else f"rank {count(known.rank)}"
    return f"{rank}: {verdict.similarity(known.similarity)}"
