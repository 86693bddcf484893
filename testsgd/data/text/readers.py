"""Reading texts from the columns of a file, with its annotations, or from a tar archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import category_text, check_cells
from testsgd.data.cell_texts import parsed_numbers
from testsgd.data.cells import check_complete, label_texts, missing_column, read_cells
from testsgd.data.frames import is_compressed, is_typed_file, read_frame
from testsgd.data.sampling import cluster_numbers
from testsgd.data.text.schema import TextFile, TextSpecification
from testsgd.errors import DataError
from testsgd.io import DAMAGED_TAR, check_regular, read_tar


@dataclass(frozen=True)
class TextRows:
    """The texts of one file, in their order, with the labels that the description asks for."""

    texts: list[Any]
    labels: pd.Series[Any] | None = None
    keys: pd.Series[Any] | None = None
    parts: NDArray[np.object_] | None = None


def _plain_keys(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the keys of texts as texts; a whole number is the same with and without ``.0``."""
    return column.str.strip().str.replace(r"^(-?\d+)\.0+$", r"\1", regex=True)


def clusters_of(rows: Sequence[TextRows]) -> NDArray[np.int64] | None:
    """Return a number for each text, the same for those of one key; None if all keys differ.

    A text without a key is a cluster of its own.
    """
    keys: list[Any] = []
    for item in rows:
        keys.extend([None] * len(item.texts) if item.keys is None else item.keys)
    clusters = cluster_numbers(pd.Series(keys, dtype=object))
    return None if len(np.unique(clusters)) == len(keys) else clusters


# What data sets call their parts, and what the parts are for.
_PARTS = {"train": "train", "dev": "train", "test": "test"}


def read_columns(
    path: Path,
    specification: TextSpecification,
    file: TextFile,
    *,
    annotations: tuple[Path, TextFile] | None = None,
) -> TextRows:
    """Read texts letter by letter from a file with a row a text, of the kind that its name says.

    `annotations`: a file with a row for each label that somebody gave to a text. A text's label is
    then the mean of its annotations, cut at ``label.above``, so that a tie is not above 0.5.
    """
    cells = _cells(path, specification, blanks=True)
    columns = file.columns
    texts = _column(cells, columns.text or specification.text.column, path)
    for written, meant in specification.text.escapes.items():
        texts = texts.str.replace(written, meant, regex=False)
    keys = None if columns.key is None else _plain_keys(_column(cells, columns.key, path))
    if annotations is None or keys is None:
        labels = _labels(cells, specification, file, path)
    else:
        labels = _annotated(keys, *annotations, specification)
    return TextRows(texts.tolist(), labels, keys, _parts(cells, file, path))


def _cells(path: Path, specification: TextSpecification, *, blanks: bool = False) -> pd.DataFrame:
    """Return the cells of a file as texts; one that is missing is empty, as in a file of text.

    `blanks`: blanks before a cell are part of it.
    """
    if not is_typed_file(path):
        return read_cells(path, specification.parse, blanks=blanks, compressed=is_compressed(path))
    cells = read_frame(path).astype(object).map(_cell_text, na_action="ignore")
    return cells.where(cells.notna(), "")


def _cell_text(value: Any) -> Any:
    """Return the text of a cell; bytes and lists stay as they are, and are refused as texts."""
    return value if isinstance(value, (bytes, list, dict, np.ndarray)) else category_text(value)


def _column(cells: pd.DataFrame, name: str, path: Path) -> pd.Series[Any]:
    if name not in cells:
        first = str(next(iter(cells.columns), ""))
        if first.startswith(("{", "[")) and not is_typed_file(path):
            # Its first line has a text of a person, so no name of a column is shown.
            raise DataError(
                f"the column {name!r} is missing: the file is read as CSV by its name, but begins "
                "like JSON",
                where=str(path),
                remedy="texts are read from .jsonl and .ndjson (JSON Lines, an object a line), "
                ".parquet, .feather and .arrow, and from any other file as CSV; rename or convert "
                "it",
                column=name,
            )
        raise missing_column(name, cells.columns, str(path))
    return cells[name]


def _labels(
    cells: pd.DataFrame, specification: TextSpecification, file: TextFile, path: Path
) -> pd.Series[Any] | None:
    name = file.columns.label or specification.label.column
    if file.columns.label is None and name not in cells:
        return None
    column = _column(cells, name, path).str.strip().replace("", None)
    location = f"{path}, label column {name!r}"
    check_complete(column, location)
    return label_texts(column, specification.label, location=location)


def _parts(cells: pd.DataFrame, file: TextFile, path: Path) -> NDArray[np.object_] | None:
    if file.part is not None:
        return np.full(len(cells), file.part, dtype=object)
    if file.columns.part is None:
        return None
    column = _column(cells, file.columns.part, path)
    check_cells(
        column,
        ~column.isin(_PARTS),
        lambda row, part: f"the part in row {row} is {part!r}",
        where=f"{path}, column {file.columns.part!r}",
        remedy=f"the parts are {', '.join(_PARTS)}; correct the file or `columns.part`",
    )
    return column.map(_PARTS).to_numpy(dtype=object)


def _annotated(
    keys: pd.Series[Any], path: Path, file: TextFile, specification: TextSpecification
) -> pd.Series[Any]:
    """Return the labels of texts by the mean of their annotations."""
    cells = _cells(path, specification)
    name = file.columns.label or specification.label.column
    location = f"{path}, label column {name!r}"
    column = _column(cells, name, path)
    marks = parsed_numbers(column)
    check_cells(
        column,
        marks.isna(),
        lambda row, mark: f"the annotation in row {row} is {mark!r}, not a number",
        where=location,
        remedy="correct the file",
    )
    annotated = _plain_keys(_column(cells, file.columns.key or "", path))
    codes, uniques = pd.factorize(annotated)
    means = np.bincount(codes, weights=marks.to_numpy()) / np.bincount(codes)
    indices = pd.Index(uniques).get_indexer(pd.Index(keys))
    check_cells(
        keys,
        indices < 0,
        lambda row, key: f"nobody annotated the text {key!r} (row {row})",
        where=location,
        remedy="give all annotations, or leave out the texts that have none",
    )
    return label_texts(pd.Series(means[indices]), specification.label, location=location)


_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_ARCHIVE_PARTS = ("train", "test")


def is_archive(path: Path) -> bool:
    """Return whether a file is a tar archive, going by its name."""
    return path.name.lower().endswith(_SUFFIXES)


def read_archive(path: Path, specification: TextSpecification) -> TextRows:
    """Read texts from the members called ``FOLDER/PART/LABEL/NUMBER_RATING.txt`` of a tar archive.

    The texts are ordered by part (train before test), label (as in ``label.map``) and number, so
    that it does not matter how the archive was packed.
    """
    folders = list(specification.label.map or {})
    members = re.compile(
        rf"(?:\./)?{re.escape((specification.text.folder or '').strip('/'))}/"
        rf"(?P<part>{'|'.join(_ARCHIVE_PARTS)})/(?P<label>{'|'.join(map(re.escape, folders))})/"
        r"(?P<number>[0-9]+)_(?P<rating>[0-9]+)\.txt"
    )
    files: dict[tuple[int, int, int, int], str] = {}
    for match, content in _contents(path, members):
        part = _ARCHIVE_PARTS.index(match["part"])
        label = folders.index(match["label"])
        key = part, label, int(match["number"]), int(match["rating"])
        files[key] = _decoded(content, path, match[0])
    if not files:
        raise DataError(
            "the archive has no texts of the names expected, "
            f"{specification.text.folder}/PART/LABEL/NUMBER_RATING.txt, where PART is "
            f"{' or '.join(_ARCHIVE_PARTS)} and LABEL {' or '.join(folders)}",
            where=str(path),
            remedy="correct `folder` under [text] or the keys of label.map, or give another file",
        )
    keys = sorted(files)
    texts = [files[key] for key in keys]
    for written, meant in specification.text.escapes.items():
        texts = [text.replace(written, meant) for text in texts]
    labels = pd.Series([folders[key[1]] for key in keys], dtype=object)
    location = f"{path}, folders of the labels"
    return TextRows(
        texts,
        label_texts(labels, specification.label, location=location),
        parts=np.array([_ARCHIVE_PARTS[key[0]] for key in keys], dtype=object),
    )


def _contents(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[re.Match[str], bytes]]:
    """Return name and content of the members whose name is wanted, in the archive's order."""
    try:
        check_regular(path)
        yield from read_tar(path, wanted)
    except FileNotFoundError as error:
        raise DataError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, *DAMAGED_TAR) as error:
        raise DataError(
            f"the archive cannot be read ({str(error) or type(error).__name__})",
            where=str(path),
            remedy="give a whole tar archive, as it is or compressed by gzip, xz or bzip2",
        ) from error


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
