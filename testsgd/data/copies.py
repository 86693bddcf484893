"""Rows that are copies of others and so add no information to the first of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# Copies that take less than a hundredth of what the rows are worth change no interval much.
_LEAST_LOST = 0.01
# Equal rows count as copies if there are more pairs of them than this many times those that chance
# explains. Features that go together make more pairs than independent ones, of which chance is
# computed: 1.3 times as many in COMPAS, where no row is a copy.
_MORE_THAN_CHANCE = 4.0


def copied_rows(frame: pd.DataFrame) -> NDArray[np.intp] | None:
    """Return which rows are equal, a number for each different row; None if none are copies.

    In a table of a few features with few values many people are alike, and no copies. So it is
    compared with how many equal pairs there would be if the columns had nothing to do with each
    other.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows, with all columns in which copies are equal.

    Returns
    -------
    numpy.ndarray of intp, shape (rows,), or None

    Examples
    --------
    >>> people = pd.DataFrame({"age": np.arange(20.0, 90.0, 0.1), "height": range(700)})
    >>> copied_rows(people) is None
    True
    >>> int(copied_rows(pd.concat([people] * 5)).max()) + 1
    700
    """
    if not any(_is_number(column) for _, column in frame.items()) or len(frame) < 2:
        return None
    hashes = pd.util.hash_pandas_object(frame, index=False)
    codes, _ = pd.factorize(hashes)
    sizes = np.bincount(codes).astype(np.float64)
    rows = float(len(frame))
    # Kish's effective sample size.
    if rows**2 / (sizes**2).sum() > (1 - _LEAST_LOST) * rows:
        return None
    pairs = (sizes * (sizes - 1)).sum() / 2
    by_chance = rows * (rows - 1) / 2 * np.exp(sum(map(_log_agreement, _columns(frame))))
    return codes if pairs > _MORE_THAN_CHANCE * by_chance else None


def _is_number(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > 2


def _columns(frame: pd.DataFrame) -> list[pd.Series[Any]]:
    return [frame[name] for name in frame.columns]


def _log_agreement(column: pd.Series[Any]) -> float:
    """Return the logarithm of the chance that two rows have the same value."""
    codes, _ = pd.factorize(column, use_na_sentinel=False)
    shares = np.bincount(codes) / len(codes)
    return float(np.log((shares**2).sum()))
