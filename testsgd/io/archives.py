"""Archives of arrays and of networks: what they say they hold is checked before it is unpacked.

A small archive can unpack to any size, and an array's header can name any shape. So sizes are
summed from the archive's directory, and a header must fit the bytes that follow it.
"""

from __future__ import annotations

import contextlib
import contextvars
import errno
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testsgd.io.reading import UnsuitableFileError, check_regular

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE_MEMORY = 4 * 2**30

_ARRAY = ".npy"
_LONGEST_HEADER = 10_000
_limit = contextvars.ContextVar("file_memory_limit", default=FILE_MEMORY)


@contextlib.contextmanager
def file_memory(at_most: int) -> Iterator[None]:
    """Limit, within the block, the bytes that the contents of one file may take in memory.

    Parameters
    ----------
    at_most : int
        Without this it is :data:`FILE_MEMORY`, four GiB.

    Examples
    --------
    >>> from testsgd.io import file_memory
    >>> with file_memory(2**20):
    ...     pass
    """
    token = _limit.set(at_most)
    try:
        yield
    finally:
        _limit.reset(token)


def memory_limit() -> int:
    """Return how many bytes the contents of one file may take in memory.

    Returns
    -------
    int
        What :func:`file_memory` has set, or :data:`FILE_MEMORY`.
    """
    return _limit.get()


def check_file_memory(size: int, where: str | Path) -> None:
    """Raise if contents of a size are more than :func:`file_memory` allows.

    Parameters
    ----------
    size : int
        Bytes of what is to be unpacked.
    where : str or pathlib.Path
        The file.

    Raises
    ------
    UnsuitableFileError
        Its ``strerror`` has both sizes and names the option that raises the limit.
    """
    limit = _limit.get()
    if size > limit:
        raise UnsuitableFileError(
            errno.EFBIG,
            f"it unpacks to {size / 2**20:,.0f} MiB, more than --max-file-memory allows, "
            f"{limit / 2**20:,.0f} MiB",
            str(where),
        )


@contextlib.contextmanager
def open_archive(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """Open a ZIP archive whose members together are no larger than :func:`file_memory` allows.

    Parameters
    ----------
    path : str or pathlib.Path

    Yields
    ------
    zipfile.ZipFile
        Reading a member gives at most the bytes that the directory declares.

    Raises
    ------
    UnsuitableFileError
        If it is no regular file, or the members are too large.
    zipfile.BadZipFile
        If it is no ZIP archive.
    """
    check_regular(path)
    with zipfile.ZipFile(path) as archive:
        check_file_memory(sum(member.file_size for member in archive.infolist()), path)
        yield archive


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    dict of str to numpy.ndarray
        By their names, in the order of the file. They can be written to.

    Raises
    ------
    UnsuitableFileError
        If the file is no regular one, or holds more than :func:`file_memory` allows.
    ValueError
        If a member is no array, or its header does not fit its size, or it holds Python objects.
    zipfile.BadZipFile
        If it is no ZIP archive, or a member is damaged.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from testsgd.io import read_arrays
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, rates=np.array([0.25, 0.5]))
    ...     read_arrays(file.name)
    {'rates': array([0.25, 0.5 ])}
    """
    with open_archive(path) as archive:
        return {
            member.filename.removesuffix(_ARRAY): _read_array(archive, member)
            for member in archive.infolist()
            if member.filename.endswith(_ARRAY)
        }


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    import numpy as np

    with archive.open(member) as stream:
        shape, is_fortran, dtype = _read_header(stream)
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size != member.file_size - stream.tell():
            raise ValueError(f"{member.filename} has {member.file_size} bytes, not as its header")
        content = bytearray(size)
        view, start = memoryview(content), 0
        while start < size:
            read = stream.readinto(view[start:])  # type: ignore[attr-defined]  # of BufferedIOBase
            if not read:
                raise ValueError(f"{member.filename} is cut off")
            start += read
        # To the end, where the checksum is compared.
        stream.read(1)
    array: NDArray[Any] = np.frombuffer(content, dtype=dtype)
    return array.reshape(shape, order="F" if is_fortran else "C")


def _read_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    import numpy as np

    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"an array has the unknown format {version}")
    shape, is_fortran, dtype = readers[version](stream, max_header_size=_LONGEST_HEADER)
    if dtype.hasobject:
        raise ValueError("an array holds Python objects")
    return shape, is_fortran, dtype
