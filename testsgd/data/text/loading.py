"""Finding, reading and checking a data set of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.lookup import find_file
from testsgd.data.text.archive import is_archive, read_archive
from testsgd.data.text.checks import checked
from testsgd.data.text.columns import read_columns
from testsgd.data.text.rows import TextRows, clusters_of
from testsgd.data.text.schema import TextFile, TextSpecification
from testsgd.data.text.texts import Texts
from testsgd.errors import DataError, ParameterError


def load_texts(
    specification: TextSpecification,
    *,
    file: Path | str | None = None,
    download: bool = True,
    training: bool = False,
) -> Texts:
    """Find, read and check a data set of texts.

    Parameters
    ----------
    specification : TextSpecification
        The data set.
    file : path-like, optional
        A file to read instead of those of the description: with a column of texts, called as the
        description calls it, and perhaps one of labels; or an archive, if the description is of
        one.
    download : bool
        False: never use the network.
    training : bool
        True: after the texts to be audited come those that are for training only.

    Returns
    -------
    Texts

    Raises
    ------
    DataError
        If the texts do not fit the description.
    DownloadError
        If a file is missing.
    ParameterError
        If the description is not of texts, or names no files.
    """
    if not isinstance(specification, TextSpecification):
        raise ParameterError(
            f"the data set {specification.name!r} is made of rows, not of texts",
            where=specification.name,
            remedy="use load_table",
        )
    if file is not None:
        rows = [_read(Path(file), specification, TextFile(name="texts"))]
        return _texts(rows, specification, [str(file)])
    if not specification.files:
        raise ParameterError(
            f"the data set {specification.name!r} names no files",
            where=specification.name,
            remedy="give a file of texts with --data, or list the files under [[files]]",
        )
    paths = {
        item.name: find_file(specification.name, item, download=download)
        for item in specification.files
        if training or not item.training
    }
    rows, only, names = [], [], []
    # Texts for training only come last, so that the first ones are those of an audit.
    for item in sorted(specification.files, key=lambda item: item.training):
        if item.role == "texts" and item.name in paths:
            read = _read(paths[item.name], specification, item, _annotations(specification, paths))
            rows.append(read)
            only.append(np.full(len(read), item.training))
            names.append(paths[item.name].name)
    texts = _texts(rows, specification, names)
    training_only = np.concatenate(only)
    return replace(texts, training_only=training_only if training_only.any() else None)


def _read(
    path: Path,
    specification: TextSpecification,
    file: TextFile,
    annotations: tuple[Path, TextFile] | None = None,
) -> TextRows:
    if specification.layout == "archive" and is_archive(path):
        return read_archive(path, specification)
    return read_columns(path, specification, file, annotations=annotations)


def _annotations(
    specification: TextSpecification, paths: dict[str, Path]
) -> tuple[Path, TextFile] | None:
    for item in specification.files:
        if item.role == "annotations":
            return paths[item.name], item
    return None


def _texts(rows: list[TextRows], specification: TextSpecification, names: list[str]) -> Texts:
    """Put the texts of several files one after another and check them."""
    source = ", ".join(names)
    texts = checked(
        pd.Series([text for item in rows for text in item.texts], dtype=object),
        _joined_labels(rows, specification, names),
        specification,
        where=source,
        source=source,
        parts=_joined_parts(rows),
    )
    return replace(texts, clusters=clusters_of(rows))


def _joined_labels(
    rows: Sequence[TextRows], specification: TextSpecification, names: Sequence[str]
) -> pd.Series[Any] | None:
    labels = [item.labels for item in rows if item.labels is not None]
    if not labels:
        return None
    for item, name in zip(rows, names, strict=True):
        if item.labels is None:
            raise DataError(
                f"the label column {specification.label.column!r} is missing, which other files "
                "have",
                where=name,
                remedy="add it, or name the file's own label column under `columns`",
            )
    return pd.concat(labels, ignore_index=True)


def _joined_parts(rows: Sequence[TextRows]) -> NDArray[np.object_] | None:
    if all(item.parts is None for item in rows):
        return None
    return np.concatenate(
        [
            np.full(len(item), None, dtype=object) if item.parts is None else item.parts
            for item in rows
        ]
    )
