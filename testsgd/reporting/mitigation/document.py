"""The summary of a mitigation as JSON text, its schema, and reading it back."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.mitigation.summary import SCHEMA_NAME, MitigationSummary
from testsgd.reporting.reading import (
    SCHEMAS,
    load_schema,
    read_document,
    schema_text,
    write_document,
)

MITIGATION_SCHEMA_FILE = SCHEMAS / "mitigation-1.json"


def render_mitigation_json(summary: MitigationSummary) -> str:
    """Write a summary as JSON text."""
    return write_document(summary)


def read_mitigation_summary(text: str, *, where: str = "result") -> MitigationSummary:
    """Read a summary back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_mitigation_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    MitigationSummary

    Raises
    ------
    ResultError
        If the text is no summary of a mitigation, or one of another version.
    """
    return read_document(
        text,
        MitigationSummary,
        schema=SCHEMA_NAME,
        what="a mitigation",
        again="run the mitigation again",
        where=where,
    )


def mitigation_schema() -> dict[str, Any]:
    """Give the JSON Schema of a summary, as shipped in the package.

    Examples
    --------
    >>> mitigation_schema()["properties"]["schema"]["const"]
    'testsgd.mitigation/1'
    """
    return load_schema(MITIGATION_SCHEMA_FILE)


def generate_mitigation_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(MitigationSummary, SCHEMA_NAME)
