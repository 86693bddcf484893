"""Drawing a sample of a data set's rows or texts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import DataError, ParameterError


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Rows or texts from which a selection can be taken or a sample drawn."""

    unit: ClassVar[str]  # What one of them is called.

    source: str = ""  # Where they came from.
    # What was done to them before they came here, and what is odd about them.
    notes: tuple[str, ...] = ()
    # Those of one number belong together: rows of one unit, variants of one text. None if each
    # stands alone.
    clusters: NDArray[np.int64] | None = None
    sampled_from: int | None = None  # How many there were before a sample was drawn of them.

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return those at the given positions, shape (m,), in the order of the positions."""

    def limited(self, limit: int | None, seed: int) -> Self:
        """Return a sample of at most `limit`, as :meth:`sample` draws it; all if there is no limit.

        Raises
        ------
        ParameterError
            If the limit is below 1 or the seed below 0.
        """
        check_count("limit", limit, 1)
        return self if limit is None else self.sample(limit, seed)

    def sample(self, count: int, seed: int) -> Self:
        """Draw a sample without replacement, in the order of the data; a note says so.

        Parameters
        ----------
        count : int
            How many; all of them, without a note, if there are no more.
        seed : int
            Same seed, same sample.

        Raises
        ------
        ParameterError
            If `count` is below 1 or the seed below 0.
        """
        if count >= len(self):
            check_count("count", count, 1)
            return self
        drawn = self.drawn(count, seed)
        note = f"a sample of {count:,} of the {len(self):,} {self.unit}s, drawn with seed {seed}"
        return replace(
            self.take(drawn),
            notes=(*self.notes, note),
            sampled_from=self.sampled_from or len(self),
        )

    def drawn(self, count: int, seed: int) -> NDArray[np.intp]:
        """Draw positions without replacement, in order; all of them if there are no more.

        Raises
        ------
        ParameterError
            If `count` is below 1 or the seed below 0.
        """
        return drawn_positions(len(self), count, seed)


def cluster_numbers(keys: pd.Series[Any]) -> NDArray[np.int64]:
    """Return the cluster of each row or text: one number a key; shape (n,).

    A row or text whose key is missing is a cluster of its own.
    """
    codes, uniques = pd.factorize(keys)
    alone = codes < 0
    codes[alone] = len(uniques) + np.arange(np.count_nonzero(alone))
    return np.asarray(codes, dtype=np.int64)


def check_some_keys(keys: pd.Series[Any], *, where: str) -> None:
    """Check that some row has a key.

    Parameters
    ----------
    keys : pandas.Series, shape (n,)
        Whom each row is about.
    where : str
        What an error names.

    Raises
    ------
    DataError
        If all of them are missing.
    """
    if keys.isna().all():
        raise DataError(
            f"no row has a value of {str(keys.name or where)!r}, so it says of none whom it is "
            "about",
            where=where,
            remedy="name another column, or leave it out if each row is a unit",
        )


def note_on_missing_keys(keys: pd.Series[Any], column: str) -> str | None:
    """Return the sentence that rows without a key are units of their own; None if there are none.

    Examples
    --------
    >>> note_on_missing_keys(pd.Series(["a", "a", None]), "person")
    '1 of 3 rows has no person: each such row is a unit of its own'
    """
    missing = int(keys.isna().sum())
    if not missing:
        return None
    have = "has" if missing == 1 else "have"
    return (
        f"{missing:,} of {len(keys):,} rows {have} no {column}: each such row is a unit of its own"
    )


def check_count(name: str, value: int | None, least: int) -> None:
    """Raise an error if a value is not a whole number of at least `least`.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : int or None
        The value. None passes where `least` is above 0, and stands for no limit there.
    least : int
        The smallest value allowed.

    Raises
    ------
    ParameterError
        If the value is below `least`, or is no whole number, such as a boolean.

    Examples
    --------
    >>> check_count("epochs", 0, 1)
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: epochs: 0 is not a whole number of at least 1; ...
    """
    if value is None and least > 0:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(
            f"{value!r} is not a whole number of at least {least}",
            where=name,
            remedy="give a whole number",
            name=name,
        )


def drawn_positions(rows: int, count: int, seed: int) -> NDArray[np.intp]:
    """Draw positions of rows without replacement, in order; all of them if there are no more.

    Parameters
    ----------
    rows, count : int
        How many there are, and how many are drawn.
    seed : int
        Of the random generator.

    Returns
    -------
    numpy.ndarray of int
        At most `count` positions.

    Raises
    ------
    ParameterError
        If `count` is below 1 or the seed below 0.

    Examples
    --------
    >>> drawn_positions(3, 5, seed=0).tolist()
    [0, 1, 2]
    """
    check_count("count", count, 1)
    check_count("seed", seed, 0)
    if count >= rows:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, size=count, replace=False))
