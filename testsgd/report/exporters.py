"""Formats of reports: what each one's file is called, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from testsgd.errors import ParameterError
from testsgd.io import files_together, write_text
from testsgd.plugins import load_plugin, plugin_names


@dataclass(frozen=True)
class Exporter:
    """One format of a report.

    Attributes
    ----------
    file : str
        The name of the file.
    text : callable, optional
        Renders a result as text.
    write : callable, optional
        Writes a result to a path, where its text is too large to be held or it is no text.
    check : callable, optional
        Raises an error of the family if a package that the format needs is not installed.
    """

    file: str
    text: Callable[[Any], str] | None = None
    write: Callable[[Any, Path], object] | None = None
    check: Callable[[], object] | None = None


# The group of entry points by which other packages add formats.
PLUGINS = "testsgd.formats"

# What every result can be written as. A format of all results is one more line here.
EXPORTERS: Mapping[str, Exporter] = {
    "html": Exporter("report.html", text=lambda result: result.to_html()),
    "md": Exporter("report.md", text=lambda result: result.to_markdown()),
    "json": Exporter("result.json", text=lambda result: result.to_json()),
}


def check_formats(
    formats: Sequence[str],
    exporters: Mapping[str, Exporter] = EXPORTERS,
    *,
    of_others: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Exporter]:
    """Return the exporters of some formats, those of plugins too.

    Parameters
    ----------
    formats : sequence of str
        Their names.
    exporters : mapping of str to Exporter
        Those of the result.
    of_others : mapping of str to str
        Formats of other results, each with why this one has none such.

    Raises
    ------
    TestSGDError
        If a format is unknown, or needs a package that is not installed.
    """
    chosen: dict[str, Exporter] = {}
    for name in formats:
        exporter = exporters.get(name) or load_plugin(PLUGINS, name)
        if exporter is None:
            raise ParameterError(
                of_others.get(name, f"the format {name!r} is unknown"),
                where="format",
                remedy=f"choose from {', '.join([*exporters, *plugin_names(PLUGINS)])}",
            )
        chosen[name] = exporter
    for exporter in chosen.values():
        if exporter.check is not None:
            exporter.check()
    return chosen


def export(
    result: Any,
    folder: str | Path,
    formats: Sequence[str],
    exporters: Mapping[str, Exporter],
    *,
    rendering: AbstractContextManager[None] | None = None,
) -> list[Path]:
    """Write a result into a folder, which is made, in some formats; return the files written.

    All files are written beside their places first: if one of them fails, none is touched. The
    texts are made within `rendering`, if it is given.
    """
    folder = Path(folder)
    chosen = check_formats(formats, exporters)
    with nullcontext() if rendering is None else rendering:
        texts = {name: item.text(result) for name, item in chosen.items() if item.text is not None}
    with files_together(folder) as staging:
        for name, exporter in chosen.items():
            target = staging / exporter.file
            if name in texts:
                write_text(target, texts[name])
            elif exporter.write is not None:
                exporter.write(result, target)
    return [folder / exporter.file for exporter in chosen.values()]
