"""Results of audits, whose files take the place of another audit's of the same data."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from testsgd.io import (
    check_replaceable,
    kind_of_file,
    loads_json,
    read_text,
    remove_file,
    replacing_any_file,
)
from testsgd.report.exporters import EXPORTERS
from testsgd.report.results import DocumentResult, Summary

_RESULT = "result.json"
# What one command writes: an audit of one rate, or one of metrics.
_AUDITS = ("testsgd.audit", "testsgd.metrics")
# Views of an audit, by their names.
_VIEWS = {
    "report.html": "report .html",
    "report.md": "report .md",
    "groups.csv": "table of groups",
    "groups.parquet": "table of groups",
}


class AuditDocumentResult(DocumentResult[Summary]):
    """The result of an audit of one rate, or of one of metrics, which one command writes.

    Parameters
    ----------
    summary
        The document.
    """

    @classmethod
    def check_folder(
        cls,
        folder: str | Path,
        formats: Sequence[str] = tuple(EXPORTERS),
        *,
        data_name: str | None = None,
    ) -> None:
        """Raise, before the work, what :meth:`write` will raise of the files that are there.

        Parameters, and what is raised, are those of :meth:`DocumentResult.check_folder`. An audit
        of the other kind is replaced if it is of the same data.
        """
        folder = Path(folder)
        if cls._replaced_kind(folder) is None:
            super().check_folder(folder, formats)
        elif _name_of_data(folder / _RESULT) == data_name:
            for exporter in cls.exporters.values():
                check_replaceable(folder / exporter.file)
        else:
            check_replaceable(folder / _RESULT, kind=cls.document.name.partition("/")[0])

    @classmethod
    def _replaced_kind(cls, folder: Path) -> str | None:
        """Return the kind of a saved audit that is of the other kind; None if there is none."""
        earlier = folder / _RESULT
        present = kind_of_file(earlier) if earlier.is_file() else None
        own = cls.document.name.partition("/")[0]
        return present if present in _AUDITS and present != own else None

    def write(self, folder: str | Path, formats: Sequence[str] = tuple(EXPORTERS)) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        An audit of metrics takes the place of an audit of one rate if both are of the same data,
        and the other way round; no view of the one before stays beside it.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of str
            Which views, such as "html", "md" and "json".

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown.
        ConfigurationError
            If a file is there that is not to be replaced.
        """
        folder = Path(folder)
        present = self._replaced_kind(folder)
        if present is None:
            return super().write(folder, formats)
        summary: Any = self.summary
        self.check_folder(folder, formats, data_name=summary.data.name)
        is_replaced = _name_of_data(folder / _RESULT) == summary.data.name
        with replacing_any_file() if is_replaced else nullcontext():
            written = super().write(folder, formats)
        for name, kind in {_RESULT: present, **_VIEWS}.items():
            if folder / name not in written:
                remove_file(folder / name, kind=kind)
        return written


def _name_of_data(path: Path) -> str | None:
    """Return what the data of a saved audit are called; None if it is damaged."""
    try:
        name = loads_json(read_text(path))["data"]["name"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return str(name)
