"""PNG files of RGB pictures, written and read with zlib alone.

Pillow is no dependency of the package, and a picture's bytes must not depend on its version.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB_OF_8_BITS = (8, 2, 0, 0, 0)
_UP = 2


def png(picture: NDArray[np.uint8]) -> bytes:
    r"""Return a picture as the bytes of a PNG file.

    Parameters
    ----------
    picture : numpy.ndarray of uint8, shape (height, width, 3)

    Examples
    --------
    >>> png(np.zeros((2, 3, 3), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    height, width, _ = picture.shape
    # Each row less the one above it: such differences compress better.
    above = np.vstack([np.zeros((1, width, 3), dtype=np.uint8), picture[:-1]])
    rows = (picture - above).reshape(height, width * 3)
    filtered = np.hstack([np.full((height, 1), _UP, dtype=np.uint8), rows])
    header = struct.pack(">II5B", width, height, *_RGB_OF_8_BITS)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6))
        + _chunk(b"IEND", b"")
    )


def read_png(data: bytes) -> NDArray[np.uint8]:
    """Return the picture of a PNG file with eight bits of red, green and blue and no interlacing.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    numpy.ndarray of uint8, shape (height, width, 3)

    Raises
    ------
    ValueError
        If the bytes are no such file.

    Examples
    --------
    >>> picture = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    >>> bool((read_png(png(picture)) == picture).all())
    True
    """
    if not data.startswith(_SIGNATURE):
        raise ValueError("these bytes are no PNG file")
    parts = _chunks(data)
    try:
        width, height, *kind = struct.unpack(">II5B", parts.get(b"IHDR", b""))
        raw = np.frombuffer(zlib.decompress(parts.get(b"IDAT", b"")), dtype=np.uint8)
    except (struct.error, zlib.error) as error:
        raise ValueError(f"the PNG file is damaged: {error}") from error
    if tuple(kind) != _RGB_OF_8_BITS:
        raise ValueError(f"a PNG file of another kind than 8-bit RGB: {tuple(kind)}")
    if len(raw) != height * (1 + 3 * width):
        raise ValueError("the PNG file is damaged: it has too few or too many bytes")
    rows = raw.reshape(height, 1 + 3 * width)
    picture = np.zeros((height, width, 3), dtype=np.uint8)
    above = np.zeros((width, 3), dtype=np.uint8)
    for index, row in enumerate(rows):
        above = _unfiltered(int(row[0]), row[1:].reshape(width, 3), above)
        picture[index] = above
    return picture


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the bodies of the chunks; those of one kind are joined."""
    parts: dict[bytes, bytes] = {}
    position = len(_SIGNATURE)
    while position + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        parts[kind] = parts.get(kind, b"") + data[position + 8 : position + 8 + length]
        position += 12 + length
    return parts


def _unfiltered(kind: int, row: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo one row's filter, as section 9 of the PNG specification defines it."""
    if kind == 0:
        return row
    if kind == 1:
        return np.cumsum(row, axis=0, dtype=np.uint8)
    if kind == _UP:
        return row + above
    if kind not in (3, 4):
        raise ValueError(f"the PNG file is damaged: there is no filter {kind}")
    result = np.zeros_like(row)
    left = np.zeros(3, dtype=np.int64)
    upper_left = np.zeros(3, dtype=np.int64)
    for index, (value, upper) in enumerate(zip(row.astype(int), above.astype(int), strict=True)):
        guess = (left + upper) // 2 if kind == 3 else _paeth(left, upper, upper_left)
        left = (value + guess) % 256
        upper_left = upper
        result[index] = left
    return result


def _paeth(
    left: NDArray[np.int64], upper: NDArray[np.int64], upper_left: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return of three neighbours the one nearest to left + upper - upper left."""
    target = left + upper - upper_left
    to_left = abs(target - left)
    to_upper = abs(target - upper)
    to_upper_left = abs(target - upper_left)
    rest = np.where(to_upper <= to_upper_left, upper, upper_left)
    return np.where((to_left <= to_upper) & (to_left <= to_upper_left), left, rest)
