"""The summary of a comparison as JSON text, its schema, and reading it back."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.comparison.summary import SCHEMA_NAME, ComparisonSummary
from testsgd.reporting.reading import (
    SCHEMAS,
    load_schema,
    read_document,
    schema_text,
    write_document,
)

COMPARISON_SCHEMA_FILE = SCHEMAS / "comparison-1.json"


def render_comparison_json(summary: ComparisonSummary) -> str:
    """Write a summary as JSON text."""
    return write_document(summary)


def read_comparison_summary(text: str, *, where: str = "result") -> ComparisonSummary:
    """Read a summary back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_comparison_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    ComparisonSummary

    Raises
    ------
    ResultError
        If the text is no summary of a comparison, or one of another version.
    """
    return read_document(
        text,
        ComparisonSummary,
        schema=SCHEMA_NAME,
        what="a comparison",
        again="run the comparison again",
        where=where,
    )


def comparison_schema() -> dict[str, Any]:
    """Give the JSON Schema of a summary, as shipped in the package.

    Examples
    --------
    >>> comparison_schema()["properties"]["schema"]["const"]
    'testsgd.comparison/1'
    """
    return load_schema(COMPARISON_SCHEMA_FILE)


def generate_comparison_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(ComparisonSummary, SCHEMA_NAME)
