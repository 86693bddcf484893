"""The summary of a certification as JSON text, its schema, and reading it back."""

from __future__ import annotations

from typing import Any

from testsgd.reporting.certification.summary import SCHEMA_NAME, CertificationSummary
from testsgd.reporting.reading import (
    SCHEMAS,
    load_schema,
    read_document,
    schema_text,
    write_document,
)

CERTIFICATION_SCHEMA_FILE = SCHEMAS / "certify-1.json"


def render_certification_json(summary: CertificationSummary) -> str:
    """Write a summary as JSON text."""
    return write_document(summary)


def read_certification_summary(text: str, *, where: str = "result") -> CertificationSummary:
    """Read a summary back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`render_certification_json` wrote.
    where : str
        What to call the text in error messages.

    Returns
    -------
    CertificationSummary

    Raises
    ------
    ResultError
        If the text is no summary of a certification, or one of another version.
    """
    return read_document(
        text,
        CertificationSummary,
        schema=SCHEMA_NAME,
        what="a certification",
        again="run the certification again",
        where=where,
    )


def certification_schema() -> dict[str, Any]:
    """Give the JSON Schema of a summary, as shipped in the package.

    Examples
    --------
    >>> certification_schema()["properties"]["schema"]["const"]
    'testsgd.certify/1'
    """
    return load_schema(CERTIFICATION_SCHEMA_FILE)


def generate_certification_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    return schema_text(CertificationSummary, SCHEMA_NAME)
