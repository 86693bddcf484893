"""Texts that fit their description: found, read and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.categories import check_cells
from testsgd.data.cells import as_pandas, check_complete, check_labels, label_texts, missing_column
from testsgd.data.lookup import find_file
from testsgd.data.sampling import Sampled
from testsgd.data.text.readers import TextRows, clusters_of, is_archive, read_archive, read_columns
from testsgd.data.text.schema import TextFile, TextSpecification
from testsgd.errors import DataError, ParameterError

# Of longer ones an audit would take minutes for each question.
MOST_CHARACTERS = 2**21


@dataclass(frozen=True)
class Texts(Sampled):
    """Texts that fit their description, with their labels.

    :func:`check_texts` makes one of given texts, :func:`load_texts` of a data set's files.
    """

    unit = "text"

    specification: TextSpecification
    texts: tuple[str, ...]  # As they were given.
    labels: NDArray[np.object_] | None  # The label of each text, if the data have labels.
    # What each text is for, "train" or "test", or None where the files do not say it.
    parts: NDArray[np.object_] | None
    training_only: NDArray[np.bool_] | None = None  # Texts that are for training only, if any.

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: NDArray[np.intp]) -> Texts:
        """Return the texts at the given positions, shape (m,), in the order of the positions."""
        return replace(
            self,
            texts=tuple(self.texts[row] for row in rows.tolist()),
            labels=_at_rows(self.labels, rows),
            parts=_at_rows(self.parts, rows),
            clusters=_at_rows(self.clusters, rows),
            training_only=_at_rows(self.training_only, rows),
        )


def texts_fingerprint(texts: Texts | Sequence[str]) -> str:
    """Return the sha256 of the texts, in their order.

    Labels do not count.

    Parameters
    ----------
    texts : Texts or sequence of str
        The texts.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> texts_fingerprint(["a", "b"]) == texts_fingerprint(["ab"])
    False
    """
    digest = hashlib.sha256()
    for text in texts.texts if isinstance(texts, Texts) else texts:
        # A lone surrogate is no UTF-8, but a Python string may hold one.
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def _at_rows(values: Any, rows: NDArray[np.intp]) -> Any:
    return None if values is None else values[rows]


def check_texts(data: Any, specification: TextSpecification, *, source: str = "") -> Texts:
    """Check that texts fit their description.

    Parameters
    ----------
    data : sequence of str, series, array or data frame
        The texts; or a data frame (pandas, polars, Arrow, ...) with a column of texts and perhaps
        one of labels, called as in the description. Never changed.
    specification : TextSpecification
        What the texts are.
    source : str
        What to call the texts in messages and reports.

    Returns
    -------
    Texts
        With a note on how many texts are empty.

    Raises
    ------
    DataError
        If there are no texts, one is missing, is no text or has more than 2**20 characters, or a
        label is missing or unknown.

    Examples
    --------
    >>> specification = TextSpecification.model_validate({
    ...     "dataset": {"name": "comments"},
    ...     "text": {"column": "comment"},
    ...     "label": {"column": "toxic", "favourable": "yes"},
    ... })
    >>> check_texts(["a comment", ""], specification).notes
    ('1 text is empty or blank',)
    """
    if isinstance(data, Texts):
        return data
    where = source or "the data"
    frame = as_pandas(data)
    if frame is None:
        return _checked(_sequence(data, where), None, specification, source)
    column, label_column = specification.text.column, specification.label.column
    if column not in frame:
        raise missing_column(column, frame.columns, where)
    for name in (column, label_column):
        if list(frame.columns).count(name) > 1:
            raise DataError(f"two columns are called {name!r}", where=where, remedy="rename one")
    labels = None
    if label_column in frame:
        location = f"{where}, label column {label_column!r}"
        check_complete(frame[label_column], location)
        labels = label_texts(frame[label_column], specification.label, location=location)
    return _checked(frame[column], labels, specification, source)


def _checked(
    texts: pd.Series[Any],
    labels: pd.Series[Any] | None,
    specification: TextSpecification,
    source: str,
) -> Texts:
    """Return texts of a series, shape (n,), after checking every one of them and the labels."""
    where = source or "the data"
    if len(texts) == 0:
        raise DataError("there are no texts", where=where, remedy="give at least one text")
    check_cells(
        texts,
        texts.isna(),
        lambda row, _: f"the text in row {row} is missing",
        where=where,
        remedy="leave the row out, or give an empty text",
    )
    no_text = [not isinstance(text, str) for text in texts]
    remedy = "give texts only, and decode bytes"
    check_cells(texts, no_text, _no_text, where=where, remedy=remedy)
    strings = tuple(str(text) for text in texts)
    check_cells(
        texts,
        [len(text) > MOST_CHARACTERS for text in strings],
        lambda row, text: (
            f"the text in row {row} has {len(text):,} characters; a text may have "
            f"{MOST_CHARACTERS:,}"
        ),
        where=where,
        remedy="leave the row out, or give the text in parts, a row each",
    )
    blank = sum(not text or text.isspace() for text in strings)
    note = "1 text is empty or blank" if blank == 1 else f"{blank:,} texts are empty or blank"
    if labels is not None:
        check_labels(
            labels, specification.label, f"{where}, label column {specification.label.column!r}"
        )
    return Texts(
        specification=specification,
        texts=strings,
        labels=None if labels is None else labels.to_numpy(dtype=object),
        parts=None,
        source=source,
        notes=(note,) if blank else (),
    )


def _sequence(data: Any, where: str) -> pd.Series[Any]:
    """Return one-dimensional data as a series, with the rows' names if there are some."""
    if isinstance(data, pd.Series):
        return data
    values = data
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, polars and numpy
        if hasattr(data, method):
            values = getattr(data, method)()
            break
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise DataError(
            f"the data are a {type(data).__name__}, not texts",
            where=where,
            remedy="give a list of texts, a series, or a data frame with a column of texts",
        )
    series: pd.Series[Any] = pd.Series(np.empty(len(values), dtype=object))
    # Value by value: a list of lists would become a table.
    for position, value in enumerate(values):
        series.array[position] = value
    return series


def _no_text(row: Any, value: Any) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
    return f"row {row} holds {shown}, which is a {type(value).__name__} and no text"


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
        rows = [_read(Path(file), specification, TextFile(name="texts"), None)]
        return _joined(rows, specification, [str(file)])
    if not specification.files:
        raise ParameterError(
            f"the data set {specification.name!r} names no files",
            where=specification.name,
            remedy="give a file of texts with --data, or list the files under [[files]]",
        )
    paths = {
        item.name: find_file(specification, item, download=download)
        for item in specification.files
        if training or not item.training
    }
    used = [item for item in specification.files if item.name in paths]
    annotations = next(((paths[item.name], item) for item in used if item.role != "texts"), None)
    # Texts for training only come last, so that the first ones are those of an audit.
    files = sorted((item for item in used if item.role == "texts"), key=lambda item: item.training)
    rows = [_read(paths[item.name], specification, item, annotations) for item in files]
    texts = _joined(rows, specification, [paths[item.name].name for item in files])
    training_only = np.repeat([item.training for item in files], [len(read.texts) for read in rows])
    return replace(texts, training_only=training_only if training_only.any() else None)


def _read(
    path: Path,
    specification: TextSpecification,
    file: TextFile,
    annotations: tuple[Path, TextFile] | None,
) -> TextRows:
    """Read the texts of one file: an archive if it is described and named as one, else columns."""
    if specification.layout == "archive" and is_archive(path):
        return read_archive(path, specification)
    return read_columns(path, specification, file, annotations=annotations)


def _joined(rows: list[TextRows], specification: TextSpecification, names: list[str]) -> Texts:
    """Put the texts of several files one after another and check them."""
    labels = [read.labels for read in rows if read.labels is not None]
    for read, name in zip(rows, names, strict=True):
        if labels and read.labels is None:
            raise DataError(
                f"the label column {specification.label.column!r} is missing, which other files "
                "have",
                where=name,
                remedy="add it, or name the file's own label column under `columns`",
            )
    texts = _checked(
        pd.Series([text for read in rows for text in read.texts], dtype=object),
        pd.concat(labels, ignore_index=True) if labels else None,
        specification,
        ", ".join(names),
    )
    parts = None
    if any(read.parts is not None for read in rows):
        parts = np.concatenate(
            [
                np.full(len(read.texts), None, dtype=object) if read.parts is None else read.parts
                for read in rows
            ]
        )
    return replace(texts, parts=parts, clusters=clusters_of(rows))


def find_texts(
    data: Any,
    specification: TextSpecification,
    *,
    limit: int | None,
    seed: int,
    training: bool = False,
) -> Texts:
    """Return checked texts: given ones, those of a file, or the data set's own.

    Parameters
    ----------
    data : path-like, sequence of str, series, data frame or None
        A file, or texts as for :func:`check_texts`; None for the files of the description.
    specification : TextSpecification
        The data set.
    limit : int or None
        Most texts to return; if there are more, a sample of that size is drawn without replacement.
    seed : int
        Seed of that draw.
    training : bool
        Whether texts that are for training only are read, too. It matters only where files are
        read.

    Returns
    -------
    Texts

    Raises
    ------
    DataError, DownloadError, ParameterError
        As for :func:`load_texts` and :func:`check_texts`; also if `limit` is below 1 or `seed`
        below 0.
    """
    if data is None or isinstance(data, (str, Path)):
        texts = load_texts(specification, file=data, training=training)
    else:
        texts = check_texts(data, specification)
    return texts.limited(limit, seed)
