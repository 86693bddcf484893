"""Reading files whole, with an upper bound on their size, and only such that have an end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# Documents such as descriptions, results and states are far smaller.
DOCUMENT_BYTES = 256 * 2**20

_PIECE_BYTES = 2**20

# What a shell gives for `<(command)` and for "-"; they are pipes, and have an end.
_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


class UnsuitableFileError(OSError):
    """A file that is not read: it is a device or a pipe, or too large.

    It is an ``OSError``, so that what is said of a file that cannot be read is said of it, too; the
    reason is in ``strerror``.
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
        raise UnsuitableFileError(
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
