"""The summary as JSON text, its schema, and reading it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testsgd.errors import ResultError
from testsgd.reporting.summary import SCHEMA_NAME, AuditSummary

SCHEMA_FILE = Path(__file__).parent / "schemas" / "audit-1.json"


def render_json(summary: AuditSummary) -> str:
    """Write a summary as JSON text."""
    return summary.model_dump_json(by_alias=True, indent=1) + "\n"


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
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ResultError(
            f"not valid JSON: {error}", where=where, remedy="give a result.json of an audit"
        ) from error
    seen = document.get("schema") if isinstance(document, dict) else None
    if seen != SCHEMA_NAME:
        raise ResultError(
            f"the schema is {seen!r}, not {SCHEMA_NAME!r}",
            where=where,
            remedy="give a result.json that this version of testsgd can read",
            schema=seen,
        )
    try:
        return AuditSummary.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ResultError(
            f"{key}: {first['msg']}", where=where, remedy="run the audit again", key=key
        ) from error


def summary_schema() -> dict[str, Any]:
    """Give the JSON Schema of a summary, as shipped in the package.

    Examples
    --------
    >>> summary_schema()["properties"]["schema"]["const"]
    'testsgd.audit/1'
    """
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def generate_schema() -> str:
    """Generate the text of the schema's file from the classes of the summary."""
    schema = AuditSummary.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = SCHEMA_NAME
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"
