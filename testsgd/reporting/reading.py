"""Documents of results: read back from JSON text, and their schemas; whatever the result is of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from testsgd.errors import ResultError

SCHEMAS = Path(__file__).parent / "schemas"

Document = TypeVar("Document", bound=BaseModel)


def write_document(document: BaseModel) -> str:
    """Write a document as JSON text."""
    return document.model_dump_json(by_alias=True, indent=1) + "\n"


def read_document(
    text: str, kind: type[Document], *, schema: str, what: str, again: str, where: str
) -> Document:
    """Read a document back from JSON text.

    Parameters
    ----------
    text : str
        What :func:`write_document` wrote.
    kind : type of Document
        The document's class.
    schema : str
        The name and version that the document must have.
    what : str
        What the document is of, with its article, for error messages.
    again : str
        What to do if the document is broken.
    where : str
        What to call the text in error messages.

    Returns
    -------
    Document

    Raises
    ------
    ResultError
        If the text is no such document, or one of another version.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ResultError(
            f"not valid JSON: {error}", where=where, remedy=f"give a result.json of {what}"
        ) from error
    seen = document.get("schema") if isinstance(document, dict) else None
    if seen != schema:
        raise ResultError(
            f"the schema is {seen!r}, not {schema!r}",
            where=where,
            remedy="give a result.json that this version of testsgd can read",
            schema=seen,
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ResultError(f"{key}: {first['msg']}", where=where, remedy=again, key=key) from error


def load_schema(file: Path) -> dict[str, Any]:
    """Load a JSON Schema that ships with the package."""
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def schema_text(kind: type[BaseModel], name: str) -> str:
    """Generate the text of a schema's file from a document's class."""
    schema = kind.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = name
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"
