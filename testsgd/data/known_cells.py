"""The cells of a file of text as a model's encoder knows them: as written, or as numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

_BOOLEANS = {"true": True, "false": False}


def is_read_otherwise(category: Any, *, missing: Collection[str]) -> bool:
    """Return whether a category is a text that reading changes: with blanks at its ends, or a mark.

    Parameters
    ----------
    category : object
    missing : collection of str
        The texts that are read as missing values.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_read_otherwise(job, missing=["?"]) for job in ("nurse ", "?", "nurse", 1)]
    [True, True, False, False]
    """
    return isinstance(category, str) and (category != category.strip() or category in missing)


def as_known(
    written: pd.Series[Any], read: pd.Series[Any], categories: Collection[Any]
) -> pd.Series[Any]:
    """Return a column of a file with the cells that a model's encoder was fitted to.

    Parameters
    ----------
    written : pandas.Series of str
        The cells as they stand in the file.
    read : pandas.Series
        The same as they are read without a model: without blanks at their ends, as numbers or
        booleans if all are, and missing where a mark of missing values stands.
    categories : collection
        Those that the encoder knows.

    Returns
    -------
    pandas.Series
        `read` itself if the encoder knows its cells. A text that it knows only as it is written is
        that text, and all are texts then. If it knows numbers, or booleans, texts are these if all
        of them can be.

    Examples
    --------
    >>> jobs = pd.Series(["clerk", "nurse ", "nurse"])
    >>> as_known(jobs, jobs.str.strip(), ["clerk", "nurse "]).tolist()
    ['clerk', 'nurse ', 'nurse']
    >>> grades = pd.Series(["01", "02"])
    >>> as_known(grades, grades, [1, 2]).tolist()
    [1, 2]
    >>> as_known(pd.Series(["1", "2"]), pd.Series([1, 2]), ["1", "2"]).tolist()
    ['1', '2']
    """
    known = set(categories)
    texts = {category for category in known if isinstance(category, str)}
    if not texts:
        return _as_values(read, known)
    cells = pd.DataFrame({"written": written, "read": read}).drop_duplicates("written")
    meant: dict[str, Any] = {}
    is_changed = False
    for text, value in zip(cells["written"], cells["read"], strict=True):
        bare = text.strip()
        if text in texts:
            meant[text] = text
        elif bare in texts:
            meant[text] = bare
        else:
            meant[text] = np.nan if pd.isna(value) else bare
            if not pd.isna(value) and value in known:
                # A number or a boolean that the encoder knows beside texts.
                meant[text] = value
            continue
        is_changed = is_changed or meant[text] != value
    return written.map(meant) if is_changed else read


def _as_values(read: pd.Series[Any], known: set[Any]) -> pd.Series[Any]:
    """Return texts as numbers or booleans, if all can be and an encoder knows one of them."""
    if not known or not all(isinstance(cell, str) for cell in read.dropna().unique()):
        return read
    if all(isinstance(category, (bool, np.bool_)) for category in known):
        booleans = read.str.lower().map(_BOOLEANS)
        return booleans if bool((booleans.notna() == read.notna()).all()) else read
    try:
        numbers: pd.Series[Any] = pd.to_numeric(read)
    except (ValueError, TypeError):
        return read
    return numbers if bool(numbers.isin(known).any()) else read
