"""The summary of an audit as JSON text, its schema, and reading it back."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.reading import (
    SCHEMAS,
    load_schema,
    read_document,
    schema_text,
    write_document,
)
from testsgd.reporting.summary import SCHEMA_NAME, AuditSummary

SCHEMA_FILE = SCHEMAS / "audit-1.json"


def render_json(summary: AuditSummary) -> str:
    """Write a summary as JSON text."""
    return write_document(summary)


def read_summary(text: str, *, where: str = "result") -> AuditSummary:
    """Read a summary back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    AuditSummary

    Raises
    ------
    ResultError
        If the text is no summary of an audit, or one of another version.
    """
    return read_document(
        text,
        AuditSummary,
        schema=SCHEMA_NAME,
        what="an audit",
        again="run the audit again",
        where=where,
    )


def summary_schema() -> dict[str, Any]:
    """Give the JSON Schema of a summary, as shipped in the package.

    Examples
    --------
    >>> summary_schema()["properties"]["schema"]["const"]
    'testsgd.audit/1'
    """
    return load_schema(SCHEMA_FILE)


def generate_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(AuditSummary, SCHEMA_NAME)
