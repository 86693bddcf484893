"""How an audit of metrics is laid out as a report."""

from __future__ import annotations

from collections.abc import Callable

from testsgd.auditing.report.layout import inferred_columns
from testsgd.auditing.report.summary import FEWEST_SHOWN
from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.auditing.report.wording import unjudged_features, unjudged_in_short
from testsgd.metrics.report import tables, wording
from testsgd.metrics.report.explanations import explanations
from testsgd.metrics.report.notes import limits, meaning_notes
from testsgd.metrics.report.particulars import particulars
from testsgd.metrics.report.summary import MetricsSummary, MetricSummary
from testsgd.report.blocks import (
    GATE_STANDINGS,
    Article,
    Block,
    Bullets,
    Document,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Link,
    Only,
    Paragraph,
    Section,
    Signature,
    Status,
    meaning_section,
)
from testsgd.report.charts import Mark, StripRow, Strips
from testsgd.report.formatting import count, number, plural, share, tick_points
from testsgd.report.scales import linear_scale
from testsgd.report.summaries import origin

_STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed",
    "gate_failed": "Gate failed",
    "not_enough_evidence": "Not enough evidence",
}
# Groups of each metric in its drawing.
_DRAWN = 8
_WORDS = PredictionWords("selection_rate")
# More metrics than these are not printed one by one: the table of all of them says most.
_PRINTED_METRICS = 3


def metrics_layout(summary: MetricsSummary) -> Document:
    """Lay an audit of metrics out as a report; nothing is computed again."""
    status = _STATUS_NAMES[summary.verdict.status]
    subject = summary.data.title or summary.data.name
    several = len(summary.metrics) > 1
    return Document(
        what="Audit of metrics",
        subject=subject,
        heading=f"{status}: {subject}",
        status=Status(status, GATE_STANDINGS.get(summary.verdict.status, "")),
        headline=summary.verdict.headline,
        sentences=tuple(summary.verdict.sentences),
        listed=False,
        opening=(
            Paragraph(_definition(summary), "definition"),
            _figures(summary),
            # Here and not at the end, so that it is on the first page, however long the tables.
            Only("html", (Signature(("Audited by", "Date", "Signature")),)),
        ),
        sections=(
            Section("rates", "Metrics by feature", _by_feature(summary), markdown="folded"),
            Section("differences", "Largest differences", _first(summary)),
            Section("unknown", "Groups that could not be judged", _unknown(summary), "Not judged"),
            Section(
                "limits", "What this does not say", (Bullets(limits(summary)),), markdown="folded"
            ),
            Section(
                "metrics",
                "All metrics",
                (tables.all_metrics(summary),) if several else (),
                folded=True,
            ),
            Section(
                "each",
                "Metric by metric",
                tuple(_metric(metric, summary) for metric in summary.metrics),
                markdown="blocks",
                folded=True,
                printed=len(summary.metrics) <= _PRINTED_METRICS,
            ),
            Section(
                "explanations",
                "What makes up the differences",
                _explanations(summary),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "further",
                "Further metrics by feature",
                tables.values_tables(summary, of_first=False),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "groups",
                "Groups by metrics",
                tables.groups_by_metrics(summary) if several else (),
                folded=True,
                printed=False,
            ),
            Section(
                "ranking",
                "Ranking",
                _ranking(summary),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "columns",
                "What the columns are",
                inferred_columns(summary.data),
                markdown="folded",
                folded=True,
            ),
            Section(
                "particulars",
                "Data and settings",
                particulars(summary),
                markdown="folded",
                folded=True,
            ),
            meaning_section(meaning_notes(summary)),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _definition(summary: MetricsSummary) -> str:
    """Write what is compared, which decision is favourable, and whether rows have weights."""
    measure = summary.parameters.measure
    compared = wording.reference_words(summary.parameters.reference)
    how = "minus" if measure == "difference" else "over"
    label = summary.data.label.favourable
    decided = f" A decision is favourable if it is “{label}”." if label else ""
    limit = ""
    if summary.threshold is not None:
        limit = f" A prediction above {number(summary.threshold)} counts as favourable."
    weights = " Rows count by their weights." if summary.weighted else ""
    return (
        f"Every {measure} is the metric of a group {how} that of {compared}."
        f"{decided}{limit}{weights}"
    )


def _figures(summary: MetricsSummary) -> KeyFigures:
    figures = [
        KeyFigure("Rows in the file", count(summary.data.rows)),
        KeyFigure("Groups examined", count(summary.groups_compared)),
    ]
    figures += [
        KeyFigure(metric.title, wording.value_text(metric.overall, metric))
        for metric in summary.metrics[:4]
    ]
    return KeyFigures(tuple(figures))


def _metric(metric: MetricSummary, summary: MetricsSummary) -> Article:
    """Show one metric: its value over all rows, and a drawing of its distinct groups."""
    key = f"metric-{metric.name}"
    title = metric.title
    if not metric.groups:
        fewest = plural(summary.parameters.min_rows, "row")
        about = f"No group and its reference have at least {fewest} that the metric counts."
        return Article(key, title, (Paragraph(about),), missing=True)
    # A rate is of the rows that its metric counts, a mean over them.
    of_rows = "over" if metric.scale == "number" else "of"
    about = (
        f"{wording.value_text(metric.overall, metric)} {of_rows} the "
        f"{plural(metric.counted, 'row')} that it counts. Of "
        f"{plural(metric.judged, 'judged group')} "
        f"{count(metric.significant) if metric.significant else 'none'} differ significantly."
    )
    return Article(
        key,
        title,
        (
            Paragraph(about),
            *(Paragraph(sentence) for sentence in wording.finer_look(metric, summary)),
            *_drawing(metric, summary),
        ),
        plain=True,
    )


def _drawing(metric: MetricSummary, summary: MetricsSummary) -> tuple[Block, ...]:
    """Draw the intervals of the first distinct groups."""
    measure = summary.parameters.measure
    nothing = 0.0 if measure == "difference" else 1.0
    drawn = [
        group
        for group in metric.groups
        if group.distinct and group.effect is not None and group.confidence_interval[1] is not None
    ][:_DRAWN]
    if not drawn:
        return ()
    rows = []
    ends = [nothing]
    for group in drawn:
        low, high = group.confidence_interval
        assert high is not None
        assert group.effect is not None
        ends += [low, high]
        text = wording.effect_text(group.effect, metric, measure)
        rows.append(
            StripRow(
                label=group.text,
                value=text,
                title=wording.compared_sentence(group, metric, summary),
                marks=(Mark(value=group.effect, interval=(low, high)),),
                line=(nothing, group.effect),
                side="less" if group.effect < nothing else "more",
            )
        )
    in_points = metric.scale != "number" and measure == "difference"
    write: Callable[[float], str] = tick_points if in_points else number
    scale = linear_scale(min(ends), max(ends), count=5, write=write)
    chart = Strips(parts=(("", tuple(rows)),), scale=scale, zero=measure == "difference")
    caption = (
        f"The first distinct groups: {measure}s with "
        f"{share(summary.parameters.confidence)} confidence intervals."
    )
    figure = Figure(f"{metric.title}: {measure}s of groups", (chart,), caption)
    return (Only("html", (figure,)),)


def _by_feature(summary: MetricsSummary) -> tuple[Block, ...]:
    """Show the first metrics of each value of each feature, with intervals."""
    if not summary.features:
        return ()
    about = "Each metric of the rows with one value of one feature, with an interval of its own."
    measured = [item for one in summary.features for cell in one.cells for item in cell.metrics]
    if any(item.counted and item.value is None for item in measured):
        about += f" There is none of fewer than {FEWEST_SHOWN} rows that count."
    return (Paragraph(about), *tables.values_tables(summary))


def _first(summary: MetricsSummary) -> tuple[Block, ...]:
    """Show the first distinct groups of each metric, and where the others are."""
    table = tables.first_groups(summary)
    if not table.rows:
        return (Paragraph("There is no group to show here: none was large enough."),)
    others = ("All that the report has are in the ", Link("ranking", "ranking"), ".")
    return (
        Paragraph(
            f"{wording.FIRST_GROUPS}.",
            "soft",
        ),
        table,
        Only("html", (Paragraph(others, "soft"),)),
    )


def _ranking(summary: MetricsSummary) -> tuple[Block, ...]:
    """List all groups that the report has by rank, metric by metric."""
    ranked = [metric for metric in summary.metrics if metric.groups]
    if not ranked:
        return ()
    about = "By the smallest size that the interval allows. Groups that stand out are no near copy."
    return (Paragraph(about), *(tables.ranking(metric, summary) for metric in ranked))


def _explanations(summary: MetricsSummary) -> tuple[Block, ...]:
    """List what makes up the first differences, metric by metric."""
    blocks: list[Block] = []
    for metric in summary.metrics:
        listed = explanations(metric, summary)
        if listed:
            blocks += [Heading(metric.title), *listed]
    return tuple(blocks)


def _unknown(summary: MetricsSummary) -> tuple[Block, ...]:
    """Write how many could not be judged, and which features describe no judged group."""
    unjudged = summary.unjudged
    sentences = unjudged_features(unjudged, _WORDS, finer=wording.looked_at_finer(summary))
    if unjudged.unjudged:
        sentences = [unjudged_in_short(unjudged, _WORDS), *sentences]
    if not sentences:
        return (Paragraph("There are none: every group that was looked at could be judged."),)
    return tuple(Paragraph(sentence) for sentence in sentences)
