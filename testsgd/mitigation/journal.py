"""What a mitigation has done so far, so that an interrupted one can go on.

Only figures are kept, no models: a retraining is repeated bit for bit from its seed, so the one
model that is needed again is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io import (
    begins_anew,
    check_replaceable,
    goes_on_from,
    loads_json,
    read_text,
    remove_file,
    write_text,
)

_KIND = "testsgd.journal"
_FORMAT = f"{_KIND}/2"


class Journal:
    """A file of figures by name, written whole after each addition; without a path nothing is kept.

    `about` says what the work is, JSON-able: a file about other work, or none of a journal, is
    refused with a :class:`ConfigurationError`. `resume`: go on from the file, if there is one; else
    begin anew.
    """

    def __init__(
        self, path: Path | str | None, about: Mapping[str, Any], *, resume: bool = False
    ) -> None:
        self._path = None if path is None else Path(path)
        text = json.dumps(about, sort_keys=True)
        self._about = hashlib.sha256(text.encode()).hexdigest()
        self._entries: dict[str, Any] = {}
        if resume and self._path is not None and _goes_on_from(self._path):
            self._entries = self._read(self._path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which something is kept."""
        return tuple(self._entries)

    def get(self, name: str) -> Any:
        """Return what was kept under a name; None if nothing was."""
        return self._entries.get(name)

    def keep(self, name: str, figures: Any) -> None:
        """Keep JSON-able figures under a name, and write the file."""
        self._entries[name] = figures
        if self._path is not None:
            document = {
                "format": _FORMAT,
                "about": self._about,
                "digest": _digest(self._entries),
                "entries": self._entries,
            }
            write_text(self._path, json.dumps(document) + "\n")

    def _read(self, path: Path) -> dict[str, Any]:
        about, entries = _document(path)
        if about != self._about:
            raise ConfigurationError(
                "the journal is of a mitigation with other data, another model or other settings",
                where=str(path),
                remedy="give the same settings as before, or begin anew without --resume",
            )
        return entries


def check_journal(path: Path | str | None, *, resume: bool) -> None:
    """Raise if there is a file in the place of a journal that is none.

    What the file is about is known only when much has been worked out; this can be said before.

    Raises
    ------
    ConfigurationError
        If the file is no journal of a mitigation, but not within
        :func:`testsgd.io.replacing_any_file`. Also if its figures were changed, and are to be used.
    """
    if path is None:
        return
    if resume and _goes_on_from(Path(path)):
        _document(Path(path))
    if not begins_anew(path):
        check_replaceable(path, kind=_KIND, gone_on_with=True)


def remove_journal(path: Path | str) -> None:
    """Remove the journal of a mitigation that has ended; a file that is none stays."""
    remove_file(path, kind=_KIND)


def _goes_on_from(path: Path) -> bool:
    return path.is_file() and goes_on_from(path)


def _document(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return what a journal is about, and its figures."""
    try:
        document = loads_json(read_text(path))
        if document["format"] != _FORMAT:
            raise ValueError(document["format"])
        about, entries = document["about"], dict(document["entries"])
        # Figures that were changed would go into a result, or fail somewhere far from here.
        if document["digest"] != _digest(entries):
            raise ValueError("its figures are not those that were written")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            "this is no journal of a mitigation",
            where=str(path),
            remedy="choose another folder, or remove it if it is yours to lose",
        ) from error
    return about, entries


def _digest(entries: Mapping[str, Any]) -> str:
    """Return the digest of figures, the same before they are written and after they are read."""
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()
