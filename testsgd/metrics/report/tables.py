"""The tables of a report of metrics: groups by rank and by metrics, and metrics by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from testsgd.metrics.report import wording
from testsgd.metrics.report.summary import (
    CellMetrics,
    ComparedGroup,
    GroupByMetrics,
    MetricsSummary,
    MetricSummary,
)
from testsgd.report.blocks import Beside, Block, Cell, Heading, Paragraph, Table
from testsgd.report.formatting import NOTHING, count, cut_inside, plural, share
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import brief_group, row_parts, values_of

# Lines of the table of first groups, over all metrics, and of one metric at most.
_FIRST = 8
_FIRST_OF_METRIC = 8
# Metrics in one table by feature; with fewer, two tables stand beside each other.
_ABREAST = 4
_BESIDE = 2
# Characters of a group's rules in a cell of the overview.
_CELL = 160
# Features and values that a notebook shows.
_FEATURES = 12
_VALUES = 20


@dataclass(frozen=True)
class _Line:
    """A group in a metric, in a table of several metrics."""

    metric: MetricSummary
    group: ComparedGroup


def all_metrics(summary: MetricsSummary) -> Table:
    """Return the table of the first group of each metric."""
    measure = summary.parameters.measure

    def first(metric: MetricSummary) -> Cell:
        group = wording.first_group(metric)
        if group is None:
            return Cell("none judged")
        sides = (
            f"{wording.value_text(group.value, metric)} against "
            f"{wording.value_text(group.reference_value, metric)}"
        )
        return Cell(brief_group(group, _CELL), under=(sides,))

    def effect(metric: MetricSummary) -> Cell:
        group = wording.first_group(metric)
        if group is None:
            return Cell(NOTHING)
        return Cell(
            wording.effect_text(group.effect, metric, measure),
            under=(wording.interval_text(group, metric, measure),),
            strong=group.significant,
        )

    columns: list[Listed[MetricSummary]] = [
        Listed("Metric", lambda metric: metric.title, "name"),
        Listed(
            "All groups",
            lambda metric: Cell(
                wording.value_text(metric.overall, metric),
                under=(f"of {plural(metric.counted, 'row')}",),
            ),
        ),
        Listed("First group", first, "text"),
        Listed(wording.effect_name(measure), effect),
        Listed(
            "Significant groups",
            lambda metric: f"{count(metric.significant)} of {count(metric.judged)}",
        ),
    ]
    return listing("The first group of each metric", summary.metrics, columns, stacked=True)


def first_groups(summary: MetricsSummary) -> Table:
    """List the first distinct groups of each metric, about as many however many metrics there are.

    On a narrow screen each is a block of its own, with the difference and its interval first.
    """
    several = len(summary.metrics) > 1
    most = max(1, min(_FIRST_OF_METRIC, _FIRST // len(summary.metrics)))
    lines = [
        _Line(metric, group)
        for metric in summary.metrics
        for group in [group for group in metric.groups if group.distinct][:most]
    ]
    return _groups_table("First groups", lines, summary, by_metric=several)


def ranking(metric: MetricSummary, summary: MetricsSummary) -> Table:
    """List a metric's groups by rank; a reader can look for words in them."""
    lines = [_Line(metric, group) for group in metric.groups]
    label = f"{metric.title}: groups by rank"
    fold = f"{metric.title}: {plural(len(metric.groups), 'group')} by rank"
    table = _groups_table(label, lines, summary, fold=fold)
    return replace(table, of_all=f"{count(metric.judged)} judged")


def _groups_table(
    label: str,
    lines: Sequence[_Line],
    summary: MetricsSummary,
    *,
    by_metric: bool = False,
    fold: str = "",
) -> Table:
    """List groups with their metrics; a table with a fold is searchable and marks distinct ones."""
    measure = summary.parameters.measure

    def value(line: _Line) -> str:
        return wording.value_text(line.group.value, line.metric)

    def reference(line: _Line) -> str:
        text = wording.value_text(line.group.reference_value, line.metric)
        return f"{text} ({line.group.reference})" if _is_named(line.group) else text

    def ends(line: _Line) -> str:
        return wording.interval_text(line.group, line.metric, measure)

    def effect(line: _Line) -> Cell:
        text = wording.effect_text(line.group.effect, line.metric, measure)
        return Cell(text, (ends(line),))

    name = wording.effect_name(measure)
    values = values_of(line.group for line in lines)
    # Markdown has no second lines in its cells.
    columns: list[Listed[_Line]] = [
        Listed("Metric", lambda line: line.metric.title, "text", shown=by_metric),
        Listed("Rank", lambda line: str(line.group.rank), shown=not by_metric),
        Listed("Group", lambda line: line.group.text, "name"),
        Listed(name, effect, "strong", under="interval"),
        Listed("Confidence interval", ends, view="markdown"),
        Listed(
            "Value",
            lambda line: Cell(value(line), (reference(line),)),
            under="reference",
        ),
        Listed("Reference", reference, view="markdown"),
        Listed("Rows counted", lambda line: count(line.group.counted)),
    ]
    return listing(
        label,
        lines,
        columns,
        row=lambda line: {
            "emphasis": bool(fold) and line.group.distinct,
            **row_parts(line.group, values),
        },
        fold=fold,
        open_rows=0,
        most=10 if fold else None,
        searchable=bool(fold),
        stacked=True,
    )


def _is_named(group: ComparedGroup) -> bool:
    """Return whether a group is compared with another one, which the report must name."""
    return group.reference not in {wording.reference_words(name) for name in ("rest", "overall")}


def values_tables(summary: MetricsSummary, *, of_first: bool = True) -> tuple[Block, ...]:
    """List metrics by the values of each feature: the first few metrics, or all others.

    Values that no row has are left out.
    """
    chosen = range(len(summary.metrics))
    places = chosen[:_ABREAST] if of_first else chosen[_ABREAST:]
    blocks: list[Block] = []
    for start in range(0, len(places), _ABREAST):
        together = places[start : start + _ABREAST]
        tables = tuple(
            _values_table(summary, feature, together) for feature in range(len(summary.features))
        )
        blocks += [Beside(tables)] if len(together) <= _BESIDE else tables
    return tuple(blocks)


def _values_table(summary: MetricsSummary, place: int, metrics: Sequence[int]) -> Table:
    """List some metrics, by their places, over the values of the feature at a place."""
    feature = summary.features[place]
    alone = len(metrics) == 1
    confidence = f"{share(summary.parameters.confidence)} interval"

    def value(cell: CellMetrics, index: int) -> str:
        return wording.value_text(cell.metrics[index].value, summary.metrics[index])

    def ends(cell: CellMetrics, index: int) -> str:
        known = cell.metrics[index].confidence_interval
        if known is None:
            return NOTHING
        low, high = (wording.value_text(end, summary.metrics[index]) for end in known)
        return f"{low} to {high}"

    def columns_of(index: int) -> list[Listed[CellMetrics]]:
        title = summary.metrics[index].title
        return [
            Listed(
                title,
                lambda cell: Cell(value(cell, index), () if alone else (ends(cell, index),)),
                "strong" if alone else "number",
            ),
            Listed(
                confidence if alone else f"{title}, {confidence}",
                lambda cell: ends(cell, index),
                view="" if alone else "markdown",
            ),
        ]

    columns: list[Listed[CellMetrics]] = [
        Listed("Value", lambda cell: cut_inside(cell.label, 60), "text" if alone else "name"),
        Listed("Rows", lambda cell: count(cell.n)),
    ]
    for index in metrics:
        columns += columns_of(index)
    return listing(
        f"Metrics by {feature.feature}",
        [cell for cell in feature.cells if cell.n],
        columns,
        title=feature.feature,
        stacked=not alone,
    )


def groups_by_metrics(summary: MetricsSummary) -> tuple[Block, ...]:
    """Return the table of the first groups with all metrics beside each other."""
    measure = summary.parameters.measure

    def column(index: int, metric: MetricSummary) -> Listed[GroupByMetrics]:
        def cell(group: GroupByMetrics) -> Cell:
            item = group.metrics[index]
            effect = wording.effect_text(item.effect, metric, measure)
            return Cell(
                wording.value_text(item.value, metric),
                under=(effect if item.effect is not None else "not judged",),
                strong=item.significant,
            )

        return Listed(metric.title, cell)

    columns: list[Listed[GroupByMetrics]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed("Rows", lambda group: count(group.rows)),
        *(column(index, metric) for index, metric in enumerate(summary.metrics)),
    ]
    about = (
        f"The first groups of each metric by all metrics: the value, and below it the {measure}. "
        "What is statistically significant stands out."
    )
    return (
        Paragraph(about),
        listing("Groups by metrics", summary.groups, columns, open_rows=24, stacked=True),
    )


def notebook_blocks(summary: MetricsSummary) -> tuple[Block, ...]:
    """Return what a notebook shows: first groups, and metrics by feature with their intervals."""
    blocks: list[Block] = []
    first = first_groups(summary)
    if first.rows:
        order = Paragraph(f"{wording.FIRST_GROUPS}.", "soft")
        blocks += [Heading("Largest differences"), order, first]
    if summary.features:
        features = [
            feature.model_copy(update={"cells": feature.cells[:_VALUES]})
            for feature in summary.features[:_FEATURES]
        ]
        shown = summary.model_copy(update={"features": features})
        blocks += [Heading("Metrics by feature"), *values_tables(shown)]
    return tuple(blocks)
