"""The file that a monitor adds dead letters to, each once, even if a run is killed and repeated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from testsgd.io import (
    DEAD_LETTERS,
    LineFile,
    begins_anew,
    check_replaceable,
    loads_json,
    writing_to,
)
from testsgd.monitoring.trials import DeadLetter

_REMEDY = "choose another file for the dead letters"
# How every letter begins.
_BEGINNING = b'{"dead_letter": "'


class DeadLetterFile:
    """A file that dead letters are added to at once, a JSON object a line.

    Those that a run added after the state was last saved are not counted in the state. When their
    events are sent again they become dead letters again, and are not added a second time.

    Parameters
    ----------
    path : path-like
        Made if it is not there.
    saved : int, optional
        Bytes that the file had when the state was saved. None: there is no state, and all are
        added.

    Raises
    ------
    ConfigurationError
        If the file cannot be opened or written, another process adds to it, or it has something
        else than dead letters. Within :func:`testsgd.io.replacing_any_file` only another file of
        testsgd's is refused.
    """

    def __init__(self, path: str | Path, saved: int | None) -> None:
        self._path = Path(path)
        with writing_to(self._path, _REMEDY):
            self._file = LineFile(self._path)
            try:
                # A file that has no dead letters stays as it is: its beginning is checked before
                # its end is repaired. One of others, where that may be replaced, is replaced once
                # there is a letter.
                is_cut = self._is_cut_letter()
                self._is_of_others = not is_cut and begins_anew(self._path)
                if self._path.is_file() and not (is_cut or self._is_of_others):
                    check_replaceable(self._path, kind=DEAD_LETTERS, gone_on_with=True)
                if not self._is_of_others:
                    self._mend_last_line(was_killed=saved is not None)
            except BaseException:
                self._file.take_back()
                raise
        behind = [] if saved is None or self._is_of_others else self._file.lines_from(saved)
        entries = [entry for line in behind if (entry := _event_of(line)) is not None]
        self._added_before = Counter(entries)

    def _is_cut_letter(self) -> bool:
        """Return whether a run was killed in the middle of the first letter."""
        return self._file.size == 0 and _begins_as_letter(self._file.cut_line())

    def _mend_last_line(self, *, was_killed: bool) -> None:
        """End a letter without a line break; drop it if a run was killed in the middle of it.

        Anything else is ended once there is a letter to add.
        """
        line = self._file.cut_line()
        if _event_of(line) is not None:
            self._file.end_cut_line()
        elif was_killed and _begins_as_letter(line):
            self._file.drop_cut_line()

    @property
    def size(self) -> int:
        """Bytes of the file; 0 while there is none of dead letters."""
        return 0 if self._is_of_others else self._file.size

    def add(self, letter: DeadLetter) -> None:
        """Add a letter at once, unless the run before added it and did not save its state."""
        entries = letter.to_dict()
        event = _as_text(entries["event"])
        if self._added_before[event] > 0:
            self._added_before[event] -= 1
            return
        with writing_to(self._path, _REMEDY):
            if self._is_of_others:
                self._file.begin_anew()
                self._is_of_others = False
            self._file.end_cut_line()
            self._file.add(f"{json.dumps(entries, allow_nan=False)}\n".encode())

    def __enter__(self) -> DeadLetterFile:
        """Return the file itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file; if something was raised before a letter was added, it is gone again."""
        self._file.__exit__(kind, error, trace)


def _begins_as_letter(line: bytes) -> bool:
    """Return whether a line that was cut short is, as far as it goes, that of a letter."""
    return bool(line) and (line.startswith(_BEGINNING) or _BEGINNING.startswith(line))


def _event_of(line: bytes) -> str | None:
    """Return the event of a letter, as text that is equal for equal events; None if it is none."""
    try:
        entries: Any = loads_json(line.decode("utf-8"))
    except ValueError:
        return None
    event = entries.get("event") if isinstance(entries, Mapping) else None
    return None if event is None else _as_text(event)


def _as_text(event: Mapping[str, Any]) -> str:
    return json.dumps(event, sort_keys=True)
