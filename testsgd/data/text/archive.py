"""Reading texts out of a tar archive, one file a text, without unpacking it."""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from testsgd.data.labels import label_texts
from testsgd.data.text.rows import TextRows
from testsgd.data.text.schema import TextSpecification
from testsgd.errors import DataError

_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_PARTS = ("train", "test")


def is_archive(path: Path) -> bool:
    """Say by its name whether a file is a tar archive.

    Examples
    --------
    >>> is_archive(Path("a.tar.gz")), is_archive(Path("a.csv.gz"))
    (True, False)
    """
    return path.name.lower().endswith(_SUFFIXES)


def read_archive(path: Path, specification: TextSpecification) -> TextRows:
    """Read texts from members called ``FOLDER/PART/LABEL/NUMBER_RATING.txt``.

    Members that are called otherwise are passed over. The texts are ordered by part (train before
    test), label (as in ``label.map``) and number, so that it does not matter how the archive was
    packed.

    Parameters
    ----------
    path : path-like
        The archive, compressed by gzip, xz, bzip2 or not at all.
    specification : TextSpecification
        The data set.

    Returns
    -------
    TextRows

    Raises
    ------
    DataError
        If the file is no archive or is damaged, has no texts, or one is not UTF-8.
    """
    folders = list(specification.label.map or {})
    members = _member_pattern(specification.text.folder or "", folders)
    found: dict[tuple[int, int, int, int], str] = {}
    for name, content in _contents(path, members):
        match = members.fullmatch(name)
        if match is not None:
            part, label = _PARTS.index(match["part"]), folders.index(match["label"])
            place = part, label, int(match["number"]), int(match["rating"])
            found[place] = _decoded(content, path, name)
    if not found:
        raise DataError(
            "the archive has no texts of the names expected, "
            f"{specification.text.folder}/PART/LABEL/NUMBER_RATING.txt, where PART is "
            f"{' or '.join(_PARTS)} and LABEL {' or '.join(folders)}",
            where=str(path),
            remedy="correct `folder` under [text] or the keys of label.map, or give another file",
        )
    places = sorted(found)
    texts = [found[place] for place in places]
    for written, meant in specification.text.escapes.items():
        texts = [text.replace(written, meant) for text in texts]
    return TextRows(
        texts=texts,
        labels=label_texts(
            pd.Series([folders[place[1]] for place in places], dtype=object),
            specification.label,
            place=f"{path}, folders of the labels",
        ),
        parts=np.array([_PARTS[place[0]] for place in places], dtype=object),
    )


def _member_pattern(folder: str, labels: list[str]) -> re.Pattern[str]:
    parts = "|".join(_PARTS)
    names = "|".join(re.escape(label) for label in labels)
    return re.compile(
        rf"(?:\./)?{re.escape(folder.strip('/'))}/(?P<part>{parts})/(?P<label>{names})/"
        r"(?P<number>[0-9]+)_(?P<rating>[0-9]+)\.txt"
    )


def _contents(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Give name and content of the members whose name is wanted, in the archive's order."""
    try:
        with tarfile.open(path) as archive:
            while (member := archive.next()) is not None:
                if member.isreg() and wanted.fullmatch(member.name):
                    stream = archive.extractfile(member)
                    if stream is not None:
                        yield member.name, stream.read()
                # The archive keeps every member it has seen: of 100,000 that is 80 MB.
                archive.members.clear()  # type: ignore[attr-defined]
            _check_end(archive)
    except FileNotFoundError as error:
        raise DataError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise DataError(
            f"the archive cannot be read ({str(error) or type(error).__name__})",
            where=str(path),
            remedy="give a whole tar archive, as it is or compressed by gzip, xz or bzip2",
        ) from error


def _check_end(archive: tarfile.TarFile) -> None:
    """Raise an error unless the archive ends with a block of zeros, as a whole one does.

    The library takes whatever is no header for the end, so half an archive for a smaller one.
    """
    if archive.fileobj is None:
        return
    archive.fileobj.seek(archive.offset)
    if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("it is cut off or damaged")


def _decoded(content: bytes, path: Path, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"the member {name!r} is not UTF-8 text (at offset {error.start})",
            where=str(path),
            remedy="give an archive of UTF-8 texts",
            member=name,
            offset=error.start,
        ) from error
