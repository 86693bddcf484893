"""A file that has every decision of a shield, so that a restart goes on where it stopped.

A journal is a text file of JSON lines to which is only added. A line goes to the operating system
in one piece before its decision is handed out; so a process that is killed has lost nothing that
anybody saw. A line that was cut short was never handed out, and is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from testsgd._files import lock
from testsgd.errors import JournalError

FORMAT = "testsgd.shield-journal"
VERSION = 1
_BLOCK = 1 << 16

_text = json.encoder.encode_basestring_ascii


def decision_line(
    group: str, recommendation: int, cost: float | None, decision: int, event: str | None
) -> bytes:
    r"""Write a decision as a line of a journal.

    Examples
    --------
    >>> decision_line("a", 1, 0.5, 0, "7")
    b'{"group":"a","recommendation":1,"cost":0.5,"decision":0,"id":"7"}\n'
    """
    # Put together by hand, because the encoder of JSON takes longer than the decision.
    price = "null" if cost is None else repr(cost)
    last = "" if event is None else f',"id":{_text(event)}'
    return (
        f'{{"group":{_text(group)},"recommendation":{recommendation},"cost":{price},'
        f'"decision":{decision}{last}}}\n'
    ).encode("ascii")


def label_line(label: int, event: str | None) -> bytes:
    r"""Write a revealed label as a line of a journal.

    Examples
    --------
    >>> label_line(1, None)
    b'{"label":1}\n'
    """
    last = "" if event is None else f',"id":{_text(event)}'
    return f'{{"label":{label}{last}}}\n'.encode("ascii")


def period_line(period: int, active: bool, threshold: Fraction | None = None) -> bytes:
    r"""Write the start of a period for which a shield was synthesised anew.

    A threshold is written if another one than the specification's is promised for the period.

    Examples
    --------
    >>> period_line(1, True)
    b'{"period":1,"active":true}\n'
    >>> period_line(2, True, Fraction(3, 10))
    b'{"period":2,"active":true,"threshold":"3/10"}\n'
    """
    last = "" if threshold is None else f',"threshold":"{threshold}"'
    said = "true" if active else "false"
    return f'{{"period":{period},"active":{said}{last}}}\n'.encode("ascii")


class Journal:
    """An open journal, which no other process can open meanwhile.

    Parameters
    ----------
    path : pathlib.Path
        Made if it is not there, with its folder.
    digest : str
        Of the shield. A journal of another one is refused.
    fsync : bool
        Whether to wait after each line until it is on the disc. Without it a killed process loses
        nothing, but a machine that loses power can lose the last lines.

    Raises
    ------
    JournalError
        If the file cannot be written, is open elsewhere, is no journal, or is of another shield or
        version.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "decisions.jsonl", digest="abc")
    ...     journal.write(decision_line("a", 1, None, 1, None))
    ...     list(journal.records())
    ...     journal.close()
    [(2, {'group': 'a', 'recommendation': 1, 'cost': None, 'decision': 1})]
    """

    __slots__ = ("_broken", "_file", "_fsync", "_size", "path")

    def __init__(self, path: Path, *, digest: str, fsync: bool = False) -> None:
        self.path = Path(path)
        self._fsync = fsync
        self._broken = False
        self._file = -1
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise self._error(
                f"the journal cannot be opened ({error.strerror})", "choose another file"
            ) from error
        try:
            self._lock()
            self._size = _whole_lines(self._file)
            os.ftruncate(self._file, self._size)
            if self._size == 0:
                header = {"format": FORMAT, "version": VERSION, "digest": digest}
                self.write(json.dumps(header).encode("ascii") + b"\n")
            else:
                self._check_header(digest)
        except OSError as error:
            self.close()
            raise self._error(
                f"the journal cannot be used ({error.strerror})", "choose another file"
            ) from error
        except JournalError:
            self.close()
            raise

    def write(self, line: bytes) -> None:
        """Add a line, which ends in a line break, as a whole or not at all.

        Raises
        ------
        JournalError
            If it cannot be written; the file is then as before.
        """
        if self._broken or self._file < 0:
            raise self._error("the journal is closed", "open it again, which repairs its end")
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(28, "only a part of the line fitted on the disc")
            if self._fsync:
                os.fsync(self._file)
        except OSError as error:
            # What is there of the line must not become a part of the next one.
            try:
                os.ftruncate(self._file, self._size)
            except OSError:
                self._broken = True
            raise self._error(
                f"the journal cannot be written ({error.strerror}), so nothing was decided",
                "make room and ask again",
            ) from error
        self._size += len(line)

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give what stands behind the first line, each with the number of its line.

        Raises
        ------
        JournalError
            If a line is no JSON object.
        """
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if number > 1:
                    yield number, self._parsed(line, number)

    def close(self) -> None:
        """Close the file; it can then be opened elsewhere."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1

    def _lock(self) -> None:
        if not lock(self._file):
            raise self._error(
                "another shield writes to this journal", "close that one, or give each its own"
            )

    def _check_header(self, digest: str) -> None:
        with self.path.open("rb") as stream:
            header = self._parsed(stream.readline(), 1)
        if header.get("format") != FORMAT:
            raise self._error("this is no journal of a shield", "choose another file")
        if header.get("version") != VERSION:
            raise self._error(
                f"the journal has version {header.get('version')!r}, not {VERSION}",
                "use the testsgd that wrote it, or start a new journal",
                version=header.get("version"),
            )
        if header.get("digest") != digest:
            raise self._error(
                "the journal is of a shield with another specification",
                "use the shield it was begun with, or start a new journal",
                digest=header.get("digest"),
                expected=digest,
            )

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise self.damaged(number, "is no JSON object")
        return record

    def damaged(self, number: int, what: str) -> JournalError:
        """Make the error that says that a line cannot be."""
        return JournalError(
            f"the line {what}",
            where=f"{self.path}, line {number}",
            remedy="take the journal from a backup, or start a new one",
            line=number,
        )

    def _error(self, what: str, remedy: str, **details: Any) -> JournalError:
        return JournalError(what, where=str(self.path), remedy=remedy, **details)


def _whole_lines(file: int) -> int:
    """Count the bytes up to and with the last line break."""
    end = os.lseek(file, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(file, start, os.SEEK_SET)
        found = os.read(file, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
