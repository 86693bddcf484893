"""What a notebook shows of an audit: the first groups, and the rates by feature."""

from __future__ import annotations

from dataclasses import replace

from testsgd.auditing.report import tables, wording
from testsgd.auditing.report.summary import AuditSummary
from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.report.blocks import Beside, Block, Heading, Paragraph, Table
from testsgd.report.formatting import count, plural, shorten

# A notebook keeps what it shows, so that is little; the report has everything.
_GROUPS = 10
_FEATURES = 12
_VALUES = 20
_NAME = 120


def notebook_blocks(summary: AuditSummary) -> tuple[Block, ...]:
    """Return the first groups of an audit, and the rates by feature with their intervals.

    Parameters
    ----------
    summary : AuditSummary
        What was found.

    Returns
    -------
    tuple of blocks
        At most ten groups, and twenty values of each of twelve features.
    """
    words = vocabulary(summary)
    groups = wording.findings(summary)[:_GROUPS]
    blocks: list[Block] = []
    if groups:
        table = tables.group_table(summary, groups, words, "First groups", compact=True)
        blocks.append(Heading("Largest differences"))
        if len(groups) > 1 and (order := wording.order_of_groups(summary)):
            blocks.append(Paragraph(order.strip(), "soft"))
        blocks.append(table)
    rates = [table for table in tables.rates_tables(summary, words) if table.rows]
    if rates:
        blocks.append(Heading(f"Rates by {words.feature}"))
        blocks.append(Beside(tuple(_first_rows(table) for table in rates[:_FEATURES])))
    hidden = [
        f"{count(len(table.rows) - _VALUES)} more of {shorten(table.title, _NAME)}"
        for table in rates[:_FEATURES]
        if len(table.rows) > _VALUES
    ]
    if len(rates) > _FEATURES:
        hidden.append(plural(len(rates) - _FEATURES, words.feature, words.features))
    if hidden:
        blocks.append(Paragraph(f"Not shown: {', '.join(hidden)}.", "soft"))
    return tuple(blocks)


def _first_rows(table: Table) -> Table:
    """Return the first rows of a table, its name cut where it is very long."""
    return replace(
        table,
        rows=table.rows[:_VALUES],
        title=shorten(table.title, _NAME),
        label=shorten(table.label, _NAME),
    )
