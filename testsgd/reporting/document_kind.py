"""Kinds of documents: how one is written as JSON text and read back, and its schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError

from testsgd.errors import ResultError
from testsgd.report.blocks import Document
from testsgd.report.formatting import seconds
from testsgd.report.html import render_html
from testsgd.report.markdown import render_markdown

Summary = TypeVar("Summary", bound=BaseModel)

_SCHEMAS = Path(__file__).parent / "schemas"


class Versioned(Protocol):
    """What every summary knows of where it is from."""

    @property
    def created(self) -> str:
        """When it was made, as ISO 8601 has it."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of testsgd and of what it computes with."""

    @property
    def schema_(self) -> str:
        """The name and version of its schema."""


class Timed(Protocol):
    """A summary of something that took time."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Wall-clock seconds of each phase."""


class Origin(TypedDict):
    """Where a report is from, as keywords of :class:`testsgd.report.blocks.Document`."""

    created: str
    version: str
    schema_name: str


def origin(summary: Versioned) -> Origin:
    """Return when a result was made, by which version, and the name of its form."""
    return Origin(
        created=summary.created,
        version=summary.versions.get("testsgd", ""),
        schema_name=summary.schema_,
    )


def version_facts(summary: Versioned) -> tuple[tuple[str, str], ...]:
    """Return the versions of testsgd and of what it computes with, each with its name."""
    return tuple((f"Version: {name}", version) for name, version in summary.versions.items())


def time_facts(summary: Timed) -> tuple[tuple[str, str], ...]:
    """Return how long each phase took, with its name."""
    return tuple((f"Time: {phase}", seconds(time)) for phase, time in summary.seconds.items())


@dataclass(frozen=True)
class DocumentKind(Generic[Summary]):
    """A kind of result as JSON text: the summary of an audit, say.

    Parameters
    ----------
    summary : type of Summary
        The class of its summaries.
    name : str
        The name and version of its schema, as ``testsgd.audit/1``; the schema's file is named
        after it.
    what : str
        What it is the result of, with its article, for error messages.
    again : str
        What to do if a document is broken, for error messages.
    layout : callable
        Lays a summary out as a report.

    Examples
    --------
    >>> from testsgd.reporting import AUDIT_DOCUMENT
    >>> AUDIT_DOCUMENT.name, AUDIT_DOCUMENT.file.name
    ('testsgd.audit/1', 'audit-1.json')
    >>> AUDIT_DOCUMENT.schema()["properties"]["schema"]["const"]
    'testsgd.audit/1'
    """

    summary: type[Summary]
    name: str
    what: str
    again: str
    layout: Callable[[Summary], Document]

    @property
    def file(self) -> Path:
        """The JSON Schema's file in the package."""
        return _SCHEMAS / f"{self.name.removeprefix('testsgd.').replace('/', '-')}.json"

    def render(self, summary: Summary) -> str:
        """Write a summary as JSON text."""
        return summary.model_dump_json(by_alias=True, indent=1) + "\n"

    def to_html(self, summary: Summary) -> str:
        """Return the report as one self-contained HTML page."""
        return render_html(self.layout(summary))

    def to_markdown(self, summary: Summary) -> str:
        """Return the report as GitHub-flavoured Markdown."""
        return render_markdown(self.layout(summary))

    def read(self, text: str, *, where: str = "result") -> Summary:
        """Read a summary back from JSON text.

        Parameters
        ----------
        text : str
            What :meth:`render` wrote.
        where : str
            What to call the text in error messages.

        Returns
        -------
        Summary

        Raises
        ------
        ResultError
            If the text is no document of this kind, or one of another version.
        """
        try:
            document = json.loads(text)
        except ValueError as error:
            raise ResultError(
                f"not valid JSON: {error}",
                where=where,
                remedy=f"give a result.json of {self.what}",
            ) from error
        seen = document.get("schema") if isinstance(document, dict) else None
        if seen != self.name:
            raise ResultError(
                f"the schema is {seen!r}, not {self.name!r}",
                where=where,
                remedy="give a result.json that this version of testsgd can read",
                schema=seen,
            )
        try:
            return self.summary.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ResultError(
                f"{key}: {first['msg']}", where=where, remedy=self.again, key=key
            ) from error

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema, as shipped in the package."""
        schema: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return schema

    def generate_schema(self) -> str:
        """Generate the text of the schema's file from the class of the summaries."""
        schema = self.summary.model_json_schema(by_alias=True)
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        schema["title"] = self.name
        return json.dumps(schema, indent=1, sort_keys=True) + "\n"
