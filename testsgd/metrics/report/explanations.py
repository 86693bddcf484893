"""The part of a report of metrics that says what makes up the first groups' differences."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.metrics.report import wording
from testsgd.metrics.report.summary import ComparedGroup, MetricsSummary, MetricSummary
from testsgd.report.blocks import Block, Cell
from testsgd.report.formatting import NOTHING, series
from testsgd.report.listing import Listed, listing


def explanations(metric: MetricSummary, summary: MetricsSummary) -> tuple[Block, ...]:
    """List what makes up the differences of the first distinct groups, and what goes with them."""
    groups = [group for group in metric.groups if group.explanation is not None]
    if not groups:
        return ()
    simpler = any(wording.simpler_text(group, metric) for group in groups)
    measure = summary.parameters.measure
    unit = "" if metric.scale == "number" else ", points"
    columns: list[tuple[bool, Listed[ComparedGroup]]] = [
        (True, Listed("Group", lambda group: group.text, "name")),
        (
            any(len(group.rules) > 1 for group in groups),
            Listed(
                f"What each rule adds{unit}",
                lambda group: _lines(wording.added_texts(group, metric)),
                "text",
            ),
        ),
        (
            simpler,
            Listed(
                "Fewer rules keep 90%",
                lambda group: wording.simpler_text(group, metric) or NOTHING,
                "text",
            ),
        ),
        (
            any(wording.correlated_texts(group) for group in groups),
            Listed(
                "Features that go with it",
                lambda group: _lines(wording.correlated_texts(group)),
                "text",
            ),
        ),
        (
            bool(summary.parameters.condition_on),
            Listed(
                f"Like with like: {series(list(summary.parameters.condition_on))}",
                lambda group: _lines(wording.alike_texts(group, metric, measure)),
            ),
        ),
        (
            any(group.stability is not None for group in groups),
            Listed("Found again", lambda group: wording.stability_text(group, summary)),
        ),
        (
            summary.holdout is not None,
            Listed(
                "In the rows searched",
                lambda group: _lines(wording.searched_texts(group, metric, measure)),
            ),
        ),
    ]
    shown = [column for is_shown, column in columns if is_shown]
    if len(shown) == 1:
        return ()
    label = f"{metric.title}: what makes up the differences"
    return (listing(label, groups, shown, stacked=True),)


def _lines(texts: Sequence[str]) -> Cell:
    return Cell(texts[0], under=tuple(texts[1:])) if texts else Cell(NOTHING)
