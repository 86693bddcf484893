"""What every kind of result is: one document, and the views that are rendered from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from testsgd.errors import ResultError
from testsgd.io import check_replaceable, is_mixed, read_text
from testsgd.report.blocks import Block
from testsgd.report.documents import DocumentKind
from testsgd.report.exporters import EXPORTERS, Exporter, check_formats, export
from testsgd.report.misfits import misfits_as_errors

Summary = TypeVar("Summary")


class Outcome(Protocol):
    """The verdict of any result: a headline and an exit code."""

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""

    @property
    def exit_code(self) -> int:
        """What the command line leaves with: 0, 1 a gate failed, 3 not enough evidence."""


class DocumentResult(ABC, Generic[Summary]):
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
    document: ClassVar[DocumentKind[Any]]
    exporters: ClassVar[Mapping[str, Exporter]] = EXPORTERS
    # Formats of other results, each with why this one has none such.
    of_others: ClassVar[Mapping[str, str]] = MappingProxyType({})
    # The file that it was read from, or another name for that; None if it was computed.
    _read_from: str | None = None

    def __init__(self, summary: Summary) -> None:
        self.summary = summary

    @property
    @abstractmethod
    def verdict(self) -> Outcome:
        """The outcome in words, with the exit code that the CLI gives."""

    @property
    def exit_code(self) -> int:
        """What the command line leaves with: 0, 1 a gate failed, 3 not enough evidence."""
        return self.verdict.exit_code

    def to_json(self) -> str:
        """Return the summary as JSON text, after the schema that it names."""
        with self.rendering():
            return self.document.render(self.summary)

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page."""
        with self.rendering():
            return self.document.to_html(self.summary)

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        with self.rendering():
            return self.document.to_markdown(self.summary)

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
        return cls.read(text, where=where)

    @classmethod
    def read(cls, text: str, *, where: str, parsed: Any = None) -> Self:
        """Return the result of a JSON text, which error messages call `where`.

        `parsed`: what the text holds, if it is known already.
        """
        result = cls(cls.document.read(text, where=where, parsed=parsed))
        result._read_from = where
        return result

    def rendering(self) -> AbstractContextManager[None]:
        """Return a context in which a view is made.

        If the result was read and the parts of its document contradict each other, that is a
        :class:`testsgd.errors.ResultError`. Of a computed result every error is as it comes.
        """
        if self._read_from is None:
            return nullcontext()
        return misfits_as_errors(self._read_from, remedy=self.document.again)

    @classmethod
    def check_formats(cls, formats: Sequence[str]) -> None:
        """Raise an error if a format is unknown, or needs a package that is not installed."""
        check_formats(formats, cls.exporters, of_others=cls.of_others)

    @classmethod
    def check_folder(
        cls,
        folder: str | Path,
        formats: Sequence[str] = tuple(EXPORTERS),
        *,
        data_name: str | None = None,
    ) -> None:
        """Raise, before the work, what :meth:`write` will raise of the files that are there.

        Parameters
        ----------
        folder : path-like
            It need not be there.
        formats : sequence of str
            Which views will be written.
        data_name : str, optional
            What the data will be called in the result.

        Raises
        ------
        ParameterError
            If a format is unknown.
        ConfigurationError
            If a file is there that is not to be replaced.
        """
        chosen = check_formats(formats, cls.exporters, of_others=cls.of_others)
        for name, exporter in chosen.items():
            kind = cls.document.name.partition("/")[0] if name == "json" else None
            check_replaceable(Path(folder) / exporter.file, kind=kind)

    def write(self, folder: str | Path, formats: Sequence[str] = tuple(EXPORTERS)) -> list[Path]:
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
        self.check_formats(formats)
        return export(self, folder, formats, self.exporters, rendering=self.rendering())

    @abstractmethod
    def __repr__(self) -> str: ...

    def notebook_blocks(self) -> Sequence[Block]:
        """Return what a notebook shows below the key figures."""
        return ()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the outcome and the key figures, without a script."""
        with self.rendering():
            return self.document.to_fragment(self.summary, self.notebook_blocks())


def read_source(source: str | Path) -> tuple[str, str]:
    """Return JSON text, given or read from a file, and its name in error messages."""
    path = str(source)
    if isinstance(source, str) and path.lstrip().startswith("{"):
        return path, "result"
    if is_mixed(Path(path).parent):
        raise ResultError(
            "a process was killed while it replaced the files there: some are older than others",
            where=str(Path(path).parent),
            remedy="write them again, with the same command",
        )
    try:
        return read_text(path), path
    except FileNotFoundError as error:
        raise ResultError("there is no such file", where=path, remedy="check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(
            "the file cannot be read as text", where=path, remedy="give a result.json"
        ) from error
