"""Drawing some of a data set's rows or texts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Rows or texts, of which some may be taken or drawn."""

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
        """Return those in some positions, in the order wanted."""

    def sample(self, count: int, seed: int) -> Self:
        """Draw some without replacement; they keep their order, and a note says so.

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
        check_count("count", count, 1)
        check_count("seed", seed, 0)
        if count >= len(self):
            return np.arange(len(self))
        return np.sort(np.random.default_rng(seed).choice(len(self), size=count, replace=False))


def cluster_numbers(keys: pd.Series[Any]) -> NDArray[np.int64]:
    """Return a number for each row or text, the same for those of one key, if it has one."""
    codes, uniques = pd.factorize(keys)
    alone = codes < 0
    codes[alone] = len(uniques) + np.arange(np.count_nonzero(alone))
    return np.asarray(codes, dtype=np.int64)


def check_count(name: str, value: int | None, least: int) -> None:
    """Raise a :class:`ParameterError` if a value is no whole number of at least so much."""
    if value is None and least > 0:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(
            f"{value!r} is not a whole number of at least {least}",
            where=name,
            remedy="give a whole number",
            name=name,
        )
