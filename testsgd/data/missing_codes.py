"""Numbers that may stand for a missing value, such as -999 among ages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.guessed_features import MOST_CODES

# What is written for a missing value where every cell has to be a number: nines, or -1.
_NINES = [10**digits - 1 for digits in range(1, 9)]
_CODES = frozenset({-1, *_NINES, *(-nines for nines in _NINES)})
# In fewer rows it may be a number like any other.
_FEWEST_ROWS = 5
# Of a single other number it cannot be said how far apart such numbers are.
_FEWEST_OTHERS = 2
# A smaller share is written as a number of rows.
_SMALLEST_SHARE = 0.0005


@dataclass(frozen=True, kw_only=True)
class MissingCodes:
    """Numbers of a column that may stand for a missing value, and what the others are."""

    rows: Mapping[float, int]  # By number: how many rows have it.
    total: int  # Of how many rows, missing ones among them.
    others: int  # How many different other numbers there are.
    low: float  # The smallest of these.
    high: float  # The largest one.
    whole: bool  # Whether these are whole numbers.

    @property
    def seen(self) -> str:
        """What is seen in the column, in words."""
        parts = [f"{_number(code)} in {self._share(count)}" for code, count in self.rows.items()]
        return (
            f"{' and '.join(parts)}, far from all others "
            f"({_number(self.low)} to {_number(self.high)})"
        )

    def advice(self, *, sensitive: bool, typed: bool) -> str:
        """Return what makes them missing values in the description where they stand, in words.

        `typed`: whether the file has types of its own, so that no text stands for a missing value.
        """
        single = len(self.rows) == 1
        codes = ", ".join(map(_number, self.rows))
        verb = "stands" if single else "stand"
        texts = ", ".join(f'"{_number(code)}"' for code in self.rows)
        them = "it" if single else "them"
        first = f"add {texts}, as the file writes {them}, to missing under [parse]"
        if typed:
            first = f"replace {them} by missing values in the file"
        if sensitive and self.whole and self.others + len(self.rows) <= MOST_CODES:
            then = f"leave {them} out of values"
        else:
            then = f"write range = [{_number(self.low)}, {_number(self.high)}]"
            if sensitive:
                then += " and bins = 10, without edges"
        return f"if {codes} {verb} for a missing value: {first}, and {then}"

    def _share(self, count: int) -> str:
        if count / self.total < _SMALLEST_SHARE:
            return f"{count:,} of {self.total:,} rows"
        return f"{count / self.total:.1%} of the rows"


def missing_codes(cells: pd.Series[Any], times: NDArray[Any] | None = None) -> MissingCodes | None:
    """Return which numbers of a column may stand for a missing value, None if none may.

    Such a number is -1, or all its digits are nines, and it is the smallest or the largest one; at
    least five rows have it, and it is further from the nearest other number than all of those are
    from one another. There may be several at either end.

    Parameters
    ----------
    cells : pandas.Series
        Finite numbers and missing cells.
    times : numpy.ndarray, shape (n,), optional
        How many rows each cell stands for; one if not given.

    Returns
    -------
    MissingCodes or None

    Examples
    --------
    >>> missing_codes(pd.Series([*range(18, 80), *[-999] * 5])).seen
    '-999 in 7.5% of the rows, far from all others (18 to 79)'
    >>> missing_codes(pd.Series([*range(18, 99), *[99] * 5])) is None
    True
    """
    known = cells.notna().to_numpy()
    numbers = cells[known].to_numpy(dtype=np.float64)
    if not len(numbers) or not {numbers.min(), numbers.max()} & _CODES:
        return None
    weights = None if times is None else times[known]
    different, of_cells = np.unique(numbers, return_inverse=True)
    counts = np.bincount(of_cells, weights=weights, minlength=len(different))
    may_be_code = np.isin(different, list(_CODES)) & (counts >= _FEWEST_ROWS)
    others = np.flatnonzero(~may_be_code)
    if len(others) < _FEWEST_OTHERS:
        return None
    # Numbers between others are none.
    low, high = different[others[0]], different[others[-1]]
    far = np.maximum(low - different, different - high) > high - low
    if not far.any():
        return None
    left = different[~far]
    return MissingCodes(
        rows={float(different[at]): int(counts[at]) for at in np.flatnonzero(far)},
        total=int(len(cells) if times is None else times.sum()),
        others=len(left),
        low=float(left[0]),
        high=float(left[-1]),
        whole=bool((left % 1 == 0).all()),
    )


def _number(number: float) -> str:
    return f"{number:.15g}"
