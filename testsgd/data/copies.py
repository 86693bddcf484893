"""Rows that are copies of others and so add no information to the first of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# Copies that take less than a hundredth of what the rows are worth change no interval much.
_LEAST_LOST = 0.01
# Equal rows count as copies if there are more pairs of them than this many times those that chance
# explains. What goes together in ways that no two columns show makes a few more pairs.
_MORE_THAN_CHANCE = 4.0
# Of more rows a sample shows which columns go together.
_MOST_COMPARED = 2_000
_SAMPLE_SEED = 0
# An agreement of two columns counts less this many standard errors: of many pairs that are looked
# at, some agree by chance.
_STANDARD_ERRORS = 2.0


def copied_rows(frame: pd.DataFrame) -> NDArray[np.intp] | None:
    """Return which rows are equal, a number for each different row; None if none are copies.

    In a table of a few features with few values many people are alike, and no copies. So it is
    compared with how many equal pairs there would be by chance. Columns may depend on each other,
    as a wage on a grade: how much more often two columns agree together than if they did not is
    seen among the different rows, where each copy is left out, and counts along a tree of columns.

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
    log_pairs = np.log((sizes * (sizes - 1)).sum() / 2)
    log_chance = np.log(rows * (rows - 1) / 2) + sum(map(_log_agreement, _columns(frame)))
    least = np.log(_MORE_THAN_CHANCE)
    # Which columns go together is looked at only where chance without that explains too little.
    if log_pairs <= log_chance + least:
        return None
    _, first = np.unique(codes, return_index=True)
    if log_pairs <= log_chance + least + _log_lift(frame.iloc[first]):
        return None
    return codes


def _is_number(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > 2


def _columns(frame: pd.DataFrame) -> list[pd.Series[Any]]:
    return [frame[name] for name in frame.columns]


def _log_agreement(column: pd.Series[Any]) -> float:
    """Return the logarithm of the chance that two rows have the same value."""
    codes, _ = pd.factorize(column, use_na_sentinel=False)
    shares = np.bincount(codes) / len(codes)
    return float(np.log((shares**2).sum()))


def _log_lift(different: pd.DataFrame) -> float:
    """Return how much more often columns agree together than independent ones, as a logarithm.

    It is the sum along the tree of columns that makes it largest, as that of Chow and Liu (1968),
    Approximating discrete probability distributions with dependence trees. IEEE Transactions on
    Information Theory 14(3). `different` are rows of which no two are equal.
    """
    if len(different) > _MOST_COMPARED:
        different = different.sample(_MOST_COMPARED, random_state=_SAMPLE_SEED)
    columns = [
        pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64)
        for column in _columns(different)
    ]
    lifts = np.zeros((len(columns), len(columns)))
    agreeing = [_agreeing_pairs(codes) for codes in columns]
    pairs = len(different) * (len(different) - 1) / 2
    for first, codes in enumerate(columns):
        for second in range(first):
            expected = agreeing[first] * agreeing[second] / max(pairs, 1)
            together = _agreeing_pairs(codes * len(different) + columns[second])
            surely = together - _STANDARD_ERRORS * np.sqrt(together)
            if surely > expected > 0:
                lifts[first, second] = lifts[second, first] = np.log(surely / expected)
    # Prim's algorithm: the column that goes most with one of the tree joins it.
    nearest = lifts[0].copy()
    joined = np.zeros(len(columns), dtype=bool)
    joined[0] = True
    total = 0.0
    while not joined.all():
        column = int(np.argmax(np.where(joined, -1.0, nearest)))
        total += float(nearest[column])
        joined[column] = True
        nearest = np.maximum(nearest, lifts[column])
    return total


def _agreeing_pairs(codes: NDArray[np.int64]) -> float:
    """Return how many pairs of rows have the same code."""
    _, sizes = np.unique(codes, return_counts=True)
    return float((sizes * (sizes - 1.0)).sum() / 2)
