"""Reading files: whole, with an upper bound on their size, their beginnings, and line by line.

Only such files are read that have an end.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# Documents such as descriptions, results and states are far smaller.
DOCUMENT_BYTES = 256 * 2**20
# One event, or one entry of a journal.
LINE_BYTES = 16 * 2**20

_PIECE_BYTES = 2**20
_MISSING = "there is no such file"

# What a shell gives for `<(command)` and for "-"; they are pipes, and have an end.
_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


class UnsuitableFileError(OSError):
    """The error of a file that is not read: a device or a pipe, or one too large or damaged.

    It is an ``OSError``, so that code that handles a file that cannot be read handles it too.

    Attributes
    ----------
    errno : int
        ``errno.EINVAL``, or ``errno.EFBIG`` of a :class:`TooLargeError`.
    strerror : str
        The reason, in words.
    filename : str
        The path of the file, or what a stream is called.

    Examples
    --------
    >>> try:
    ...     check_regular("/dev/zero")
    ... except UnsuitableFileError as error:
    ...     error.strerror, error.filename
    ('not a regular file', '/dev/zero')
    """


class TooLargeError(UnsuitableFileError):
    """The error of a file, or of something in it, that is larger than what is read.

    Notes
    -----
    The attributes are those of :class:`UnsuitableFileError`. It is raised for a file, a line or a
    member of an archive above its bound, and for content that unpacks to far more than the file
    takes. ``strerror`` has the bound.

    Examples
    --------
    >>> try:
    ...     list(lines_of(io.BytesIO(bytes(3 * 2**20)), "events", at_most=2**20))
    ... except TooLargeError as error:
    ...     error.strerror
    'line 1 is longer than 1 MiB, which is too much'
    """


def read_bytes(path: str | Path, *, at_most: int = DOCUMENT_BYTES) -> bytes:
    """Return the bytes of a file.

    Parameters
    ----------
    path : str or pathlib.Path
    at_most : int, default=DOCUMENT_BYTES
        Bytes that the file may have.

    Returns
    -------
    bytes

    Raises
    ------
    UnsuitableFileError
        If it is a device, a named pipe or larger than `at_most`. No more than that is read.
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> from testsgd.io import read_bytes
    >>> read_bytes("/dev/zero")
    Traceback (most recent call last):
    ...
    testsgd.io.reading.UnsuitableFileError: [Errno 22] not a regular file: '/dev/zero'
    """
    content = bytearray()
    with _opened(path) as file:
        # Piece by piece: a read of as much as may come would take that much memory at once.
        while piece := file.read(min(_PIECE_BYTES, at_most + 1 - len(content))):
            content += piece
    if len(content) > at_most:
        raise TooLargeError(
            errno.EFBIG, f"larger than {at_most / 2**20:,.0f} MiB, which is too much", str(path)
        )
    return bytes(content)


def read_text(path: str | Path, *, encoding: str = "utf-8", at_most: int = DOCUMENT_BYTES) -> str:
    """Return the text of a file, with line ends as in Python.

    Parameters
    ----------
    path : str or pathlib.Path
    encoding : str, default="utf-8"
    at_most : int, default=DOCUMENT_BYTES
        Bytes that the file may have.

    Returns
    -------
    str

    Raises
    ------
    UnsuitableFileError
        As :func:`read_bytes`.
    OSError
        If it is missing or cannot be read.
    UnicodeError
        If its bytes are not in that encoding.
    """
    text = read_bytes(path, at_most=at_most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_beginning(path: str | Path, at_most: int) -> bytes:
    """Return the first bytes of a file, by which its kind is known.

    Parameters
    ----------
    path : str or pathlib.Path
    at_most : int
        How many bytes; fewer if the file has no more.

    Returns
    -------
    bytes

    Raises
    ------
    UnsuitableFileError
        If it is a device or a named pipe.
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import read_beginning
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"%PDF-1.7")
    ...     file.flush()
    ...     read_beginning(file.name, 4)
    b'%PDF'
    """
    with _opened(path) as file:
        return file.read(at_most)


def read_text_beginning(path: str | Path, at_most: int, *, encoding: str) -> str:
    """Return the first characters of a file; bytes that are none are replaced.

    Parameters
    ----------
    path : str or pathlib.Path
    at_most : int
        How many characters; fewer if the file has no more.
    encoding : str

    Returns
    -------
    str

    Raises
    ------
    UnsuitableFileError
        If it is a device or a named pipe.
    OSError
        If it is missing or cannot be read.
    UnicodeError
        If it is said to be UTF-16 or UTF-32, and lacks the mark at the beginning.
    """
    with (
        _opened(path) as file,
        io.TextIOWrapper(file, encoding=encoding, errors="replace") as text,
    ):
        return text.read(at_most)


def read_lines(path: str | Path) -> Iterator[bytes]:
    r"""Yield the lines of a file one by one, for files that need not fit into the memory.

    Parameters
    ----------
    path : str or pathlib.Path

    Yields
    ------
    bytes
        A line with its line break, which the last one may lack.

    Raises
    ------
    UnsuitableFileError
        If it is a device or a named pipe, or a line has more than :data:`LINE_BYTES`.
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import read_lines
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"first\nlast")
    ...     file.flush()
    ...     list(read_lines(file.name))
    [b'first\n', b'last']
    """
    with _opened(path) as file:
        yield from lines_of(file, str(path))


def lines_of(stream: BinaryIO, name: str, *, at_most: int = LINE_BYTES) -> Iterator[bytes]:
    r"""Yield the lines of an open stream one by one, each as soon as it is there.

    Parameters
    ----------
    stream : binary file
    name : str
        What the stream is, for the error.
    at_most : int, default=LINE_BYTES
        Bytes that a line may have.

    Yields
    ------
    bytes
        A line with its line break, which the last one may lack.

    Raises
    ------
    TooLargeError
        If a line is longer. Little more than `at_most` bytes of it are read.

    Examples
    --------
    >>> import io
    >>> from testsgd.io import lines_of
    >>> list(lines_of(io.BytesIO(b"first\nlast"), "events"))
    [b'first\n', b'last']
    """
    number = 0
    while line := stream.readline(at_most + 1):
        number += 1
        if len(line) > at_most:
            what = f"line {number} is longer than {at_most / 2**20:,.0f} MiB, which is too much"
            raise TooLargeError(errno.EFBIG, what, name)
        yield line


def has_long_lines(path: str | Path, longer_than: int) -> bool:
    r"""Return whether a file may have a line of more bytes than a bound, at the speed of reading.

    Parameters
    ----------
    path : str or pathlib.Path
    longer_than : int
        The bound. A line of half as many bytes may be taken for a long one.

    Returns
    -------
    bool
        False only if there is no such line. A stream, which can be read only once, is not read.

    Raises
    ------
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import has_long_lines
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"a,b\n" * 1000)
    ...     file.flush()
    ...     has_long_lines(file.name, 100)
    False
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        return False
    # A long line covers a whole window, wherever it begins.
    window = max(longer_than // 2, 1)
    with _opened(path) as file:
        while block := file.read(window * max(_PIECE_BYTES // window, 1)):
            # What is left of the last block is no whole window.
            for start in range(0, len(block) - window + 1, window):
                end = start + window
                if block.find(b"\n", start, end) < 0 and block.find(b"\r", start, end) < 0:
                    return True
    return False


def line_pieces(path: str | Path) -> Iterator[bytes]:
    r"""Yield the lines of a file, and long ones in pieces of at most a MiB.

    Parameters
    ----------
    path : str or pathlib.Path

    Yields
    ------
    bytes
        A line, or a piece of one, with the line break that it may have: LF, CR, or both.

    Raises
    ------
    OSError
        If it is missing or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import line_pieces
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"a,b\n1,2")
    ...     file.flush()
    ...     list(line_pieces(file.name))
    [b'a,b\n', b'1,2']
    """
    with _opened(path) as file:
        while piece := file.read(_PIECE_BYTES):
            yield from piece.splitlines(keepends=True)


def why_no_file(path: str | Path) -> str | None:
    """Return why a path cannot be read as a regular file, in words, or None if it can be.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    str or None

    Examples
    --------
    >>> from testsgd.io import why_no_file
    >>> why_no_file("missing.keras")
    'there is no such file'
    >>> why_no_file("/dev/zero")
    'it is a device or a pipe, not a regular file'
    """
    path = Path(path)
    if path.is_file():
        return None
    if path.is_dir():
        return "it is a folder, not a file"
    return "it is a device or a pipe, not a regular file" if path.exists() else _MISSING


def check_regular(path: str | Path) -> None:
    """Raise if a path is something that may have no end, such as a device or a named pipe.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that another library will open.

    Raises
    ------
    UnsuitableFileError
        If it is neither a regular file nor a stream that the shell made for the command.
    OSError
        If it is missing.
    """
    if not _is_suitable(os.stat(path).st_mode, path):
        raise _not_regular(path)


def _opened(path: str | Path) -> BinaryIO:
    # Without waiting: a named pipe that nothing writes to would keep the command for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if not _is_suitable(mode, path):
            raise _not_regular(path)
        if not stat.S_ISREG(mode):
            os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _is_suitable(mode: int, path: str | Path) -> bool:
    if stat.S_ISREG(mode):
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return stat.S_ISFIFO(mode) and str(path).startswith(_STREAMS)


def _not_regular(path: str | Path) -> UnsuitableFileError:
    return UnsuitableFileError(errno.EINVAL, "not a regular file", str(path))
