"""The common yardstick: the model's decisions on the rows as they are, in a group and outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.comparison.outcome import Side


def side_of(decisions: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Side:
    """Measure how a model treats a group of rows.

    Parameters
    ----------
    decisions : numpy.ndarray of bool, shape (rows,)
        Who gets the favourable label.
    rows : numpy.ndarray of bool, shape (rows,)
        Who is in the group.

    Returns
    -------
    Side

    Examples
    --------
    >>> side = side_of(np.array([True, True, False, False]), np.array([True, True, True, False]))
    >>> side.n_in, side.rate_out, side.share
    (3, 0.0, 0.75)
    """
    n_in = int(rows.sum())
    n_out = len(rows) - n_in
    favourable_in = int((decisions & rows).sum())
    favourable_out = int(decisions.sum()) - favourable_in
    return Side(
        n_in=n_in,
        n_out=n_out,
        rate_in=favourable_in / n_in if n_in else None,
        rate_out=favourable_out / n_out if n_out else None,
    )
