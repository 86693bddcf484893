"""What every kind of result is: one document, and the views that are rendered from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from testsgd.reporting import DocumentKind
from testsgd.results.files import check_known, read_source, write_views

Document = TypeVar("Document")

DOCUMENT_FORMATS = ("html", "md", "json")


class DocumentResult(ABC, Generic[Document]):
    """A result, of which every view is rendered from one summary.

    Parameters
    ----------
    summary
        The document.

    Attributes
    ----------
    summary
        As given.
    """

    # How the document is written, read and laid out.
    _document: ClassVar[DocumentKind[Any]]

    def __init__(self, summary: Document) -> None:
        self.summary = summary

    def to_json(self) -> str:
        """Return the summary as JSON text, after the schema that it names."""
        return self._document.render(self.summary)

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page."""
        return self._document.to_html(self.summary)

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        return self._document.to_markdown(self.summary)

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Read a result back.

        Parameters
        ----------
        source : str or path-like
            JSON text, or the path of a file that holds it.

        Returns
        -------
        DocumentResult
            Of the class it is called on, with the summary only.

        Raises
        ------
        ResultError
            If it is no result of this kind.
        """
        text, where = read_source(source)
        return cls(cls._document.read(text, where=where))

    def write(self, folder: str | Path, formats: Sequence[str] = DOCUMENT_FORMATS) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of {"html", "md", "json"}
            Which views.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown.
        """
        check_document_formats(formats)
        return self._write(folder, formats, {})

    @abstractmethod
    def __repr__(self) -> str: ...

    def _write(
        self,
        folder: str | Path,
        formats: Sequence[str],
        writers: Mapping[str, Callable[[Path], object]],
    ) -> list[Path]:
        texts = {"html": self.to_html, "md": self.to_markdown, "json": self.to_json}
        return write_views(folder, formats, texts, writers)


def check_document_formats(formats: Sequence[str]) -> None:
    """Raise an error if a format of reports is unknown."""
    check_known(formats, DOCUMENT_FORMATS)
