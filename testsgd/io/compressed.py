"""Compressed files and streams, unpacked into a temporary file before anything is made of them.

What is in one is so looked at as any other file is: by its beginning, line by line and as a whole.
No more is unpacked than the contents of one file may take.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from testsgd.errors import MissingExtraError
from testsgd.io.archives import check_compression, check_file_memory
from testsgd.io.reading import UnsuitableFileError, check_regular

# Opens a file for reading what is in it.
_Opener: TypeAlias = Callable[[Path], contextlib.AbstractContextManager[BinaryIO]]

_PIECE = 2**20
# What the libraries raise if the bytes of a compressed file are not what they should be.
_DAMAGED = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@contextlib.contextmanager
def plain_file(path: str | Path, *, compressed: bool) -> Iterator[Path]:
    r"""Yield a regular file, not compressed, that holds what a file or a stream holds.

    Parameters
    ----------
    path : str or pathlib.Path
        A file, or a stream that the shell made for the command.
    compressed : bool
        Whether the file is compressed if its name ends in one of :data:`COMPRESSIONS`.

    Yields
    ------
    pathlib.Path
        `path` itself if it is such a file. Else a temporary one, which is removed at the end.

    Raises
    ------
    TooLargeError
        If it holds more than :func:`testsgd.io.file_memory` allows, or is compressed too far: see
        :func:`testsgd.io.check_compression`. Little more than that is unpacked.
    UnsuitableFileError
        If it is a device or a named pipe, or is damaged.
    OSError
        If it is missing or cannot be read.
    MissingExtraError
        If it is compressed by Zstandard, which needs the extra ``parquet``.

    Examples
    --------
    >>> import gzip, tempfile
    >>> from testsgd.io import plain_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv.gz"
    ...     _ = path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    ...     with plain_file(path, compressed=True) as plain:
    ...         plain.read_text()
    'a,b\n1,2\n'
    """
    path = Path(path)
    check_regular(path)
    is_file = stat.S_ISREG(os.stat(path).st_mode)
    opener = COMPRESSIONS.get(path.suffix.lower()) if compressed else None
    if is_file and opener is None:
        yield path
        return
    packed = path.stat().st_size if is_file else None
    descriptor, name = tempfile.mkstemp(prefix="testsgd-")
    try:
        with os.fdopen(descriptor, "wb") as target:
            _unpack(path, opener or _as_it_is, target, packed)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _unpack(
    path: Path,
    opener: _Opener,
    target: BinaryIO,
    packed: int | None,
) -> None:
    size = 0
    try:
        with opener(path) as source:
            while piece := source.read(_PIECE):
                size += len(piece)
                check_file_memory(size, path)
                if packed is not None:
                    check_compression(size, packed, path)
                target.write(piece)
    except (OSError, *_DAMAGED) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # Libraries raise an OSError without a number for bytes that they do not know.
        raise UnsuitableFileError(
            errno.EINVAL, f"the compressed file is damaged ({type(error).__name__})", str(path)
        ) from error


def _as_it_is(path: Path) -> BinaryIO:
    return path.open("rb")


def _gzip(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb"))


def _bzip2(path: Path) -> BinaryIO:
    return cast("BinaryIO", bz2.open(path, "rb"))


def _xz(path: Path) -> BinaryIO:
    return cast("BinaryIO", lzma.open(path, "rb"))


def _zstandard(path: Path) -> BinaryIO:
    try:
        from pyarrow import input_stream
    except ImportError as error:
        raise MissingExtraError(
            "pyarrow", extra="parquet", purpose="reading a file compressed by Zstandard"
        ) from error
    return cast("BinaryIO", input_stream(str(path), compression="zstd"))


@contextlib.contextmanager
def _zip(path: Path) -> Iterator[BinaryIO]:
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            what = f"the archive holds {len(members)} files, not one"
            raise UnsuitableFileError(errno.EINVAL, what, str(path))
        with archive.open(members[0]) as stream:
            yield cast("BinaryIO", stream)


COMPRESSIONS: dict[str, _Opener] = {
    ".gz": _gzip,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".zst": _zstandard,
    ".zip": _zip,
}
"""The endings of compressed files."""
