"""Files that whole lines are added to, by one process at a time: journals, logs, dead letters."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from testsgd.io.identity import STAGING
from testsgd.io.writing import lock, writing_to

_BLOCK = 1 << 16


class FileInUseError(OSError):
    """The error of a file that cannot be added to, as another process adds to it.

    It is an ``OSError``, as a file that cannot be opened is.

    Attributes
    ----------
    errno : int
        ``errno.EAGAIN``.
    strerror : str
        The reason, in words.
    filename : str
        The path of the file.

    Notes
    -----
    :class:`testsgd.io.LineFile` raises it when it cannot lock the file. The file is left as it is.
    """


class LineFile:
    r"""A file that lines are added to; no other process can open it so meanwhile.

    It is made if it is not there; if its ``with`` statement raises before a line was added, it is
    gone again. What cannot be locked, such as a terminal, is only written to.

    Parameters
    ----------
    path : str or pathlib.Path
    fsync : bool, default=False
        Wait until each line is on the disc. Without it a machine that loses power can lose the last
        lines.

    Attributes
    ----------
    size : int
        Bytes of the whole lines. A last line that was cut short is behind them.

    Raises
    ------
    FileInUseError
        If another process adds to it.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import LineFile
    >>> with tempfile.TemporaryDirectory() as folder, LineFile(f"{folder}/log.jsonl") as file:
    ...     file.add(b'{"decision": 1}\n')
    ...     file.size
    16
    """

    __slots__ = ("_aside", "_file", "_fsync", "_is_broken", "_is_new", "path", "size")

    def __init__(self, path: str | Path, *, fsync: bool = False) -> None:
        self.path = Path(path)
        self._fsync = fsync
        self._is_broken = False
        # What was in the place of the file, under another name.
        self._aside: Path | None = None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file, self._is_new = _opened(self.path)
        self.size = 0
        try:
            self.size = self._locked_size()
            while os.fstat(self._file).st_nlink == 0 and not self._is_in_place():
                # The process that had it locked has taken it back in between.
                self.close()
                self._file, self._is_new = _opened(self.path)
                self.size = self._locked_size()
        except FileInUseError:
            self.close()
            raise
        except BaseException:
            self.take_back()
            raise

    def _locked_size(self) -> int:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            return 0
        if not lock(self._file):
            what = "another process adds to this file"
            raise FileInUseError(errno.EAGAIN, what, str(self.path))
        return _size_of_whole_lines(self._file)

    def _is_in_place(self) -> bool:
        """Return whether the path is that of the open file."""
        try:
            return os.path.samestat(os.fstat(self._file), self.path.stat())
        except FileNotFoundError:
            return False

    def __enter__(self) -> LineFile:
        """Return the file itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """Close the file; take it back if something was raised."""
        if kind is None:
            self.close()
        else:
            self.take_back()

    @property
    def is_open(self) -> bool:
        """Whether lines can be added: it is not closed, and no line stayed in it half."""
        return self._file >= 0 and not self._is_broken

    def lines_from(self, position: int) -> list[bytes]:
        """Return the whole lines behind a position; all of them if the file is shorter."""
        start = position if position <= self.size else 0
        parts: list[bytes] = []
        while start < self.size:
            part = os.pread(self._file, self.size - start, start)
            if not part:
                break
            parts.append(part)
            start += len(part)
        return b"".join(parts).splitlines(keepends=True)

    def cut_line(self, at_most: int = 1 << 20) -> bytes:
        """Return the first bytes of a last line that was cut short; empty if none was."""
        return os.pread(self._file, at_most, self.size)

    def drop_cut_line(self) -> None:
        """Remove a last line that was cut short, as by a process that was killed."""
        os.ftruncate(self._file, self.size)

    def begin_anew(self) -> None:
        """Begin another file in the place of this one, which :meth:`take_back` puts back.

        It is gone once the file is closed.
        """
        aside = self.path.with_name(f"{STAGING[0]}{secrets.token_hex(8)}{STAGING[1]}")
        self.path.rename(aside)
        try:
            new, is_new = _opened(self.path)
        except BaseException:
            aside.rename(self.path)
            raise
        self.close()
        self._aside = aside
        self._file, self._is_new, self.size = new, is_new, 0
        self.size = self._locked_size()

    def end_cut_line(self) -> None:
        """Give a last line that was cut short its line break."""
        end = os.fstat(self._file).st_size
        if end > self.size:
            self.size = end
            self.add(b"\n")

    def add(self, line: bytes) -> None:
        """Add a line in one piece, at once.

        Parameters
        ----------
        line : bytes
            It ends in a line break.

        Raises
        ------
        OSError
            If it cannot be written, or the file is closed. Then the file is as before; if not even
            that can be reached, it is no longer open.
        """
        if not self.is_open:
            raise OSError(errno.EBADF, "the file is closed", str(self.path))
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, "only a part of the line fitted on the disc")
            if self._fsync:
                os.fsync(self._file)
        except OSError:
            # What is there of the line must not become a part of the next one.
            try:
                os.ftruncate(self._file, self.size)
            except OSError:
                self._is_broken = True
            raise
        self.size += len(line)

    def take_back(self, *, beginning: int = 0) -> None:
        """Close the file; remove it if it was made here, and no line was added.

        `beginning`: bytes of a first line that says nothing but what the file is.
        """
        is_empty = self.size <= beginning
        if self._file >= 0 and self._is_new and is_empty and self._is_in_place():
            # While it is locked: afterwards it may be another's.
            with contextlib.suppress(OSError):
                self.path.unlink()
                if self._aside is not None:
                    self._aside.rename(self.path)
                    self._aside = None
        self.close()

    def close(self) -> None:
        """Close the file; another process can then add to it."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        if self._aside is not None:
            with contextlib.suppress(OSError):
                self._aside.unlink()
            self._aside = None


@contextlib.contextmanager
def adding_lines(path: str | Path, *, remedy: str) -> Iterator[Callable[[str], None]]:
    r"""Open a file that lines are added to, behind those that are there.

    A last line without a line break, as an editor may leave it, is ended and kept, once there is
    something to add: until then the file, which may be another's, is as it was.

    Parameters
    ----------
    path : str or pathlib.Path
        Made if it is not there.
    remedy : str
        What to do if it cannot be written.

    Yields
    ------
    callable
        It adds a text as a line at once, as UTF-8 and with a line break.

    Raises
    ------
    ConfigurationError
        If the file cannot be opened or written, or another process adds to it.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import adding_lines, read_bytes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with adding_lines(f"{folder}/log.jsonl", remedy="choose another file") as add:
    ...         add("{}")
    ...     read_bytes(f"{folder}/log.jsonl")
    b'{}\n'
    """
    path = Path(path)
    with writing_to(path, remedy):
        file = LineFile(path)

    def add(text: str) -> None:
        with writing_to(path, remedy):
            file.end_cut_line()
            file.add(f"{text}\n".encode())

    with file:
        yield add


def _opened(path: Path) -> tuple[int, bool]:
    """Open a file to add to, and return whether it was made."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(path, flags, 0o666), False


def _size_of_whole_lines(file: int) -> int:
    """Return the number of bytes up to and with the last line break."""
    end = os.lseek(file, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(file, start, os.SEEK_SET)
        last = os.read(file, end - start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0
