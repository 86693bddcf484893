"""Effective sample sizes: how many independent yes/no answers rows are worth.

Rows that carry shares between 0 and 1 vary less than answers of 0 or 1, and count for more, up to
two each. A sample in which almost all rows agree may hold none of the few that do not. So the
variance is taken with one row more that is favourable throughout and one that is nowhere.

Rows of one cluster, such as copies of one text or the rows of one person, are one unit: it is taken
that all of them agree. Then a rate over N rows in clusters of sizes n varies like one over N^2 /
sum(n^2) independent rows (Kish). Where one large cluster decides on a rate this is still too many.
If q is the rate p with each row counted as often as its cluster has rows, the favourable rows are
worth only p / q times as many, and the others (1 - p) / (1 - q) times; the smaller of the two is
taken if it is below 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_ANSWERS_A_ROW = 2


def effective_sample_size(rate: Any, mean_square: Any, rows: Any, answers: int) -> Floats:
    """Return the number of independent yes/no answers that the rows of groups are worth.

    A row's share of favourable answers varies less than an answer of 0 or 1 with the same mean.
    With rate p and mean square s of n rows, both taken with one row of share 1 and one of share 0
    more, the number is n (p - p^2) / (s - p^2), kept between n and n times the smaller of `answers`
    and 2.

    Parameters
    ----------
    rate : array_like of float, shape (groups,)
        Mean of the rows' shares of favourable answers.
    mean_square : array_like of float, shape (groups,)
        Mean of the squares of these shares.
    rows : array_like of float, shape (groups,)
        Number of rows.
    answers : int
        Answers behind the share of each row.

    Returns
    -------
    numpy.ndarray of float64, shape (groups,)

    Examples
    --------
    >>> effective_sample_size(0.5, 0.5, 100, answers=20).tolist()  # answers of 0 or 1
    100.0
    >>> effective_sample_size(0.5, 0.3, 100, answers=20).tolist()
    200.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    # With a row of nothing but favourable answers, and one of none.
    rate = (rows * np.asarray(rate, dtype=np.float64) + 1) / (rows + 2)
    mean_square = (rows * np.asarray(mean_square, dtype=np.float64) + 1) / (rows + 2)
    gain = (rate - rate**2) / (mean_square - rate**2)
    return np.asarray(rows * np.clip(gain, 1.0, min(answers, _MOST_ANSWERS_A_ROW)))


Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of rows: the rows of one cluster are one unit, such as copies of one text.

    Examples
    --------
    >>> clusters = Clusters.of(np.array(["ann", "bob", "ann"]))
    >>> clusters.of_row.tolist(), clusters.sizes.tolist(), clusters.repeated
    ([0, 1, 0], [2, 1], 2)
    """

    # Each row's cluster; the clusters are numbered in the order of their first rows; shape (rows,).
    of_row: Counts

    @classmethod
    def of(cls, names: NDArray[Any]) -> Clusters:
        """Return the clusters of rows that have the same name, a number or a text.

        `names` has the shape (rows,).
        """
        import pandas as pd

        return cls(pd.factorize(names, use_na_sentinel=False)[0].astype(np.int64))

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def sizes(self) -> Counts:
        """Rows of each cluster, shape (clusters,)."""
        return np.bincount(self.of_row).astype(np.int64)

    @cached_property
    def size_of_row(self) -> Counts:
        """Rows of each row's cluster, shape (rows,)."""
        return self.sizes[self.of_row]

    @property
    def repeated(self) -> int:
        """Number of rows that are in a cluster with others."""
        return int(self.sizes[self.sizes > 1].sum())

    def take(self, rows: NDArray[np.integer]) -> Clusters:
        """Return the clusters of the chosen rows, with the sizes that they have among these."""
        return Clusters.of(self.of_row[rows])


def independent_rows(
    rows: Any, row_sizes: Any, favourable: Any = None, favourable_sizes: Any = None
) -> Floats:
    """Return the number of independent rows that rows in clusters are worth.

    It is N^2 / sum(n^2) for N rows in clusters of sizes n. With the sums of favourable rows, and
    unless every row is a cluster, it is multiplied by the smallest of 1, p / q and (1 - p) / (1 -
    q). Here p is the rate, and q the rate with each row counted as often as its cluster has rows.
    If a size counts rows that are not among these, the result is smaller than it needs to be.

    Parameters
    ----------
    rows : array_like of float, shape (groups,)
        Number of rows.
    row_sizes : array_like of float, shape (groups,)
        Sum over the rows of the sizes of their clusters.
    favourable, favourable_sizes : array_like of float, shape (groups,), optional
        The same two sums with each row's share of favourable answers as a factor.

    Returns
    -------
    numpy.ndarray of float64, shape (groups,)
        Between 0 and `rows`, which it is exactly if every row is a cluster.

    Notes
    -----
    See Kish (1965), Survey Sampling, for N^2 / sum(n^2). Taking no more than what the favourable
    rows, or the others, are worth is ours; tests/scoring/test_clusters.py simulates what it is good
    for.

    Examples
    --------
    Ten rows in five clusters of two: the sum of the sizes is 20.

    >>> float(independent_rows(10, 20))
    5.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    row_sizes = np.asarray(row_sizes, dtype=np.float64)
    worth = np.where(rows > 0, rows * (rows / np.maximum(row_sizes, 1)), 0.0)
    if favourable is None or favourable_sizes is None:
        return np.asarray(worth)
    known = np.maximum(rows, 1)
    sized = np.maximum(row_sizes, 1)
    rate = np.asarray(favourable, dtype=np.float64) / known
    sized_rate = np.asarray(favourable_sizes, dtype=np.float64) / sized
    fewest = np.ones(np.broadcast(worth, rate).shape)
    for part, sized_part in ((rate, sized_rate), (1 - rate, 1 - sized_rate)):
        # Where no row of a kind is there, it says nothing.
        ratio = np.where(part > 0, part / np.maximum(sized_part, 1e-300), 1.0)
        fewest = np.minimum(fewest, ratio)
    return np.asarray(np.where(worth < rows, worth * fewest, rows))
