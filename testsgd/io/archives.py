"""Archives, ZIP and tar: what they say they hold is checked before it is unpacked.

A small archive can unpack to any size, and an array's header can name any shape. So sizes are
summed from the archive's directory, and a header must fit the bytes that follow it.
"""

from __future__ import annotations

import contextlib
import contextvars
import errno
import io
import lzma
import math
import re
import struct
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testsgd.io.reading import TooLargeError, check_regular
from testsgd.io.writing import atomic_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE_MEMORY = 4 * 2**30
# Numbers and texts are not compressed as far; what is made to fill the memory is, by 1,000. Small
# contents may be.
_MOST_COMPRESSED = 100
_SMALL = 64 * 2**20
# How the members of a ZIP archive are compressed, for libraries that ask for it.
DEFLATED = zipfile.ZIP_DEFLATED
# What reading raises if the bytes of a ZIP or tar archive are not what they should be.
DAMAGED_ARCHIVE = (ValueError, EOFError, zlib.error, zipfile.BadZipFile)
DAMAGED_TAR = (ValueError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError)

# What NumPy raises at an array's header, which it takes for a piece of Python, besides ValueError.
_NO_HEADER = (
    tokenize.TokenError,
    SyntaxError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    RecursionError,
)
# What the library of archives raises besides: of an encrypted member, of a compression that is
# unknown or damaged, and of a directory that is cut off.
_NO_MEMBER = (RuntimeError, struct.error, lzma.LZMAError, IndexError)
_ARRAY = ".npy"
_LONGEST_HEADER = 10_000
_PIECE = 2**20
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
    TooLargeError
        Its ``strerror`` has both sizes and names the option that raises the limit.
    """
    limit = _limit.get()
    if size > limit:
        raise TooLargeError(
            errno.EFBIG,
            f"it unpacks to {size / 2**20:,.0f} MiB, more than --max-file-memory allows, "
            f"{limit / 2**20:,.0f} MiB",
            str(where),
        )


def check_compression(size: int, packed: int, where: str | Path) -> None:
    """Raise if contents are many times larger than the bytes that they are unpacked from.

    Parameters
    ----------
    size : int
        Bytes of what is to be unpacked. At most 64 MiB are always allowed.
    packed : int
        Bytes that hold it.
    where : str or pathlib.Path
        The file.

    Raises
    ------
    TooLargeError
        If it is more than a hundred times larger.
    """
    if size > _SMALL and size > _MOST_COMPRESSED * packed:
        raise TooLargeError(
            errno.EFBIG,
            f"it unpacks to {size / 2**20:,.0f} MiB, more than {_MOST_COMPRESSED} times what it "
            "takes in the file; write it without compression if that is meant",
            str(where),
        )


def check_archive(path: str | Path) -> None:
    """Raise if a ZIP archive that another library will unpack is too large or compressed too far.

    Parameters
    ----------
    path : str or pathlib.Path

    Raises
    ------
    UnsuitableFileError
        If it is no regular file, or the members are too large, together or beside the bytes that
        hold them.
    zipfile.BadZipFile
        If it is no ZIP archive.
    """
    with open_archive(path) as archive:
        for member in archive.infolist():
            check_compression(member.file_size, member.compress_size, path)


def is_archive(path: str | Path) -> bool:
    """Return whether a file is a ZIP archive.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    bool
        Also False if there is no such file.

    Examples
    --------
    >>> from testsgd.io import is_archive
    >>> is_archive("no such file")
    False
    """
    return zipfile.is_zipfile(path)


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
        _check_unpacked_size(archive, path)
        yield archive


def _check_unpacked_size(archive: zipfile.ZipFile, where: str | Path) -> None:
    check_file_memory(sum(member.file_size for member in archive.infolist()), where)


def read_member(path: str | Path, name: str, *, at_most: int | None = None) -> bytes:
    """Return the bytes of one member of a ZIP archive.

    Parameters
    ----------
    path : str or pathlib.Path
    name : str
        The member.
    at_most : int, optional
        Bytes that the member may have; without it all members together may have those that
        :func:`file_memory` allows.

    Returns
    -------
    bytes

    Raises
    ------
    KeyError
        If there is no such member.
    TooLargeError
        If it is larger, or compressed too far: see :func:`check_compression`. It is not unpacked.
    UnsuitableFileError
        If it is no regular file.
    zipfile.BadZipFile
        If it is no ZIP archive, or the member is damaged.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from testsgd.io import read_member
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, rates=np.array([0.25, 0.5]))
    ...     read_member(file.name, "rates.npy")[1:6]
    b'NUMPY'
    """
    check_regular(path)
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(name)
        if at_most is None:
            _check_unpacked_size(archive, path)
        elif member.file_size > at_most:
            what = f"{name} is larger than {at_most / 2**20:,.0f} MiB, which is too much"
            raise TooLargeError(errno.EFBIG, what, str(path))
        check_compression(member.file_size, member.compress_size, path)
        return archive.read(member)


def member_size(path: str | Path, name: str) -> int:
    """Return how many bytes a member of a ZIP archive unpacks to, as its directory declares.

    Parameters
    ----------
    path : str or pathlib.Path
    name : str
        The member. It is not unpacked; reading it gives no more than these bytes.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        If there is no such member.
    UnsuitableFileError
        If it is no regular file.
    zipfile.BadZipFile
        If it is no ZIP archive.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from testsgd.io import member_size
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, rates=np.array([0.25, 0.5]))
    ...     member_size(file.name, "rates.npy")
    144
    """
    check_regular(path)
    with zipfile.ZipFile(path) as archive:
        return archive.getinfo(name).file_size


def member_of(content: bytes, name: str) -> bytes:
    """Return the bytes of one member of a ZIP archive that is in memory.

    Parameters
    ----------
    content : bytes
        The archive.
    name : str
        The member.

    Returns
    -------
    bytes

    Raises
    ------
    KeyError
        If there is no such member.
    TooLargeError
        If the members are larger than :func:`file_memory` allows.
    zipfile.BadZipFile
        If it is no ZIP archive, or the member is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_unpacked_size(archive, name)
        return archive.read(name)


def with_members(content: bytes, members: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive in which some members have other contents.

    Parameters
    ----------
    content : bytes
        The archive.
    members : mapping of str to bytes
        The new contents. Names that are not in the archive are left out.

    Returns
    -------
    bytes
        An archive with the members in the same order, compressed as they were.
    """
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(out, "w") as written,
    ):
        for member in archive.infolist():
            kept = members.get(member.filename)
            written.writestr(member, archive.read(member) if kept is None else kept)
    return out.getvalue()


def write_arrays(
    target: str | Path, arrays: Mapping[str, NDArray[Any]], *, compressed: bool = False
) -> int:
    """Write arrays into an ``.npz`` file, whole or not at all; return its bytes.

    Parameters
    ----------
    target : str or pathlib.Path
        A file that is there is replaced if it is one of the same kind.
    arrays : mapping of str to numpy.ndarray
        By their names; :func:`read_arrays` gives them back. None may hold Python objects.
    compressed : bool, default=False
        Whether to make the file smaller, which takes longer.

    Returns
    -------
    int
        The size of the file.

    Raises
    ------
    ConfigurationError
        If the file cannot be written, or one of another kind is there.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from testsgd.io import read_arrays, write_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = write_arrays(f"{folder}/rates.npz", {"rates": np.array([0.25, 0.5])})
    ...     read_arrays(f"{folder}/rates.npz")
    {'rates': array([0.25, 0.5 ])}
    """
    import numpy as np

    compression = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with atomic_path(Path(target)) as temporary:
        with zipfile.ZipFile(temporary, "w", compression, compresslevel=1) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}{_ARRAY}", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
        return temporary.stat().st_size


def read_tar(path: str | Path, wanted: re.Pattern[str]) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the files of a tar archive whose names are wanted, one after another.

    Parameters
    ----------
    path : str or pathlib.Path
        As it is, or compressed by gzip, xz or bzip2.
    wanted : re.Pattern
        The names of the members to read, as a whole.

    Yields
    ------
    tuple of re.Match and bytes
        A member's name as it was matched and its content, in the order of the archive. No member
        is kept in memory.

    Raises
    ------
    OSError
        If it is missing or cannot be read.
    ValueError, EOFError, zlib.error, lzma.LZMAError or tarfile.TarError
        If it is no tar archive, is damaged or cut off; together they are :data:`DAMAGED_TAR`.
    """
    with tarfile.open(path) as archive:
        while (member := archive.next()) is not None:
            match = wanted.fullmatch(member.name) if member.isreg() else None
            if match and (stream := archive.extractfile(member)) is not None:
                yield match, stream.read()
            # The archive keeps every member it has seen: of 100,000 that is 80 MB.
            archive.members.clear()  # type: ignore[attr-defined]  # no stub names it
        # The library takes whatever is no header for the end, so half an archive for a smaller
        # one: a whole one ends with a block of zeros.
        if archive.fileobj is not None:
            archive.fileobj.seek(archive.offset)
            if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
                raise tarfile.ReadError("it is cut off or damaged")


def array_sizes(path: str | Path) -> dict[str, int]:
    """Return how many bytes the arrays of an ``.npz`` file take, as its directory declares them.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    dict of str to int
        By the arrays' names, with the header of each. Nothing is unpacked.

    Raises
    ------
    UnsuitableFileError
        If the file is no regular one, or holds more than :func:`file_memory` allows.
    zipfile.BadZipFile
        If it is no ZIP archive.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from testsgd.io import array_sizes
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez(file, rates=np.array([0.25, 0.5]))
    ...     array_sizes(file.name)
    {'rates': 144}
    """
    sizes: dict[str, int] = {}
    try:
        with open_archive(path) as archive:
            for member in archive.infolist():
                if member.filename.endswith(_ARRAY):
                    name = member.filename.removesuffix(_ARRAY)
                    # A name that stands twice is read twice.
                    sizes[name] = sizes.get(name, 0) + member.file_size
    except _NO_MEMBER as error:
        raise zipfile.BadZipFile(f"a member cannot be read ({type(error).__name__})") from error
    return sizes


def read_arrays(
    path: str | Path, *, only: Collection[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file.

    Parameters
    ----------
    path : str or pathlib.Path
    only : collection of str, optional
        The names of the arrays to read. (default: all)

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
    try:
        with open_archive(path) as archive:
            return {
                member.filename.removesuffix(_ARRAY): _read_array(archive, member)
                for member in archive.infolist()
                if member.filename.endswith(_ARRAY)
                and (only is None or member.filename.removesuffix(_ARRAY) in only)
            }
    except _NO_MEMBER as error:
        raise zipfile.BadZipFile(f"a member cannot be read ({type(error).__name__})") from error


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
            # Piece by piece: the library reads into bytes of that size, and copies them.
            read = stream.readinto(view[start : start + _PIECE])  # type: ignore[attr-defined]  # of BufferedIOBase
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
    try:
        shape, is_fortran, dtype = readers[version](stream, max_header_size=_LONGEST_HEADER)
    except _NO_HEADER as error:
        reason = f"the header of an array cannot be read ({type(error).__name__})"
        raise ValueError(reason) from error
    if dtype.hasobject:
        raise ValueError("an array holds Python objects")
    return shape, is_fortran, dtype
