"""What the numbers of an audit mean, in words."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.table.notes import row_notes
from testsgd.reporting.text.notes import text_notes


def meaning_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit.

    Parameters
    ----------
    summary : AuditSummary
        The audit; its settings appear in the explanations.

    Returns
    -------
    tuple of Note
        In the order in which a reader needs them.
    """
    return text_notes(summary) if summary.data.kind == "texts" else row_notes(summary)
