"""A contact sheet: rows of portraits, one row for each sequence, as in the paper's Figure 1."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.generative_experiments.portraits.png import png, read_png

_GAP = 4
_PAPER = 255


def contact_sheet(rows: Sequence[Sequence[bytes]], *, titles: Sequence[str] = ()) -> bytes:
    """Return rows of pictures as one PNG file, each row under its title.

    Parameters
    ----------
    rows : sequence of sequences of bytes
        PNG files, all of one size; rows may differ in length.
    titles : sequence of str
        One for each row, or none. Drawing them needs Pillow.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If there is no picture, sizes differ, or the titles are not as many as the rows.

    Examples
    --------
    >>> black = png(np.zeros((8, 8, 3), dtype=np.uint8))
    >>> read_png(contact_sheet([[black, black], [black]])).shape
    (28, 28, 3)
    """
    if titles and len(titles) != len(rows):
        raise ValueError(f"there are {len(titles)} titles for {len(rows)} rows")
    pictures = [[read_png(data) for data in row] for row in rows]
    sizes = {picture.shape for row in pictures for picture in row}
    if len(sizes) != 1:
        raise ValueError(f"pictures must be there and of one size (seen: {sorted(sizes)})")
    height, width, _ = sizes.pop()
    columns = max(len(row) for row in pictures)
    bands: list[NDArray[np.uint8]] = [_blank(_GAP, columns, width)]
    for index, row in enumerate(pictures):
        if titles:
            bands.append(_title(titles[index], columns * (width + _GAP) + _GAP))
        band = _blank(height + _GAP, columns, width)
        for place, picture in enumerate(row):
            left = _GAP + place * (width + _GAP)
            band[:height, left : left + width] = picture
        bands.append(band)
    return png(np.vstack(bands))


def data_uri(data: bytes) -> str:
    """Return a PNG file as an address that can stand in an HTML page.

    Examples
    --------
    >>> data_uri(b"PNG")
    'data:image/png;base64,UE5H'
    """
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def _blank(height: int, columns: int, width: int) -> NDArray[np.uint8]:
    return np.full((height, columns * (width + _GAP) + _GAP, 3), _PAPER, dtype=np.uint8)


def _title(text: str, width: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (width, 24), (_PAPER,) * 3)
    ImageDraw.Draw(image).text((_GAP, 4), text, fill=(20, 20, 20), font=ImageFont.load_default(15))
    return np.array(image, dtype=np.uint8)
