"""How many independent yes/no answers rows are worth whose answers are shares.

A group of n rows counts as n answers if each row's answer is 0 or 1, and as more if rows carry
shares in between and therefore vary less.

A sample in which almost all rows agree may hold none of the few that do not, and then knows nothing
of how much rows vary. So the variance is taken with one row more that is favourable throughout and
one that is nowhere, and no row counts for more than two answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_ANSWERS_A_ROW = 2


def effective_size(rate: Any, mean_square: Any, rows: Any, answers: int) -> Floats:
    """Compute how many independent yes/no answers the rows of a group are worth.

    Parameters
    ----------
    rate : array_like of float
        Mean of the rows' shares of favourable answers.
    mean_square : array_like of float
        Mean of the squares of those shares.
    rows : array_like of int
        Number of rows.
    answers : int
        Answers behind each row's share; a row is worth no more than these.

    Returns
    -------
    numpy.ndarray of float64
        Between `rows` and twice as many.

    Examples
    --------
    Shares of 0 or 1 only: each row is one answer.

    >>> float(effective_size(0.3, 0.3, 100, 20))
    100.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    # With a row of nothing but favourable answers, and one of none.
    rate = (rows * np.asarray(rate, dtype=np.float64) + 1) / (rows + 2)
    mean_square = (rows * np.asarray(mean_square, dtype=np.float64) + 1) / (rows + 2)
    gain = (rate - rate**2) / (mean_square - rate**2)
    return np.asarray(rows * np.clip(gain, 1.0, min(answers, _MOST_ANSWERS_A_ROW)))
