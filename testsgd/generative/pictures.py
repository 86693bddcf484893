"""Pictures among outputs: files that a log names, and the thumbnails that a report shows.

A model that draws gives PNG files. A log has their names; what reads an output gets the picture
itself. A report has small pictures only, since they stand in the document.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from testsgd.errors import DataError, ParameterError
from testsgd.io import read_bytes

ENDING = ".png"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_BYTES = 64 * 1024
"""Largest picture that a report shows, in bytes."""

# A longer text names no file.
_LONGEST_NAME = 4096


@dataclass(frozen=True)
class PictureFile:
    """A picture in a file, which is read when it is needed.

    Examples
    --------
    >>> PictureFile(Path("outputs/output-00001.png")).path.name
    'output-00001.png'
    """

    path: Path

    def read(self) -> bytes:
        """Return the bytes of the file.

        Raises
        ------
        DataError
            If there is no such file, or it is no PNG file.
        """
        try:
            data = read_bytes(self.path)
        except (OSError, ValueError) as error:
            raise DataError(
                "the picture cannot be read",
                where=str(self.path),
                remedy="put it beside the log, or write its absolute path into the log",
            ) from error
        return _checked(data, where=str(self.path))


Picture: TypeAlias = bytes | PictureFile
PicturesLike: TypeAlias = Sequence[bytes | str | Path | None] | Literal[True]


def with_pictures(cells: Sequence[Any], folder: Path) -> list[Any]:
    """Return outputs with a :class:`PictureFile` in the place of each name of a PNG file.

    Parameters
    ----------
    cells : sequence
        Outputs: texts, bytes, or something else.
    folder : Path
        That of the log, to which names are relative.

    Returns
    -------
    list

    Examples
    --------
    >>> with_pictures(["a nurse", "output-00001.png"], Path("outputs"))[0]
    'a nurse'
    """
    return [_named_file(cell, folder) or cell for cell in cells]


def content(output: Any) -> Any:
    """Return an output for what reads it: of a file its bytes, all else as it is."""
    return output.read() if isinstance(output, PictureFile) else output


def shown_pictures(
    given: PicturesLike | None, outputs: Sequence[Picture | None], *, number: int
) -> tuple[Picture | None, ...]:
    """Return the picture of each output that a report may show.

    Parameters
    ----------
    given : sequence of bytes, path-like or None, or True, optional
        One for each output; True: outputs that are pictures are their own. Without it there is
        none.
    outputs : sequence of bytes, PictureFile or None
        The outputs that are pictures; empty if none is.
    number : int
        How many outputs there are.

    Returns
    -------
    tuple of bytes, PictureFile or None
        Empty if no picture is shown.

    Raises
    ------
    ParameterError
        If there are not as many pictures as outputs, or something else is given.
    DataError
        If the outputs are to be shown and none is a picture.

    Examples
    --------
    >>> shown_pictures(None, (), number=3)
    ()
    """
    if given is None:
        return ()
    if given is True:
        if number and not outputs:
            raise DataError(
                "no output is a picture",
                where="pictures",
                remedy="give a log whose outputs are names of .png files, or a list of pictures",
            )
        return tuple(outputs)
    if isinstance(given, str | bytes | Path) or not isinstance(given, Sequence):
        raise ParameterError(
            f"a {type(given).__name__} is no list of pictures",
            where="pictures",
            remedy="give a list with the bytes or the path of a PNG file for each output, or True",
        )
    if len(given) != number:
        raise ParameterError(
            f"there are {len(given)} pictures and {number} outputs",
            where="pictures",
            remedy="give one for each output, or None where there is none",
        )
    return tuple(_given(picture, place) for place, picture in enumerate(given, start=1))


def thumbnail(picture: Picture, *, where: str) -> str:
    r"""Return a picture in base64, as a document has it.

    Raises
    ------
    DataError
        If it is no PNG file, or larger than :data:`MOST_BYTES`.

    Examples
    --------
    >>> thumbnail(b"\x89PNG\r\n\x1a\n", where="picture 1")
    'iVBORw0KGgo='
    """
    if isinstance(picture, PictureFile):
        where = str(picture.path)
    data = _checked(content(picture), where=where)
    if len(data) > MOST_BYTES:
        raise DataError(
            f"the picture has {len(data)} bytes, and a report shows at most {MOST_BYTES}",
            where=where,
            remedy="give thumbnails: PNG files of about 96 by 96 pixels",
        )
    return base64.b64encode(data).decode("ascii")


def _given(picture: object, place: int) -> Picture | None:
    if picture is None or isinstance(picture, bytes):
        return picture
    if isinstance(picture, str | Path):
        return PictureFile(Path(picture))
    raise ParameterError(
        f"a {type(picture).__name__} is no picture",
        where=f"pictures, number {place}",
        remedy="give the bytes or the path of a PNG file",
    )


def _checked(data: bytes, *, where: str) -> bytes:
    if not data.startswith(SIGNATURE):
        raise DataError(
            "the picture is no PNG file", where=where, remedy="convert it, or remove it"
        )
    return data


def _named_file(cell: Any, folder: Path) -> PictureFile | None:
    """Return the PNG file that an output names; None if the output is something else."""
    if not isinstance(cell, str) or not cell.lower().endswith(ENDING) or len(cell) > _LONGEST_NAME:
        return None
    path = folder / cell  # An absolute name stays what it is.
    # The second one if the folder has been moved with all that is in it.
    for candidate in (path, folder / path.name):
        if _is_file(candidate):
            return PictureFile(candidate)
    # A sentence may end in the name of a file; anything else is a file that is missing.
    is_sentence = any(letter.isspace() for letter in path.name) and not Path(cell).is_absolute()
    return None if is_sentence else PictureFile(path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # Too long, say.
        return False
