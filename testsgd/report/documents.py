"""Kinds of documents: how one is written as JSON text and read back, and its schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from testsgd.errors import ParameterError, ResultError, printable
from testsgd.io import is_reproducible, loads_json
from testsgd.report.blocks import Block, Document
from testsgd.report.html import render_html
from testsgd.report.markdown import render_markdown
from testsgd.report.misfits import misfits_as_errors
from testsgd.report.numbers import impossible_number
from testsgd.report.one_run import without_run

Summary = TypeVar("Summary", bound=BaseModel)


def parse_document(text: str, *, where: str, what: str) -> Any:
    """Return what a JSON text holds; a :class:`ResultError` that asks for `what` if it is none."""
    try:
        return loads_json(text)
    except ValueError as error:
        raise ResultError(
            f"not valid JSON: {error}", where=where, remedy=f"give a result.json of {what}"
        ) from error


def schema_in(document: Any) -> Any:
    """Return the schema that a document names, None without."""
    return document.get("schema") if isinstance(document, dict) else None


@dataclass(frozen=True)
class DocumentKind(Generic[Summary]):
    """A kind of result as JSON text: the summary of an audit, say.

    Parameters
    ----------
    summary : type of Summary
        The class of its summaries.
    name : str
        The name and version of its schema, as ``testsgd.audit/2``; the schema's file is named
        after it.
    what : str
        What it is the result of, with its article, for error messages.
    again : str
        What to do if a document is broken, for error messages.
    layout : callable
        Lays a summary out as a report.
    reword : callable, optional
        Writes the verdict of a summary again, where its sentences tell times.

    Examples
    --------
    >>> from testsgd import AuditResult
    >>> AuditResult.document.name, AuditResult.document.file.name
    ('testsgd.audit/2', 'audit-2.json')
    >>> AuditResult.document.schema()["properties"]["schema"]["const"]
    'testsgd.audit/2'
    """

    summary: type[Summary]
    name: str
    what: str
    again: str
    layout: Callable[[Summary], Document]
    reword: Callable[[Summary], Summary] | None = None

    @property
    def file(self) -> Path:
        """The JSON Schema's file, in the folder of the summary's module."""
        module = sys.modules[self.summary.__module__].__file__ or ""
        return Path(module).with_name(
            f"{self.name.removeprefix('testsgd.').replace('/', '-')}.json"
        )

    def written(self, summary: Summary) -> Summary:
        """Return what is written of a summary: all, or all that equal runs have in common.

        The latter is written within :func:`testsgd.io.reproducible_files`.
        """
        if not is_reproducible():
            return summary
        common = without_run(summary)
        return common if self.reword is None else self.reword(common)

    def render(self, summary: Summary) -> str:
        """Write a summary as JSON text."""
        return self.written(summary).model_dump_json(by_alias=True, indent=1) + "\n"

    def to_html(self, summary: Summary) -> str:
        """Return the report as one self-contained HTML page."""
        return printable(render_html(self.layout(self.written(summary))))

    def to_fragment(self, summary: Summary, blocks: Sequence[Block] = ()) -> str:
        """Return the report in short, as a part of a page such as a notebook, then some blocks."""
        from testsgd.report.fragments import render_fragment

        return printable(render_fragment(self.layout(self.written(summary)), blocks))

    def to_markdown(self, summary: Summary) -> str:
        """Return the report as GitHub-flavoured Markdown."""
        return printable(render_markdown(self.layout(self.written(summary))))

    def read(self, text: str, *, where: str = "result", parsed: Any = None) -> Summary:
        """Read a summary back from JSON text, which error messages call `where`.

        `parsed`: what the text holds, if it is known already.

        Raises
        ------
        ResultError
            If the text is no document of this kind, or one of another version, or holds what
            no result can: a rate above 1, ``true`` for a number, an interval that ends before it
            begins.
        """
        document = parsed
        if document is None:
            document = parse_document(text, where=where, what=self.what)
        seen = schema_in(document)
        if seen != self.name:
            raise ResultError(
                f"the schema is {seen!r}, not {self.name!r}",
                where=where,
                remedy="give a result.json that this version of testsgd can read",
                schema=seen,
            )
        if (found := impossible_number(document)) is not None:
            key, number = found
            raise ResultError(
                f"{key}: {number:g} is no number of a result",
                where=where,
                remedy=self.again,
                key=key,
            )
        # The checks of one part may trip over another that is damaged.
        with misfits_as_errors(where, remedy=self.again):
            return self._validated(text, where=where)

    def _validated(self, text: str, *, where: str) -> Summary:
        """Return the summary that a JSON text holds; a :class:`ResultError` names what is wrong."""
        try:
            return self.summary.model_validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise ResultError(
                # What is wrong with the document as a whole has no key of its own.
                f"{key}: {message}" if key else message,
                where=where,
                remedy=self.again,
                key=key,
            ) from error
        except ParameterError as error:
            raise ResultError(
                f"settings.{error.where}: {error.what}", where=where, remedy=self.again
            ) from error

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema, as shipped in the package."""
        schema: dict[str, Any] = loads_json(self.file.read_text(encoding="utf-8"))
        return schema

    def generate_schema(self) -> str:
        """Generate the text of the schema's file from the class of the summaries."""
        schema = self.summary.model_json_schema(by_alias=True)
        for part in schema["$defs"].values():
            # What follows in a docstring is for Python.
            part["description"] = part.get("description", "").partition("\n\n")[0]
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        schema["title"] = self.name
        return json.dumps(schema, indent=1, sort_keys=True) + "\n"
